/// Late joiners of a full world, over lossy links, soon play and soon hold all units in view.
#include "tests/scenario/clientless.h"
#include "tests/scenario/require.h"
#include "tests/scenario/snapshot_check.h"

#include "client/client.h"
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
    ENTERED = 16, ///< ticks: the server updates interest each 8th, at a tick that may lag
    HEADS = 32,   ///< for which the server's past is stored
    DEPTH = 40,   ///< ticks of that past
};

struct newcomer {
    uint64_t connected_us, playing_us; ///< 0: not yet
    uint64_t lost;                     ///< datagrams both ways, until it played
    hc_tick checked_as_of;             ///< as_of of the newest snapshot that was checked
    uint64_t first_us;                 ///< when all in view was first right; 0: not yet
    uint64_t since_us;                 ///< since when it is right in every snapshot; 0: it is not
};

struct arrivals {
    struct scenario *scenario;
    struct snapshot_check *check;
    const struct hc_world *world;
    /// [head % HEADS][tick % DEPTH] the server's worlds at head `head`.
    uint8_t *states, *presence;
    hc_tick heads[HEADS];
    struct newcomer newcomers[NEWCOMERS];
};

// ---- The server's past --------------------------------------------------------------------------

static uint8_t *states_of(const struct arrivals *arrivals, hc_tick head, hc_tick tick) {
    size_t row = (size_t)(head % HEADS) * DEPTH + tick % DEPTH;
    return arrivals->states + row * arrivals->world->entities * arrivals->world->stride;
}

static uint8_t *presence_of(const struct arrivals *arrivals, hc_tick head, hc_tick tick) {
    size_t row = (size_t)(head % HEADS) * DEPTH + tick % DEPTH;
    return arrivals->presence + row * arrivals->world->entities;
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct arrivals *arrivals = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
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
    clientless_play(NULL, sim);
}

// ---- A newcomer's timeline ----------------------------------------------------------------------

/// Whether the client sees `unit` at all ticks in [first, tick], as of `head`.
static bool is_in_view(const struct arrivals *arrivals, unsigned client, hc_unit unit, hc_tick head,
                       hc_tick first, hc_tick tick) {
    for (hc_tick t = first; t <= tick; t++)
        if (!scenario_in_view(arrivals->scenario, client, unit, presence_of(arrivals, head, t),
                              states_of(arrivals, head, t), arrivals->world->game->view))
            return false;
    return true;
}

/// Whether the client holds `unit` at `tick` as the server did at `head`.
static bool holds(const struct arrivals *arrivals, unsigned client, hc_unit unit, hc_tick head,
                  hc_tick tick) {
    const struct hc_world *world = arrivals->world;
    const struct hc_timeline *timeline =
        hc_client_timeline(hc_sim_client(arrivals->scenario->sim, client));
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    size_t at = (size_t)first * world->stride, bytes = (size_t)count * world->stride;
    return memcmp(hc_timeline_presence(timeline, tick) + first,
                  presence_of(arrivals, head, tick) + first, count) == 0 &&
           memcmp(hc_timeline_states(timeline, tick) + at, states_of(arrivals, head, tick) + at,
                  bytes) == 0;
}

/// Whether the client holds at `tick`, as the server did at `head`, all units that have been in its
/// view for a while or from its join on and do not wait for their turn. The client predicts a
/// waiting unit, and may lack an input that came late or a lost snapshot of the unit's turn.
static bool is_right(const struct arrivals *arrivals, unsigned client, hc_tick head, hc_tick tick) {
    const struct scenario *scenario = arrivals->scenario;
    const struct hc_client *core = hc_sim_client(scenario->sim, client);
    hc_tick joined = scenario->joined[hc_client_player(core, 0)];
    hc_tick before = hc_tick_max(hc_tick_back(tick, ENTERED), joined + 1);
    REQUIRE(arrivals->heads[head % HEADS] == head && head - before < DEPTH,
            "client %u was shown %u as of %u, too long ago", client, tick, head);
    for (uint32_t u = 0; u < hc_unit_total(arrivals->world); u++)
        if (is_in_view(arrivals, client, (hc_unit)u, head, before, tick) &&
            !holds(arrivals, client, (hc_unit)u, head, tick) &&
            !snapshot_check_waits(arrivals->check, client, head, (hc_unit)u))
            return false;
    return true;
}

static void note_first_tick(struct hc_sim *sim, unsigned client, struct newcomer *newcomer) {
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_entity own = hc_world_player(hc_client_world(core), hc_client_player(core, 0));
    newcomer->playing_us = hc_sim_now(sim);
    newcomer->lost = hc_sim_up_stats(sim, client).lost + hc_sim_down_stats(sim, client).lost;
    REQUIRE(hc_timeline_presence(timeline, hc_timeline_head(timeline))[own] == HC_ALIVE,
            "client %u plays without being there", client);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct arrivals *arrivals = context;
    struct newcomer *newcomer = &arrivals->newcomers[client];
    hc_tick tick, head;
    if (newcomer->playing_us == 0 && hc_sim_client_state(sim, client) == HC_CLIENT_PLAYING)
        note_first_tick(sim, client, newcomer);
    if (!hc_client_snapshot(hc_sim_client(sim, client), &tick, &head) ||
        head == newcomer->checked_as_of)
        return;
    newcomer->checked_as_of = head;
    bool right = is_right(arrivals, client, head, tick);
    if (!right || newcomer->since_us == 0)
        newcomer->since_us = right ? hc_sim_now(sim) : 0;
    if (right && newcomer->first_us == 0)
        newcomer->first_us = hc_sim_now(sim);
}

// ---- The test -----------------------------------------------------------------------------------

static struct scenario *begin(struct arrivals *arrivals, uint16_t players) {
    struct hc_sim_config config =
        hc_sim_config_players(&hc_arena, NEWCOMERS, LATENCY_MS, 420 + players);
    config.host.clients = players;
    config.up = config.down = hc_sim_link(LATENCY_MS, LOSS_PERCENT);
    struct scenario *scenario = scenario_create(&config);
    scenario_drop_stamps(scenario);
    *arrivals = (struct arrivals){.scenario = scenario,
                                  .check = snapshot_check_create(scenario),
                                  .world = record_world(scenario->record)};
    size_t rows = (size_t)HEADS * DEPTH * arrivals->world->entities;
    arrivals->states = malloc(rows * arrivals->world->stride);
    arrivals->presence = malloc(rows);
    ck_assert(arrivals->states != NULL && arrivals->presence != NULL);
    for (unsigned i = 0; i < NEWCOMERS; i++)
        arrivals->newcomers[i].checked_as_of = HC_NO_TICK;
    hc_sim_observe(
        scenario->sim,
        &(struct hc_sim_hooks){.host_ticked = host_ticked, .client_changed = client_changed},
        arrivals);
    clientless_join(hc_sim_host(scenario->sim), NEWCOMERS);
    return scenario;
}

static void end(struct scenario *scenario, struct arrivals *arrivals) {
    scenario_check_hashes(scenario);
    snapshot_check_destroy(arrivals->check);
    free(arrivals->states);
    free(arrivals->presence);
    scenario_destroy(scenario);
}

static void check(const struct scenario *scenario, const struct arrivals *arrivals,
                  unsigned client) {
    const struct newcomer *newcomer = &arrivals->newcomers[client];
    const struct hc_timeline *server = hc_server_timeline(hc_sim_host(scenario->sim));
    hc_player own = hc_client_player(hc_sim_client(scenario->sim, client), 0);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, client), HC_CLIENT_PLAYING);
    ck_assert(newcomer->first_us > 0 && newcomer->since_us > 0);
    uint64_t playing_us = newcomer->playing_us - newcomer->connected_us;
    uint64_t right_us = newcomer->since_us - newcomer->playing_us;
    printf("  plays after %.1f ms (%lu datagrams lost); all in view is right %.1f ms later, and "
           "from %.1f ms on for good\n",
           (double)playing_us / 1000, (unsigned long)newcomer->lost,
           (double)(newcomer->first_us - newcomer->playing_us) / 1000, (double)right_us / 1000);
    // HELLO and COOKIE, CONNECT and the next tick's snapshot; lost datagrams are sent again.
    ck_assert_uint_le(playing_us,
                      4 * LATENCY_MS * MS_US + TICK_US + MS_US + newcomer->lost * HC_RETRY_US);
    ck_assert_uint_le(right_us, SECOND_US / 2);
    // The server has all its inputs but the newest.
    ck_assert_uint_ge(hc_timeline_inputs_through(server, own) + 16, hc_timeline_head(server));
}

START_TEST(late_joiners_of_a_full_world_play_after_two_round_trips_and_soon_hold_all_in_view) {
    static const uint16_t sizes[] = {64, 1000};
    for (unsigned n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        struct arrivals arrivals;
        struct scenario *scenario = begin(&arrivals, sizes[n]);
        unsigned undisturbed = 0;
        hc_sim_run(scenario->sim, SECOND_US / 2);
        for (unsigned i = 0; i < NEWCOMERS; i++) {
            arrivals.newcomers[i].connected_us = hc_sim_now(scenario->sim);
            ck_assert(hc_sim_connect(scenario->sim, i));
            hc_sim_run(scenario->sim, 40 * MS_US + i * MS_US); // at all phases of a tick
        }
        hc_sim_run(scenario->sim, 3 * SECOND_US / 2);
        printf("into a world of %u:\n", sizes[n]);
        for (unsigned i = 0; i < NEWCOMERS; i++) {
            check(scenario, &arrivals, i);
            undisturbed += arrivals.newcomers[i].lost == 0;
        }
        ck_assert_uint_ge(undisturbed, NEWCOMERS / 4);
        end(scenario, &arrivals);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("newcomers");
    TCase *tests = tcase_create("newcomers");
    tcase_add_test(
        tests, late_joiners_of_a_full_world_play_after_two_round_trips_and_soon_hold_all_in_view);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
