/// Checks what the events of a window and its devices do: from SDL's queue to the inputs of the
/// panes, and what keys change of their clients and links.
#define _GNU_SOURCE

#include "client/view/window.h"

#include "client/client.h"
#include "client/view/presses.h"
#include "common/programs/clock.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

static int server; ///< its socket, to which nobody listens
static struct hc_cl_window window;

/// Opens two panes, whose clients wait for an answer.
static void set_up(void) {
    static struct hc_cl_options options;
    char why[256];
    struct hc_cl_udp_peer peer = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *at = (struct sockaddr_in *)&peer.address;
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER), 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    server = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(bind(server, (struct sockaddr *)at, sizeof(*at)), 0);
    ck_assert_int_eq(getsockname(server, (struct sockaddr *)at, &peer.length), 0);
    options = hc_cl_options_default(HC_CL_OPTIONS_VIEW);
    options.timing = (struct hc_client_timing){.input_delay = 3};
    window = (struct hc_cl_window){.config = hc_client_config_default()};
    window.config.game = &hc_arena;
    for (; window.count < HC_CL_WINDOW_PANES; window.count++) {
        window.knobs[window.count] = hc_cl_knobs_begin(&options, window.count);
        struct hc_cl_pane_config config = {.client = &window.config,
                                           .server = &peer,
                                           .knobs = &window.knobs[window.count],
                                           .number = window.count};
        ck_assert(hc_cl_pane_open(&window.panes[window.count].client, &config, why, sizeof(why)));
    }
}

static void tear_down(void) {
    hc_cl_window_close_panes(&window);
    hc_cl_devices_close(&window.devices);
    close(server);
    SDL_Quit();
}

static void push_key(SDL_Keycode key, bool repeated) {
    SDL_Event event = {.key = {.type = SDL_KEYDOWN, .repeat = repeated, .keysym = {.sym = key}}};
    ck_assert_int_eq(SDL_PushEvent(&event), 1);
}

/// Presses keys one after another, as --press does.
static void press(const char *keys) {
    char why[128];
    ck_assert(hc_cl_presses_check(keys, why, sizeof(why)));
    while (*keys != '\0') {
        hc_cl_presses_push(&keys);
        hc_cl_window_events(&window);
    }
}

static const struct hc_client_config *config_of(unsigned pane) {
    return &window.panes[pane].client.runner.client->config;
}

/// How long a datagram that a pane sends now is under way, in us.
static uint64_t latency_of(unsigned pane) {
    struct hc_cl_udp *udp = window.panes[pane].client.runner.udp;
    uint8_t bytes[8] = {0};
    uint64_t now_us = hc_clock_us(), due_us;
    hc_cl_udp_flush(udp, UINT64_MAX); // what was sent before
    hc_cl_udp_send(udp, bytes, sizeof(bytes), now_us);
    due_us = hc_cl_udp_deadline(udp);
    return due_us - now_us;
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
    press("Escape");
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

/// F3 to F10 change the client or the link of the pane with the focus alone, and say so.
START_TEST(each_key_changes_the_pane_that_has_the_focus) {
    static const struct {
        const char *keys, *notice;
    } rows[] = {{"F3", "good link: 20 ms +- 2, 0 % loss"},
                {"F4", "F5, F6: jitter 2 ms"},
                {"F5", "jitter 0 ms"},
                {"F6", "jitter 2 ms"},
                {"F7", "rewind: input delay 0; lead 0"},
                {"F8", "input delay 1 ticks"},
                {"F9", "others as received"},
                {"F10", "display offset 1 ticks"}};
    press("Tab");
    ck_assert_uint_eq(window.focus, 1);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        press(rows[i].keys);
        ck_assert_str_eq(window.panes[1].notice, rows[i].notice);
        ck_assert_str_eq(window.panes[0].notice, "");
    }
    ck_assert_uint_ge(latency_of(1), 18000);
    ck_assert_uint_le(latency_of(1), 22000);
    ck_assert_uint_eq(latency_of(0), 0);
    ck_assert(config_of(1)->input_delay == 1 && config_of(1)->input_delay_max == 0);
    ck_assert(config_of(1)->others == HC_OTHERS_AS_RECEIVED && config_of(1)->display_offset == 1);
    ck_assert(config_of(0)->input_delay == 3 && config_of(0)->display_offset == 0);
    press("Tab,F7,F7");
    ck_assert(window.focus == 0 && config_of(0)->input_delay_max == 3);
    ck_assert_uint_eq(config_of(1)->input_delay_max, 0);
}
END_TEST

START_TEST(key_with_the_left_shift_key_gives_both_panes_the_same) {
    press("F3,F3,F8,Tab,F8,F8");
    ck_assert(config_of(0)->input_delay == 4 && config_of(1)->input_delay == 5);
    press("Left Shift+F8,Left Shift+F3,Left Shift+F4,Left Shift+F6,Left Shift+F10");
    for (unsigned pane = 0; pane < 2; pane++) {
        ck_assert(config_of(pane)->input_delay == 6 && config_of(pane)->display_offset == 1);
        ck_assert_uint_ge(latency_of(pane), 15000); // good, with a jitter of 5 ms
        ck_assert_uint_le(latency_of(pane), 25000);
        ck_assert_str_eq(window.panes[pane].notice, "display offset 1 ticks");
    }
}
END_TEST

START_TEST(change_for_which_a_client_has_no_room_changes_nothing) {
    window.knobs[0].timing = (struct hc_client_timing){.input_delay = 3, .lead = 45};
    press("F8");
    ck_assert_uint_eq(config_of(0)->input_delay, 3);
    ck_assert_uint_eq(window.knobs[0].timing.input_delay, 3);
    ck_assert_str_eq(window.panes[0].notice, "the client has no room for that");
}
END_TEST

/// While keys change other things, each tap is pressed in exactly one stamp.
START_TEST(no_tap_is_lost_or_doubled_between_changes) {
    static const char *const changes[] = {"F3", "F4", "F5",  "F6",  "F7",
                                          "F8", "F9", "F10", "Tab", "Left Shift+F8"};
    struct hc_rng rng = hc_rng_init(1, 0);
    unsigned taps = 0, presses = 0;
    for (unsigned i = 0; i < 2000; i++) {
        bool tap = hc_rng_below(&rng, 2) > 0;
        for (unsigned k = hc_rng_below(&rng, 3); k > 0; k--)
            press(changes[hc_rng_below(&rng, sizeof(changes) / sizeof(*changes))]);
        if (tap)
            press("Space");
        for (unsigned k = hc_rng_below(&rng, 3); k > 0; k--)
            press(changes[hc_rng_below(&rng, sizeof(changes) / sizeof(*changes))]);
        taps += tap;
        presses += stamp_of(0).fire;
        presses += stamp_of(0).fire; // a tap right after another one waits for a release
        ck_assert_uint_eq(presses, taps);
    }
}
END_TEST

START_TEST(presses_are_named_as_keys_are_and_another_name_is_refused) {
    char why[128];
    const char *end = "";
    ck_assert(hc_cl_presses_check("F1,Space,Left Shift+F10,Escape", why, sizeof(why)));
    ck_assert(!hc_cl_presses_check("F1,F99", why, sizeof(why)));
    ck_assert_str_eq(why, "--press: 'F99' is no key");
    ck_assert(!hc_cl_presses_check("", why, sizeof(why)));
    ck_assert(!hc_cl_presses_check("F1,,F2", why, sizeof(why)));
    hc_cl_presses_push(&end);
    ck_assert_int_eq(SDL_HasEvent(SDL_KEYDOWN), SDL_FALSE);
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
    tcase_add_test(tests, each_key_changes_the_pane_that_has_the_focus);
    tcase_add_test(tests, key_with_the_left_shift_key_gives_both_panes_the_same);
    tcase_add_test(tests, change_for_which_a_client_has_no_room_changes_nothing);
    tcase_add_test(tests, no_tap_is_lost_or_doubled_between_changes);
    tcase_add_test(tests, presses_are_named_as_keys_are_and_another_name_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
