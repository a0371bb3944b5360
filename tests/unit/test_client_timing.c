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
    config.input_delay = 3; // fixed: the tests compute with it
    config.input_delay_max = config.lead_max = 0;
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

START_TEST(tick_is_due_when_the_server_reaches_it_less_the_lead) {
    config.lead = 5;
    hc_cl_timing_begin(&timing, &config, 64, RATE);
    hc_cl_timing_restart(&timing, &server, 200, local_us(199));
    ck_assert_uint_eq(hc_cl_timing_due(&timing, local_us(200)), 205);
    ck_assert_uint_eq(hc_cl_timing_due(&timing, local_us(200) - 1), 204);
    ck_assert_uint_eq(hc_cl_timing_limit(&timing, 190), 200);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, 300), local_us(199)); // 201 is due
    while (timing.head < 204)
        hc_cl_timing_step(&timing);
    ck_assert_uint_eq(timing.ticks, 4);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, 300), local_us(200));
    hc_cl_timing_step(&timing);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, 300), local_us(201));
}
END_TEST

START_TEST(position_is_a_fraction_of_a_tick_and_no_earlier_than_a_received_state) {
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
    ck_assert_int_eq(hc_cl_timing_position(&timing, local_us(200) + TICK_US / 4, 1000), 200250);
    hc_cl_timing_restart(&timing, &server, 230, local_us(201));
    ck_assert_int_eq(hc_cl_timing_position(&timing, local_us(201), 1000), 230000);
    hc_cl_timing_restart(&timing, &server, 220, local_us(202));
    ck_assert_int_eq(hc_cl_timing_position(&timing, local_us(202), 1000), 231000);
}
END_TEST

START_TEST(one_advance_predicts_the_ticks_of_a_tenth_of_a_second_or_as_configured) {
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
    ck_assert_uint_eq(hc_cl_timing_end(&timing), 210);
    config.ticks_per_advance = 2;
    ck_assert_uint_eq(hc_cl_timing_end(&timing), 202);
    config.ticks_per_advance = 0;
    hc_cl_timing_begin(&timing, &config, 64, 20);
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
    ck_assert_uint_eq(hc_cl_timing_end(&timing), 204);
}
END_TEST

START_TEST(client_stalls_at_its_limit_or_while_its_position_stands_still) {
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
    ck_assert(!hc_cl_timing_must_stall(&timing, 200, 200));
    ck_assert(hc_cl_timing_must_stall(&timing, 201, 200));
    ck_assert(!hc_cl_timing_must_stall(&timing, 201, 201));
    timing.settled = true;
    server.offset_us -= HC_CL_POSITION_JUMP_US;
    ck_assert(!hc_cl_timing_follow(&timing, &server, local_us(200), &stats));
    ck_assert(!hc_cl_timing_must_stall(&timing, 200, 300));
    server.offset_us -= 1;
    ck_assert(hc_cl_timing_follow(&timing, &server, local_us(200), &stats));
    ck_assert(hc_cl_timing_must_stall(&timing, 200, 300));
    ck_assert_uint_eq(stats.clock_jumps, 1);
}
END_TEST

/// Nothing was shown of ticks that were not predicted, so they can be due once more.
START_TEST(position_beyond_the_head_goes_back_at_once) {
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
    timing.settled = true;
    server.offset_us -= 70 * TICK_US;
    ck_assert(!hc_cl_timing_follow(&timing, &server, local_us(290), &stats));
    ck_assert_uint_eq(hc_cl_timing_due(&timing, local_us(290)), 220);
    ck_assert_uint_eq(stats.clock_jumps, 0);
}
END_TEST

START_TEST(stall_counts_each_tick_that_becomes_due_once) {
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
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
    hc_cl_timing_restart(&timing, &server, 200, local_us(200));
    hc_cl_timing_stall(&timing, 204, &stats);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, 200), local_us(205));
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, 201), local_us(201)); // a newer limit
    hc_cl_timing_resume(&timing);
    ck_assert_uint_eq(hc_cl_timing_deadline(&timing, 200), local_us(201));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_timing");
    TCase *tests = tcase_create("client_timing");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, future_of_the_server_limits_the_input_delay_and_then_the_lead);
    tcase_add_test(tests, tick_is_due_when_the_server_reaches_it_less_the_lead);
    tcase_add_test(tests, position_is_a_fraction_of_a_tick_and_no_earlier_than_a_received_state);
    tcase_add_test(tests, one_advance_predicts_the_ticks_of_a_tenth_of_a_second_or_as_configured);
    tcase_add_test(tests, client_stalls_at_its_limit_or_while_its_position_stands_still);
    tcase_add_test(tests, position_beyond_the_head_goes_back_at_once);
    tcase_add_test(tests, stall_counts_each_tick_that_becomes_due_once);
    tcase_add_test(tests, deadline_of_a_stall_at_the_limit_is_the_next_tick_to_count);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
