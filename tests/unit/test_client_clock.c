/// Checks the client clock.
#include "client/link/clock.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>

/// The server's time is `ahead` microseconds more than the local one.
static const uint64_t ahead = 7777777;

/// A datagram leaves at `now_us`, takes `up_us`, and its answer, made at once, `down_us`.
static void exchange(struct hc_cl_clock *clock, uint64_t now_us, uint64_t up_us, uint64_t down_us) {
    hc_cl_clock_sample(clock, now_us + up_us + down_us, up_us + down_us, now_us + up_us + ahead);
}

static int64_t error_at(const struct hc_cl_clock *clock, uint64_t now_us) {
    return (int64_t)(hc_cl_clock_server_us(clock, now_us) - (now_us + ahead));
}

START_TEST(estimate_is_exact_when_both_directions_take_equally_long) {
    struct hc_cl_clock clock = {.known = false};
    exchange(&clock, 1000000, 33333, 33333);
    ck_assert_int_eq(error_at(&clock, 1066666), 0);
    ck_assert_uint_eq(clock.rtt_min_us, 66666);
}
END_TEST

START_TEST(error_is_at_most_half_the_jitter_of_the_best_recent_sample) {
    for (uint32_t seed = 0; seed < 300; seed++) {
        struct hc_rng rng = hc_rng_init(1, seed);
        struct hc_cl_clock clock = {.known = false};
        uint64_t way_us = hc_rng_below(&rng, 200000), now_us = 5000000;
        uint32_t jitter_us = 1 + hc_rng_below(&rng, 100000);
        for (int i = 0; i < 400; i++, now_us += 16667) {
            exchange(&clock, now_us, way_us + hc_rng_below(&rng, jitter_us),
                     way_us + hc_rng_below(&rng, jitter_us));
            uint64_t bound = (clock.rtt_min_us - 2 * way_us) / 2 + 1;
            ck_assert_msg((uint64_t)llabs(error_at(&clock, now_us)) <= bound, "seed %u", seed);
        }
        // 64 samples: the best is expected within an eighth of the jitter.
        ck_assert_msg(clock.rtt_min_us - 2 * way_us <= jitter_us, "seed %u", seed);
    }
}
END_TEST

START_TEST(longer_round_trip_counts_once_older_samples_are_too_old) {
    const uint64_t span_us = HC_CL_CLOCK_WINDOW_US / HC_CL_CLOCK_SPANS;
    for (uint64_t first_us = 0; first_us < span_us; first_us += span_us / 7) {
        struct hc_cl_clock clock = {.known = false};
        exchange(&clock, first_us, 10000, 10000);
        uint64_t now_us = first_us + 20000 + HC_CL_CLOCK_WINDOW_US;
        exchange(&clock, now_us - span_us - 60000, 30000, 30000);
        ck_assert_uint_eq(clock.rtt_min_us, 20000);
        exchange(&clock, now_us - 60000, 30000, 30000);
        ck_assert_uint_eq(clock.rtt_min_us, 60000);
    }
}
END_TEST

/// Each leg has a least delay of its own: two samples that are bad in another leg make a good one.
START_TEST(estimate_takes_the_best_of_each_leg) {
    struct hc_cl_clock clock = {.known = false};
    exchange(&clock, 1000000, 20000, 90000);
    exchange(&clock, 1100000, 70000, 20000);
    ck_assert_int_eq(error_at(&clock, 1200000), 0);
    ck_assert_uint_eq(clock.rtt_min_us, 90000);
    exchange(&clock, 1200000, 12000, 80000);
    ck_assert_int_eq(error_at(&clock, 1300000), -4000);
}
END_TEST

/// A server that could not catch up sets its clock back. At the first exchange after that the
/// estimate errs by no more than that exchange's own jitter, however good the samples before it.
START_TEST(estimate_follows_a_server_clock_that_was_set_at_the_first_contradiction) {
    for (uint32_t seed = 0; seed < 300; seed++) {
        struct hc_rng rng = hc_rng_init(3, seed);
        struct hc_cl_clock clock = {.known = false};
        uint64_t way_us = hc_rng_below(&rng, 100000), now_us = 9000000;
        uint32_t jitter_us = 1 + hc_rng_below(&rng, 50000);
        uint64_t set_us = 2 * (way_us + jitter_us) + HC_CL_CLOCK_MARGIN_US + 1;
        set_us += hc_rng_below(&rng, 1000000);
        for (int i = 0; i < 100; i++, now_us += 16667)
            exchange(&clock, now_us, way_us + hc_rng_below(&rng, jitter_us),
                     way_us + hc_rng_below(&rng, jitter_us));
        bool back = seed % 2 == 0;
        int64_t shift_us = back ? -(int64_t)set_us : (int64_t)set_us;
        for (int i = 0; i < 100; i++, now_us += 16667) {
            uint64_t up_us = way_us + hc_rng_below(&rng, jitter_us);
            uint64_t down_us = way_us + hc_rng_below(&rng, jitter_us);
            hc_cl_clock_sample(&clock, now_us + up_us + down_us, up_us + down_us,
                               now_us + up_us + ahead + (uint64_t)shift_us);
            int64_t error_us = error_at(&clock, now_us) - shift_us;
            ck_assert_msg((uint64_t)llabs(error_us) <= jitter_us / 2 + 1, "seed %u", seed);
        }
    }
}
END_TEST

/// Delay alone never contradicts the estimate: the best sample stays, no matter which come later.
START_TEST(late_datagram_does_not_change_the_estimate) {
    for (uint32_t seed = 0; seed < 300; seed++) {
        struct hc_rng rng = hc_rng_init(4, seed);
        struct hc_cl_clock clock = {.known = false};
        uint64_t now_us = 9000000;
        exchange(&clock, now_us, 10000, 10000);
        for (uint64_t i = 1; i < 64; i++) {
            exchange(&clock, now_us + i * 10000, 10000 + hc_rng_below(&rng, 400000),
                     10000 + hc_rng_below(&rng, 400000));
            ck_assert_msg(error_at(&clock, now_us) == 0, "seed %u", seed);
        }
    }
}
END_TEST

START_TEST(least_delayed_provisional_estimate_stays_until_the_first_sample) {
    struct hc_cl_clock clock = {.known = false};
    hc_cl_clock_estimate(&clock, 1000000, 20000, 1000000 + ahead - 40000);
    ck_assert_int_eq(error_at(&clock, 1000000), -30000);
    hc_cl_clock_estimate(&clock, 1100000, 20000, 1100000 + ahead - 15000);
    ck_assert_int_eq(error_at(&clock, 1100000), -5000);
    hc_cl_clock_estimate(&clock, 1200000, 20000, 1200000 + ahead - 90000);
    ck_assert_int_eq(error_at(&clock, 1200000), -5000);
    exchange(&clock, 1300000, 80000, 80000);
    ck_assert_int_eq(error_at(&clock, 1500000), 0);
    hc_cl_clock_estimate(&clock, 1600000, 20000, 1600000 + ahead + 50000);
    ck_assert_int_eq(error_at(&clock, 1600000), 0);
}
END_TEST

START_TEST(server_time_is_0_before_tick_0) {
    struct hc_cl_clock clock = {.known = false};
    hc_cl_clock_sample(&clock, 5000000, 0, 1000000);
    ck_assert_uint_eq(hc_cl_clock_server_us(&clock, 3999999), 0);
    ck_assert_uint_eq(hc_cl_clock_server_us(&clock, 4000001), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_clock");
    TCase *tests = tcase_create("client_clock");
    tcase_add_test(tests, estimate_is_exact_when_both_directions_take_equally_long);
    tcase_add_test(tests, error_is_at_most_half_the_jitter_of_the_best_recent_sample);
    tcase_add_test(tests, longer_round_trip_counts_once_older_samples_are_too_old);
    tcase_add_test(tests, estimate_takes_the_best_of_each_leg);
    tcase_add_test(tests, estimate_follows_a_server_clock_that_was_set_at_the_first_contradiction);
    tcase_add_test(tests, late_datagram_does_not_change_the_estimate);
    tcase_add_test(tests, least_delayed_provisional_estimate_stays_until_the_first_sample);
    tcase_add_test(tests, server_time_is_0_before_tick_0);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
