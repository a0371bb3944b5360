/// Checks Unix time by a wall clock that is set.
#include "common/unix_time.h"

#include "tests/run_suite.h"

#define SECOND_US UINT64_C(1000000)
#define HOUR_US (3600 * SECOND_US)
#define START_US (UINT64_C(1700000000) * SECOND_US)

static struct hc_unix_time unix_time;
static uint64_t now_us;

static void set_up(void) {
    unix_time = (struct hc_unix_time){.read = false};
    now_us = 7 * SECOND_US;
    hc_unix_time_read(&unix_time, START_US, now_us);
}

/// The Unix time by a clock that was never set.
static uint64_t right_us(void) {
    return START_US + now_us - 7 * SECOND_US;
}

/// Runs for so many seconds by a clock that is ahead.
static void run(uint64_t s, int64_t ahead_us) {
    for (uint64_t i = 0; i < s; i++, now_us += SECOND_US)
        hc_unix_time_read(&unix_time, right_us() + (uint64_t)ahead_us, now_us);
    hc_unix_time_read(&unix_time, right_us() + (uint64_t)ahead_us, now_us);
}

START_TEST(time_is_the_wall_clock) {
    run(10, 0);
    ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us), right_us());
    ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us + 5), right_us() + 5);
    run(10, 2 * (int64_t)SECOND_US);
    ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us), right_us() + 2 * SECOND_US);
    ck_assert_uint_eq(hc_unix_time_latest_us(&unix_time, now_us), right_us() + 2 * SECOND_US);
    ck_assert(!hc_unix_time_stepped(&unix_time));
}
END_TEST

START_TEST(clock_that_is_set_ahead_counts_for_five_seconds) {
    static const int64_t steps_us[] = {HOUR_US, 24 * HOUR_US, 365 * 24 * HOUR_US};
    for (unsigned i = 0; i < sizeof steps_us / sizeof steps_us[0]; i++) {
        run(60, steps_us[i]);
        ck_assert(hc_unix_time_stepped(&unix_time));
        ck_assert_uint_ge(hc_unix_time_us(&unix_time, now_us), right_us() + HC_UNIX_AHEAD_US);
        ck_assert_uint_le(hc_unix_time_us(&unix_time, now_us),
                          right_us() + HC_UNIX_AHEAD_US + SECOND_US / 10);
        run(1, 0);
        ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us), right_us());
        ck_assert(!hc_unix_time_stepped(&unix_time));
    }
}
END_TEST

START_TEST(clock_that_is_set_back_is_followed_and_may_be_set_right) {
    run(60, -(int64_t)HOUR_US);
    ck_assert(hc_unix_time_stepped(&unix_time));
    ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us), right_us() - HOUR_US);
    ck_assert_uint_le(hc_unix_time_latest_us(&unix_time, now_us), right_us());
    ck_assert_uint_ge(hc_unix_time_latest_us(&unix_time, now_us), right_us() - SECOND_US / 10);
    run(1, 0);
    ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us), right_us());
    ck_assert(!hc_unix_time_stepped(&unix_time));
}
END_TEST

START_TEST(clock_that_is_corrected_slowly_is_followed_for_years) {
    uint64_t ahead_us = 0;
    for (unsigned hour = 0; hour < 3000 * 24; hour++, now_us += HOUR_US) {
        ahead_us += hour % 24 == 0 ? 4 * SECOND_US : 0; // by 46 ppm of the time
        hc_unix_time_read(&unix_time, right_us() + ahead_us, now_us);
        ck_assert_uint_eq(hc_unix_time_us(&unix_time, now_us), right_us() + ahead_us);
        ck_assert(!hc_unix_time_stepped(&unix_time));
    }
}
END_TEST

START_TEST(system_without_a_clock_of_its_own_begins_at_any_time) {
    unix_time = (struct hc_unix_time){.read = false};
    hc_unix_time_read(&unix_time, 0, 100 * SECOND_US); // 1970, long after the monotonic clock began
    ck_assert_uint_eq(hc_unix_time_us(&unix_time, 103 * SECOND_US), 3 * SECOND_US);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("unix_time");
    TCase *tests = tcase_create("unix_time");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, time_is_the_wall_clock);
    tcase_add_test(tests, clock_that_is_set_ahead_counts_for_five_seconds);
    tcase_add_test(tests, clock_that_is_set_back_is_followed_and_may_be_set_right);
    tcase_add_test(tests, clock_that_is_corrected_slowly_is_followed_for_years);
    tcase_add_test(tests, system_without_a_clock_of_its_own_begins_at_any_time);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
