/// Checks what the events of a window and its devices do: from SDL's queue to the inputs of the
/// panes.
#include "client/view/window.h"

#include "client/client.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

static struct hc_cl_window window;

static void set_up(void) {
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER), 0);
    window = (struct hc_cl_window){.count = 2};
    window.config = hc_client_config_default();
    window.config.game = &hc_arena;
    for (unsigned i = 0; i < window.count; i++) {
        window.panes[i].client.runner.client = hc_client_create(&window.config, 0);
        ck_assert_ptr_nonnull(window.panes[i].client.runner.client);
    }
}

static void tear_down(void) {
    for (unsigned i = 0; i < window.count; i++)
        hc_client_destroy(window.panes[i].client.runner.client);
    hc_cl_devices_close(&window.devices);
    SDL_Quit();
}

static void push_key(SDL_Keycode key, bool repeated) {
    SDL_Event event = {.key = {.type = SDL_KEYDOWN, .repeat = repeated, .keysym = {.sym = key}}};
    ck_assert_int_eq(SDL_PushEvent(&event), 1);
}

/// Pushes the press or the release of a key of the first person.
static void push_control(SDL_Scancode key, bool down) {
    SDL_Event event = {.key = {.type = down ? SDL_KEYDOWN : SDL_KEYUP,
                               .state = down ? SDL_PRESSED : SDL_RELEASED,
                               .keysym = {.scancode = key}}};
    ck_assert_int_eq(SDL_PushEvent(&event), 1);
}

/// The next input that the client of a pane stamps, after the events so far.
static struct hc_arena_input stamp_of(unsigned pane) {
    struct hc_cl_inputs *inputs = &window.panes[pane].client.runner.client->link.inputs;
    struct hc_cl_inputs_shown shown = {.own = 0};
    struct hc_arena_input input;
    hc_cl_window_events(&window);
    hc_tick tick = inputs->next;
    hc_cl_inputs_sample(inputs, tick, tick, &shown);
    memcpy(&input, hc_cl_inputs_at(inputs, tick, 0), sizeof(input));
    return input;
}

/// The input of a pane after the events so far.
static struct hc_arena_input input_of(unsigned pane) {
    struct hc_arena_input input;
    hc_cl_window_events(&window);
    memcpy(&input, window.panes[pane].client.input, sizeof(input));
    return input;
}

START_TEST(f1_toggles_the_overlay_once_for_each_press) {
    push_key(SDLK_F1, false);
    push_key(SDLK_F1, true);
    hc_cl_window_events(&window);
    ck_assert(window.overlay && !window.closed);
    push_key(SDLK_F1, false);
    hc_cl_window_events(&window);
    ck_assert(!window.overlay);
}
END_TEST

START_TEST(f2_toggles_the_list_of_keys) {
    push_key(SDLK_F2, false);
    push_key(SDLK_F2, true);
    hc_cl_window_events(&window);
    ck_assert(window.keys && !window.overlay);
    push_key(SDLK_F2, false);
    hc_cl_window_events(&window);
    ck_assert(!window.keys);
}
END_TEST

START_TEST(escape_or_the_button_of_the_window_closes_it) {
    SDL_Event quit = {.type = SDL_QUIT};
    push_key(SDLK_ESCAPE, false);
    hc_cl_window_events(&window);
    ck_assert(window.closed);
    window.closed = false;
    SDL_PushEvent(&quit);
    hc_cl_window_events(&window);
    ck_assert(window.closed);
}
END_TEST

START_TEST(keys_and_a_gamepad_reach_the_inputs_of_the_panes_and_not_that_of_a_bot) {
    push_control(SDL_SCANCODE_D, true);
    push_control(SDL_SCANCODE_UP, true);
    ck_assert_int_eq(input_of(0).move_x, 1);
    ck_assert_int_eq(input_of(1).move_y, -1);
    push_control(SDL_SCANCODE_UP, false);
    int index = SDL_JoystickAttachVirtual(SDL_JOYSTICK_TYPE_GAMECONTROLLER, SDL_CONTROLLER_AXIS_MAX,
                                          SDL_CONTROLLER_BUTTON_MAX, 0);
    ck_assert_int_ge(index, 0);
    hc_cl_window_events(&window); // SDL reports it
    ck_assert_ptr_nonnull(window.devices.pads[0].controller);
    SDL_Joystick *joystick = SDL_GameControllerGetJoystick(window.devices.pads[0].controller);
    SDL_JoystickSetVirtualAxis(joystick, SDL_CONTROLLER_AXIS_TRIGGERRIGHT, INT16_MIN);
    SDL_JoystickSetVirtualAxis(joystick, SDL_CONTROLLER_AXIS_LEFTY, INT16_MAX);
    SDL_JoystickSetVirtualButton(joystick, SDL_CONTROLLER_BUTTON_A, 1);
    struct hc_arena_input input = input_of(0);
    ck_assert(input.move_x == 1 && input.move_y == 1 && input.fire == 1);
    ck_assert_int_eq(input_of(1).fire, 0);
    window.panes[0].client.bot = true;
    push_control(SDL_SCANCODE_D, false);
    ck_assert_int_eq(input_of(0).move_x, 1);
}
END_TEST

START_TEST(tap_whose_events_wait_together_is_one_stamp_of_press) {
    push_control(SDL_SCANCODE_SPACE, true);
    push_control(SDL_SCANCODE_SPACE, false);
    ck_assert_int_eq(stamp_of(0).fire, 1);
    ck_assert_int_eq(stamp_of(0).fire, 0);
    ck_assert_int_eq(stamp_of(1).fire, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_window");
    TCase *tests = tcase_create("view_window");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, f1_toggles_the_overlay_once_for_each_press);
    tcase_add_test(tests, f2_toggles_the_list_of_keys);
    tcase_add_test(tests, escape_or_the_button_of_the_window_closes_it);
    tcase_add_test(tests, keys_and_a_gamepad_reach_the_inputs_of_the_panes_and_not_that_of_a_bot);
    tcase_add_test(tests, tap_whose_events_wait_together_is_one_stamp_of_press);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
