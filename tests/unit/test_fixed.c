/// Tests of common/fixed.h against the C library's floating point.
#include "hindcast/fixed.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

/// A random number of a random magnitude.
static int32_t any_int32(struct hc_rng *rng) {
    uint32_t value = (uint32_t)hc_rng_next(rng) >> hc_rng_below(rng, 32);
    return hc_rng_below(rng, 2) == 0 ? (int32_t)(value >> 1) : -(int32_t)(value >> 1) - 1;
}

START_TEST(the_root_is_the_greatest_number_with_a_square_up_to_the_value) {
    struct hc_rng rng = hc_rng_init(4, 0);
    for (int i = 0; i < 30000; i++) {
        uint64_t value = hc_rng_next(&rng) >> hc_rng_below(&rng, 64);
        uint64_t root = hc_fixed_sqrt(value);
        ck_assert(root * root <= value);
        ck_assert(root == UINT32_MAX || (root + 1) * (root + 1) > value);
        if (root > 0)
            ck_assert_uint_eq(hc_fixed_sqrt(root * root - 1), root - 1);
    }
    ck_assert_uint_eq(hc_fixed_sqrt(0), 0);
    ck_assert_uint_eq(hc_fixed_sqrt(UINT64_MAX), UINT32_MAX);
}
END_TEST

START_TEST(lengths_are_exact_up_to_the_extremes) {
    ck_assert_uint_eq(hc_fixed_length(3, -4), 5);
    ck_assert_uint_eq(hc_fixed_length(INT32_MIN, INT32_MIN), UINT32_C(3037000499));
    ck_assert_uint_eq(hc_fixed_length(0, INT32_MIN), UINT32_C(2147483648));
}
END_TEST

START_TEST(setting_a_length_preserves_the_direction) {
    struct hc_rng rng = hc_rng_init(5, 0);
    for (int i = 0; i < 30000; i++) {
        int32_t x = any_int32(&rng), y = any_int32(&rng);
        int32_t length = any_int32(&rng) & INT32_MAX;
        double exact = sqrt((double)x * x + (double)y * y);
        double want_x = exact == 0 ? 0 : x / exact * length;
        double want_y = exact == 0 ? 0 : y / exact * length;
        double error = 1 + length / 268435456.0 + 1e-6;
        int32_t got_x = x, got_y = y;
        hc_fixed_set_length(&got_x, &got_y, length);
        ck_assert_msg(fabs(got_x - want_x) < error && fabs(got_y - want_y) < error,
                      "(%d, %d) to %d: (%d, %d)", x, y, length, got_x, got_y);
        int32_t limited_x = x, limited_y = y;
        hc_fixed_limit_length(&limited_x, &limited_y, length);
        bool longer = (uint64_t)((int64_t)x * x) + (uint64_t)((int64_t)y * y) >
                      (uint64_t)length * (uint64_t)length;
        ck_assert_int_eq(limited_x, longer ? got_x : x);
        ck_assert_int_eq(limited_y, longer ? got_y : y);
    }
    int32_t x = 0, y = 0;
    hc_fixed_set_length(&x, &y, 1000);
    ck_assert(x == 0 && y == 0);
}
END_TEST

START_TEST(mirrored_vectors_stay_mirrored) {
    struct hc_rng rng = hc_rng_init(6, 0);
    for (int i = 0; i < 20000; i++) {
        int32_t x = any_int32(&rng), y = any_int32(&rng);
        if (x == INT32_MIN)
            continue;
        int32_t length = any_int32(&rng) & INT32_MAX;
        int32_t ax = x, ay = y, bx = -x, by = y;
        hc_fixed_set_length(&ax, &ay, length);
        hc_fixed_set_length(&bx, &by, length);
        ck_assert(ax == -bx && ay == by);
    }
}
END_TEST

START_TEST(sines_are_rounded_to_nearest) {
    for (uint32_t angle = 0; angle < 3 * HC_FIXED_TURN; angle++) {
        double turn = 2 * PI * angle / HC_FIXED_TURN;
        ck_assert_int_eq(hc_fixed_sin(angle), lround(sin(turn) * HC_FIXED_ONE));
        ck_assert_int_eq(hc_fixed_cos(angle), lround(cos(turn) * HC_FIXED_ONE));
        // Negative angles wrap.
        ck_assert_int_eq(hc_fixed_sin(0u - angle), -hc_fixed_sin(angle));
    }
}
END_TEST

START_TEST(angles_are_the_nearest_step) {
    struct hc_rng rng = hc_rng_init(7, 0);
    for (int i = 0; i < 30000; i++) {
        int32_t x = any_int32(&rng), y = any_int32(&rng);
        double exact = atan2(y, x) / (2 * PI) * HC_FIXED_TURN;
        uint32_t angle = hc_fixed_angle(x, y);
        ck_assert_uint_lt(angle, HC_FIXED_TURN);
        double error = fabs(remainder(angle - exact, HC_FIXED_TURN));
        // The table's rounding, 2^-15, is 0.005 of a step.
        ck_assert_msg(error < 0.51, "(%d, %d): %u, not %f", x, y, angle, exact);
    }
    for (uint32_t angle = 0; angle < HC_FIXED_TURN; angle++)
        ck_assert_uint_eq(hc_fixed_angle(hc_fixed_cos(angle), hc_fixed_sin(angle)), angle);
    ck_assert_uint_eq(hc_fixed_angle(0, 0), 0);
}
END_TEST

START_TEST(floor_division_rounds_down_on_both_sides_of_zero) {
    struct hc_rng rng = hc_rng_init(8, 0);
    for (int i = 0; i < 30000; i++) {
        int64_t a = (int64_t)(hc_rng_next(&rng) >> hc_rng_below(&rng, 64));
        int64_t b = (int64_t)(hc_rng_next(&rng) >> (1 + hc_rng_below(&rng, 63)));
        b = b == 0 ? 1 : b;
        int64_t quotient = hc_fixed_floor_div(a, b), rest = hc_fixed_floor_mod(a, b);
        ck_assert(rest >= 0 && rest < b);
        // Modulo 2^64, because the product may be below INT64_MIN.
        ck_assert_uint_eq((uint64_t)quotient * (uint64_t)b + (uint64_t)rest, (uint64_t)a);
    }
    ck_assert_int_eq(hc_fixed_floor_div(-1, 16), -1);
    ck_assert_int_eq(hc_fixed_floor_div(INT64_MIN, 1), INT64_MIN);
}
END_TEST

START_TEST(clamping_leaves_values_inside_the_range) {
    for (int64_t value = -20; value <= 20; value++) {
        int64_t clamped = hc_fixed_clamp(value, -5, 7);
        ck_assert_int_eq(clamped, value < -5 ? -5 : value > 7 ? 7 : value);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("fixed");
    TCase *tests = tcase_create("fixed");
    tcase_add_test(tests, the_root_is_the_greatest_number_with_a_square_up_to_the_value);
    tcase_add_test(tests, lengths_are_exact_up_to_the_extremes);
    tcase_add_test(tests, setting_a_length_preserves_the_direction);
    tcase_add_test(tests, mirrored_vectors_stay_mirrored);
    tcase_add_test(tests, sines_are_rounded_to_nearest);
    tcase_add_test(tests, angles_are_the_nearest_step);
    tcase_add_test(tests, floor_division_rounds_down_on_both_sides_of_zero);
    tcase_add_test(tests, clamping_leaves_values_inside_the_range);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
