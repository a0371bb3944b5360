/// Tests of the most frequent complaints about rollback games: freezes, and rewinds that cost too
/// much. Each prints the figure that answers the complaint.
#include "tests/scenario/prediction_check.h"
#include "tests/scenario/require.h"
#include "tests/sim/games.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_US = 16667, W = 64 };

static const struct hc_timeline *server_timeline(const struct scenario *scenario) {
    return hc_server_timeline(hc_sim_host(scenario->sim));
}

static hc_tick server_head(const struct scenario *scenario) {
    return hc_timeline_head(server_timeline(scenario));
}

// ---- Late datagrams -----------------------------------------------------------------------------

enum { LATE_LATENCY_MS = 70, LATE_HELD_MS = 50, LATE_CLIENTS = 4, LATE_PERCENT = 10 };

/// A scenario over links that delay some datagrams, all by the same time.
struct late {
    struct prediction_check *checks[LATE_CLIENTS];
    uint32_t sent, held;
};

static void draw_latency(struct late *late, struct hc_sim *sim, unsigned client, bool up) {
    bool hold = hc_random(hc_sim_config(sim)->seed, client, late->sent, up) % 100 < LATE_PERCENT;
    struct hc_network_sim_config link = hc_sim_link(LATE_LATENCY_MS + (hold ? LATE_HELD_MS : 0), 0);
    hc_sim_set_link(sim, client, up ? &link : NULL, up ? NULL : &link);
    late->sent++;
    late->held += hold;
}

static void hold_down(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    (void)bytes, (void)size;
    draw_latency(context, sim, client, false);
}

static void hold_up(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                    size_t size) {
    (void)bytes, (void)size;
    draw_latency(context, sim, client, true);
}

/// Checks every millisecond for `ms` which tick the `count` clients from `first` on show. Returns
/// the longest time without a new tick, in microseconds; fails the test if a tick goes back.
static uint64_t watch_screens(struct scenario *scenario, unsigned first, unsigned count,
                              uint32_t ms) {
    unsigned end = first + count;
    hc_tick shown[SCENARIO_CLIENTS_MAX] = {0};
    uint64_t since[SCENARIO_CLIENTS_MAX], longest = 0;
    for (unsigned i = first; i < end; i++)
        since[i] = hc_sim_now(scenario->sim);
    for (uint32_t n = 0; n < ms; n++) {
        hc_sim_run(scenario->sim, MS_US);
        uint64_t now = hc_sim_now(scenario->sim);
        for (unsigned i = first; i < end; i++) {
            hc_tick tick;
            uint32_t fraction;
            REQUIRE(hc_client_show_tick(hc_sim_client(scenario->sim, i),
                                        hc_sim_client_now(scenario->sim, i), &tick, &fraction),
                    "client %u shows nothing", i);
            REQUIRE(tick >= shown[i], "client %u went back from %u to %u", i, shown[i], tick);
            longest = now - since[i] > longest ? now - since[i] : longest;
            if (tick > shown[i])
                since[i] = now;
            shown[i] = tick;
        }
    }
    return longest;
}

START_TEST(a_tenth_of_the_datagrams_50_ms_late_freezes_no_client) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, LATE_CLIENTS, LATE_LATENCY_MS, 301);
    hc_sim_fix_delays(&config.client, 0, 0);
    struct scenario *scenario = scenario_create(&config);
    struct late late = {.sent = 0};
    for (unsigned i = 0; i < LATE_CLIENTS; i++)
        late.checks[i] = prediction_check_create(scenario, i);
    hc_sim_observe(scenario->sim,
                   &(struct hc_sim_hooks){.host_sent = hold_down, .client_sent = hold_up}, &late);
    ck_assert(hc_sim_join_all(scenario->sim));
    uint64_t longest = watch_screens(scenario, 0, LATE_CLIENTS, 20000);
    printf("%u of %u datagrams %d ms late: ticks shown at most %.1f ms apart\n", late.held,
           late.sent, LATE_HELD_MS, (double)longest / 1000);
    ck_assert_uint_gt(late.held * 12, late.sent);
    ck_assert_uint_le(longest, 2 * TICK_US);
    for (unsigned i = 0; i < LATE_CLIENTS; i++) {
        struct prediction_count count = prediction_check_count(late.checks[i]);
        ck_assert_uint_gt(count.predicted, 19 * 60);
        ck_assert_msg(count.predicted_wrong == 0 && count.looks_wrong == 0, "wrong first at %u",
                      count.first_wrong);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(scenario->sim, i))->stalls, 0);
    }
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->inputs_forced, 0);
    // The same watch finds a freeze of the server.
    hc_sim_freeze_host(scenario->sim, hc_sim_now(scenario->sim) + 2 * SECOND_US);
    longest = watch_screens(scenario, 0, LATE_CLIENTS, 4000);
    printf("with a server that stands still for 2 s: %.1f ms apart\n", (double)longest / 1000);
    ck_assert_uint_gt(longest, 500 * MS_US);
    for (unsigned i = 0; i < LATE_CLIENTS; i++)
        prediction_check_destroy(late.checks[i]);
    scenario_destroy(scenario);
}
END_TEST

// ---- Stalls longer than the history -------------------------------------------------------------

enum { STALL_CLIENTS = 3, STALL_LATENCY_MS = 60, STALL_RTT_TICKS = 8, STALL_US = 2500000 };

/// Whether the client plays, predicts the server tick, and has a snapshot as new as the links
/// allow.
static bool in_step(const struct scenario *scenario, unsigned client) {
    const struct hc_client *core = hc_sim_client(scenario->sim, client);
    hc_tick head = hc_timeline_head(hc_client_timeline(core)), server = server_head(scenario);
    hc_tick shown, as_of;
    return hc_client_state(core) == HC_CLIENT_PLAYING && head + 1 >= server && head <= server + 1 &&
           hc_client_snapshot(core, &shown, &as_of) && shown + STALL_RTT_TICKS + 4 >= server;
}

/// Runs 6 s; returns the ticks after which all clients were in step and remained so.
static uint32_t ticks_to_recover(struct scenario *scenario) {
    uint32_t recovered = 0;
    for (uint32_t n = 1; n <= 360; n++) {
        hc_sim_run(scenario->sim, TICK_US);
        for (unsigned i = 0; i < STALL_CLIENTS; i++)
            if (!in_step(scenario, i))
                recovered = n;
    }
    return recovered;
}

/// Fails the test unless each input took effect as stamped, or was forced and its client knows
/// that. Returns the count of forced ones.
static uint32_t check_each_input(const struct scenario *scenario, unsigned client) {
    const struct stamped_inputs *stamps = scenario->stamps[client][0];
    const uint16_t size = record_world(scenario->record)->game->input_size;
    hc_player player = hc_client_player(hc_sim_client(scenario->sim, client), 0);
    hc_tick first = hc_tick_max(scenario->joined[player] + 1, stamped_first(stamps));
    uint32_t forced = 0;
    for (hc_tick tick = first; tick < record_final(scenario->record); tick++) {
        bool was_forced = record_slot(scenario->record, player, tick) == HC_SLOT_FORCED;
        forced += was_forced;
        REQUIRE(stamped_retracted(stamps, tick) == was_forced, "client %u retracted %sinput %u",
                client, was_forced ? "no " : "", tick);
        if (was_forced)
            continue;
        const uint8_t *stamped = stamped_input(stamps, tick);
        REQUIRE(stamped != NULL, "the input at %u was not stamped", tick);
        ck_assert_mem_eq(record_inputs(scenario->record, tick) + (size_t)player * size, stamped,
                         size);
    }
    return forced;
}

/// A scenario of a few clients, `seconds` after all joined.
static struct scenario *begin_stall(uint32_t seconds, uint64_t seed) {
    struct hc_sim_config config =
        hc_sim_config_players(&hc_arena, STALL_CLIENTS, STALL_LATENCY_MS, seed);
    struct scenario *scenario = scenario_create(&config);
    ck_assert_uint_eq(config.host.history, W);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, (uint64_t)seconds * SECOND_US);
    for (unsigned i = 0; i < STALL_CLIENTS; i++)
        ck_assert(seconds == 0 || in_step(scenario, i));
    return scenario;
}

/// After a stall of `who`: fails the test unless all are in step again in time and each input took
/// effect or was forced.
static void end_stall(struct scenario *scenario, const char *who) {
    uint32_t recovered = ticks_to_recover(scenario);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    uint32_t forced = 0;
    for (unsigned i = 0; i < STALL_CLIENTS; i++) {
        forced += check_each_input(scenario, i);
        scenario_check_final(scenario, i);
    }
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    printf("%s frozen for %d ms: in step %u ticks later, %u inputs forced, %lu lost\n", who,
           STALL_US / MS_US, recovered, forced, (unsigned long)stats->inputs_lost);
    ck_assert_uint_le(recovered, STALL_RTT_TICKS + W + 60);
    ck_assert_uint_eq(stats->inputs_lost, 0);
    scenario_check_hashes(scenario);
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}

static void freeze_client(uint32_t seconds, uint64_t seed, const char *who) {
    struct scenario *scenario = begin_stall(seconds, seed);
    uint64_t thaw = hc_sim_now(scenario->sim) + STALL_US;
    hc_sim_freeze_client(scenario->sim, 1, thaw);
    hc_sim_run_until(scenario->sim, thaw);
    for (unsigned i = 0; i < STALL_CLIENTS; i++)
        ck_assert(in_step(scenario, i) == (i != 1));
    end_stall(scenario, who);
}

START_TEST(a_client_that_freezes_for_longer_than_the_history_recovers_by_itself) {
    freeze_client(3, 311, "a client");
}
END_TEST

START_TEST(a_client_that_freezes_as_soon_as_it_has_joined_recovers_by_itself) {
    freeze_client(0, 313, "a client that has just joined,");
}
END_TEST

START_TEST(a_server_that_freezes_for_longer_than_the_history_recovers_by_itself) {
    struct scenario *scenario = begin_stall(3, 312);
    uint64_t thaw = hc_sim_now(scenario->sim) + STALL_US;
    hc_sim_freeze_host(scenario->sim, thaw);
    hc_sim_run_until(scenario->sim, thaw - MS_US);
    for (unsigned i = 0; i < STALL_CLIENTS; i++)
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_STALLED);
    end_stall(scenario, "the server");
}
END_TEST

// ---- The depth of a rewind ----------------------------------------------------------------------

/// The ticks that the server has resimulated.
struct depths {
    struct hc_histogram depth; ///< of each tick with a rewind
    uint64_t resimulated;      ///< ticks, up to the newest one
    uint32_t most, ticks;      ///< resimulated for one new tick; new ticks
};

static void note_depth(void *context, struct hc_sim *sim) {
    struct depths *depths = context;
    const struct hc_timeline_stats *stats = hc_timeline_stats(hc_server_timeline(hc_sim_host(sim)));
    uint32_t again = (uint32_t)(stats->resimulated_ticks - depths->resimulated);
    depths->resimulated = stats->resimulated_ticks;
    depths->most = again > depths->most ? again : depths->most;
    depths->ticks++;
    if (stats->depth > 0)
        hc_histogram_record(&depths->depth, stats->depth);
}

/// Resets the counts.
static void restart_depths(const struct scenario *scenario, struct depths *depths) {
    *depths = (struct depths){.resimulated =
                                  hc_timeline_stats(server_timeline(scenario))->resimulated_ticks};
}

/// Counts from now on.
static void count_depths(struct scenario *scenario, struct depths *depths) {
    restart_depths(scenario, depths);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.host_ticked = note_depth}, depths);
}

static void check_depths(uint32_t latency_ms, uint32_t delay, uint64_t seed) {
    static struct depths depths;
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 8, latency_ms, seed);
    hc_sim_fix_delays(&config.client, delay, 0);
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    count_depths(scenario, &depths);
    uint64_t before = depths.resimulated;
    hc_sim_run(scenario->sim, 10 * SECOND_US);
    uint32_t latency = (latency_ms * 60 + 999) / 1000;
    uint32_t explained = latency + 1 > delay ? latency + 1 - delay : 0;
    uint64_t least = hc_histogram_percentile(&depths.depth, 0), most = depths.depth.max;
    printf("%u ms, D %u: %lu rewinds in %u ticks, depth %lu to %lu of %d, %.2f ticks resimulated a "
           "tick\n",
           latency_ms, delay, (unsigned long)depths.depth.count, depths.ticks, (unsigned long)least,
           (unsigned long)most, W, (double)(depths.resimulated - before) / depths.ticks);
    ck_assert_uint_ge(depths.ticks, 599);
    ck_assert_uint_le(most, explained);
    ck_assert_uint_le(depths.most, explained);
    if (latency > delay + 1) { // else hardly any input is late
        ck_assert_uint_gt(depths.depth.count, 100);
        ck_assert_uint_ge(most, latency - delay - 1);
    }
    scenario_destroy(scenario);
}

START_TEST(rewinds_are_as_deep_as_the_latency_explains_and_no_deeper) {
    static const uint32_t latencies_ms[] = {20, 50, 100, 150};
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t delay = 0; delay <= 3; delay += 3)
            check_depths(latencies_ms[i], delay, 321 + i);
}
END_TEST

START_TEST(a_server_that_redoes_its_past_at_every_tick_sends_the_same_datagrams) {
    static struct depths depths;
    uint64_t traces[2];
    char why[200];
    struct hc_sim_config beyond = hc_sim_config_players(&hc_arena, 4, 100, 326);
    beyond.host.force_rewind = W + 1;
    ck_assert(hc_sv_host_config_check(&beyond.host, NULL, why, sizeof why) != NULL);
    ck_assert_str_eq(why, "force_rewind is 65, but must be in [0, 64]");
    for (uint32_t run = 0; run < 2; run++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 4, 100, 326);
        config.up.loss_ppm = config.down.loss_ppm = 50000;
        config.trace_worlds = true;
        config.host.force_rewind = run == 0 ? 0 : W;
        struct scenario *scenario = scenario_create(&config);
        ck_assert(hc_sim_join_all(scenario->sim));
        hc_sim_run(scenario->sim, 2 * SECOND_US);
        count_depths(scenario, &depths);
        hc_sim_run(scenario->sim, 5 * SECOND_US);
        const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
        printf("force_rewind %u: depth %lu to %lu, %u ticks at most resimulated a tick\n",
               config.host.force_rewind, (unsigned long)hc_histogram_percentile(&depths.depth, 0),
               (unsigned long)depths.depth.max, depths.most);
        if (run == 1) {
            ck_assert_uint_eq(depths.depth.count, depths.ticks);
            ck_assert_uint_eq(hc_histogram_percentile(&depths.depth, 0), W);
            ck_assert_uint_eq(depths.most, W);
            ck_assert_uint_eq(stats->rewind_depth.max, W);
        }
        traces[run] = hc_sim_trace(scenario->sim);
        record_check_plain(scenario->record);
        scenario_destroy(scenario);
    }
    ck_assert_uint_eq(traces[0], traces[1]);
}
END_TEST

// ---- Traffic ------------------------------------------------------------------------------------

enum { TRAFFIC_CLIENTS = 8, TRAFFIC_S = 10 };

/// Datagrams and their bytes in one direction, of all clients.
struct traffic {
    uint64_t datagrams, bytes;
};

static struct traffic up_of(const struct scenario *scenario) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    return (struct traffic){stats->datagrams_in, stats->bytes_in};
}

static struct traffic down_of(const struct scenario *scenario) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    return (struct traffic){stats->datagrams_out, stats->bytes_out};
}

/// Measures the mean traffic of a client, in TRAFFIC_S seconds.
static void measure_traffic(uint32_t latency_ms, struct traffic *up, struct traffic *down) {
    struct hc_sim_config config =
        hc_sim_config_players(&hc_arena, TRAFFIC_CLIENTS, latency_ms, 331);
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    struct traffic up_before = up_of(scenario), down_before = down_of(scenario);
    hc_sim_run(scenario->sim, (uint64_t)TRAFFIC_S * SECOND_US);
    up->datagrams = (up_of(scenario).datagrams - up_before.datagrams) / TRAFFIC_CLIENTS;
    up->bytes = (up_of(scenario).bytes - up_before.bytes) / TRAFFIC_CLIENTS;
    down->datagrams = (down_of(scenario).datagrams - down_before.datagrams) / TRAFFIC_CLIENTS;
    down->bytes = (down_of(scenario).bytes - down_before.bytes) / TRAFFIC_CLIENTS;
    printf("%3u ms one way: %.1f datagrams and %.0f bytes up, %.1f and %.0f down, per client and "
           "second\n",
           latency_ms, (double)up->datagrams / TRAFFIC_S, (double)up->bytes / TRAFFIC_S,
           (double)down->datagrams / TRAFFIC_S, (double)down->bytes / TRAFFIC_S);
    scenario_destroy(scenario);
}

static void check_same_number(const struct traffic *a, const struct traffic *b) {
    uint64_t apart =
        a->datagrams > b->datagrams ? a->datagrams - b->datagrams : b->datagrams - a->datagrams;
    ck_assert_uint_le(apart * 50, a->datagrams);
}

/// Deltas against baselines of a round trip ago are larger, so are the inputs since the snapshot's
/// tick, and events are listed until they are acked: but at most 2.75 times down, and 2.1 times in
/// both directions.
START_TEST(traffic_does_not_multiply_with_latency) {
    static const uint32_t latencies_ms[] = {0, 100, 300};
    struct traffic up[3], down[3];
    for (unsigned i = 0; i < 3; i++) {
        measure_traffic(latencies_ms[i], &up[i], &down[i]);
        check_same_number(&up[0], &up[i]);
        check_same_number(&down[0], &down[i]);
        ck_assert_uint_gt(down[0].bytes, 0);
        ck_assert_uint_le(down[i].bytes * 100, down[0].bytes * 275);
        ck_assert_uint_le(down[i].bytes / TRAFFIC_S, 10000);
        ck_assert_uint_le(10 * (up[i].bytes + down[i].bytes), 21 * (up[0].bytes + down[0].bytes));
    }
}
END_TEST

// ---- One match after another --------------------------------------------------------------------

enum { MATCH_RATE = 20, MATCH_PLAYERS = 4, MATCH_LATENCY_MS = 120 };

static const struct hc_arena_referee *referee_at(const struct scenario *scenario, hc_tick tick) {
    return (const struct hc_arena_referee *)record_states(scenario->record, tick);
}

/// Runs until the referee is in this match and phase; fails the test after `seconds`.
static void run_to_phase(struct scenario *scenario, uint8_t match, enum hc_arena_phase phase,
                         uint32_t seconds) {
    uint64_t end = hc_sim_now(scenario->sim) + (uint64_t)seconds * SECOND_US;
    for (;;) {
        const struct hc_arena_referee *referee =
            (const struct hc_arena_referee *)hc_timeline_states(server_timeline(scenario),
                                                                server_head(scenario));
        if (referee->match == match && referee->phase == phase)
            return;
        ck_assert_msg(hc_sim_now(scenario->sim) < end, "match %u, phase %d never came", match,
                      phase);
        hc_sim_run(scenario->sim, 50 * MS_US);
    }
}

/// The first tick of the second match in this phase.
static hc_tick second_match(const struct scenario *scenario, enum hc_arena_phase phase) {
    hc_tick tick = 1;
    while (referee_at(scenario, tick)->match != 1 || referee_at(scenario, tick)->phase != phase)
        tick++;
    return tick;
}

/// Fails the test if a shot of the first match is alive when the second is announced, or if a
/// player has a score when it begins.
static void check_fresh(const struct scenario *scenario) {
    const struct hc_world *world = record_world(scenario->record);
    const uint8_t *announced =
        record_presence(scenario->record, second_match(scenario, HC_ARENA_WAITING));
    hc_tick tick = second_match(scenario, HC_ARENA_PLAYING);
    const uint8_t *presence = record_presence(scenario->record, tick);
    const uint8_t *states = record_states(scenario->record, tick);
    for (uint32_t e = 0; e < world->entities; e++) {
        if (world->kind_of[e] == HC_ARENA_KIND_SHOT)
            ck_assert_uint_eq(announced[e], HC_ABSENT);
        if (world->kind_of[e] != HC_ARENA_KIND_PLAYER || presence[e] != HC_ALIVE)
            continue;
        struct hc_arena_player player;
        memcpy(&player, states + (size_t)e * world->stride, sizeof player);
        ck_assert_uint_eq(player.match, 1);
        ck_assert_uint_eq(player.score + player.deaths, 0);
    }
}

/// A scenario of slow ticks in the middle of its first match, whose rewinds are counted.
static struct scenario *begin_match(unsigned clients, uint64_t seed, struct depths *depths) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, clients, MATCH_LATENCY_MS, seed);
    config.host.tick_rate = MATCH_RATE;
    config.host.clients = MATCH_PLAYERS;
    hc_sim_fix_delays(&config.client, 0, 0);
    struct scenario *scenario = scenario_create(&config);
    for (unsigned i = 0; i < MATCH_PLAYERS; i++)
        ck_assert(hc_sim_connect(scenario->sim, i));
    run_to_phase(scenario, 0, HC_ARENA_PLAYING, 10);
    hc_sim_run(scenario->sim, 5 * SECOND_US);
    count_depths(scenario, depths);
    hc_sim_run(scenario->sim, 30 * SECOND_US);
    return scenario;
}

/// Fails the test unless the clients from `first` on play the second match like the first.
static void end_match(struct scenario *scenario, unsigned first, const struct depths *one,
                      struct depths *two, uint64_t longest, const char *who) {
    restart_depths(scenario, two);
    hc_sim_run(scenario->sim, 30 * SECOND_US);
    printf("%s: %lu rewinds in %u ticks of the first match, %lu in %u of the second, depth at most "
           "%lu and %lu; ticks shown at most %.1f ms apart when it began\n",
           who, (unsigned long)one->depth.count, one->ticks, (unsigned long)two->depth.count,
           two->ticks, (unsigned long)one->depth.max, (unsigned long)two->depth.max,
           (double)longest / 1000);
    ck_assert_uint_gt(one->depth.count, 0);
    ck_assert_uint_gt(two->depth.count, 0);
    ck_assert_uint_eq(two->depth.max, one->depth.max);
    ck_assert_uint_le(two->most, one->depth.max);
    ck_assert_uint_le(longest, 2 * SECOND_US / MATCH_RATE);
    for (unsigned i = first; i < first + MATCH_PLAYERS; i++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(scenario->sim, i))->stalls, 0);
    }
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    for (unsigned i = first; i < first + MATCH_PLAYERS; i++)
        scenario_check_final(scenario, i);
    check_fresh(scenario);
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}

START_TEST(the_next_match_begins_without_a_freeze) {
    static struct depths one, two;
    struct scenario *scenario = begin_match(MATCH_PLAYERS, 341, &two);
    one = two;
    run_to_phase(scenario, 0, HC_ARENA_OVER, 120);
    uint64_t longest = watch_screens(scenario, 0, MATCH_PLAYERS, 9000);
    run_to_phase(scenario, 1, HC_ARENA_PLAYING, 1);
    end_match(scenario, 0, &one, &two, longest, "the same players");
}
END_TEST

/// Fails the test if an input of a slot's previous player would be predicted for the new one.
static void check_no_old_input(void *context, struct hc_sim *sim) {
    const struct scenario *scenario = context;
    const struct hc_timeline *timeline = server_timeline(scenario);
    hc_tick head = hc_timeline_head(timeline), known;
    uint8_t input[HC_INPUT_MAX];
    (void)sim;
    for (hc_player p = 0; p < MATCH_PLAYERS; p++)
        if (scenario->joined[p] != HC_NO_TICK && head > scenario->joined[p] &&
            hc_timeline_newest_input(timeline, p, head, &known, input))
            REQUIRE(known >= scenario->joined[p], "player %u, of %u, has an input of %u", p,
                    scenario->joined[p], known);
}

START_TEST(new_players_in_all_slots_begin_without_a_freeze) {
    static struct depths one, two;
    struct scenario *scenario = begin_match(2 * MATCH_PLAYERS, 342, &two);
    one = two;
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.host_ticked = check_no_old_input},
                   scenario);
    hc_sim_run(scenario->sim, 75 * SECOND_US);
    for (unsigned i = 0; i < MATCH_PLAYERS; i++)
        hc_sim_leave(scenario->sim, i);
    // The inputs of the old players' last three seconds stay in the ring meanwhile.
    hc_sim_run(scenario->sim, 300 * MS_US);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(scenario->sim)), 0);
    for (unsigned i = MATCH_PLAYERS; i < 2 * MATCH_PLAYERS; i++)
        ck_assert(hc_sim_connect(scenario->sim, i));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    uint64_t longest = watch_screens(scenario, MATCH_PLAYERS, MATCH_PLAYERS, 18000);
    run_to_phase(scenario, 1, HC_ARENA_PLAYING, 1);
    end_match(scenario, MATCH_PLAYERS, &one, &two, longest, "others");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reports");
    TCase *tests = tcase_create("reports");
    tcase_add_test(tests, a_tenth_of_the_datagrams_50_ms_late_freezes_no_client);
    tcase_add_test(tests, a_client_that_freezes_for_longer_than_the_history_recovers_by_itself);
    tcase_add_test(tests, a_client_that_freezes_as_soon_as_it_has_joined_recovers_by_itself);
    tcase_add_test(tests, a_server_that_freezes_for_longer_than_the_history_recovers_by_itself);
    tcase_add_test(tests, a_server_that_redoes_its_past_at_every_tick_sends_the_same_datagrams);
    tcase_add_test(tests, the_next_match_begins_without_a_freeze);
    tcase_add_test(tests, new_players_in_all_slots_begin_without_a_freeze);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, rewinds_are_as_deep_as_the_latency_explains_and_no_deeper);
    tcase_add_test(long_plays, traffic_does_not_multiply_with_latency);
    return run_suite(suite);
}
