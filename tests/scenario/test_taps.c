/// Short taps of a button count once each on the server, whatever the frames of the client.
#include "tests/sim/tap_match.h"

#include "tests/run_suite.h"

enum { TICK_US = 1000000 / 60, LENGTHS = 4 };

static const uint32_t taps_us[LENGTHS] = {4000, 8000, 12000, 20000};

static void check_every_tap_counts_once(bool at_frames, uint32_t tap_us) {
    struct hc_tap_match_config config = {.tap_us = tap_us, .at_frames = at_frames};
    struct hc_tap_match_count counts[HC_TAP_MATCH_CLIENTS];
    ck_assert(hc_tap_match_play(&config, counts));
    for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++) {
        uint32_t rate = hc_tap_match_rates[c], frame_us = 1000000 / rate;
        ck_assert_msg(counts[c].presses == HC_TAP_MATCH_TAPS,
                      "taps of %u us, %u frames/s: %u of %u count", tap_us, rate, counts[c].presses,
                      HC_TAP_MATCH_TAPS);
        // A tap that begins in one frame and ends in the next is held for a frame.
        uint32_t longest_us = tap_us > frame_us ? tap_us : frame_us;
        ck_assert_uint_le(counts[c].ticks, HC_TAP_MATCH_TAPS * (2 + longest_us / TICK_US));
    }
}

START_TEST(every_tap_counts_once_if_the_client_is_given_each_event_as_it_comes) {
    check_every_tap_counts_once(false, taps_us[_i]);
}
END_TEST

START_TEST(every_tap_counts_once_if_the_client_is_given_all_events_at_its_frames) {
    check_every_tap_counts_once(true, taps_us[_i]);
}
END_TEST

START_TEST(a_button_of_which_the_newest_sample_alone_counts_loses_taps) {
    struct hc_tap_match_config config = {.tap_us = taps_us[0], .sampling = HC_NEWEST};
    struct hc_tap_match_count counts[HC_TAP_MATCH_CLIENTS];
    ck_assert(hc_tap_match_play(&config, counts));
    for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++)
        ck_assert_uint_lt(counts[c].presses, HC_TAP_MATCH_TAPS / 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("taps");
    TCase *tests = tcase_create("taps");
    tcase_add_loop_test(tests, every_tap_counts_once_if_the_client_is_given_each_event_as_it_comes,
                        0, LENGTHS);
    tcase_add_loop_test(
        tests, every_tap_counts_once_if_the_client_is_given_all_events_at_its_frames, 0, LENGTHS);
    tcase_add_test(tests, a_button_of_which_the_newest_sample_alone_counts_loses_taps);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
