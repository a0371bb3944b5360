/// Tests the least round trip of 10 s, and the drift of the server's clock.
#include "client/link/trend.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <math.h>

enum { TICK_US = 16667, SECOND_US = 1000000 };

static struct hc_cl_trend trend;
static uint64_t now_us;

static void set_up(void) {
    trend = (struct hc_cl_trend){.count = 0};
    now_us = 50000000;
}

/// The server's clock at a local time: it is ahead, and gains `ppm` microseconds a second.
static uint64_t server_at(uint64_t local_us, double ppm) {
    return local_us + 7777777 + (uint64_t)(int64_t)((double)local_us * ppm * 1e-6);
}

/// Exchanges datagrams for so many seconds, one each tick; the ways take the given times and up to
/// `jitter_us` more.
static void play(struct hc_rng *rng, uint32_t seconds, uint32_t up_us, uint32_t down_us,
                 uint32_t jitter_us, double ppm) {
    for (uint64_t end_us = now_us + (uint64_t)seconds * SECOND_US; now_us < end_us;
         now_us += TICK_US) {
        uint64_t up = up_us + hc_rng_below(rng, jitter_us + 1);
        uint64_t down = down_us + hc_rng_below(rng, jitter_us + 1);
        hc_cl_trend_sample(&trend, now_us + up + down, up + down, server_at(now_us + up, ppm));
    }
}

START_TEST(least_round_trip_is_that_of_ten_seconds) {
    struct hc_rng rng = hc_rng_init(1, 1);
    play(&rng, 3, 20000, 20000, 0, 0);
    ck_assert_uint_eq(trend.rtt_min_us, 40000);
    play(&rng, 9, 40000, 40000, 0, 0);
    ck_assert_uint_eq(trend.rtt_min_us, 40000);
    play(&rng, 2, 40000, 40000, 0, 0);
    ck_assert_uint_eq(trend.rtt_min_us, 80000);
    play(&rng, 1, 10000, 10000, 0, 0);
    ck_assert_uint_eq(trend.rtt_min_us, 20000);
}
END_TEST

START_TEST(drift_is_unknown_at_first_and_then_right) {
    static const double drifts[] = {0, 50, -80, 300, -500};
    for (uint32_t seed = 0; seed < 60; seed++) {
        struct hc_rng rng = hc_rng_init(2, seed);
        uint32_t way_us = hc_rng_below(&rng, 150000), jitter_us = hc_rng_below(&rng, 20000);
        double ppm = drifts[seed % 5];
        set_up();
        play(&rng, 12, way_us, way_us, jitter_us, ppm);
        ck_assert_msg(!trend.drift_known && trend.drift_ppm == 0, "seed %u", seed);
        play(&rng, 120, way_us, way_us, jitter_us, ppm);
        ck_assert_msg(trend.drift_known, "seed %u", seed);
        for (int i = 0; i < 10; i++) {
            play(&rng, 10, way_us, way_us, jitter_us, ppm);
            ck_assert_msg(fabs(trend.drift_ppm - ppm) < 3 * HC_CL_TREND_ERROR_PPM,
                          "seed %u: %.1f ppm, %.1f after %d s", seed, ppm, trend.drift_ppm,
                          142 + 10 * i);
        }
        ck_assert_msg(fabs(trend.drift_ppm - ppm) < HC_CL_TREND_ERROR_PPM, "seed %u: %.1f", seed,
                      trend.drift_ppm);
    }
}
END_TEST

/// A longer way in one direction moves the offsets by half of it, as if the clock had drifted.
START_TEST(a_path_that_becomes_longer_is_no_drift) {
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct hc_rng rng = hc_rng_init(3, seed);
        uint32_t longer_us = 10000 + hc_rng_below(&rng, 100000);
        set_up();
        play(&rng, 100, 20000, 20000, 500, 40);
        for (int i = 0; i < 40; i++) {
            play(&rng, 10, 20000 + longer_us, 20000, 500, 40);
            ck_assert_msg(!trend.drift_known ||
                              fabs(trend.drift_ppm - 40) < 3 * HC_CL_TREND_ERROR_PPM,
                          "seed %u, %u us longer: %.1f ppm after %d s", seed, longer_us,
                          trend.drift_ppm, 10 + 10 * i);
        }
        ck_assert_msg(trend.drift_known, "seed %u", seed);
    }
}
END_TEST

START_TEST(a_clock_that_was_set_begins_anew) {
    struct hc_rng rng = hc_rng_init(4, 1);
    play(&rng, 60, 20000, 20000, 500, 40);
    ck_assert(trend.drift_known);
    hc_cl_trend_restart(&trend);
    ck_assert(!trend.drift_known && trend.drift_ppm == 0 && trend.rtt_min_us == 0);
    play(&rng, 60, 20000, 20000, 500, -40);
    ck_assert(trend.drift_known && fabs(trend.drift_ppm + 40) < HC_CL_TREND_ERROR_PPM);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client trend");
    TCase *tests = tcase_create("trend");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, least_round_trip_is_that_of_ten_seconds);
    tcase_add_test(tests, drift_is_unknown_at_first_and_then_right);
    tcase_add_test(tests, a_path_that_becomes_longer_is_no_drift);
    tcase_add_test(tests, a_clock_that_was_set_begins_anew);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
