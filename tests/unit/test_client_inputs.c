/// Tests of client/link/inputs and client/link/sending alone: stamps, the choice of the inputs to
/// send, and the pace of DATA.
#include "client/link/inputs.h"
#include "client/link/sending.h"

#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

#include <string.h>

enum { RATE = 100, TICK_US = 1000000 / RATE };

static struct hc_field input_fields[] = {
    {.name = "key", .offset = 0, .size = 1, .bits = 4},
    {.name = "own_ago", .offset = 1, .size = 1, .bits = 8, .own_shown_ago = true},
    {.name = "ago", .offset = 2, .size = 1, .bits = 8, .shown_ago = true}};
static const struct hc_kind kinds[] = {BYTE_REFEREE,
                                       {"player", 1, 1, byte_fields, NULL, NULL, 0, 0}};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    (void)scene, (void)self, (void)out;
    return false;
}

/// Key 14 is not allowed.
static void sanitize(void *input) {
    uint8_t *key = input;
    if (*key == 14)
        *key = 0;
}

static struct hc_game game = BYTE_GAME("keys", 2, kinds, owned, step);
static struct hc_cl_inputs inputs;
static struct hc_cl_sending sending;
static struct hc_input_message message;

static void set_up(void) {
    game.input_fields = input_fields;
    game.input_field_count = 3;
    game.input_size = 3;
    game.lookback = 200;
    game.sanitize_input = sanitize;
    input_fields[0].sampling = HC_NEWEST;
    memset(&inputs, 0, sizeof inputs);
    hc_cl_inputs_init(&inputs, &game, 2);
    hc_cl_inputs_begin(&inputs);
}

static void press(uint8_t first, uint8_t second) {
    hc_cl_inputs_press(&inputs, 0, (uint8_t[]){first, 0, 0});
    hc_cl_inputs_press(&inputs, 1, (uint8_t[]){second, 0, 0});
}

/// Makes the key a field of four buttons.
static void use_buttons(void) {
    input_fields[0].sampling = HC_LATCH;
    hc_cl_inputs_init(&inputs, &game, 2);
}

/// Samples for the tick `end`, of a server that needs the inputs from `wanted` on.
static hc_tick sample(hc_tick wanted, hc_tick end) {
    struct hc_cl_inputs_shown shown = {.own = end - 3, .others = end - 20};
    return hc_cl_inputs_sample(&inputs, wanted, end, &shown);
}

static uint8_t key_at(hc_tick tick, unsigned index) {
    return hc_cl_inputs_at(&inputs, tick, index)[0];
}

START_TEST(pressed_input_is_cut_to_its_fields_and_sanitized) {
    press(16 + 9, 14);
    ck_assert_uint_eq(sample(100, 100), 100);
    ck_assert_uint_eq(key_at(100, 0), 15);
    ck_assert_uint_eq(key_at(100, 1), 0);
}
END_TEST

START_TEST(each_tick_is_stamped_once_and_gaps_repeat_the_newest_input) {
    press(1, 2);
    ck_assert_uint_eq(sample(100, 102), 100); // nothing was stamped before: neutral inputs
    ck_assert_uint_eq(key_at(101, 0), 0);
    ck_assert_uint_eq(key_at(102, 0), 1);
    press(3, 4);
    ck_assert_uint_eq(sample(100, 102), 103); // it has its inputs
    ck_assert_uint_eq(key_at(102, 1), 2);
    ck_assert_uint_eq(sample(100, 105), 103);
    ck_assert_uint_eq(key_at(104, 1), 2);
    ck_assert_uint_eq(key_at(105, 1), 4);
    ck_assert_uint_eq(sample(110, 112), 110); // ticks before 110 are of no use to the server
    ck_assert_uint_eq(inputs.next, 113);
}
END_TEST

START_TEST(new_connection_forgets_stamps_and_keeps_what_is_pressed) {
    press(1, 2);
    sample(100, 102);
    hc_cl_inputs_begin(&inputs);
    ck_assert(!inputs.any);
    ck_assert_uint_eq(sample(7, 8), 7);
    ck_assert_uint_eq(key_at(7, 0), 0);
    ck_assert_uint_eq(key_at(8, 0), 1);
}
END_TEST

START_TEST(press_waits_for_the_next_stamp_while_its_tick_has_one) {
    use_buttons();
    press(1, 0);
    sample(100, 102);
    press(3, 4);
    press(1, 0);
    ck_assert_uint_eq(sample(100, 102), 103); // as after a lowered input delay
    press(0, 0);
    ck_assert_uint_eq(sample(100, 103), 103);
    ck_assert_uint_eq(key_at(103, 0), 2);
    ck_assert_uint_eq(key_at(103, 1), 4);
    sample(100, 104);
    ck_assert_uint_eq(key_at(104, 0), 0);
    ck_assert_uint_eq(key_at(104, 1), 0);
}
END_TEST

START_TEST(gap_repeats_no_tap_and_the_next_press_is_stamped_with_its_own_tick) {
    use_buttons();
    press(9, 0);
    press(8, 0);
    sample(100, 100);
    ck_assert_uint_eq(key_at(100, 0), 9);
    press(8 + 2, 0);
    press(8, 0);
    sample(100, 103); // as after a raised input delay
    ck_assert_uint_eq(key_at(101, 0), 8);
    ck_assert_uint_eq(key_at(102, 0), 8);
    ck_assert_uint_eq(key_at(103, 0), 8 + 2);
    sample(100, 104);
    ck_assert_uint_eq(key_at(104, 0), 8);
}
END_TEST

START_TEST(stamp_of_several_samples_is_sanitized) {
    use_buttons();
    press(8, 8);
    press(6, 4);
    sample(100, 100);
    ck_assert_uint_eq(key_at(100, 0), 0); // 14 is not allowed
    ck_assert_uint_eq(key_at(100, 1), 12);
}
END_TEST

START_TEST(stamp_names_the_ticks_that_its_player_was_shown) {
    sample(100, 100);
    const uint8_t *input = hc_cl_inputs_at(&inputs, 100, 0);
    ck_assert_uint_eq(input[1], 3);
    ck_assert_uint_eq(input[2], 20);
}
END_TEST

START_TEST(forced_input_counts_once_and_only_in_the_ring) {
    sample(100, 110);
    ck_assert_uint_eq(hc_cl_inputs_force(&inputs, 0, 105, 3), 3);
    ck_assert_uint_eq(hc_cl_inputs_force(&inputs, 0, 105, 5), 2);
    ck_assert_uint_eq(hc_cl_inputs_force(&inputs, 1, 105, 5), 5);
    ck_assert_uint_eq(hc_cl_inputs_force(&inputs, 0, 110, 5), 1); // 111 is not stamped yet
    sample(100, 110 + HC_CL_INPUTS);                              // other ticks have the places now
    ck_assert_uint_eq(hc_cl_inputs_force(&inputs, 0, 105, 3), 0);
    ck_assert_uint_eq(hc_cl_inputs_force(&inputs, 0, 105 + HC_CL_INPUTS, 3), 3);
}
END_TEST

// ---- Sending ------------------------------------------------------------------------------------

/// Chooses with the stamps before `next`, of which the server needs those from `wanted` on.
static void choose(hc_tick wanted, hc_tick next, uint32_t redundancy, uint64_t now_us) {
    struct hc_cl_choice choice = {.next = next,
                                  .wanted = wanted,
                                  .redundancy = redundancy,
                                  .answer_us = 5 * TICK_US,
                                  .tick_rate = RATE};
    hc_cl_sending_choose(&sending, &choice, &message, now_us);
}

START_TEST(all_inputs_that_the_server_lacks_are_sent) {
    hc_cl_sending_begin(&sending, 0);
    choose(100, 130, 0, 0);
    ck_assert_uint_eq(message.force_before, 100);
    ck_assert_uint_eq(message.first, 100);
    ck_assert_uint_eq(message.count, 30);
    choose(100, 100 + HC_INPUT_RUN_MAX + 7, 0, 0);
    ck_assert_uint_eq(message.first, 100); // the oldest first
    ck_assert_uint_eq(message.count, HC_INPUT_RUN_MAX);
    choose(HC_NO_TICK, 130, 0, 0); // it needs none
    ck_assert_uint_eq(message.first, 130);
    ck_assert_uint_eq(message.count, 0);
}
END_TEST

START_TEST(redundancy_sends_the_newest_few_and_those_never_sent) {
    hc_cl_sending_begin(&sending, 0);
    hc_cl_sending_note(&sending, 105);
    choose(103, 106, 2, 0);
    ck_assert_uint_eq(message.first, 104);
    ck_assert_uint_eq(message.force_before, 103);
    choose(103, 109, 2, 0);
    ck_assert_uint_eq(message.first, 105); // 105 and 106 were never sent
}
END_TEST

START_TEST(redundancy_sends_all_that_are_overdue) {
    hc_cl_sending_begin(&sending, 0);
    hc_cl_sending_note(&sending, 200);
    choose(100, 109, 2, 0);
    ck_assert_uint_eq(message.first, 107);
    choose(100, 110, 2, 0); // more than a round trip of 5 ticks, and 4
    ck_assert_uint_eq(message.first, 100);
    hc_cl_sending_begin(&sending, 0);
    hc_cl_sending_note(&sending, 200);
    choose(100, 105, 2, 0);
    choose(100, 105, 2, 9 * TICK_US);
    ck_assert_uint_eq(message.first, 103);
    choose(100, 105, 2, 9 * TICK_US + 1); // too long, if too few
    ck_assert_uint_eq(message.first, 100);
}
END_TEST

START_TEST(data_goes_out_with_the_next_tick_within_half_and_one_and_a_half_intervals) {
    struct hc_cl_pace pace = {.ticks = 7, .interval_us = TICK_US, .steady = true};
    hc_cl_sending_begin(&sending, 1000);
    ck_assert(hc_cl_sending_take_due(&sending));
    ck_assert(!hc_cl_sending_take_due(&sending));
    hc_cl_sending_advance(&sending, &pace, 1000);
    ck_assert(hc_cl_sending_take_due(&sending));
    ck_assert_uint_eq(hc_cl_sending_deadline(&sending, &pace), 1000 + TICK_US * 3 / 2);
    pace.steady = false; // no tick may come
    ck_assert_uint_eq(hc_cl_sending_deadline(&sending, &pace), 1000 + TICK_US);
    pace.ticks = 8;
    ck_assert_uint_eq(hc_cl_sending_deadline(&sending, &pace), 1000 + TICK_US / 2);
    hc_cl_sending_make_due(&sending);
    ck_assert(hc_cl_sending_take_due(&sending));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_inputs");
    TCase *tests = tcase_create("client_inputs");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, pressed_input_is_cut_to_its_fields_and_sanitized);
    tcase_add_test(tests, each_tick_is_stamped_once_and_gaps_repeat_the_newest_input);
    tcase_add_test(tests, new_connection_forgets_stamps_and_keeps_what_is_pressed);
    tcase_add_test(tests, press_waits_for_the_next_stamp_while_its_tick_has_one);
    tcase_add_test(tests, gap_repeats_no_tap_and_the_next_press_is_stamped_with_its_own_tick);
    tcase_add_test(tests, stamp_of_several_samples_is_sanitized);
    tcase_add_test(tests, stamp_names_the_ticks_that_its_player_was_shown);
    tcase_add_test(tests, forced_input_counts_once_and_only_in_the_ring);
    tcase_add_test(tests, all_inputs_that_the_server_lacks_are_sent);
    tcase_add_test(tests, redundancy_sends_the_newest_few_and_those_never_sent);
    tcase_add_test(tests, redundancy_sends_all_that_are_overdue);
    tcase_add_test(tests,
                   data_goes_out_with_the_next_tick_within_half_and_one_and_a_half_intervals);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
