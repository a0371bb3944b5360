/// Tests of the schedule of ticks.
#include "proto/limits.h"
#include "server/schedule.h"
#include "tests/run_suite.h"

enum { RATE = 60, EPOCH_US = 5000 };

START_TEST(ticks_are_due_at_the_tick_rate) {
    struct hc_sv_schedule schedule;
    hc_sv_schedule_init(&schedule, RATE, EPOCH_US);
    ck_assert_uint_eq(hc_sv_schedule_due_us(&schedule, 0), EPOCH_US);
    ck_assert_uint_eq(hc_sv_schedule_due_us(&schedule, 3 * RATE), EPOCH_US + 3000000);
}
END_TEST

START_TEST(phase_is_the_time_since_the_head_was_due) {
    struct hc_sv_schedule schedule;
    hc_sv_schedule_init(&schedule, RATE, EPOCH_US);
    ck_assert_uint_eq(hc_sv_schedule_phase_us(&schedule, 0, EPOCH_US + 10), 10);
    ck_assert_uint_eq(hc_sv_schedule_phase_us(&schedule, 0, EPOCH_US - 10), 0);
    ck_assert_uint_eq(hc_sv_schedule_phase_us(&schedule, 0, UINT64_MAX / 2), HC_PHASE_MAX_US);
}
END_TEST

START_TEST(skipped_ticks_are_those_that_were_due) {
    struct hc_sv_schedule schedule;
    for (uint64_t behind_us = 0; behind_us < 200000; behind_us += 777) {
        hc_sv_schedule_init(&schedule, RATE, EPOCH_US);
        uint64_t now_us = hc_sv_schedule_due_us(&schedule, 8) + behind_us;
        uint64_t missed = hc_sv_schedule_skip(&schedule, 7, now_us);
        ck_assert_uint_eq(missed, behind_us * RATE / 1000000 + 1);
        ck_assert_uint_gt(hc_sv_schedule_due_us(&schedule, 8), now_us);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_schedule");
    TCase *tests = tcase_create("schedule");
    tcase_add_test(tests, ticks_are_due_at_the_tick_rate);
    tcase_add_test(tests, phase_is_the_time_since_the_head_was_due);
    tcase_add_test(tests, skipped_ticks_are_those_that_were_due);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
