/// Tests of server/clock: the own time goes on whatever the caller's clock does.
#include "server/clock.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

enum { BEGIN_US = 100000000, HOUR = 3600, SECOND_US = 1000000, TICK_US = 16667 };

static struct hc_sv_clock own;
static uint64_t given_us;

static void set_up(void) {
    own = (struct hc_sv_clock){.newest_us = 0};
    given_us = BEGIN_US + 2 * (uint64_t)HOUR * SECOND_US;
    ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), given_us);
}

START_TEST(own_time_is_the_callers_while_that_goes_on) {
    for (unsigned i = 0; i < 1000; i++) {
        given_us += i % 100 == 99 ? HOUR * (uint64_t)SECOND_US : TICK_US; // or a suspend
        ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), given_us);
        ck_assert_uint_eq(hc_sv_clock_own_us(&own, given_us - 1000), given_us - 1000);
        ck_assert_uint_eq(hc_sv_clock_given_us(&own, given_us + 7), given_us + 7);
    }
}
END_TEST

START_TEST(own_time_goes_on_from_a_step_back_and_from_its_undoing) {
    uint64_t before_us = given_us;
    given_us -= HOUR * (uint64_t)SECOND_US;
    ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), before_us);
    given_us += TICK_US;
    ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), before_us + TICK_US);
    ck_assert_uint_eq(hc_sv_clock_given_us(&own, before_us + 2 * TICK_US), given_us + TICK_US);
    given_us += HOUR * (uint64_t)SECOND_US;
    ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), before_us + TICK_US);
    ck_assert_uint_eq(own.set_us, 0);
    ck_assert_uint_eq(hc_sv_clock_given_us(&own, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(a_step_back_of_a_quarter_of_a_second_is_waited_for) {
    uint64_t before_us = given_us;
    given_us -= HC_SV_CLOCK_STEP_US;
    ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), given_us);
    given_us -= HC_SV_CLOCK_STEP_US + 1;
    ck_assert_uint_eq(hc_sv_clock_advance(&own, given_us), before_us - HC_SV_CLOCK_STEP_US);
}
END_TEST

/// An arrival may be older than the newest time, but not by an hour: then the clock was set since.
START_TEST(an_arrival_by_a_clock_that_was_set_is_of_now) {
    uint64_t late_us = given_us - HC_SV_CLOCK_ARRIVAL_US;
    ck_assert_uint_eq(hc_sv_clock_own_us(&own, late_us), late_us);
    ck_assert_uint_eq(hc_sv_clock_own_us(&own, late_us - 1), given_us);
    ck_assert_uint_eq(hc_sv_clock_own_us(&own, 0), given_us);
    uint64_t before_us = given_us;
    given_us -= HOUR * (uint64_t)SECOND_US;
    hc_sv_clock_advance(&own, given_us);
    ck_assert_uint_eq(hc_sv_clock_own_us(&own, before_us + 5000),
                      before_us + 5000); // set right again
    ck_assert_uint_eq(hc_sv_clock_own_us(&own, given_us + 5000), before_us + 5000);
}
END_TEST

START_TEST(own_time_falls_by_no_more_than_a_step_whatever_is_given) {
    struct hc_rng rng = hc_rng_init(4, 1);
    uint64_t newest_us = given_us;
    for (unsigned i = 0; i < 100000; i++) {
        given_us = (uint64_t)hc_rng_below(&rng, 1000000) * hc_rng_below(&rng, 1000000);
        uint64_t own_us = hc_sv_clock_advance(&own, given_us);
        ck_assert_uint_ge(own_us + HC_SV_CLOCK_STEP_US, newest_us);
        newest_us = own_us;
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server clock");
    TCase *tests = tcase_create("clock");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, own_time_is_the_callers_while_that_goes_on);
    tcase_add_test(tests, own_time_goes_on_from_a_step_back_and_from_its_undoing);
    tcase_add_test(tests, a_step_back_of_a_quarter_of_a_second_is_waited_for);
    tcase_add_test(tests, an_arrival_by_a_clock_that_was_set_is_of_now);
    tcase_add_test(tests, own_time_falls_by_no_more_than_a_step_whatever_is_given);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
