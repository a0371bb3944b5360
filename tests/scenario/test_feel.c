/// Keys are shown soon on the own screen and on those of the others, and delays are right again
/// soon after a path has changed.
#include "tests/sim/feel_match.h"
#include "tests/sim/path_change.h"

#include "tests/run_suite.h"

enum { CLIENTS = 4, TRIPS = 3, TICK_US = SECOND_US / HC_FEEL_RATE };

static const uint32_t trips_ms[TRIPS] = {0, 100, 300};
static const char *const presets[] = {"rewind", "balanced", "ahead"};

static struct hc_feel_result result;

static struct hc_feel_config config_of(const char *preset, uint32_t trip_ms, uint32_t jitter_ms,
                                       uint32_t loss) {
    struct hc_feel_config config = {.clients = CLIENTS, .seconds = 12, .seed = 9};
    ck_assert(hc_client_timing_preset(preset, &config.timing));
    config.up = hc_sim_link(trip_ms / 2, loss);
    config.up.jitter_us = jitter_ms * MS_US;
    config.down = config.up;
    return config;
}

static void play(const struct hc_feel_config *config) {
    ck_assert(hc_feel_match(config, &result));
    ck_assert_uint_gt(result.own_us.count, 12);
    ck_assert_uint_gt(result.presses, 40);
    ck_assert_uint_eq(result.lost, 0);
}

START_TEST(own_key_is_shown_a_tick_after_the_input_delay_whatever_the_path_does) {
    for (unsigned p = 0; p < 3; p++) {
        struct hc_feel_config config = config_of(presets[p], trips_ms[_i], 20, 5);
        play(&config);
        uint64_t delay_us = (uint64_t)(result.input_delay * TICK_US);
        ck_assert_uint_ge(hc_histogram_mean(&result.own_us), delay_us + TICK_US / 2);
        ck_assert_uint_le(hc_histogram_mean(&result.own_us), delay_us + TICK_US * 3 / 2);
        ck_assert_uint_le(result.own_us.max, delay_us + 3 * TICK_US);
    }
}
END_TEST

START_TEST(another_screen_shows_a_key_after_its_way_and_three_ticks) {
    for (unsigned p = 0; p < 3; p++) {
        struct hc_feel_config config = config_of(presets[p], trips_ms[_i], 0, 0);
        play(&config);
        uint64_t way_us = trips_ms[_i] * MS_US, delay_us = (uint64_t)(result.input_delay * TICK_US);
        uint64_t least_us = way_us > delay_us ? way_us : delay_us;
        ck_assert_uint_le(result.seen_us.max, least_us + 3 * TICK_US);
    }
}
END_TEST

/// The time until the truth, beside the size of what is shown wrong until then.
START_TEST(
    balanced_walker_100_ms_away_is_shown_a_hundredth_of_the_screen_off_and_right_after_333_ms) {
    struct hc_feel_config config = config_of("balanced", 100, 0, 0);
    play(&config);
    ck_assert_uint_le(hc_histogram_percentile(&result.right_us, 950), 333 * MS_US);
    ck_assert_uint_le(hc_histogram_percentile(&result.pop, 950),
                      HC_FEEL_WIDTH_PX * HC_FEEL_PX / 100);
    ck_assert_uint_eq(result.never, 0);
    ck_assert_uint_eq(result.rewinds, 0);
}
END_TEST

static struct hc_feel_config delayed(enum hc_others others) {
    struct hc_feel_config config = config_of("balanced", 70, 0, 0);
    config.others = others;
    config.held_ppm = HC_NETWORK_SIM_PPM / 10;
    config.held_us = 50 * MS_US;
    return config;
}

START_TEST(walker_as_received_is_never_far_off_although_some_datagrams_take_longer) {
    struct hc_feel_config config = delayed(HC_OTHERS_AS_RECEIVED);
    play(&config);
    ck_assert_uint_le(result.off_ticks, 2);
    ck_assert_uint_le(result.frozen_ticks, 2);
    ck_assert_uint_le(hc_histogram_percentile(&result.right_us, 950), 200 * MS_US);
}
END_TEST

START_TEST(predicted_walker_is_far_off_for_two_ticks_at_most_if_corrections_are_shown_at_once) {
    struct hc_feel_config config = delayed(HC_OTHERS_PREDICTED);
    config.at_once = true;
    play(&config);
    ck_assert_uint_le(result.off_ticks, 2);
    ck_assert_uint_le(result.frozen_ticks, 2);
    ck_assert_uint_le(hc_histogram_percentile(&result.right_us, 950), 150 * MS_US);
}
END_TEST

START_TEST(predicted_walker_neither_freezes_nor_leaps_although_some_datagrams_take_longer) {
    struct hc_feel_config config = delayed(HC_OTHERS_PREDICTED);
    play(&config);
    ck_assert_uint_le(result.frozen_ticks, 2);
    ck_assert_uint_le(result.leap.max, HC_FEEL_TRAVEL_PX * HC_FEEL_PX);
    ck_assert_uint_le(hc_histogram_percentile(&result.right_us, 950), 300 * MS_US);
}
END_TEST

START_TEST(events_of_near_clients_are_given_as_early_beside_a_far_one) {
    enum { NEAR = 5 };
    struct hc_network_sim_config far = hc_sim_link(200, 20);
    struct hc_feel_config config = config_of("balanced", 100, 3, 0);
    config.clients = config.measured = NEAR;
    config.shoots = true;
    play(&config);
    ck_assert_uint_gt(result.shots, 50);
    uint64_t alone_us = hc_histogram_mean(&result.delivered_us);
    config.clients++;
    config.last = &far;
    play(&config);
    ck_assert_uint_gt(result.shots, 50);
    ck_assert_uint_le(hc_histogram_mean(&result.delivered_us), alone_us + TICK_US / 2);
}
END_TEST

/// A scan, a longer path, a shorter one, a worse uplink, a slow frame and a suspend.
START_TEST(delays_are_right_again_soon_after_a_change_and_no_input_is_lost) {
    struct hc_path_result path;
    ck_assert(hc_path_change_play((enum hc_path_change)_i, &path));
    ck_assert_msg(path.right_us <= path.bound_us, "%s: right after %lu us, at most %lu", path.name,
                  (unsigned long)path.right_us, (unsigned long)path.bound_us);
    ck_assert_msg(path.late_us <= path.late_bound_us, "%s: late until %lu us, at most %lu",
                  path.name, (unsigned long)path.late_us, (unsigned long)path.late_bound_us);
    ck_assert_uint_eq(path.lost, 0);
    if (_i != HC_PATH_SUSPEND) {
        ck_assert_uint_eq(path.forced, 0);
        ck_assert_uint_eq(path.clock_jumps, 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("feel");
    TCase *tests = tcase_create("feel");
    tcase_add_loop_test(tests, own_key_is_shown_a_tick_after_the_input_delay_whatever_the_path_does,
                        0, TRIPS);
    tcase_add_loop_test(tests, another_screen_shows_a_key_after_its_way_and_three_ticks, 0, TRIPS);
    tcase_add_test(
        tests,
        balanced_walker_100_ms_away_is_shown_a_hundredth_of_the_screen_off_and_right_after_333_ms);
    tcase_add_test(tests, walker_as_received_is_never_far_off_although_some_datagrams_take_longer);
    tcase_add_test(
        tests, predicted_walker_is_far_off_for_two_ticks_at_most_if_corrections_are_shown_at_once);
    tcase_add_test(tests,
                   predicted_walker_neither_freezes_nor_leaps_although_some_datagrams_take_longer);
    tcase_add_test(tests, events_of_near_clients_are_given_as_early_beside_a_far_one);
    tcase_add_loop_test(tests, delays_are_right_again_soon_after_a_change_and_no_input_is_lost, 0,
                        HC_PATH_CHANGES);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
