/// Tests of the slewed clock: client/position alone, and with the client clock over jittery legs.
#include "client/position.h"

#include "tests/run_suite.h"
#include "tests/sim/clock_match.h"

#include <stdlib.h>

enum {
    SECOND_US = 1000000,
    TICK_US = SECOND_US / 60,
    DEADBAND_US = TICK_US / 4,
    FRAME_US = 8333, ///< a frame of 120 Hz
    SEEDS = 8,
};

// ---- Position -----------------------------------------------------------------------------------

START_TEST(position_follows_a_step_at_a_twentieth_and_stops_at_the_target) {
    for (int ahead = -1; ahead <= 1; ahead += 2) {
        struct hc_cl_position position;
        hc_cl_position_set(&position, 1000, 5000000);
        int64_t step_us = ahead * 50000;
        uint64_t last_us = 5000000;
        for (uint64_t us = FRAME_US; us < 3 * SECOND_US; us += FRAME_US) {
            uint64_t target_us = 5000000 + us + (uint64_t)step_us;
            ck_assert_int_eq(
                hc_cl_position_follow(&position, 1000 + us, target_us, DEADBAND_US, false),
                HC_CL_POSITION_SLEWS);
            uint64_t at_us = hc_cl_position_at(&position, 1000 + us);
            ck_assert_uint_ge(at_us - last_us, FRAME_US * 95 / 100);
            ck_assert_uint_le(at_us - last_us, FRAME_US * 105 / 100 + 1);
            if (us > SECOND_US + 3 * FRAME_US) // 50 ms at a twentieth, and the rest of a deadband
                ck_assert_uint_le((uint64_t)llabs((int64_t)(target_us - at_us)), DEADBAND_US / 8);
            last_us = at_us;
        }
    }
}
END_TEST

START_TEST(difference_within_the_deadband_is_corrected_at_a_thousandth) {
    struct hc_cl_position position;
    hc_cl_position_set(&position, 0, 0);
    for (uint64_t us = FRAME_US; us < 3 * SECOND_US; us += FRAME_US) {
        hc_cl_position_follow(&position, us, us + 4000, DEADBAND_US, false);
        ck_assert_uint_le(hc_cl_position_at(&position, us), us + us / 1000);
        ck_assert_uint_ge(hc_cl_position_at(&position, us) + 10, us + us / 1000 - FRAME_US / 1000);
    }
}
END_TEST

/// A target that does not change is corrected once, however often the position is asked to follow.
START_TEST(correction_under_way_is_not_corrected_again) {
    struct hc_cl_position often, once;
    hc_cl_position_set(&often, 0, 0);
    hc_cl_position_set(&once, 0, 0);
    hc_cl_position_follow(&once, 0, 40000, DEADBAND_US, false);
    for (uint64_t us = 0; us < 2 * SECOND_US; us += 100) {
        hc_cl_position_follow(&often, us, us + 40000, DEADBAND_US, false);
        uint64_t often_us = hc_cl_position_at(&often, us), once_us = hc_cl_position_at(&once, us);
        ck_assert_uint_le(often_us, once_us);
        ck_assert_uint_le(once_us - often_us, DEADBAND_US / 8);
    }
    ck_assert_uint_eq(hc_cl_position_at(&often, 2 * SECOND_US), 2 * SECOND_US + 40000);
}
END_TEST

START_TEST(position_jumps_ahead_and_stands_still_to_go_back) {
    struct hc_cl_position position;
    hc_cl_position_set(&position, 0, SECOND_US);
    ck_assert_int_eq(
        hc_cl_position_follow(&position, 0, SECOND_US + HC_CL_POSITION_JUMP_US, DEADBAND_US, false),
        HC_CL_POSITION_SLEWS);
    ck_assert_int_eq(hc_cl_position_follow(&position, 0, SECOND_US + HC_CL_POSITION_JUMP_US + 1,
                                           DEADBAND_US, false),
                     HC_CL_POSITION_JUMPS);
    ck_assert_uint_eq(hc_cl_position_at(&position, 0), SECOND_US + HC_CL_POSITION_JUMP_US + 1);
    hc_cl_position_set(&position, 0, 2 * SECOND_US);
    ck_assert_int_eq(hc_cl_position_follow(&position, 0, SECOND_US, DEADBAND_US, false),
                     HC_CL_POSITION_JUMPS);
    for (uint64_t us = 0; us <= SECOND_US; us += FRAME_US) { // until the target has come
        ck_assert_int_eq(hc_cl_position_follow(&position, us, SECOND_US + us, DEADBAND_US, false),
                         HC_CL_POSITION_SLEWS);
        ck_assert(position.waits);
        ck_assert_uint_eq(hc_cl_position_at(&position, us), 2 * SECOND_US);
    }
    uint64_t us = SECOND_US + 1;
    hc_cl_position_follow(&position, us, SECOND_US + us, DEADBAND_US, false);
    ck_assert(!position.waits);
    ck_assert_uint_eq(hc_cl_position_at(&position, us + 5), 2 * SECOND_US + 6);
}
END_TEST

START_TEST(local_time_is_the_first_at_which_the_position_is_reached) {
    for (uint32_t seed = 0; seed < 2000; seed++) {
        struct hc_rng rng = hc_rng_init(seed, 0);
        struct hc_cl_position position;
        uint64_t now_us = hc_rng_below(&rng, SECOND_US), at_us = 9 * SECOND_US;
        hc_cl_position_set(&position, now_us, at_us);
        int64_t step_us = (int64_t)hc_rng_below(&rng, 600000) - 300000;
        hc_cl_position_follow(&position, now_us, at_us + (uint64_t)step_us, DEADBAND_US, false);
        uint64_t wanted_us = at_us + hc_rng_below(&rng, SECOND_US);
        uint64_t local_us = hc_cl_position_local_us(&position, wanted_us);
        ck_assert_uint_ge(hc_cl_position_at(&position, local_us), wanted_us);
        if (local_us > now_us)
            ck_assert_uint_lt(hc_cl_position_at(&position, local_us - 1), wanted_us);
    }
}
END_TEST

// ---- With the client clock ----------------------------------------------------------------------

static struct hc_clock_match match;

static struct hc_exchange_config jittery(uint64_t seed) {
    return (struct hc_exchange_config){
        .seed = seed, .rate = 60, .up_us = 30000, .down_us = 30000, .jitter_us = 20000};
}

/// The errors of a stretch of a match.
struct errors {
    uint64_t count, squares, most_us;
    uint64_t over_us; ///< errors of 4 ms or more
};

/// Plays frames until `end_us`. Time never goes back, and unless it joins its rate is within
/// bounds.
static struct errors play(uint64_t end_us, bool joins) {
    struct errors errors = {.count = 0};
    uint64_t before_us = hc_clock_match_position(&match, match.true_us);
    for (uint64_t us = match.true_us + FRAME_US; us < end_us; us += FRAME_US) {
        int64_t error_us = hc_clock_match_frame(&match, us);
        uint64_t at_us = hc_clock_match_position(&match, us);
        ck_assert_uint_ge(at_us, before_us);
        if (!joins) {
            ck_assert_uint_ge(at_us - before_us, FRAME_US * 949 / 1000);
            ck_assert_uint_le(at_us - before_us, FRAME_US * 1051 / 1000);
        }
        before_us = at_us;
        errors.count++;
        errors.squares += (uint64_t)(error_us * error_us);
        errors.over_us += llabs(error_us) > 4000;
        errors.most_us =
            (uint64_t)llabs(error_us) > errors.most_us ? (uint64_t)llabs(error_us) : errors.most_us;
    }
    return errors;
}

/// The root of the mean square is at most `bound_us`.
static void check_rms(const struct errors *errors, uint64_t bound_us) {
    ck_assert_uint_gt(errors->count, 0);
    ck_assert_uint_le(errors->squares / errors->count, bound_us * bound_us);
}

START_TEST(error_under_exponential_jitter_is_small_also_with_drift) {
    for (int32_t ppm = -100; ppm <= 100; ppm += 100) {
        struct errors all = {.count = 0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct hc_exchange_config config = jittery(seed);
            config.ppm = ppm;
            hc_clock_match_begin(&match, &config);
            play(match.true_us + 600000, true);
            play(5 * SECOND_US, false);
            struct errors errors = play(35 * SECOND_US, false);
            all.count += errors.count;
            all.squares += errors.squares;
            ck_assert_uint_le(errors.most_us, 3000);
            ck_assert_uint_eq(match.stats.clock_jumps, 0);
        }
        check_rms(&all, 1000);
    }
}
END_TEST

START_TEST(error_half_a_second_after_the_join_is_mostly_small) {
    uint64_t over = 0, count = 0;
    for (uint64_t seed = 1; seed <= 20 * SEEDS; seed++) {
        struct hc_exchange_config config = jittery(seed);
        hc_clock_match_begin(&match, &config);
        uint64_t joined_us = match.true_us + 500000;
        play(joined_us, true);
        struct errors errors = play(joined_us + 200000, true);
        over += errors.over_us;
        count += errors.count;
    }
    ck_assert_uint_le(20 * over, count);
}
END_TEST

/// A process that was stopped for 3 s is at the server's time at once: the local clock ran on. The
/// missing ticks follow in a few advances.
START_TEST(suspend_of_three_seconds_is_made_up_for_and_counted) {
    struct hc_exchange_config config = jittery(1);
    hc_clock_match_begin(&match, &config);
    play(5 * SECOND_US, true);
    int64_t error_us = hc_clock_match_frame(&match, match.true_us + 3 * SECOND_US);
    ck_assert_int_le(llabs(error_us), 8000);
    ck_assert_uint_eq(match.stats.clock_jumps, 1);
    ck_assert(match.timing.catches_up);
    uint64_t until_us = match.true_us + SECOND_US;
    struct errors errors = play(until_us, false);
    ck_assert_uint_le(errors.most_us, 8000);
    ck_assert(!match.timing.catches_up);
    ck_assert_uint_eq(
        match.timing.head,
        hc_cl_timing_due(&match.timing, hc_exchange_local_us(&match.exchange, match.true_us)));
}
END_TEST

/// A slow frame: what it may not simulate follows at a twentieth more.
START_TEST(frame_of_a_fifth_of_a_second_is_made_up_for_slowly) {
    struct hc_exchange_config config = jittery(2);
    hc_clock_match_begin(&match, &config);
    play(5 * SECOND_US, true);
    hc_tick head = match.timing.head;
    int64_t error_us = hc_clock_match_frame(&match, match.true_us + SECOND_US / 5);
    ck_assert_uint_eq(match.timing.head, head + 6);
    ck_assert_int_lt(error_us, -5 * TICK_US);
    play(match.true_us + 3 * SECOND_US, false);
    struct errors errors = play(match.true_us + SECOND_US, false);
    ck_assert_uint_le(errors.most_us, 3000);
    ck_assert_uint_eq(match.stats.clock_jumps, 0);
}
END_TEST

/// A leg that gets longer or shorter moves the estimate by half of that, and nothing can show it:
/// round trips do not tell the legs apart. Both legs together move nothing.
START_TEST(route_that_changes_moves_the_position_by_half_the_difference_of_the_legs) {
    static const struct {
        int64_t up_us, down_us;
    } changes[] = {{40000, 0}, {0, 40000}, {-25000, 0}, {0, -25000}, {20000, 20000}};
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct hc_exchange_config config = jittery(i + 1);
        config.jitter_us = 5000;
        hc_clock_match_begin(&match, &config);
        play(5 * SECOND_US, true);
        match.exchange.config.up_us += (uint64_t)changes[i].up_us;
        match.exchange.config.down_us += (uint64_t)changes[i].down_us;
        play(9 * SECOND_US, false);
        int64_t error_us = hc_clock_match_frame(&match, match.true_us + FRAME_US);
        int64_t expected_us = (changes[i].up_us - changes[i].down_us) / 2;
        ck_assert_int_le(llabs(error_us - expected_us), 2000);
        ck_assert_uint_eq(match.stats.clock_jumps, 0);
    }
}
END_TEST

/// A server that has missed ticks sets its clock back; the client follows within 5 s and slowly.
START_TEST(server_clock_that_is_set_back_is_followed_slowly) {
    for (int64_t ticks = 1; ticks <= 12; ticks++) {
        struct hc_exchange_config config = jittery((uint64_t)ticks);
        config.jitter_us = 5000;
        hc_clock_match_begin(&match, &config);
        play(5 * SECOND_US, true);
        match.exchange.set_us = -ticks * TICK_US;
        play(14 * SECOND_US, false);
        struct errors errors = play(16 * SECOND_US, false);
        ck_assert_uint_le(errors.most_us, 3000);
        ck_assert_uint_eq(match.stats.clock_jumps, 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_position");
    TCase *tests = tcase_create("client_position");
    tcase_add_test(tests, position_follows_a_step_at_a_twentieth_and_stops_at_the_target);
    tcase_add_test(tests, difference_within_the_deadband_is_corrected_at_a_thousandth);
    tcase_add_test(tests, correction_under_way_is_not_corrected_again);
    tcase_add_test(tests, position_jumps_ahead_and_stands_still_to_go_back);
    tcase_add_test(tests, local_time_is_the_first_at_which_the_position_is_reached);
    tcase_add_test(tests, error_under_exponential_jitter_is_small_also_with_drift);
    tcase_add_test(tests, error_half_a_second_after_the_join_is_mostly_small);
    tcase_add_test(tests, suspend_of_three_seconds_is_made_up_for_and_counted);
    tcase_add_test(tests, frame_of_a_fifth_of_a_second_is_made_up_for_slowly);
    tcase_add_test(tests, route_that_changes_moves_the_position_by_half_the_difference_of_the_legs);
    tcase_add_test(tests, server_clock_that_is_set_back_is_followed_slowly);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
