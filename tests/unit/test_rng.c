/// Tests of hindcast/rng.h.
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>

START_TEST(random_bits_are_the_same_on_every_architecture) {
    // Golden: may change only with the protocol's version, because games draw from it.
    ck_assert_uint_eq(hc_random(0, 0, 0, 0), UINT64_C(0x238275bc38fcbe91));
    ck_assert_uint_eq(hc_random(1, 2, 3, 4), UINT64_C(0x49d196591885064d));
    ck_assert_uint_eq(hc_random(UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX),
                      UINT64_C(0x21f4668c29f89bed));
    struct hc_rng rng = hc_rng_init(7, 9);
    ck_assert_uint_eq(hc_rng_next(&rng), UINT64_C(0x8cf66f377d62d67f));
    ck_assert_uint_eq(hc_rng_next(&rng), UINT64_C(0x5719109e42d3e562));
}
END_TEST

/// The number of bits in which `a` and `b` differ.
static int distance(uint64_t a, uint64_t b) {
    int bits = 0;
    for (uint64_t d = a ^ b; d != 0; d &= d - 1)
        bits++;
    return bits;
}

START_TEST(any_bit_of_any_argument_changes_half_of_the_result) {
    struct hc_rng rng = hc_rng_init(11, 0);
    for (int bit = 0; bit < 160; bit++) {
        int total = 0;
        for (int round = 0; round < 400; round++) {
            uint64_t seed = hc_rng_next(&rng);
            uint32_t arguments[3];
            for (int i = 0; i < 3; i++)
                arguments[i] = (uint32_t)hc_rng_next(&rng);
            uint64_t original = hc_random(seed, arguments[0], arguments[1], arguments[2]);
            if (bit < 64)
                seed ^= UINT64_C(1) << bit;
            else
                arguments[(bit - 64) / 32] ^= UINT32_C(1) << (bit - 64) % 32;
            total += distance(original, hc_random(seed, arguments[0], arguments[1], arguments[2]));
        }
        // The mean is 32 and the deviation 4; that of the mean of 400 rounds is 0.2.
        ck_assert_msg(total > 400 * 31 && total < 400 * 33, "bit %d: %d / 400", bit, total);
    }
}
END_TEST

START_TEST(streams_of_one_seed_differ_and_are_reproducible) {
    for (uint32_t stream = 0; stream < 100; stream++) {
        struct hc_rng a = hc_rng_init(5, stream), b = hc_rng_init(5, stream);
        struct hc_rng other = hc_rng_init(5, stream + 1);
        uint64_t first = hc_rng_next(&a);
        ck_assert_uint_eq(first, hc_rng_next(&b));
        ck_assert_uint_ne(first, hc_rng_next(&other));
    }
}
END_TEST

START_TEST(numbers_below_a_bound_are_uniform) {
    struct hc_rng rng = hc_rng_init(13, 0);
    ck_assert_uint_eq(hc_rng_below(&rng, 0), 0);
    ck_assert_uint_eq(hc_rng_below(&rng, 1), 0);
    int counts[10] = {0};
    for (int i = 0; i < 100000; i++) {
        uint32_t number = hc_rng_below(&rng, 10);
        ck_assert_uint_lt(number, 10);
        counts[number]++;
    }
    for (int i = 0; i < 10; i++)
        ck_assert_msg(counts[i] > 9500 && counts[i] < 10500, "%d came %d times", i, counts[i]);
}
END_TEST

START_TEST(chances_are_as_frequent_as_their_probability) {
    struct hc_rng rng = hc_rng_init(17, 0);
    int hits = 0;
    for (int i = 0; i < 100000; i++) {
        ck_assert(!hc_rng_chance(&rng, 0));
        ck_assert(hc_rng_chance(&rng, 1000000));
        hits += hc_rng_chance(&rng, 250000);
    }
    ck_assert_msg(hits > 24300 && hits < 25700, "%d of 100000", hits);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rng");
    TCase *tests = tcase_create("rng");
    tcase_add_test(tests, random_bits_are_the_same_on_every_architecture);
    tcase_add_test(tests, any_bit_of_any_argument_changes_half_of_the_result);
    tcase_add_test(tests, streams_of_one_seed_differ_and_are_reproducible);
    tcase_add_test(tests, numbers_below_a_bound_are_uniform);
    tcase_add_test(tests, chances_are_as_frequent_as_their_probability);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
