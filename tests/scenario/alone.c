#include "tests/scenario/alone.h"

#include "tests/oracle/plain.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct alone {
    unsigned client;
    struct hc_plain *plain;
    hc_tick from;   ///< the first tick to be compared; HC_NO_TICK before the join
    hc_tick seen;   ///< the newest tick that the client has predicted
    size_t row;     ///< bytes of the player's own states and presence at a tick
    uint8_t *truth; ///< [PLAY_TICKS] rows
    uint8_t *inputs, *roster_changes;
    struct alone_count count;
};

struct alone *alone_create(const struct play *play, unsigned client) {
    const struct hc_world *world = ledger_world(play->sent_log);
    struct alone *alone = calloc(1, sizeof *alone);
    ck_assert_ptr_nonnull(alone);
    alone->client = client;
    alone->from = HC_NO_TICK;
    alone->count.first_wrong = HC_NO_TICK;
    alone->row = (size_t)world->per_owner * (world->stride + 1u);
    alone->truth = calloc(PLAY_TICKS, alone->row);
    alone->inputs = calloc(world->players, world->game->input_size);
    alone->roster_changes = calloc(world->players, 1);
    alone->plain = hc_plain_create(world, false);
    ck_assert(alone->truth && alone->inputs && alone->roster_changes && alone->plain);
    hc_plain_set_secret(alone->plain, ledger_secret(play->sent_log));
    hc_plain_start(alone->plain);
    return alone;
}

void alone_destroy(struct alone *alone) {
    hc_plain_destroy(alone->plain);
    free(alone->truth);
    free(alone->inputs);
    free(alone->roster_changes);
    free(alone);
}

void alone_restart(struct alone *alone, const struct play *play) {
    hc_tick final = ledger_final(play->sent_log);
    hc_plain_load(alone->plain, final, ledger_presence(play->sent_log, final),
                  ledger_states(play->sent_log, final));
    alone->from = final + 1;
    alone->count = (struct alone_count){.first_wrong = HC_NO_TICK};
}

/// The player's own slots out of a whole tick, to `row`.
static void cut(const struct hc_world *world, hc_player player, const uint8_t *presence,
                const uint8_t *states, uint8_t *row) {
    hc_entity first = hc_world_player(world, player);
    memcpy(row, presence + first, world->per_owner);
    memcpy(row + world->per_owner, states + (size_t)first * world->stride,
           (size_t)world->per_owner * world->stride);
}

/// Plays on to `tick`.
static void play_on(struct alone *alone, const struct play *play, hc_player player, hc_tick tick) {
    const struct hc_world *world = ledger_world(play->sent_log);
    const uint16_t size = world->game->input_size;
    while (hc_plain_tick(alone->plain) < tick) {
        hc_tick now = hc_plain_tick(alone->plain);
        const uint8_t *stamped = stamps_input(play->stamps[alone->client][0], now);
        memset(alone->inputs, 0, (size_t)world->players * size);
        memset(alone->roster_changes, HC_ROSTER_NONE, world->players);
        if (stamped != NULL && now > play->joined[player])
            memcpy(alone->inputs + (size_t)player * size, stamped, size);
        if (now == play->joined[player])
            alone->roster_changes[player] = HC_ROSTER_JOIN;
        hc_plain_step(alone->plain, alone->inputs, alone->roster_changes);
        cut(world, player, hc_plain_presence(alone->plain), hc_plain_states(alone->plain),
            alone->truth + (now + 1) * alone->row);
    }
}

static void compare_tick(struct alone *alone, const struct play *play, hc_player player,
                         hc_tick tick, const struct hc_timeline *timeline) {
    uint8_t row[1024];
    REQUIRE(alone->row <= sizeof row, "a row of %zu bytes", alone->row);
    cut(ledger_world(play->sent_log), player, hc_timeline_presence(timeline, tick),
        hc_timeline_states(timeline, tick), row);
    bool wrong = memcmp(row, alone->truth + tick * alone->row, alone->row) != 0;
    if (wrong && alone->count.first_wrong == HC_NO_TICK)
        alone->count.first_wrong = tick;
    if (tick > alone->seen) {
        alone->count.predicted++;
        alone->count.predicted_wrong += wrong;
    } else {
        alone->count.looks++;
        alone->count.looks_wrong += wrong;
    }
}

void alone_compare(struct alone *alone, const struct play *play) {
    const struct hc_client *core = hc_sim_client(play->sim, alone->client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    if (timeline == NULL || !hc_timeline_started(timeline))
        return;
    hc_player player = hc_client_player(core, 0);
    hc_tick head = hc_timeline_head(timeline);
    REQUIRE(head < PLAY_TICKS, "too long a play");
    REQUIRE(play->joined[player] != HC_NO_TICK, "player %u never joined", player);
    if (alone->from == HC_NO_TICK)
        alone->from = play->joined[player] + 1;
    play_on(alone, play, player, head);
    hc_tick first = hc_tick_max(alone->from, hc_timeline_oldest(timeline));
    for (hc_tick tick = first; tick <= head; tick++)
        compare_tick(alone, play, player, tick, timeline);
    alone->seen = hc_tick_max(alone->seen, head);
}

struct alone_count alone_count(const struct alone *alone) {
    return alone->count;
}
