/// Checks the inputs that the controls of a person give to any game.
#include "client/view/controls.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

struct ship {
    int8_t thrust;
    int16_t slide_x;
    uint8_t horn, flag;
};

struct lift {
    int8_t move;
};

static const struct hc_field ship_fields[] = {
    HC_FIELD(struct ship, thrust, 1, true),
    HC_FIELD(struct ship, slide_x, 9, true),
    HC_FIELD(struct ship, horn, 1, false),
    HC_FIELD(struct ship, flag, 3, false),
};
static const struct hc_field lift_fields[] = {HC_FIELD(struct lift, move, 2, true)};
static const struct hc_game ships = {.input_fields = ship_fields, .input_field_count = 4};
static const struct hc_game lifts = {.input_fields = lift_fields, .input_field_count = 1};

static struct hc_arena_input arena(struct hc_cl_controls controls) {
    struct hc_arena_input input = {.aim = 77};
    hc_cl_controls_apply(&hc_arena, &controls, &input);
    return input;
}

START_TEST(axes_and_the_first_button_move_and_fire_in_the_arena) {
    struct hc_arena_input input = arena((struct hc_cl_controls){.x = -1, .y = 1});
    ck_assert(input.move_x == -1 && input.move_y == 1 && input.fire == 0);
    input = arena((struct hc_cl_controls){.x = 0.4, .buttons = {true}});
    ck_assert(input.move_x == 0 && input.move_y == 0 && input.fire == 1);
}
END_TEST

START_TEST(aim_is_the_angle_of_its_direction_or_stays) {
    ck_assert_uint_eq(arena((struct hc_cl_controls){.aim_x = 3}).aim, 0);
    ck_assert_uint_eq(arena((struct hc_cl_controls){.aim_y = 0.1}).aim, 64);
    ck_assert_uint_eq(arena((struct hc_cl_controls){.aim_x = -1}).aim, 128);
    ck_assert_uint_eq(arena((struct hc_cl_controls){.aim_y = -9}).aim, 192);
    // Just below a full turn is no turn.
    ck_assert_uint_eq(arena((struct hc_cl_controls){.aim_x = 1000, .aim_y = -1}).aim, 0);
    ck_assert_uint_eq(arena((struct hc_cl_controls){.x = 1}).aim, 77);
}
END_TEST

START_TEST(fields_of_any_game_take_their_whole_range) {
    struct ship ship = {.thrust = 0};
    struct hc_cl_controls controls = {.x = 1, .y = -1, .buttons = {false, true}};
    hc_cl_controls_apply(&ships, &controls, &ship);
    ck_assert_int_eq(ship.slide_x, 255);
    ck_assert_int_eq(ship.thrust, -1);
    ck_assert(ship.horn == 0 && ship.flag == 1);
    controls = (struct hc_cl_controls){.x = -1, .y = 1};
    hc_cl_controls_apply(&ships, &controls, &ship);
    ck_assert_int_eq(ship.slide_x, -255);
    ck_assert_int_eq(ship.thrust, 0); // one bit holds -1 and 0
    for (unsigned f = 0; f < ships.input_field_count; f++)
        ck_assert(hc_field_fits(&ship_fields[f], hc_field_get(&ship_fields[f], &ship)));
}
END_TEST

START_TEST(a_single_axis_follows_both_directions) {
    struct lift lift = {0};
    hc_cl_controls_apply(&lifts, &(struct hc_cl_controls){.y = 1}, &lift);
    ck_assert_int_eq(lift.move, 1);
    hc_cl_controls_apply(&lifts, &(struct hc_cl_controls){.x = -1}, &lift);
    ck_assert_int_eq(lift.move, -1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_controls");
    TCase *tests = tcase_create("view_controls");
    tcase_add_test(tests, axes_and_the_first_button_move_and_fire_in_the_arena);
    tcase_add_test(tests, aim_is_the_angle_of_its_direction_or_stays);
    tcase_add_test(tests, fields_of_any_game_take_their_whole_range);
    tcase_add_test(tests, a_single_axis_follows_both_directions);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
