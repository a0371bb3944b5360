/// Late joiners into a full world, over lossy links: how soon they play, and how soon all that they
/// see is there and right.
#include "tests/scenario/extras.h"
#include "tests/scenario/require.h"
#include "tests/scenario/told.h"

#include "client/session_internal.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEWCOMERS = 8,
    LATENCY_MS = 50,
    LOSS_PERCENT = 5,
    TICK_US = 16667,
    ENTERED = 16, ///< ticks: the server looks each 8th what is in view, at a tick that may lag
    HEADS = 32,   ///< for which the server's past is remembered
    DEPTH = 40,   ///< ticks of that past
};

struct newcomer {
    uint64_t asked_us, playing_us; ///< 0: not yet
    uint64_t lost;                 ///< of its datagrams and those for it, until it played
    hc_tick interest_at;           ///< as_of of the newest snapshot looked at
    uint64_t first_us;             ///< when all in view was right at first; 0: not yet
    uint64_t since_us;             ///< since when it has been, in every snapshot; 0: it is not
};

struct arrivals {
    struct told *told;
    const struct hc_world *world;
    /// [head % HEADS][tick % DEPTH] the worlds as the server had them when its head was `head`.
    uint8_t *states, *presence;
    hc_tick heads[HEADS];
    struct newcomer newcomers[NEWCOMERS];
};

// ---- What the server had ------------------------------------------------------------------------

static uint8_t *states_of(const struct arrivals *arrivals, hc_tick head, hc_tick tick) {
    size_t row = (size_t)(head % HEADS) * DEPTH + tick % DEPTH;
    return arrivals->states + row * arrivals->world->entities * arrivals->world->stride;
}

static uint8_t *presence_of(const struct arrivals *arrivals, hc_tick head, hc_tick tick) {
    size_t row = (size_t)(head % HEADS) * DEPTH + tick % DEPTH;
    return arrivals->presence + row * arrivals->world->entities;
}

static void host_ticked(struct play *play) {
    struct arrivals *arrivals = play->context;
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(play->sim));
    const struct hc_world *world = arrivals->world;
    hc_tick head = hc_timeline_head(timeline);
    arrivals->heads[head % HEADS] = head;
    hc_tick first = hc_tick_max(hc_tick_back(head, DEPTH - 1), hc_timeline_oldest(timeline));
    for (hc_tick tick = first; tick <= head; tick++) {
        memcpy(states_of(arrivals, head, tick), hc_timeline_states(timeline, tick),
               (size_t)world->entities * world->stride);
        memcpy(presence_of(arrivals, head, tick), hc_timeline_presence(timeline, tick),
               world->entities);
    }
    extras_play(play);
}

// ---- What a newcomer holds ----------------------------------------------------------------------

/// Whether `unit` is in the client's view at all ticks in [first, tick], as of `head`.
static bool is_in_view(const struct play *play, unsigned client, hc_unit unit, hc_tick head,
                       hc_tick first, hc_tick tick) {
    const struct arrivals *arrivals = play->context;
    for (hc_tick t = first; t <= tick; t++)
        if (!play_in_view(play, client, unit, presence_of(arrivals, head, t),
                          states_of(arrivals, head, t), arrivals->world->game->view))
            return false;
    return true;
}

/// Whether the client holds of `unit` at `tick` what the server had at `head`.
static bool holds(const struct play *play, unsigned client, hc_unit unit, hc_tick head,
                  hc_tick tick) {
    const struct arrivals *arrivals = play->context;
    const struct hc_world *world = arrivals->world;
    const struct hc_timeline *timeline = hc_client_timeline(hc_sim_client(play->sim, client));
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    size_t at = (size_t)first * world->stride, bytes = (size_t)count * world->stride;
    return memcmp(hc_timeline_presence(timeline, tick) + first,
                  presence_of(arrivals, head, tick) + first, count) == 0 &&
           memcmp(hc_timeline_states(timeline, tick) + at, states_of(arrivals, head, tick) + at,
                  bytes) == 0;
}

/// Whether all that is in the client's view, and has been for a while or from the beginning, is at
/// `tick` as the server had it at `head`.
static bool is_right(const struct play *play, unsigned client, hc_tick head, hc_tick tick) {
    const struct arrivals *arrivals = play->context;
    const struct hc_client *core = hc_sim_client(play->sim, client);
    hc_tick joined = play->joined[hc_client_player(core, 0)];
    hc_tick before = hc_tick_max(hc_tick_back(tick, ENTERED), joined + 1);
    REQUIRE(arrivals->heads[head % HEADS] == head && head - before < DEPTH,
            "client %u was shown %u as of %u, too long ago", client, tick, head);
    for (uint32_t u = 0; u < hc_unit_total(arrivals->world); u++)
        if (is_in_view(play, client, (hc_unit)u, head, before, tick) &&
            !holds(play, client, (hc_unit)u, head, tick))
            return false;
    return true;
}

static void begins_to_play(const struct play *play, unsigned client, struct newcomer *newcomer) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_entity own = hc_world_player(hc_client_world(core), hc_client_player(core, 0));
    newcomer->playing_us = hc_sim_now(play->sim);
    newcomer->lost =
        hc_sim_up_stats(play->sim, client).lost + hc_sim_down_stats(play->sim, client).lost;
    REQUIRE(hc_timeline_presence(timeline, hc_timeline_head(timeline))[own] == HC_ALIVE,
            "client %u plays without being there", client);
}

static void client_changed(struct play *play, unsigned client) {
    struct arrivals *arrivals = play->context;
    struct newcomer *newcomer = &arrivals->newcomers[client];
    hc_tick tick, head;
    told_changed(arrivals->told, play, client);
    if (newcomer->playing_us == 0 && play_state(play, client) == HC_CLIENT_PLAYING)
        begins_to_play(play, client, newcomer);
    if (!hc_client_snapshot(hc_sim_client(play->sim, client), &tick, &head) ||
        head == newcomer->interest_at)
        return;
    newcomer->interest_at = head;
    bool right = is_right(play, client, head, tick);
    if (!right || newcomer->since_us == 0)
        newcomer->since_us = right ? hc_sim_now(play->sim) : 0;
    if (right && newcomer->first_us == 0)
        newcomer->first_us = hc_sim_now(play->sim);
}

static void host_sent(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    struct arrivals *arrivals = play->context;
    told_sent(arrivals->told, play, client, bytes, size);
}

// ---- The test -----------------------------------------------------------------------------------

static struct play *begin(struct arrivals *arrivals, uint16_t players) {
    struct hc_sim_config config = play_config(&hc_arena, NEWCOMERS, LATENCY_MS, 420 + players);
    config.host.clients = players;
    config.up = config.down = play_link(LATENCY_MS, LOSS_PERCENT);
    config.trace_worlds = false;
    struct play *play = play_create(&config);
    play_without_stamps(play);
    *arrivals = (struct arrivals){.told = told_create(play), .world = ledger_world(play->sent_log)};
    size_t rows = (size_t)HEADS * DEPTH * arrivals->world->entities;
    arrivals->states = malloc(rows * arrivals->world->stride);
    arrivals->presence = malloc(rows);
    ck_assert(arrivals->states != NULL && arrivals->presence != NULL);
    for (unsigned i = 0; i < NEWCOMERS; i++)
        arrivals->newcomers[i].interest_at = HC_NO_TICK;
    play->context = arrivals;
    play->host_ticked = host_ticked;
    play->host_sent = host_sent;
    play->client_changed = client_changed;
    extras_join(hc_sim_host(play->sim), NEWCOMERS);
    return play;
}

static void end(struct play *play, struct arrivals *arrivals) {
    play_check_hashes(play);
    told_destroy(arrivals->told);
    free(arrivals->states);
    free(arrivals->presence);
    play_destroy(play);
}

static void check(const struct play *play, const struct arrivals *arrivals, unsigned client) {
    const struct newcomer *newcomer = &arrivals->newcomers[client];
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(play->sim));
    hc_player own = hc_client_player(hc_sim_client(play->sim, client), 0);
    ck_assert_int_eq(play_state(play, client), HC_CLIENT_PLAYING);
    ck_assert(newcomer->first_us > 0 && newcomer->since_us > 0);
    uint64_t playing_us = newcomer->playing_us - newcomer->asked_us;
    uint64_t right_us = newcomer->since_us - newcomer->playing_us;
    printf("  plays after %.1f ms (%lu datagrams lost); all in view is right %.1f ms later, and "
           "from %.1f ms on for good\n",
           (double)playing_us / 1000, (unsigned long)newcomer->lost,
           (double)(newcomer->first_us - newcomer->playing_us) / 1000, (double)right_us / 1000);
    // HELLO and COOKIE, CONNECT and what comes with the next tick; what is lost is said again.
    ck_assert_uint_le(playing_us, 4 * LATENCY_MS * PLAY_MS + TICK_US + PLAY_MS +
                                      newcomer->lost * HC_CL_RETRY_US);
    ck_assert_uint_le(right_us, PLAY_S / 2);
    // The server has had all its inputs but the newest.
    ck_assert_uint_ge(hc_timeline_inputs_through(server, own) + 16, hc_timeline_head(server));
}

START_TEST(late_joiners_of_a_full_world_play_after_two_round_trips_and_soon_know_all_they_see) {
    static const uint16_t sizes[] = {64, 1000};
    for (unsigned n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        struct arrivals arrivals;
        struct play *play = begin(&arrivals, sizes[n]);
        unsigned undisturbed = 0;
        hc_sim_run(play->sim, PLAY_S / 2);
        for (unsigned i = 0; i < NEWCOMERS; i++) {
            arrivals.newcomers[i].asked_us = hc_sim_now(play->sim);
            ck_assert(hc_sim_connect(play->sim, i));
            hc_sim_run(play->sim, 40 * PLAY_MS + i * PLAY_MS); // at all phases of a tick
        }
        hc_sim_run(play->sim, 3 * PLAY_S / 2);
        printf("into a world of %u:\n", sizes[n]);
        for (unsigned i = 0; i < NEWCOMERS; i++) {
            check(play, &arrivals, i);
            undisturbed += arrivals.newcomers[i].lost == 0;
        }
        ck_assert_uint_ge(undisturbed, NEWCOMERS / 4);
        end(play, &arrivals);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("newcomers");
    TCase *tests = tcase_create("newcomers");
    tcase_add_test(
        tests, late_joiners_of_a_full_world_play_after_two_round_trips_and_soon_know_all_they_see);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
