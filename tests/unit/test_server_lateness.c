/// Tests the late limit that server/lateness derives from a client's usual lateness.
#include "server/lateness.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

enum { RATE = 60, LATE_MARGIN = 4, HISTORY = 64, START = 1000 };

static struct hc_sv_lateness lateness;
static hc_tick head;

static void set_up(void) {
    hc_sv_lateness_begin(&lateness);
    head = START;
}

static uint32_t limit(void) {
    return hc_sv_lateness_limit(&lateness, LATE_MARGIN, HISTORY);
}

/// Runs a tick that receives an input stamped `late` ticks before the head. Checks that the limit
/// rises by at most a tick.
static void tick_late(uint32_t late) {
    uint32_t before = limit();
    hc_sv_lateness_input(&lateness, head - late);
    hc_sv_lateness_tick(&lateness, head++, RATE);
    ck_assert_uint_le(limit(), before + 1);
}

static void play(uint32_t ticks, uint32_t late) {
    for (uint32_t i = 0; i < ticks; i++)
        tick_late(late);
}

/// Runs ticks that receive no input.
static void pause(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        hc_sv_lateness_tick(&lateness, head++, RATE);
}

START_TEST(history_is_the_limit_before_the_first_input) {
    pause(100);
    ck_assert_uint_eq(limit(), HISTORY);
    play(1, 7);
    ck_assert_uint_eq(limit(), 7 + 1 + LATE_MARGIN);
}
END_TEST

START_TEST(limit_is_the_usual_lateness_a_tick_and_the_margin) {
    for (uint32_t late = 0; late < HISTORY; late++) {
        set_up();
        play(RATE, late);
        uint32_t wanted = late + 1 + LATE_MARGIN;
        ck_assert_uint_eq(limit(), wanted < HISTORY ? wanted : HISTORY);
    }
    ck_assert_uint_eq(hc_sv_lateness_limit(&lateness, 512, 512), 512);
    ck_assert_uint_eq(hc_sv_lateness_limit(&lateness, 0, 0), 0);
}
END_TEST

START_TEST(jitter_stays_within_the_late_margin) {
    struct hc_rng rng = hc_rng_init(5, 0);
    for (uint32_t i = 0; i < 10000; i++) {
        tick_late(6 + hc_rng_below(&rng, 7));
        ck_assert_msg(i < 5 * RATE || (limit() >= 12 && limit() <= 12 + 1 + LATE_MARGIN), "%u",
                      limit());
    }
}
END_TEST

START_TEST(half_a_second_of_late_inputs_raises_the_limit_by_two_ticks_at_most) {
    play(10 * RATE, 3);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t before = limit();
        pause(27); // until the late inputs come
        play(RATE / 2, 30);
        ck_assert_uint_le(limit(), before + 2);
        play(RATE, 3);
    }
    ck_assert_uint_le(limit(), 3 + 1 + LATE_MARGIN + 1);
}
END_TEST

/// A client raises or lowers its input delay or its lead.
START_TEST(limit_follows_another_input_delay_within_two_seconds) {
    for (uint32_t before = 0; before <= 12; before++)
        for (uint32_t after = before > 3 ? before - 3 : 0; after <= before + 3; after++) {
            set_up();
            play(10 * RATE, before);
            play(2 * RATE, after);
            ck_assert_uint_eq(limit(), after + 1 + LATE_MARGIN);
        }
}
END_TEST

START_TEST(one_late_input_after_a_pause_does_not_raise_the_limit) {
    play(10 * RATE, 3);
    uint32_t before = limit();
    for (uint32_t round = 0; round < 20; round++) {
        pause(30);
        play(30, 3);
        ck_assert_uint_le(limit(), before);
    }
}
END_TEST

START_TEST(resent_and_early_inputs_do_not_raise_the_limit) {
    play(10 * RATE, 0);
    for (uint32_t i = 0; i < 10 * RATE; i++) {
        hc_sv_lateness_input(&lateness, head - 40); // an old one beside the newest
        tick_late(0);
        hc_sv_lateness_input(&lateness, head - 20);
    }
    ck_assert_uint_eq(limit(), 1 + LATE_MARGIN);
    // Early stamps, received at once, end the former lateness.
    pause(30);
    play(10 * RATE, 30);
    ck_assert_uint_eq(limit(), 30 + 1 + LATE_MARGIN);
    hc_sv_lateness_input(&lateness, head + 64);
    pause(64);
    ck_assert_uint_le(limit(), 30 + 1 + LATE_MARGIN - 3);
}
END_TEST

START_TEST(limit_follows_a_longer_path_within_a_second_and_its_length) {
    for (uint32_t farther = 1; farther < HISTORY - LATE_MARGIN - 4; farther++) {
        set_up();
        play(10 * RATE, 2);
        pause(farther);
        play(RATE + farther, 2 + farther);
        ck_assert_uint_ge(limit(), 2 + farther + 1 + LATE_MARGIN);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_lateness");
    TCase *tests = tcase_create("lateness");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, history_is_the_limit_before_the_first_input);
    tcase_add_test(tests, limit_is_the_usual_lateness_a_tick_and_the_margin);
    tcase_add_test(tests, jitter_stays_within_the_late_margin);
    tcase_add_test(tests, half_a_second_of_late_inputs_raises_the_limit_by_two_ticks_at_most);
    tcase_add_test(tests, limit_follows_another_input_delay_within_two_seconds);
    tcase_add_test(tests, one_late_input_after_a_pause_does_not_raise_the_limit);
    tcase_add_test(tests, resent_and_early_inputs_do_not_raise_the_limit);
    tcase_add_test(tests, limit_follows_a_longer_path_within_a_second_and_its_length);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
