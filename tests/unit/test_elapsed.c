/// Checks differences of times.
#include "common/elapsed.h"

#include "tests/run_suite.h"

START_TEST(time_since_is_the_difference_of_the_times) {
    ck_assert_uint_eq(hc_since(7, 7), 0);
    ck_assert_uint_eq(hc_since(7, 10), 3);
    ck_assert_uint_eq(hc_since(0, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(time_since_a_later_time_is_none) {
    ck_assert_uint_eq(hc_since(8, 7), 0);
    ck_assert_uint_eq(hc_since(UINT64_MAX, 0), 0);
}
END_TEST

START_TEST(offset_of_two_clocks_has_either_sign) {
    ck_assert_int_eq(hc_offset(7, 10), 3);
    ck_assert_int_eq(hc_offset(10, 7), -3);
    ck_assert_int_eq(hc_offset(UINT64_MAX, 1), 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("elapsed");
    TCase *tests = tcase_create("elapsed");
    tcase_add_test(tests, time_since_is_the_difference_of_the_times);
    tcase_add_test(tests, time_since_a_later_time_is_none);
    tcase_add_test(tests, offset_of_two_clocks_has_either_sign);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
