/// Tests of hindcast/histogram.h against sorted values.
#include "hindcast/histogram.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES = 3000 };

static struct hc_histogram histogram, other, whole;

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/// Draws `count` values of all magnitudes or of few, as the stream decides.
static void draw(struct hc_rng *rng, uint64_t *values, size_t count) {
    uint32_t shifts = 1 + hc_rng_below(rng, 64);
    for (size_t i = 0; i < count; i++)
        values[i] = hc_rng_next(rng) >> (63 - hc_rng_below(rng, shifts));
}

START_TEST(every_rank_is_at_most_a_thirty_second_above_the_exact_value) {
    static uint64_t values[VALUES];
    for (uint32_t stream = 0; stream < 40; stream++) {
        struct hc_rng rng = hc_rng_init(9, stream);
        size_t count = 1 + hc_rng_below(&rng, VALUES);
        draw(&rng, values, count);
        memset(&histogram, 0, sizeof histogram);
        for (size_t i = 0; i < count; i++)
            hc_histogram_record(&histogram, values[i]);
        qsort(values, count, sizeof values[0], ascending);
        ck_assert_uint_eq(histogram.count, count);
        ck_assert_uint_eq(histogram.max, values[count - 1]);
        for (size_t rank = 1; rank <= count; rank++) {
            uint64_t exact = values[rank - 1], got = hc_histogram_at_rank(&histogram, rank);
            ck_assert_msg(got >= exact && got - exact <= exact / 32 && got <= histogram.max,
                          "stream %u, rank %zu", stream, rank);
        }
        for (uint32_t permille = 0; permille <= 1000; permille++) {
            size_t rank = (count * permille + 999) / 1000;
            ck_assert_uint_eq(hc_histogram_percentile(&histogram, permille),
                              hc_histogram_at_rank(&histogram, rank == 0 ? 1 : rank));
        }
        ck_assert_uint_eq(hc_histogram_percentile(&histogram, 1000), values[count - 1]);
    }
}
END_TEST

START_TEST(values_up_to_a_bound_are_counted_to_a_thirty_second) {
    static uint64_t values[VALUES];
    struct hc_rng rng = hc_rng_init(11, 0);
    draw(&rng, values, VALUES);
    memset(&histogram, 0, sizeof histogram);
    for (size_t i = 0; i < VALUES; i++)
        hc_histogram_record(&histogram, values[i]);
    for (size_t b = 0; b < VALUES; b += 10) {
        uint64_t bound = values[b], at_most = 0, surely = 0;
        for (size_t i = 0; i < VALUES; i++) {
            at_most += values[i] <= bound;
            surely += values[i] < bound - bound / 32 || (bound < 32 && values[i] == bound);
        }
        uint64_t counted = hc_histogram_up_to(&histogram, bound);
        ck_assert(surely <= counted && counted <= at_most);
    }
    ck_assert_uint_eq(hc_histogram_up_to(&histogram, UINT64_MAX), VALUES);
}
END_TEST

START_TEST(merging_equals_recording_all_values_in_one) {
    static uint64_t values[VALUES];
    for (uint32_t stream = 0; stream < 40; stream++) {
        struct hc_rng rng = hc_rng_init(10, stream);
        draw(&rng, values, VALUES);
        memset(&histogram, 0, sizeof histogram);
        memset(&other, 0, sizeof other);
        memset(&whole, 0, sizeof whole);
        for (size_t i = 0; i < VALUES; i++) {
            hc_histogram_record(hc_rng_below(&rng, 3) == 0 ? &histogram : &other, values[i]);
            hc_histogram_record(&whole, values[i]);
        }
        hc_histogram_merge(&histogram, &other);
        ck_assert_msg(memcmp(&histogram, &whole, sizeof whole) == 0, "stream %u", stream);
    }
}
END_TEST

START_TEST(the_mean_is_exact_until_the_sum_saturates) {
    memset(&histogram, 0, sizeof histogram);
    uint64_t sum = 0;
    struct hc_rng rng = hc_rng_init(11, 0);
    for (uint64_t i = 1; i <= VALUES; i++) {
        uint64_t value = hc_rng_below(&rng, 1000000);
        sum += value;
        hc_histogram_record(&histogram, value);
        ck_assert_uint_eq(hc_histogram_mean(&histogram), sum / i);
    }
    hc_histogram_record(&histogram, UINT64_MAX);
    ck_assert_uint_eq(histogram.sum, UINT64_MAX);
    ck_assert_uint_eq(hc_histogram_percentile(&histogram, 1000), UINT64_MAX);
}
END_TEST

START_TEST(an_empty_histogram_is_all_zeros) {
    memset(&histogram, 0, sizeof histogram);
    ck_assert_uint_eq(hc_histogram_mean(&histogram), 0);
    ck_assert_uint_eq(hc_histogram_percentile(&histogram, 500), 0);
    ck_assert_uint_eq(hc_histogram_at_rank(&histogram, 1), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("histogram");
    TCase *tests = tcase_create("histogram");
    tcase_add_test(tests, every_rank_is_at_most_a_thirty_second_above_the_exact_value);
    tcase_add_test(tests, values_up_to_a_bound_are_counted_to_a_thirty_second);
    tcase_add_test(tests, merging_equals_recording_all_values_in_one);
    tcase_add_test(tests, the_mean_is_exact_until_the_sum_saturates);
    tcase_add_test(tests, an_empty_histogram_is_all_zeros);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
