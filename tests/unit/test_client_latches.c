/// Tests of client/link/latches alone: what samples become as stamps, bit by bit.
#include "client/link/latches.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <string.h>

enum { SIZE = 3, JUMP = 1, DUCK = 2, STEPS = 20000 };

/// Two buttons beside six bits of an axis, and a whole byte of it.
static const uint8_t mask[SIZE] = {JUMP | DUCK, 0, 0};
static struct hc_cl_latches latches;
static uint8_t out[SIZE];

static void set_up(void) {
    memset(&latches, 0, sizeof latches);
    hc_cl_latches_begin(&latches);
}

static void sample(uint8_t buttons, uint8_t axis) {
    hc_cl_latches_sample(&latches, mask, (uint8_t[SIZE]){buttons, axis, 0}, SIZE);
}

static uint8_t stamp(void) {
    hc_cl_latches_stamp(&latches, mask, out, SIZE);
    return out[0];
}

static uint8_t repeat(void) {
    hc_cl_latches_repeat(&latches, out, SIZE);
    return out[0];
}

START_TEST(a_tap_between_two_stamps_is_one_stamp_of_press) {
    sample(JUMP, 1);
    sample(0, 2);
    ck_assert_uint_eq(stamp(), JUMP);
    ck_assert_uint_eq(out[1], 2); // the newest sample
    ck_assert_uint_eq(stamp(), 0);
}
END_TEST

START_TEST(a_held_button_is_pressed_until_it_is_released_however_often_it_is_sampled) {
    sample(DUCK, 0);
    sample(DUCK, 0);
    ck_assert_uint_eq(stamp(), DUCK);
    ck_assert_uint_eq(stamp(), DUCK); // another tick of the same frame
    sample(DUCK, 0);
    sample(0, 0);
    ck_assert_uint_eq(stamp(), 0);
}
END_TEST

START_TEST(a_press_after_a_release_that_no_stamp_has_shown_waits_for_the_stamp_of_it) {
    sample(JUMP, 0);
    ck_assert_uint_eq(stamp(), JUMP);
    sample(0, 0);
    sample(JUMP, 0);
    ck_assert_uint_eq(stamp(), 0);
    ck_assert_uint_eq(stamp(), JUMP);
    ck_assert_uint_eq(stamp(), JUMP); // it is held
    sample(0, 0);
    sample(JUMP, 0);
    sample(0, 0);
    ck_assert_uint_eq(stamp(), 0);
    ck_assert_uint_eq(stamp(), JUMP);
    ck_assert_uint_eq(stamp(), 0);
}
END_TEST

START_TEST(several_presses_between_two_stamps_are_one) {
    for (unsigned i = 0; i < 3; i++) {
        sample(JUMP, 0);
        sample(0, 0);
    }
    ck_assert_uint_eq(stamp(), JUMP);
    ck_assert_uint_eq(stamp(), 0);
    ck_assert_uint_eq(stamp(), 0);
}
END_TEST

START_TEST(buttons_of_one_field_are_pressed_each_for_itself) {
    sample(JUMP, 0);
    sample(DUCK, 0);
    ck_assert_uint_eq(stamp(), JUMP | DUCK);
    ck_assert_uint_eq(stamp(), DUCK);
}
END_TEST

START_TEST(a_repeated_stamp_has_the_buttons_that_are_held_and_no_tap) {
    sample(JUMP | DUCK, 7);
    sample(DUCK, 8);
    ck_assert_uint_eq(stamp(), JUMP | DUCK);
    sample(JUMP, 9);
    ck_assert_uint_eq(repeat(), DUCK);
    ck_assert_uint_eq(out[1], 8);
    ck_assert_uint_eq(repeat(), DUCK);
    ck_assert_uint_eq(stamp(), JUMP); // the repeated stamps have shown the release
    ck_assert_uint_eq(out[1], 9);
}
END_TEST

START_TEST(a_new_beginning_forgets_presses_and_keeps_what_is_held) {
    sample(JUMP | DUCK, 5);
    sample(DUCK, 5);
    hc_cl_latches_begin(&latches);
    ck_assert_uint_eq(repeat(), 0);
    ck_assert_uint_eq(stamp(), DUCK);
    ck_assert_uint_eq(out[1], 5);
}
END_TEST

/// Random presses of a button, at most one between two stamps, and releases anywhere: each press
/// begins a run of pressed stamps, and nothing else does.
START_TEST(every_press_is_one_run_of_stamps) {
    struct hc_rng rng = hc_rng_init(11, 0);
    unsigned presses = 0, runs = 0;
    bool down = false, was = false;
    for (unsigned i = 0; i < STEPS; i++) {
        bool may_press = true;
        for (uint32_t n = hc_rng_below(&rng, 5); n > 0; n--) {
            bool flips = hc_rng_below(&rng, 2) == 0 && (down || may_press);
            presses += flips && !down;
            may_press = may_press && !(flips && !down);
            down ^= flips;
            sample(down ? JUMP : 0, 0);
        }
        // Every second stamp has no samples: a press that waits has the room that it needs.
        for (unsigned k = 0; k < 2; k++) {
            bool is = stamp() == JUMP;
            runs += is && !was;
            was = is;
        }
    }
    ck_assert_uint_gt(presses, STEPS / 4);
    ck_assert_uint_eq(runs, presses);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_latches");
    TCase *tests = tcase_create("client_latches");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_tap_between_two_stamps_is_one_stamp_of_press);
    tcase_add_test(tests,
                   a_held_button_is_pressed_until_it_is_released_however_often_it_is_sampled);
    tcase_add_test(tests,
                   a_press_after_a_release_that_no_stamp_has_shown_waits_for_the_stamp_of_it);
    tcase_add_test(tests, several_presses_between_two_stamps_are_one);
    tcase_add_test(tests, buttons_of_one_field_are_pressed_each_for_itself);
    tcase_add_test(tests, a_repeated_stamp_has_the_buttons_that_are_held_and_no_tap);
    tcase_add_test(tests, a_new_beginning_forgets_presses_and_keeps_what_is_held);
    tcase_add_test(tests, every_press_is_one_run_of_stamps);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
