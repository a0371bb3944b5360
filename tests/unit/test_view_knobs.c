/// Tests of what keys change of a client.
#include "client/view/knobs.h"

#include "examples/duel/duel.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

static struct hc_cl_knobs knobs;
static char text[HC_CL_KNOBS_TEXT];

static void set_up(void) {
    struct hc_cl_options options = hc_cl_options_default(HC_CL_OPTIONS_VIEW);
    options.timing = (struct hc_client_timing){.input_delay = 3};
    knobs = hc_cl_knobs_begin(&options, 0);
}

static enum hc_cl_knobs_change press(enum hc_cl_window_key key) {
    return hc_cl_knobs_press(&knobs, key, &hc_arena, text);
}

#define PRESS(key) press(HC_CL_WINDOW_KEY_##key)

START_TEST(links_are_taken_in_turn_and_named) {
    static const char *const turns[] = {"good link: 20 ms +- 2, 0 % loss",
                                        "ok link: 50 ms +- 10, 1 % loss",
                                        "bad link: 80 ms +- 20, 5 % loss",
                                        "awful link: 150 ms +- 50, 20 % loss",
                                        "no simulated link",
                                        "good link: 20 ms +- 2, 0 % loss"};
    for (unsigned i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
        ck_assert_int_eq(PRESS(preset_link), HC_CL_KNOBS_LINK);
        ck_assert_str_eq(text, turns[i]);
        ck_assert_ptr_null(hc_network_sim_config_check(&knobs.link.up));
        ck_assert_mem_eq(&knobs.link.up, &knobs.link.down, sizeof(knobs.link.up));
    }
}
END_TEST

/// Each condition has steps from its least to its most and back; nothing else of the link changes,
/// but a jitter that would be more than the latency.
START_TEST(each_condition_goes_up_and_down_by_steps_and_stays_valid) {
    static const char *const least[HC_CL_CONDITIONS] = {"latency 0 ms", "jitter 0 ms", "loss 0 %",
                                                        "bandwidth up 8 kbit/s",
                                                        "bandwidth down 8 kbit/s"};
    static const char *const most[HC_CL_CONDITIONS] = {"latency 500 ms", "jitter 100 ms",
                                                       "loss 50 %", "bandwidth up: no limit",
                                                       "bandwidth down: no limit"};
    PRESS(preset_link);
    for (unsigned i = 0; i < HC_CL_CONDITIONS; i++) {
        knobs.link.chosen = HC_CL_CONDITION_LATENCY; // room for the jitter
        while (PRESS(more) == HC_CL_KNOBS_LINK)
            ck_assert_ptr_null(knobs.link.preset);
        knobs.link.chosen = (enum hc_cl_condition)i;
        while (PRESS(more) == HC_CL_KNOBS_LINK)
            ck_assert_ptr_null(hc_network_sim_config_check(&knobs.link.down));
        ck_assert_int_eq(strncmp(text, most[i], strlen(most[i])), 0);
        ck_assert_str_eq(text + strlen(most[i]), ", no more");
        struct hc_cl_simulated_link before = knobs.link;
        unsigned steps = 0;
        for (; PRESS(less) == HC_CL_KNOBS_LINK; steps++)
            ck_assert_uint_le(knobs.link.up.jitter_us, knobs.link.up.latency_us);
        ck_assert_uint_ge(steps, 7);
        ck_assert_int_eq(strncmp(text, least[i], strlen(least[i])), 0);
        ck_assert_str_eq(text + strlen(least[i]), ", no less");
        while (PRESS(more) == HC_CL_KNOBS_LINK)
            ;
        if (i == HC_CL_CONDITION_LATENCY) { // took the jitter along
            ck_assert_uint_eq(knobs.link.up.jitter_us, 0);
            before.up.jitter_us = before.down.jitter_us = 0;
        }
        ck_assert_mem_eq(&knobs.link.up, &before.up, sizeof(before.up));
        ck_assert_mem_eq(&knobs.link.down, &before.down, sizeof(before.down));
    }
}
END_TEST

START_TEST(bandwidth_is_limited_in_one_direction_and_has_the_queue_of_the_option) {
    while (knobs.link.chosen != HC_CL_CONDITION_BANDWIDTH_UP)
        ck_assert_int_eq(PRESS(condition), HC_CL_KNOBS_NOTHING);
    ck_assert_str_eq(text, "F5, F6: bandwidth up: no limit");
    ck_assert_int_eq(PRESS(less), HC_CL_KNOBS_LINK);
    ck_assert(knobs.link.up.bytes_per_s == 128000 && knobs.link.up.queue_us == 200000);
    ck_assert(knobs.link.down.bytes_per_s == 0 && knobs.link.down.queue_us == 0);
    hc_cl_simulated_link_describe(&knobs.link, text, sizeof(text));
    ck_assert_str_eq(text, "0 ms +- 0, 0 % loss, 1024 up, no limit down kbit/s");
    ck_assert_int_eq(PRESS(more), HC_CL_KNOBS_LINK);
    hc_cl_simulated_link_describe(&knobs.link, text, sizeof(text));
    ck_assert_str_eq(text, "no simulated link");
}
END_TEST

/// A simulation that is opened for the most has room for the datagrams of every step.
START_TEST(room_of_a_simulation_is_for_any_steps) {
    struct hc_network_sim_config most = hc_cl_simulated_link_most(&knobs.link);
    knobs.link.up.latency_us = knobs.link.down.latency_us = 3000000; // of the option
    struct hc_network_sim_config given = hc_cl_simulated_link_most(&knobs.link);
    ck_assert(most.latency_us == 500000 && most.jitter_us == 100000 && most.bytes_per_s > 0);
    ck_assert(given.latency_us == 3000000 && given.queue_us == knobs.link.queue_us);
    ck_assert_ptr_null(hc_network_sim_config_check(&given));
}
END_TEST

START_TEST(presets_of_timing_are_taken_in_turn) {
    static const char *const turns[] = {
        "rewind: input delay 0; lead 0", "balanced: input delay auto, 0 to 3; lead auto, 0 to 1",
        "ahead: input delay auto, 0 to 3; lead auto, 0 to 20", "rewind: input delay 0; lead 0"};
    for (unsigned i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
        ck_assert_int_eq(PRESS(preset_timing), HC_CL_KNOBS_TIMING);
        ck_assert_str_eq(text, turns[i]);
    }
}
END_TEST

START_TEST(input_delay_goes_from_automatic_over_all_numbers_and_back) {
    char expected[HC_CL_KNOBS_TEXT];
    knobs.timing = (struct hc_client_timing){.input_delay_max = 3, .lead = 2};
    for (unsigned ticks = 0; ticks <= HC_CL_KNOBS_INPUT_DELAY; ticks++) {
        ck_assert_int_eq(PRESS(input_delay), HC_CL_KNOBS_TIMING);
        snprintf(expected, sizeof(expected), "input delay %u ticks", ticks);
        ck_assert_str_eq(text, expected);
        ck_assert(knobs.timing.input_delay == ticks && knobs.timing.input_delay_max == 0);
    }
    PRESS(input_delay);
    ck_assert_str_eq(text, "input delay auto, 0 to 3 ticks");
    ck_assert(knobs.timing.input_delay == 0 && knobs.timing.input_delay_max == 3);
    ck_assert_uint_eq(knobs.timing.lead, 2);
}
END_TEST

START_TEST(others_change_from_the_choice_of_the_game) {
    ck_assert_int_eq(PRESS(others), HC_CL_KNOBS_DISPLAY);
    ck_assert_str_eq(text, "others as received");
    PRESS(others);
    ck_assert_str_eq(text, "others predicted");
    knobs.display.others = HC_OTHERS_BY_GAME; // duel has lag compensation
    hc_cl_knobs_press(&knobs, HC_CL_WINDOW_KEY_others, &duel, text);
    ck_assert_str_eq(text, "others predicted");
}
END_TEST

START_TEST(display_offset_goes_round_and_the_client_has_memory_for_all) {
    struct hc_client_config config = hc_client_config_default();
    unsigned zeros = 0;
    hc_cl_knobs_configure(&knobs, &config);
    for (unsigned i = 0; i < 2 * (HC_CL_KNOBS_DISPLAY_OFFSET + 1); i++) {
        ck_assert_int_eq(PRESS(display_offset), HC_CL_KNOBS_DISPLAY);
        ck_assert_uint_le(knobs.display.offset, config.display_offset_max);
        zeros += knobs.display.offset == 0;
    }
    ck_assert_uint_eq(zeros, 2);
}
END_TEST

START_TEST(copy_takes_what_the_key_changes_and_nothing_else) {
    static const struct {
        enum hc_cl_window_key key;
        bool latency, chosen, delay, lead, others, offset; ///< These change.
    } rows[] = {{HC_CL_WINDOW_KEY_preset_link, true, true, false, false, false, false},
                {HC_CL_WINDOW_KEY_condition, false, true, false, false, false, false},
                {HC_CL_WINDOW_KEY_less, false, true, false, false, false, false},
                {HC_CL_WINDOW_KEY_more, false, true, false, false, false, false},
                {HC_CL_WINDOW_KEY_preset_timing, false, false, true, true, false, false},
                {HC_CL_WINDOW_KEY_input_delay, false, false, true, false, false, false},
                {HC_CL_WINDOW_KEY_others, false, false, false, false, true, false},
                {HC_CL_WINDOW_KEY_display_offset, false, false, false, false, false, true}};
    const struct hc_cl_knobs before = knobs;
    PRESS(preset_link);
    PRESS(condition); // the jitter
    knobs.timing = (struct hc_client_timing){.input_delay_max = 5, .lead_max = 9};
    PRESS(others);
    PRESS(display_offset);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct hc_cl_knobs other = before;
        hc_cl_knobs_copy(&other, rows[i].key, &knobs);
        ck_assert_int_eq(other.link.up.latency_us != before.link.up.latency_us, rows[i].latency);
        ck_assert_int_eq(other.link.chosen != before.link.chosen, rows[i].chosen);
        ck_assert_int_eq(other.timing.input_delay_max != before.timing.input_delay_max,
                         rows[i].delay);
        ck_assert_int_eq(other.timing.lead_max != before.timing.lead_max, rows[i].lead);
        ck_assert_int_eq(other.display.others != before.display.others, rows[i].others);
        ck_assert_int_eq(other.display.offset != before.display.offset, rows[i].offset);
    }
}
END_TEST

START_TEST(copy_of_a_step_takes_one_condition) {
    struct hc_cl_knobs other = knobs;
    other.link.up.loss_ppm = other.link.down.loss_ppm = 10000;
    PRESS(more);
    hc_cl_knobs_copy(&other, HC_CL_WINDOW_KEY_more, &knobs);
    ck_assert(other.link.up.latency_us == 5000 && other.link.down.latency_us == 5000);
    ck_assert(other.link.up.loss_ppm == 10000 && other.link.down.loss_ppm == 10000);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_knobs");
    TCase *tests = tcase_create("knobs");
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, links_are_taken_in_turn_and_named);
    tcase_add_test(tests, each_condition_goes_up_and_down_by_steps_and_stays_valid);
    tcase_add_test(tests, bandwidth_is_limited_in_one_direction_and_has_the_queue_of_the_option);
    tcase_add_test(tests, room_of_a_simulation_is_for_any_steps);
    tcase_add_test(tests, presets_of_timing_are_taken_in_turn);
    tcase_add_test(tests, input_delay_goes_from_automatic_over_all_numbers_and_back);
    tcase_add_test(tests, others_change_from_the_choice_of_the_game);
    tcase_add_test(tests, display_offset_goes_round_and_the_client_has_memory_for_all);
    tcase_add_test(tests, copy_takes_what_the_key_changes_and_nothing_else);
    tcase_add_test(tests, copy_of_a_step_takes_one_condition);
    return run_suite(suite);
}
