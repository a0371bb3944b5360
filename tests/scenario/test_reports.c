/// What players of rollback games complain of most: freezes, and a past that costs too much. Each
/// complaint is played through, and the figure that answers it is printed.
#include "tests/scenario/alone.h"
#include "tests/scenario/require.h"
#include "tests/sim/lanes.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_US = 16667, W = 64 };

static const struct hc_timeline *server_timeline(const struct play *play) {
    return hc_sv_host_timeline(hc_sim_host(play->sim));
}

static hc_tick server_head(const struct play *play) {
    return hc_timeline_head(server_timeline(play));
}

// ---- Late datagrams -----------------------------------------------------------------------------

enum { LATE_LATENCY_MS = 70, LATE_HELD_MS = 50, LATE_CLIENTS = 4, LATE_PERCENT = 10 };

/// A play over links that hold some datagrams back, all of them by the same time.
struct late {
    struct alone *alone[LATE_CLIENTS];
    uint32_t sent, held;
};

static void draw_latency(struct play *play, unsigned client, bool up) {
    struct late *late = play->context;
    bool hold = hc_random(play->seed, client, late->sent, up) % 100 < LATE_PERCENT;
    struct hc_network_sim_config link = play_link(LATE_LATENCY_MS + (hold ? LATE_HELD_MS : 0), 0);
    hc_sim_set_link(play->sim, client, up ? &link : NULL, up ? NULL : &link);
    late->sent++;
    late->held += hold;
}

static void hold_down(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    (void)bytes, (void)size;
    draw_latency(play, client, false);
}

static void hold_up(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    (void)bytes, (void)size;
    draw_latency(play, client, true);
}

static void compare_late(struct play *play, unsigned client) {
    struct late *late = play->context;
    alone_compare(late->alone[client], play);
}

/// Looks every millisecond at what the `count` clients from `first` on show, for `ms`. Returns the
/// longest time without a new tick, in microseconds, over all of them; none may ever go back.
static uint64_t watch_screens(struct play *play, unsigned first, unsigned count, uint32_t ms) {
    unsigned end = first + count;
    hc_tick shown[PLAY_CLIENTS_MAX] = {0};
    uint64_t since[PLAY_CLIENTS_MAX], longest = 0;
    for (unsigned i = first; i < end; i++)
        since[i] = hc_sim_now(play->sim);
    for (uint32_t n = 0; n < ms; n++) {
        hc_sim_run(play->sim, PLAY_MS);
        uint64_t now = hc_sim_now(play->sim);
        for (unsigned i = first; i < end; i++) {
            hc_tick tick;
            uint32_t fraction;
            REQUIRE(hc_client_show_tick(hc_sim_client(play->sim, i),
                                        hc_sim_client_now(play->sim, i), &tick, &fraction),
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

START_TEST(a_tenth_of_the_datagrams_coming_50_ms_later_freezes_nothing) {
    struct hc_sim_config config = play_config(&lanes, LATE_CLIENTS, LATE_LATENCY_MS, 301);
    config.client.input_delay = 0;
    struct play *play = play_create(&config);
    struct late late = {.sent = 0};
    for (unsigned i = 0; i < LATE_CLIENTS; i++)
        late.alone[i] = alone_create(play, i);
    play->context = &late;
    play->client_changed = compare_late;
    play->host_sent = hold_down;
    play->client_sent = hold_up;
    play_join_all(play);
    uint64_t longest = watch_screens(play, 0, LATE_CLIENTS, 20000);
    printf("%u of %u datagrams %d ms late: ticks shown at most %.1f ms apart\n", late.held,
           late.sent, LATE_HELD_MS, (double)longest / 1000);
    ck_assert_uint_gt(late.held * 12, late.sent);
    ck_assert_uint_le(longest, 2 * TICK_US);
    for (unsigned i = 0; i < LATE_CLIENTS; i++) {
        struct alone_count count = alone_count(late.alone[i]);
        ck_assert_uint_gt(count.predicted, 19 * 60);
        ck_assert_msg(count.predicted_wrong == 0 && count.looks_wrong == 0, "wrong first at %u",
                      count.first_wrong);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(play->sim, i))->stalls, 0);
    }
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->inputs_forced, 0);
    // The same watch does see a freeze: one of the server's.
    hc_sim_freeze_host(play->sim, hc_sim_now(play->sim) + 2 * PLAY_S);
    longest = watch_screens(play, 0, LATE_CLIENTS, 4000);
    printf("with a server that stands still for 2 s: %.1f ms apart\n", (double)longest / 1000);
    ck_assert_uint_gt(longest, 500 * PLAY_MS);
    for (unsigned i = 0; i < LATE_CLIENTS; i++)
        alone_destroy(late.alone[i]);
    play_destroy(play);
}
END_TEST

// ---- Stalls longer than the history -------------------------------------------------------------

enum { STALL_CLIENTS = 3, STALL_LATENCY_MS = 60, STALL_RTT_TICKS = 8, STALL_US = 2500000 };

/// Plays, predicts the server's tick, and has been shown a tick as new as the links allow.
static bool in_step(const struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    hc_tick head = hc_timeline_head(hc_client_timeline(core)), server = server_head(play);
    hc_tick shown, as_of;
    return hc_client_state(core) == HC_CLIENT_PLAYING && head + 1 >= server && head <= server + 1 &&
           hc_client_snapshot(core, &shown, &as_of) && shown + STALL_RTT_TICKS + 4 >= server;
}

/// Runs on for 6 s; the ticks after which all clients were in step and remained so.
static uint32_t ticks_to_recover(struct play *play) {
    uint32_t recovered = 0;
    for (uint32_t n = 1; n <= 360; n++) {
        hc_sim_run(play->sim, TICK_US);
        for (unsigned i = 0; i < STALL_CLIENTS; i++)
            if (!in_step(play, i))
                recovered = n;
    }
    return recovered;
}

/// Each input was taken as it was stamped, or forced and its client told so. Returns the forced.
static uint32_t check_each_input(const struct play *play, unsigned client) {
    const struct stamps *stamps = play->stamps[client][0];
    const uint16_t size = ledger_world(play->sent_log)->game->input_size;
    hc_player player = hc_client_player(hc_sim_client(play->sim, client), 0);
    hc_tick first = hc_tick_max(play->joined[player] + 1, stamps_first(stamps));
    uint32_t forced = 0;
    for (hc_tick tick = first; tick < ledger_final(play->sent_log); tick++) {
        bool was_forced = ledger_slot(play->sent_log, player, tick) == HC_SLOT_FORCED;
        forced += was_forced;
        REQUIRE(stamps_retracted(stamps, tick) == was_forced, "client %u was %stold of %u", client,
                was_forced ? "not " : "", tick);
        if (was_forced)
            continue;
        const uint8_t *stamped = stamps_input(stamps, tick);
        REQUIRE(stamped != NULL, "an input at %u that nobody stamped", tick);
        ck_assert_mem_eq(ledger_inputs(play->sent_log, tick) + (size_t)player * size, stamped,
                         size);
    }
    return forced;
}

/// A play of a few clients that has gone on for `seconds` since all joined.
static struct play *begin_stall(uint32_t seconds, uint64_t seed) {
    struct hc_sim_config config = play_config(&hc_arena, STALL_CLIENTS, STALL_LATENCY_MS, seed);
    struct play *play = play_create(&config);
    ck_assert_uint_eq(config.host.history, W);
    play_join_all(play);
    hc_sim_run(play->sim, (uint64_t)seconds * PLAY_S);
    for (unsigned i = 0; i < STALL_CLIENTS; i++)
        ck_assert(seconds == 0 || in_step(play, i));
    return play;
}

/// After a stall of `who`: everybody is in step again in time, and each input is accounted for.
static void end_stall(struct play *play, const char *who) {
    uint32_t recovered = ticks_to_recover(play);
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    uint32_t forced = 0;
    for (unsigned i = 0; i < STALL_CLIENTS; i++) {
        forced += check_each_input(play, i);
        play_check_final(play, i);
    }
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
    printf("%s frozen for %d ms: in step %u ticks later, %u inputs forced and told, %lu lost\n",
           who, STALL_US / PLAY_MS, recovered, forced, (unsigned long)stats->inputs_lost);
    ck_assert_uint_le(recovered, STALL_RTT_TICKS + W + 60);
    ck_assert_uint_eq(stats->inputs_lost, 0);
    play_check_hashes(play);
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}

static void freeze_client(uint32_t seconds, uint64_t seed, const char *who) {
    struct play *play = begin_stall(seconds, seed);
    uint64_t thaw = hc_sim_now(play->sim) + STALL_US;
    hc_sim_freeze_client(play->sim, 1, thaw);
    hc_sim_run_until(play->sim, thaw);
    for (unsigned i = 0; i < STALL_CLIENTS; i++)
        ck_assert(in_step(play, i) == (i != 1));
    end_stall(play, who);
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
    struct play *play = begin_stall(3, 312);
    uint64_t thaw = hc_sim_now(play->sim) + STALL_US;
    hc_sim_freeze_host(play->sim, thaw);
    hc_sim_run_until(play->sim, thaw - PLAY_MS);
    for (unsigned i = 0; i < STALL_CLIENTS; i++)
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_STALLED);
    end_stall(play, "the server");
}
END_TEST

// ---- The depth of a rewind ----------------------------------------------------------------------

/// What the server has resimulated, tick by tick.
struct depths {
    struct hc_histogram depth; ///< of each tick with a rewind
    uint64_t resimulated;      ///< ticks, as of the newest look
    uint32_t most, ticks;      ///< resimulated for one new tick; new ticks
};

static void note_depth(struct play *play) {
    struct depths *depths = play->context;
    const struct hc_timeline_stats *stats = hc_timeline_stats(server_timeline(play));
    uint32_t again = (uint32_t)(stats->resimulated_ticks - depths->resimulated);
    depths->resimulated = stats->resimulated_ticks;
    depths->most = again > depths->most ? again : depths->most;
    depths->ticks++;
    if (stats->depth > 0)
        hc_histogram_record(&depths->depth, stats->depth);
}

/// Begins to count anew.
static void count_depths(struct play *play, struct depths *depths) {
    *depths =
        (struct depths){.resimulated = hc_timeline_stats(server_timeline(play))->resimulated_ticks};
    play->context = depths;
    play->host_ticked = note_depth;
}

static void check_depths(uint32_t latency_ms, uint32_t delay, uint64_t seed) {
    static struct depths depths;
    struct hc_sim_config config = play_config(&hc_arena, 8, latency_ms, seed);
    config.client.input_delay = delay;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 2 * PLAY_S);
    count_depths(play, &depths);
    uint64_t before = depths.resimulated;
    hc_sim_run(play->sim, 10 * PLAY_S);
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
    play_destroy(play);
}

START_TEST(rewinds_are_as_deep_as_the_latency_explains_and_no_deeper) {
    static const uint32_t latencies_ms[] = {20, 50, 100, 150};
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t delay = 0; delay <= 3; delay += 3)
            check_depths(latencies_ms[i], delay, 321 + i);
}
END_TEST

START_TEST(a_server_that_repeats_its_past_at_every_tick_sends_what_it_would_have_sent) {
    static struct depths depths;
    uint64_t traces[2];
    char why[200];
    struct hc_sim_config beyond = play_config(&hc_arena, 4, 100, 326);
    beyond.host.force_rewind = W + 1;
    ck_assert(hc_sv_host_config_check(&beyond.host, why, sizeof why) != NULL);
    ck_assert_str_eq(why, "force_rewind is 65, but must be in [0, 64]");
    for (uint32_t run = 0; run < 2; run++) {
        struct hc_sim_config config = play_config(&hc_arena, 4, 100, 326);
        config.up.loss_ppm = config.down.loss_ppm = 50000;
        config.host.force_rewind = run == 0 ? 0 : W;
        struct play *play = play_create(&config);
        play_join_all(play);
        hc_sim_run(play->sim, 2 * PLAY_S);
        count_depths(play, &depths);
        hc_sim_run(play->sim, 5 * PLAY_S);
        const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
        printf("force_rewind %u: depth %lu to %lu, %u ticks at most resimulated a tick\n",
               config.host.force_rewind, (unsigned long)hc_histogram_percentile(&depths.depth, 0),
               (unsigned long)depths.depth.max, depths.most);
        if (run == 1) {
            ck_assert_uint_eq(depths.depth.count, depths.ticks);
            ck_assert_uint_eq(hc_histogram_percentile(&depths.depth, 0), W);
            ck_assert_uint_eq(depths.most, W);
            ck_assert_uint_eq(stats->rewind_depth.max, W);
        }
        traces[run] = hc_sim_trace(play->sim);
        ledger_check_plain(play->sent_log);
        play_destroy(play);
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

static struct traffic up_of(const struct play *play) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
    return (struct traffic){stats->datagrams_in, stats->bytes_in};
}

static struct traffic down_of(const struct play *play) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
    return (struct traffic){stats->datagrams_out, stats->bytes_out};
}

/// What a client sends and receives in the mean, in TRAFFIC_S seconds.
static void measure_traffic(uint32_t latency_ms, struct traffic *up, struct traffic *down) {
    struct hc_sim_config config = play_config(&hc_arena, TRAFFIC_CLIENTS, latency_ms, 331);
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    struct traffic up_before = up_of(play), down_before = down_of(play);
    hc_sim_run(play->sim, (uint64_t)TRAFFIC_S * PLAY_S);
    up->datagrams = (up_of(play).datagrams - up_before.datagrams) / TRAFFIC_CLIENTS;
    up->bytes = (up_of(play).bytes - up_before.bytes) / TRAFFIC_CLIENTS;
    down->datagrams = (down_of(play).datagrams - down_before.datagrams) / TRAFFIC_CLIENTS;
    down->bytes = (down_of(play).bytes - down_before.bytes) / TRAFFIC_CLIENTS;
    printf("%3u ms one way: %.1f datagrams and %.0f bytes up, %.1f and %.0f down, per client and "
           "second\n",
           latency_ms, (double)up->datagrams / TRAFFIC_S, (double)up->bytes / TRAFFIC_S,
           (double)down->datagrams / TRAFFIC_S, (double)down->bytes / TRAFFIC_S);
    play_destroy(play);
}

static void check_same_number(const struct traffic *a, const struct traffic *b) {
    uint64_t apart =
        a->datagrams > b->datagrams ? a->datagrams - b->datagrams : b->datagrams - a->datagrams;
    ck_assert_uint_le(apart * 50, a->datagrams);
}

/// What is told against what the client acknowledged a round trip ago takes more to tell, and so do
/// the inputs since the tick shown: but no more than two and a half times as much, whatever the
/// trip, and in all no more than twice as much.
START_TEST(traffic_does_not_multiply_with_latency) {
    static const uint32_t latencies_ms[] = {0, 100, 300};
    struct traffic up[3], down[3];
    for (unsigned i = 0; i < 3; i++) {
        measure_traffic(latencies_ms[i], &up[i], &down[i]);
        check_same_number(&up[0], &up[i]);
        check_same_number(&down[0], &down[i]);
        ck_assert_uint_gt(down[0].bytes, 0);
        ck_assert_uint_le(down[i].bytes * 10, down[0].bytes * 25);
        ck_assert_uint_le(down[i].bytes / TRAFFIC_S, 10000);
        ck_assert_uint_le(up[i].bytes + down[i].bytes, 2 * (up[0].bytes + down[0].bytes));
    }
}
END_TEST

// ---- One match after another --------------------------------------------------------------------

enum { MATCH_RATE = 20, MATCH_PLAYERS = 4, MATCH_LATENCY_MS = 120 };

static const struct hc_arena_referee *referee_at(const struct play *play, hc_tick tick) {
    return (const struct hc_arena_referee *)ledger_states(play->sent_log, tick);
}

/// Runs until the referee says so; fails the test after `seconds`.
static void run_to_phase(struct play *play, uint8_t match, enum hc_arena_phase phase,
                         uint32_t seconds) {
    uint64_t end = hc_sim_now(play->sim) + (uint64_t)seconds * PLAY_S;
    for (;;) {
        const struct hc_arena_referee *referee =
            (const struct hc_arena_referee *)hc_timeline_states(server_timeline(play),
                                                                server_head(play));
        if (referee->match == match && referee->phase == phase)
            return;
        ck_assert_msg(hc_sim_now(play->sim) < end, "match %u, phase %d never came", match, phase);
        hc_sim_run(play->sim, 50 * PLAY_MS);
    }
}

/// The first tick of the second match in this phase.
static hc_tick second_match(const struct play *play, enum hc_arena_phase phase) {
    hc_tick tick = 1;
    while (referee_at(play, tick)->match != 1 || referee_at(play, tick)->phase != phase)
        tick++;
    return tick;
}

/// When the second match is announced no shot of the first still flies, and when it begins all
/// players are fresh.
static void check_fresh(const struct play *play) {
    const struct hc_world *world = ledger_world(play->sent_log);
    const uint8_t *announced =
        ledger_presence(play->sent_log, second_match(play, HC_ARENA_WAITING));
    hc_tick tick = second_match(play, HC_ARENA_PLAYING);
    const uint8_t *presence = ledger_presence(play->sent_log, tick);
    const uint8_t *states = ledger_states(play->sent_log, tick);
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

/// A play of slow ticks in the middle of its first match, whose rewinds have been counted.
static struct play *begin_match(unsigned clients, uint64_t seed, struct depths *first) {
    struct hc_sim_config config = play_config(&hc_arena, clients, MATCH_LATENCY_MS, seed);
    config.host.tick_rate = MATCH_RATE;
    config.host.clients = MATCH_PLAYERS;
    config.client.input_delay = 0;
    struct play *play = play_create(&config);
    for (unsigned i = 0; i < MATCH_PLAYERS; i++)
        ck_assert(hc_sim_connect(play->sim, i));
    run_to_phase(play, 0, HC_ARENA_PLAYING, 10);
    hc_sim_run(play->sim, 5 * PLAY_S);
    count_depths(play, first);
    hc_sim_run(play->sim, 30 * PLAY_S);
    return play;
}

/// The clients from `first` on play the second match as the first one was played.
static void end_match(struct play *play, unsigned first, const struct depths *one, uint64_t longest,
                      const char *who) {
    static struct depths two;
    count_depths(play, &two);
    hc_sim_run(play->sim, 30 * PLAY_S);
    printf("%s: %lu rewinds in %u ticks of the first match, %lu in %u of the second, depth at most "
           "%lu and %lu; ticks shown at most %.1f ms apart when it began\n",
           who, (unsigned long)one->depth.count, one->ticks, (unsigned long)two.depth.count,
           two.ticks, (unsigned long)one->depth.max, (unsigned long)two.depth.max,
           (double)longest / 1000);
    ck_assert_uint_gt(one->depth.count, 0);
    ck_assert_uint_gt(two.depth.count, 0);
    ck_assert_uint_eq(two.depth.max, one->depth.max);
    ck_assert_uint_le(two.most, one->depth.max);
    ck_assert_uint_le(longest, 2 * PLAY_S / MATCH_RATE);
    for (unsigned i = first; i < first + MATCH_PLAYERS; i++) {
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(play->sim, i))->stalls, 0);
    }
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    for (unsigned i = first; i < first + MATCH_PLAYERS; i++)
        play_check_final(play, i);
    check_fresh(play);
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}

START_TEST(the_next_match_begins_without_a_freeze) {
    static struct depths one;
    struct play *play = begin_match(MATCH_PLAYERS, 341, &one);
    play->host_ticked = NULL;
    run_to_phase(play, 0, HC_ARENA_OVER, 120);
    uint64_t longest = watch_screens(play, 0, MATCH_PLAYERS, 9000);
    run_to_phase(play, 1, HC_ARENA_PLAYING, 1);
    end_match(play, 0, &one, longest, "the same players");
}
END_TEST

/// Fails the test when a player's inputs are predicted from those of the player before it.
static void check_no_old_input(struct play *play) {
    const struct hc_timeline *timeline = server_timeline(play);
    hc_tick head = hc_timeline_head(timeline), known;
    uint8_t input[HC_INPUT_MAX];
    for (hc_player p = 0; p < MATCH_PLAYERS; p++)
        if (play->joined[p] != HC_NO_TICK && head > play->joined[p] &&
            hc_timeline_newest_input(timeline, p, head, &known, input))
            REQUIRE(known >= play->joined[p], "player %u, of %u, has an input of %u", p,
                    play->joined[p], known);
}

START_TEST(others_who_take_the_places_of_all_begin_without_a_freeze) {
    static struct depths one;
    struct play *play = begin_match(2 * MATCH_PLAYERS, 342, &one);
    play->host_ticked = check_no_old_input;
    hc_sim_run(play->sim, 75 * PLAY_S);
    for (unsigned i = 0; i < MATCH_PLAYERS; i++)
        hc_sim_leave(play->sim, i);
    // What the old ones did in their last three seconds stays in the ring meanwhile.
    hc_sim_run(play->sim, 300 * PLAY_MS);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(play->sim)), 0);
    for (unsigned i = MATCH_PLAYERS; i < 2 * MATCH_PLAYERS; i++)
        ck_assert(hc_sim_connect(play->sim, i));
    hc_sim_run(play->sim, 2 * PLAY_S);
    uint64_t longest = watch_screens(play, MATCH_PLAYERS, MATCH_PLAYERS, 18000);
    run_to_phase(play, 1, HC_ARENA_PLAYING, 1);
    end_match(play, MATCH_PLAYERS, &one, longest, "others");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reports");
    TCase *tests = tcase_create("reports");
    tcase_add_test(tests, a_tenth_of_the_datagrams_coming_50_ms_later_freezes_nothing);
    tcase_add_test(tests, a_client_that_freezes_for_longer_than_the_history_recovers_by_itself);
    tcase_add_test(tests, a_client_that_freezes_as_soon_as_it_has_joined_recovers_by_itself);
    tcase_add_test(tests, a_server_that_freezes_for_longer_than_the_history_recovers_by_itself);
    tcase_add_test(tests, rewinds_are_as_deep_as_the_latency_explains_and_no_deeper);
    tcase_add_test(tests,
                   a_server_that_repeats_its_past_at_every_tick_sends_what_it_would_have_sent);
    tcase_add_test(tests, traffic_does_not_multiply_with_latency);
    tcase_add_test(tests, the_next_match_begins_without_a_freeze);
    tcase_add_test(tests, others_who_take_the_places_of_all_begin_without_a_freeze);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
