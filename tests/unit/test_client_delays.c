/// Tests of client/delays: the delays that a client chooses from the server's reports.
#include "client/delays.h"

#include "proto/limits.h"
#include "tests/run_suite.h"

enum {
    RATE = 50,
    TICK_US = 20000,
    FUTURE = 64,
    REPORT_TICKS = 5,
    MIXED = HC_MARGIN_WINDOW_US / (REPORT_TICKS * TICK_US), ///< reports that cover a change
};

static struct hc_cl_delays delays;
static struct hc_cl_margin margin;
static struct hc_cl_delays_now now;

static void begin(const struct hc_client_timing *timing) {
    ck_assert(!hc_cl_delays_begin(&delays, timing, FUTURE));
    margin = (struct hc_cl_margin){.as_of = 1000};
    now = (struct hc_cl_delays_now){.now_us = 20000000, .rtt_us = 40000, .tick_rate = RATE};
}

static void set_up(void) {
    begin(&(struct hc_client_timing){.input_delay_max = 6});
}

/// A report of the low margin comes.
static void report(int32_t low_us) {
    margin.known = true;
    margin.low_us = low_us;
    margin.as_of += REPORT_TICKS;
    now.now_us += REPORT_TICKS * TICK_US;
    margin.at_us = now.now_us;
    hc_cl_delays_take(&delays, &margin, &now);
}

/// The server measures that inputs need so many ticks, for some seconds.
static void play(uint32_t seconds, uint32_t needed) {
    for (uint32_t i = 0; i < seconds * RATE / REPORT_TICKS; i++)
        report(((int32_t)(delays.input_delay + delays.lead) - (int32_t)needed) * TICK_US +
               TICK_US / 2);
}

START_TEST(input_delay_begins_at_its_maximum_and_falls_after_four_seconds_of_proof) {
    ck_assert_uint_eq(delays.input_delay, 6);
    play(3, 2);
    ck_assert_uint_eq(delays.input_delay, 6);
    play(2, 2);
    ck_assert_uint_eq(delays.input_delay, 2);
    play(60, 2);
    ck_assert_uint_eq(delays.input_delay, 2);
    play(60, 0);
    ck_assert_uint_eq(delays.input_delay, 0);
}
END_TEST

START_TEST(proof_is_of_the_most_that_was_needed) {
    play(3, 1);
    play(1, 4);
    play(2, 1);
    ck_assert_uint_eq(delays.input_delay, 4);
}
END_TEST

START_TEST(input_delay_rises_at_once_by_what_is_missing_and_never_beyond_its_maximum) {
    play(10, 1);
    ck_assert_uint_eq(delays.input_delay, 1);
    report(-1);
    ck_assert_uint_eq(delays.input_delay, 2);
    play(10, 1);
    report(-2 * TICK_US);
    ck_assert_uint_eq(delays.input_delay, 4); // and the spare
    report(-9 * TICK_US);
    ck_assert_uint_eq(delays.input_delay, 6);
}
END_TEST

/// A report goes on to cover the inputs of its window, also those stamped with the delay before.
START_TEST(what_was_corrected_is_not_corrected_again) {
    play(10, 1);
    for (int i = 0; i < MIXED; i++) {
        report(-TICK_US - TICK_US / 2);
        ck_assert_uint_eq(delays.input_delay, 3);
    }
    play(3, 3);
    report(-TICK_US / 2); // of the present delay
    ck_assert_uint_eq(delays.input_delay, 4);
}
END_TEST

/// The low margin of a path that grows on is that of the newest inputs or of the first ones, which
/// had the least delay: no report says which.
START_TEST(a_path_that_grows_step_by_step_raises_no_more_than_it_grew) {
    begin(&(struct hc_client_timing){.lead_max = 30});
    for (int i = 1; i <= MIXED; i++) {
        report(-i * TICK_US / 4); // by 50 ms a second; the first inputs had no lead
        ck_assert_uint_le(delays.lead, (uint32_t)i / 4 + 1);
    }
    ck_assert_uint_ge(delays.lead, MIXED / 4);
}
END_TEST

START_TEST(another_choice_does_not_forget_what_reports_cover) {
    begin(&(struct hc_client_timing){.input_delay_max = 9});
    play(10, 1);
    report(-TICK_US - TICK_US / 2);
    ck_assert(
        !hc_cl_delays_allow(&delays, &(struct hc_client_timing){.input_delay_max = 8}, FUTURE));
    for (int i = 0; i < MIXED; i++) {
        report(-TICK_US - TICK_US / 2);
        ck_assert_uint_eq(delays.input_delay, 3);
    }
}
END_TEST

START_TEST(lead_takes_what_the_input_delay_leaves_and_gives_back_first) {
    begin(&(struct hc_client_timing){.input_delay_max = 3, .lead = 1, .lead_max = 10});
    ck_assert_uint_eq(delays.input_delay, 3);
    ck_assert_uint_eq(delays.lead, 1);
    play(2, 9);
    ck_assert_uint_eq(delays.input_delay, 3);
    ck_assert_uint_eq(delays.lead, 6);
    play(2, 40);
    ck_assert_uint_eq(delays.lead, 10);
    play(6, 2);
    ck_assert_uint_eq(delays.input_delay, 1);
    ck_assert_uint_eq(delays.lead, 1);
}
END_TEST

/// Simulated time follows a lead that falls farther by standing still, which a player sees.
START_TEST(lead_falls_by_no_more_at_once_than_simulated_time_follows_by_slewing) {
    begin(&(struct hc_client_timing){.lead_max = 30});
    report(-30 * TICK_US);
    ck_assert_uint_eq(delays.lead, 30);
    uint32_t least = 30;
    for (uint32_t i = 0; i < 60 * RATE / REPORT_TICKS; i++) {
        uint32_t before = delays.lead;
        report((int32_t)before * TICK_US + TICK_US / 2);
        ck_assert_uint_le((before - delays.lead) * TICK_US, HC_CL_DELAYS_FALL_US);
        least = delays.lead;
    }
    ck_assert_uint_eq(least, 0);
}
END_TEST

START_TEST(fixed_delays_and_unknown_margins_change_nothing) {
    begin(&(struct hc_client_timing){.input_delay = 2, .lead = 5});
    report(-9 * TICK_US);
    ck_assert_uint_eq(delays.input_delay, 2);
    ck_assert_uint_eq(delays.lead, 5);
    set_up();
    margin.at_us = 5;
    for (int i = 0; i < 1000; i++, now.now_us += TICK_US, margin.at_us++)
        hc_cl_delays_take(&delays, &margin, &now);
    ck_assert_uint_eq(delays.input_delay, 6);
}
END_TEST

START_TEST(another_choice_keeps_what_it_allows) {
    play(10, 4);
    ck_assert(
        !hc_cl_delays_allow(&delays, &(struct hc_client_timing){.input_delay_max = 9}, FUTURE));
    ck_assert_uint_eq(delays.input_delay, 4);
    ck_assert(!hc_cl_delays_allow(
        &delays, &(struct hc_client_timing){.input_delay_max = 3, .lead_max = 5}, FUTURE));
    ck_assert_uint_eq(delays.input_delay, 3);
    ck_assert_uint_eq(delays.lead, 1);
    ck_assert(
        hc_cl_delays_allow(&delays, &(struct hc_client_timing){.input_delay = 9, .lead = 5}, 10));
    ck_assert_uint_eq(delays.input_delay, 9);
    ck_assert_uint_eq(delays.lead, 1);
}
END_TEST

START_TEST(presets_are_within_their_ranges) {
    static const char *const names[] = {"rewind", "balanced", "ahead"};
    struct hc_client_timing timing;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(hc_client_timing_preset(names[i], &timing));
        ck_assert_uint_le(timing.input_delay_max, HC_INPUT_DELAY_MAX);
        ck_assert_uint_le(timing.lead_max, HC_LEAD_MAX);
        ck_assert_int_eq(timing.input_delay_max > 0, i > 0);
        ck_assert_int_eq(timing.lead_max > 0, i > 0);
    }
    ck_assert(!hc_client_timing_preset("best", &timing));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_delays");
    TCase *tests = tcase_create("client_delays");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, input_delay_begins_at_its_maximum_and_falls_after_four_seconds_of_proof);
    tcase_add_test(tests, proof_is_of_the_most_that_was_needed);
    tcase_add_test(tests,
                   input_delay_rises_at_once_by_what_is_missing_and_never_beyond_its_maximum);
    tcase_add_test(tests, what_was_corrected_is_not_corrected_again);
    tcase_add_test(tests, a_path_that_grows_step_by_step_raises_no_more_than_it_grew);
    tcase_add_test(tests, another_choice_does_not_forget_what_reports_cover);
    tcase_add_test(tests, lead_takes_what_the_input_delay_leaves_and_gives_back_first);
    tcase_add_test(tests, lead_falls_by_no_more_at_once_than_simulated_time_follows_by_slewing);
    tcase_add_test(tests, fixed_delays_and_unknown_margins_change_nothing);
    tcase_add_test(tests, another_choice_keeps_what_it_allows);
    tcase_add_test(tests, presets_are_within_their_ranges);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
