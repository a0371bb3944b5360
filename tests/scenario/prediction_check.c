/// The plain simulation of one player, and its comparison with the client.
#include "tests/scenario/prediction_check.h"

#include "check/plain.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct prediction_check {
    const struct scenario *scenario;
    unsigned client;
    struct hc_plain *plain;
    hc_tick from;   ///< the first tick to be compared; HC_NO_TICK before the join
    hc_tick newest; ///< tick that the client has predicted
    size_t row;     ///< bytes of the player's own states and presence at a tick
    uint8_t *truth; ///< [SCENARIO_TICKS_MAX] rows
    uint8_t *inputs, *roster_changes;
    struct prediction_count count;
};

void prediction_check_destroy(struct prediction_check *check) {
    hc_plain_destroy(check->plain);
    free(check->truth);
    free(check->inputs);
    free(check->roster_changes);
    free(check);
}

void prediction_check_restart(struct prediction_check *check) {
    const struct scenario *scenario = check->scenario;
    hc_tick final = record_final(scenario->record);
    hc_plain_load(check->plain, final, record_presence(scenario->record, final),
                  record_states(scenario->record, final));
    check->from = final + 1;
    check->count = (struct prediction_count){.first_wrong = HC_NO_TICK};
}

/// Copies the player's own entities of a tick to `row`.
static void cut(const struct hc_world *world, hc_player player, const uint8_t *presence,
                const uint8_t *states, uint8_t *row) {
    hc_entity first = hc_world_player(world, player);
    memcpy(row, presence + first, world->per_owner);
    memcpy(row + world->per_owner, states + (size_t)first * world->stride,
           (size_t)world->per_owner * world->stride);
}

/// Steps the plain simulation to `tick`.
static void step_to(struct prediction_check *check, const struct scenario *scenario,
                    hc_player player, hc_tick tick) {
    const struct hc_world *world = record_world(scenario->record);
    const uint16_t size = world->game->input_size;
    while (hc_plain_tick(check->plain) < tick) {
        hc_tick now = hc_plain_tick(check->plain);
        const uint8_t *stamped = stamped_input(scenario->stamps[check->client][0], now);
        memset(check->inputs, 0, (size_t)world->players * size);
        memset(check->roster_changes, HC_ROSTER_NONE, world->players);
        if (stamped != NULL && now > scenario->joined[player])
            memcpy(check->inputs + (size_t)player * size, stamped, size);
        if (now == scenario->joined[player])
            check->roster_changes[player] = HC_ROSTER_JOIN;
        hc_plain_step(check->plain, check->inputs, check->roster_changes);
        cut(world, player, hc_plain_presence(check->plain), hc_plain_states(check->plain),
            check->truth + (now + 1) * check->row);
    }
}

static void compare_tick(struct prediction_check *check, const struct scenario *scenario,
                         hc_player player, hc_tick tick, const struct hc_timeline *timeline) {
    uint8_t row[1024];
    REQUIRE(check->row <= sizeof row, "a row of %zu bytes", check->row);
    cut(record_world(scenario->record), player, hc_timeline_presence(timeline, tick),
        hc_timeline_states(timeline, tick), row);
    bool wrong = memcmp(row, check->truth + tick * check->row, check->row) != 0;
    if (wrong && check->count.first_wrong == HC_NO_TICK)
        check->count.first_wrong = tick;
    if (tick > check->newest) {
        check->count.predicted++;
        check->count.predicted_wrong += wrong;
    } else {
        check->count.looks++;
        check->count.looks_wrong += wrong;
    }
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct prediction_check *check = context;
    const struct scenario *scenario = check->scenario;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    if (client != check->client || timeline == NULL || !hc_timeline_started(timeline))
        return;
    hc_player player = hc_client_player(core, 0);
    hc_tick head = hc_timeline_head(timeline);
    REQUIRE(head < SCENARIO_TICKS_MAX, "the scenario is too long");
    REQUIRE(scenario->joined[player] != HC_NO_TICK, "player %u never joined", player);
    if (check->from == HC_NO_TICK)
        check->from = scenario->joined[player] + 1;
    step_to(check, scenario, player, head);
    hc_tick first = hc_tick_max(check->from, hc_timeline_oldest(timeline));
    for (hc_tick tick = first; tick <= head; tick++)
        compare_tick(check, scenario, player, tick, timeline);
    check->newest = hc_tick_max(check->newest, head);
}

struct prediction_check *prediction_check_create(struct scenario *scenario, unsigned client) {
    const struct hc_world *world = record_world(scenario->record);
    struct prediction_check *check = calloc(1, sizeof *check);
    ck_assert_ptr_nonnull(check);
    check->scenario = scenario;
    check->client = client;
    check->from = HC_NO_TICK;
    check->count.first_wrong = HC_NO_TICK;
    check->row = (size_t)world->per_owner * (world->stride + 1u);
    check->truth = calloc(SCENARIO_TICKS_MAX, check->row);
    check->inputs = calloc(world->players, world->game->input_size);
    check->roster_changes = calloc(world->players, 1);
    check->plain = hc_plain_create(world, false);
    ck_assert(check->truth && check->inputs && check->roster_changes && check->plain);
    hc_plain_set_secret(check->plain, record_secret(scenario->record));
    hc_plain_start(check->plain);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.client_changed = client_changed}, check);
    return check;
}

struct prediction_count prediction_check_count(const struct prediction_check *check) {
    return check->count;
}
