/// Tests client/bots/keys: random inputs are valid, are held for a while, and users are idle.
#include "client/bots/keys.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

enum { RATE = 60, TICKS = 60 * RATE };

START_TEST(inputs_are_valid_and_held_for_a_while) {
    struct hc_cl_keys keys;
    struct hc_arena_input last, sanitized;
    hc_tick changed = 0;
    uint32_t changes = 0, fires = 0;
    hc_cl_keys_init(&keys, 1, 7);
    memcpy(&last, hc_cl_keys_choose(&keys, &hc_arena, 0, RATE), sizeof last);
    for (hc_tick tick = 1; tick < TICKS; tick++) {
        struct hc_arena_input input;
        memcpy(&input, hc_cl_keys_choose(&keys, &hc_arena, tick, RATE), sizeof input);
        sanitized = input;
        hc_arena.sanitize_input(&sanitized);
        ck_assert(memcmp(&input, &sanitized, sizeof input) == 0);
        fires += input.fire;
        if (memcmp(&input, &last, sizeof input) == 0)
            continue;
        ck_assert_uint_ge(tick - changed, 120 * RATE / 1000);
        changed = tick;
        changes++;
        last = input;
    }
    // On average every 13.5 ticks.
    ck_assert_uint_ge(changes, TICKS / 20);
    ck_assert_uint_le(changes, TICKS / 8);
    ck_assert_uint_gt(fires, 0);
    ck_assert_uint_lt(fires, TICKS);
}
END_TEST

START_TEST(inputs_change_again_when_a_world_restarts_at_an_earlier_tick) {
    struct hc_cl_keys keys;
    uint8_t before[HC_INPUT_MAX];
    hc_cl_keys_init(&keys, 1, 7);
    memcpy(before, hc_cl_keys_choose(&keys, &hc_arena, 100000, RATE), hc_arena.input_size);
    bool changed = false;
    for (hc_tick tick = 0; tick < RATE; tick++)
        changed |= memcmp(before, hc_cl_keys_choose(&keys, &hc_arena, tick, RATE),
                          hc_arena.input_size) != 0;
    ck_assert(changed);
}
END_TEST

START_TEST(users_are_active_for_the_percentage_of_the_time) {
    for (uint32_t percent = 0; percent <= 100; percent += 25) {
        uint32_t active = 0;
        for (uint32_t user = 0; user < 100; user++)
            for (hc_tick tick = 0; tick < TICKS; tick += 2 * RATE)
                active += hc_cl_keys_active(3, user, tick, RATE, percent);
        uint32_t turns = 100 * TICKS / (2 * RATE);
        ck_assert_uint_ge(active * 100, turns * (percent > 4 ? percent - 4 : 0));
        ck_assert_uint_le(active * 100, turns * (percent < 96 ? percent + 4 : 100));
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("keys");
    TCase *inputs = tcase_create("inputs");
    tcase_add_test(inputs, inputs_are_valid_and_held_for_a_while);
    tcase_add_test(inputs, inputs_change_again_when_a_world_restarts_at_an_earlier_tick);
    tcase_add_test(inputs, users_are_active_for_the_percentage_of_the_time);
    suite_add_tcase(suite, inputs);
    return run_suite(suite);
}
