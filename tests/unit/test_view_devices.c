/// Checks the controls that keyboards and gamepads give to one or two people.
#include "client/view/devices.h"

#include "tests/run_suite.h"

static struct hc_cl_devices devices;

static void set_up(void) {
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER), 0);
    devices = (struct hc_cl_devices){.mouse = false};
}

static void tear_down(void) {
    hc_cl_devices_close(&devices);
    SDL_Quit();
}

/// Presses or releases a key.
static void press(SDL_Scancode key, bool down) {
    SDL_Event event = {.key = {.type = down ? SDL_KEYDOWN : SDL_KEYUP,
                               .state = down ? SDL_PRESSED : SDL_RELEASED,
                               .keysym = {.scancode = key}}};
    hc_cl_devices_event(&devices, &event);
}

/// Presses or releases a button of the mouse.
static void click(Uint8 button, bool down) {
    SDL_Event event = {.button = {.type = down ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP,
                                  .button = button,
                                  .state = down ? SDL_PRESSED : SDL_RELEASED}};
    hc_cl_devices_event(&devices, &event);
}

static struct hc_cl_controls read(unsigned index, unsigned count) {
    return hc_cl_devices_read(&devices, index, count, NULL);
}

static void take_events(void) {
    SDL_Event event;
    while (SDL_PollEvent(&event))
        hc_cl_devices_event(&devices, &event);
}

START_TEST(one_person_has_both_halves_of_the_keyboard) {
    press(SDL_SCANCODE_A, true);
    press(SDL_SCANCODE_UP, true);
    press(SDL_SCANCODE_SPACE, true);
    struct hc_cl_controls controls = read(0, 1);
    ck_assert(controls.x == -1 && controls.y == -1 && controls.buttons[0]);
    ck_assert(controls.aim_x == -1 && controls.aim_y == -1); // the aim follows the way
    press(SDL_SCANCODE_RIGHT, true);
    ck_assert(read(0, 1).x == 0);
}
END_TEST

START_TEST(two_people_share_the_keyboard) {
    press(SDL_SCANCODE_D, true);
    press(SDL_SCANCODE_DOWN, true);
    press(SDL_SCANCODE_RETURN, true);
    struct hc_cl_controls left = read(0, 2), right = read(1, 2);
    ck_assert(left.x == 1 && left.y == 0 && !left.buttons[0]);
    ck_assert(right.x == 0 && right.y == 1 && right.buttons[0]);
}
END_TEST

START_TEST(each_event_shows_although_a_later_one_is_waiting) {
    SDL_Event motion = {.motion = {.type = SDL_MOUSEMOTION, .x = 30, .y = 40}};
    SDL_FPoint self = {10, 10};
    press(SDL_SCANCODE_E, true);
    ck_assert(read(0, 1).buttons[1]);
    press(SDL_SCANCODE_E, false);
    ck_assert(!read(0, 1).buttons[1]);
    click(SDL_BUTTON_LEFT, true);
    ck_assert(!read(0, 1).buttons[0]); // the mouse has not moved
    hc_cl_devices_event(&devices, &motion);
    struct hc_cl_controls controls = hc_cl_devices_read(&devices, 0, 1, &self);
    ck_assert(controls.buttons[0] && controls.aim_x == 20 && controls.aim_y == 30);
    click(SDL_BUTTON_LEFT, false);
    ck_assert(!read(0, 1).buttons[0]);
}
END_TEST

START_TEST(gamepads_belong_to_the_clients_in_the_order_in_which_they_come) {
    SDL_Joystick *joysticks[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_ge(SDL_JoystickAttachVirtual(SDL_JOYSTICK_TYPE_GAMECONTROLLER,
                                                   SDL_CONTROLLER_AXIS_MAX,
                                                   SDL_CONTROLLER_BUTTON_MAX, 0),
                         0);
    take_events();
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_nonnull(devices.pads[i].controller);
        joysticks[i] = SDL_GameControllerGetJoystick(devices.pads[i].controller);
        // An idle trigger is at its lowest value.
        SDL_JoystickSetVirtualAxis(joysticks[i], SDL_CONTROLLER_AXIS_TRIGGERRIGHT, INT16_MIN);
    }
    SDL_JoystickSetVirtualAxis(joysticks[0], SDL_CONTROLLER_AXIS_LEFTX, INT16_MAX);
    SDL_JoystickSetVirtualAxis(joysticks[0], SDL_CONTROLLER_AXIS_LEFTY, 3000); // at rest
    SDL_JoystickSetVirtualAxis(joysticks[0], SDL_CONTROLLER_AXIS_RIGHTY, INT16_MIN);
    SDL_JoystickSetVirtualAxis(joysticks[1], SDL_CONTROLLER_AXIS_TRIGGERRIGHT, INT16_MAX);
    SDL_JoystickSetVirtualButton(joysticks[1], SDL_CONTROLLER_BUTTON_B, 1);
    take_events();
    struct hc_cl_controls left = read(0, 2), right = read(1, 2);
    ck_assert(left.x == 1 && left.y == 0 && left.aim_x == 0 && left.aim_y < -0.9);
    ck_assert(!left.buttons[0] && !left.buttons[1]);
    ck_assert(right.x == 0 && right.buttons[0] && right.buttons[1]);
    // The second client keeps its gamepad when the first one's is gone, whose place is free again.
    SDL_JoystickDetachVirtual(0);
    take_events();
    ck_assert_ptr_null(devices.pads[0].controller);
    ck_assert(read(1, 2).buttons[1]);
    ck_assert(read(0, 2).x == 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_devices");
    TCase *tests = tcase_create("view_devices");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, one_person_has_both_halves_of_the_keyboard);
    tcase_add_test(tests, two_people_share_the_keyboard);
    tcase_add_test(tests, each_event_shows_although_a_later_one_is_waiting);
    tcase_add_test(tests, gamepads_belong_to_the_clients_in_the_order_in_which_they_come);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
