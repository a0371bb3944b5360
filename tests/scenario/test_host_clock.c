/// The server plays on when its clock is set, and when it did not run for a while.
#include "tests/scenario/require.h"
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { CLIENTS = 4, LATENCY_MS = 30, RATE = 60, BURST = 16 };

#define HOUR_US (INT64_C(3600) * SECOND_US)

/// The ticks of the host, as watch has begun to watch them.
struct ticks {
    hc_tick head, most; ///< the newest; the most of one advance
    uint64_t at_us, longest_us;
};

static void host_ticked(void *context, struct hc_sim *sim) {
    struct ticks *ticks = context;
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(sim)));
    uint64_t since_us = hc_sim_now(sim) - ticks->at_us;
    ticks->most = hc_tick_max(ticks->most, head - ticks->head);
    ticks->longest_us = since_us > ticks->longest_us ? since_us : ticks->longest_us;
    ticks->head = head;
    ticks->at_us = hc_sim_now(sim);
}

/// Begins to watch the ticks anew.
static void watch(struct ticks *ticks) {
    ticks->most = 0;
    ticks->longest_us = 0;
}

/// Clients that have played for a while.
static struct hc_sim *begin(struct ticks *ticks) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 11);
    *ticks = (struct ticks){.head = 0};
    config.hooks.host_ticked = host_ticked;
    config.context = ticks;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_join_all(sim));
    hc_sim_run(sim, 6 * SECOND_US);
    return sim;
}

/// Fails the test unless the host ticks at its rate for 10 s and nobody notices anything.
static void check_undisturbed(struct hc_sim *sim, struct ticks *ticks) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
    struct hc_server_stats before = *stats;
    uint64_t jumps[CLIENTS], stalls[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++) {
        jumps[i] = hc_client_stats(hc_sim_client(sim, i))->clock_jumps;
        stalls[i] = hc_client_stats(hc_sim_client(sim, i))->stalls;
    }
    hc_tick head = ticks->head;
    hc_sim_run(sim, 10 * SECOND_US);
    ck_assert_uint_ge(ticks->head - head, 10 * RATE - 1);
    ck_assert_uint_le(ticks->head - head, 10 * RATE + 1);
    ck_assert_uint_eq(ticks->most, 1);
    ck_assert_uint_le(ticks->longest_us, 2 * SECOND_US / RATE + 1);
    ck_assert_uint_eq(stats->ticks_missed, before.ticks_missed);
    ck_assert_uint_eq(stats->inputs_forced, before.inputs_forced);
    ck_assert_uint_eq(stats->inputs_lost, before.inputs_lost);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct hc_client_recent recent;
        ck_assert_int_eq(hc_sim_client_state(sim, i), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, i))->clock_jumps, jumps[i]);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, i))->stalls, stalls[i]);
        ck_assert(hc_client_recent(hc_sim_client(sim, i), &recent));
        // Each step loses or gains as much as had passed since the tick before.
        ck_assert_uint_ge(recent.rtt_min_us, 2 * LATENCY_MS * MS_US - SECOND_US / RATE - 1);
        ck_assert_uint_le(recent.rtt_us, 2 * LATENCY_MS * MS_US + 2 * SECOND_US / RATE);
    }
}

START_TEST(a_clock_that_is_set_back_neither_stops_nor_hurries_a_tick) {
    struct ticks ticks;
    struct hc_sim *sim = begin(&ticks);
    watch(&ticks);
    hc_sim_set_host_clock(sim, -HOUR_US);
    check_undisturbed(sim, &ticks);
    hc_sim_set_host_clock(sim, -HOUR_US / 1800); // by 2 s
    check_undisturbed(sim, &ticks);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_clock_that_is_set_right_again_neither_hurries_a_tick_nor_ends_a_session) {
    struct ticks ticks;
    struct hc_sim *sim = begin(&ticks);
    watch(&ticks);
    hc_sim_set_host_clock(sim, -HOUR_US);
    hc_sim_run(sim, 3 * SECOND_US);
    hc_sim_set_host_clock(sim, HOUR_US);
    check_undisturbed(sim, &ticks);
    hc_sim_destroy(sim);
}
END_TEST

/// Times go on counting: a client that vanishes after the clock was set is missed in time.
START_TEST(a_client_times_out_after_the_clock_was_set_back) {
    struct ticks ticks;
    struct hc_sim *sim = begin(&ticks);
    hc_sim_set_host_clock(sim, -HOUR_US);
    hc_sim_run(sim, SECOND_US);
    hc_sim_kill(sim, 0);
    hc_sim_run(sim, 9 * SECOND_US);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(sim))->lost, 0);
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(sim))->lost, 1);
    hc_sim_destroy(sim);
}
END_TEST

/// A clock that small steps set back holds ticks up for no longer than the steps.
START_TEST(a_small_step_back_delays_ticks_by_itself_alone) {
    enum { STEP_US = 100 * MS_US };
    struct ticks ticks;
    struct hc_sim *sim = begin(&ticks);
    watch(&ticks);
    hc_sim_set_host_clock(sim, -STEP_US);
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_le(ticks.longest_us, STEP_US + 2 * SECOND_US / RATE);
    ck_assert_uint_eq(ticks.most, 1);
    hc_sim_destroy(sim);
}
END_TEST

/// A machine that was suspended catches up with 16 ticks, and leaves the others out.
START_TEST(a_host_that_was_suspended_runs_few_ticks_at_once_and_all_play_on) {
    struct ticks ticks;
    struct hc_sim *sim = begin(&ticks);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
    watch(&ticks);
    uint64_t lost = stats->inputs_lost;
    hc_sim_freeze_host(sim, hc_sim_now(sim) + 3 * SECOND_US);
    hc_sim_run(sim, 3 * SECOND_US + 500 * MS_US);
    ck_assert_uint_eq(ticks.most, BURST);
    ck_assert_uint_ge(stats->ticks_missed, 3 * RATE - BURST - 1);
    hc_sim_run(sim, 5 * SECOND_US);
    watch(&ticks);
    check_undisturbed(sim, &ticks);
    ck_assert_uint_eq(stats->inputs_lost, lost);
    ck_assert_uint_eq(stats->lost, 0);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("host clock");
    TCase *tests = tcase_create("clock");
    tcase_add_test(tests, a_clock_that_is_set_back_neither_stops_nor_hurries_a_tick);
    tcase_add_test(tests,
                   a_clock_that_is_set_right_again_neither_hurries_a_tick_nor_ends_a_session);
    tcase_add_test(tests, a_client_times_out_after_the_clock_was_set_back);
    tcase_add_test(tests, a_small_step_back_delays_ticks_by_itself_alone);
    tcase_add_test(tests, a_host_that_was_suspended_runs_few_ticks_at_once_and_all_play_on);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
