/// Tests of client/timing alone: the predicted tick, its limits, and stalls.
#include "client/timing.h"

#include "tests/run_suite.h"

enum { RATE = 100, TICK_US = 1000000 / RATE, AHEAD_US = 700000 };

static struct hc_client_config config;
static struct hc_cl_timing timing;
static struct hc_cl_clock server; ///< clock whose time is AHEAD_US more than the local one
static struct hc_client_stats stats;

static void set_up(void) {
    config = hc_client_config_default();
    config.prediction_limit = 10;
    stats = (struct hc_client_stats){.stalls = 0};
    server = (struct hc_cl_clock){.known = false};
    hc_cl_clock_sample(&server, 1000000, 0, 1000000 + AHEAD_US);
    hc_cl_timing_begin(&timing, &config, 64, RATE);
}

/// The local time at which the server's tick begins.
static uint64_t local_us(hc_tick tick) {
    return (uint64_t)tick * TICK_US - AHEAD_US;
}

START_TEST(future_of_the_server_limits_the_input_delay_and_then_the_lead) {
    static const struct {
        uint32_t future, input_delay, lead;
        bool limited;
    } servers[] = {
        {64, 3, 2, false}, {5, 3, 2, false}, {4, 3, 1, true}, {3, 3, 0, true}, {1, 1, 0, true}};
    config.lead = 2;
    for (unsigned i = 0; i < sizeof servers / sizeof *servers; i++) {
        ck_assert_int_eq(hc_cl_timing_begin(&timing, &config, servers[i].future, RATE),
                         servers[i].limited);
        ck_assert_uint_eq(timing.effective.input_delay, servers[i].input_delay);
        ck_assert_uint_eq(timing.effective.lead, servers[i].lead);
        ck_assert_uint_eq(timing.config->input_delay, 3); // it stays for the next server
    }
}
END_TEST

START_TEST(target_is_the_tick_of_the_server_plus_the_lead) {
    ck_assert_uint_eq(hc_cl_timing_target(&timing, &server, local_us(200)), 200);
    ck_assert_uint_eq(hc_cl_timing_target(&timing, &server, local_us(200) - 1), 199);
    config.lead = 5;
    hc_cl_timing_begin(&timing, &config, 64, RATE);
    ck_assert_uint_eq(hc_cl_timing_target(&timing, &server, local_us(200)), 205);
    ck_assert_uint_eq(hc_cl_timing_limit(&timing, 190), 200);
}
END_TEST

START_TEST(next_tick_is_due_when_the_server_reaches_it_less_the_lead) {
    config.lead = 5;
    hc_cl_timing_begin(&timing, &config, 64, RATE);
    hc_cl_timing_restart(&timing, 204, local_us(199));
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, &server, 300), local_us(200));
    hc_cl_timing_step(&timing);
    ck_assert_uint_eq(timing.head, 205);
    ck_assert_uint_eq(timing.ticks, 1);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, &server, 300), local_us(201));
}
END_TEST

START_TEST(head_was_due_by_its_tick_or_by_now_if_that_is_earlier) {
    hc_cl_timing_restart(&timing, 200, local_us(200));
    hc_cl_timing_reach(&timing, &server, local_us(200) + 3000);
    ck_assert_uint_eq(timing.head_us, local_us(200));
    // The server was ahead of its estimated clock.
    hc_cl_timing_reach(&timing, &server, local_us(200) - 3000);
    ck_assert_uint_eq(timing.head_us, local_us(200) - 3000);
}
END_TEST

START_TEST(client_stalls_behind_its_target_or_far_ahead_of_it) {
    hc_cl_timing_restart(&timing, 200, local_us(200));
    ck_assert(!hc_cl_timing_must_stall(&timing, 200));
    ck_assert(hc_cl_timing_must_stall(&timing, 201));
    ck_assert(!hc_cl_timing_must_stall(&timing, 194)); // 50 ms and a tick
    ck_assert(hc_cl_timing_must_stall(&timing, 193));
    hc_cl_timing_begin(&timing, &config, 64, 20);
    hc_cl_timing_restart(&timing, 200, 10000000);
    ck_assert(!hc_cl_timing_must_stall(&timing, 197)); // 3 ticks at least
    ck_assert(hc_cl_timing_must_stall(&timing, 196));
}
END_TEST

START_TEST(stall_counts_each_tick_that_becomes_due_once) {
    hc_cl_timing_restart(&timing, 200, local_us(200));
    hc_cl_timing_stall(&timing, 203, &stats);
    hc_cl_timing_stall(&timing, 203, &stats);
    hc_cl_timing_stall(&timing, 207, &stats);
    ck_assert_uint_eq(stats.stalls, 1);
    ck_assert_uint_eq(stats.stalled_ticks, 7);
    hc_cl_timing_resume(&timing);
    ck_assert(!timing.stalled);
    hc_cl_timing_stall(&timing, 201, &stats);
    ck_assert_uint_eq(stats.stalls, 2);
    ck_assert_uint_eq(stats.stalled_ticks, 8);
}
END_TEST

START_TEST(deadline_of_a_stall_at_the_limit_is_the_next_tick_to_count) {
    hc_cl_timing_restart(&timing, 200, local_us(200));
    hc_cl_timing_stall(&timing, 204, &stats);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, &server, 200), local_us(205));
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, &server, 201), local_us(201)); // a newer limit
    hc_cl_timing_resume(&timing);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, &server, 200), local_us(201));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_timing");
    TCase *tests = tcase_create("client_timing");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, future_of_the_server_limits_the_input_delay_and_then_the_lead);
    tcase_add_test(tests, target_is_the_tick_of_the_server_plus_the_lead);
    tcase_add_test(tests, next_tick_is_due_when_the_server_reaches_it_less_the_lead);
    tcase_add_test(tests, head_was_due_by_its_tick_or_by_now_if_that_is_earlier);
    tcase_add_test(tests, client_stalls_behind_its_target_or_far_ahead_of_it);
    tcase_add_test(tests, stall_counts_each_tick_that_becomes_due_once);
    tcase_add_test(tests, deadline_of_a_stall_at_the_limit_is_the_next_tick_to_count);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
