/// Tests of the list of keys.
#include "client/view/keys.h"

#include "client/view/devices.h"
#include "examples/duel/duel.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

static struct hc_cl_keys_row rows[HC_CL_KEYS_ROWS];
static unsigned count;

static void set_up(void) {
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO), 0); // has the names of keys
}

static void tear_down(void) {
    SDL_Quit();
}

/// The text of a row; NULL: the list does not have it.
static const char *text_of(const char *name) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].text;
    return NULL;
}

START_TEST(list_has_the_keys_of_the_window_and_of_each_field_of_the_input) {
    count = hc_cl_keys_list(&hc_arena, 0, 1, rows);
    ck_assert_str_eq(text_of("move_x"), "A D, Left Right, left stick");
    ck_assert_str_eq(text_of("move_y"), "W S, Up Down, left stick");
    ck_assert_str_eq(text_of("fire"), "Space, Return, left mouse, pad A");
    ck_assert_ptr_nonnull(strstr(text_of("aim"), "mouse"));
    ck_assert_str_eq(text_of("F1"), "figures and ghosts");
    ck_assert_str_eq(text_of("F2"), "this list");
    ck_assert_str_eq(text_of("Escape"), "leave");
    ck_assert_ptr_null(text_of("Tab"));
    ck_assert_uint_eq(count, 4 + HC_CL_WINDOW_KEY_COUNT - 1);
    count = hc_cl_keys_list(&hc_arena, 0, 2, rows);
    ck_assert_str_eq(text_of("Tab"), "the other pane");
    ck_assert_str_eq(text_of("Left Shift"), "with a key: both panes");
}
END_TEST

/// SDL knows the keys of the table, no two are the same, and none is of a game's control.
START_TEST(each_key_of_the_table_is_one_of_the_keyboard_and_has_one_meaning) {
    static const char *const names[] = {
#define NAME(name, key, ...) key,
        HC_CL_WINDOW_KEYS(NAME)};
    for (unsigned i = 0; i < HC_CL_WINDOW_KEY_COUNT; i++) {
        SDL_Event event = {
            .key = {.type = SDL_KEYDOWN, .keysym = {.sym = SDL_GetKeyFromName(names[i])}}};
        ck_assert_int_ne(event.key.keysym.sym, SDLK_UNKNOWN);
        ck_assert_uint_eq(hc_cl_keys_pressed(&event), i);
        event.key.repeat = 1;
        ck_assert_uint_eq(hc_cl_keys_pressed(&event), HC_CL_WINDOW_KEY_COUNT);
        event.key.repeat = 0;
        event.type = SDL_KEYUP;
        ck_assert_uint_eq(hc_cl_keys_pressed(&event), HC_CL_WINDOW_KEY_COUNT);
        for (enum hc_cl_control control = 0; control < HC_CL_CONTROLS; control++) {
            char text[HC_CL_LABEL_TEXT];
            hc_cl_devices_name(control, 0, 1, text, sizeof(text));
            ck_assert_ptr_null(strstr(text, names[i]));
        }
    }
}
END_TEST

START_TEST(each_of_two_clients_has_its_half_of_the_keyboard) {
    count = hc_cl_keys_list(&hc_arena, 0, 2, rows);
    ck_assert_str_eq(text_of("move_x"), "A D, left stick");
    ck_assert_str_eq(text_of("fire"), "Space, left mouse, pad A");
    count = hc_cl_keys_list(&hc_arena, 1, 2, rows);
    ck_assert_str_eq(text_of("move_x"), "Left Right, left stick");
    ck_assert_str_eq(text_of("fire"), "Return, pad A");
    ck_assert_ptr_null(strstr(text_of("aim"), "mouse"));
}
END_TEST

START_TEST(fields_that_the_library_writes_have_no_key) {
    count = hc_cl_keys_list(&duel, 0, 1, rows);
    ck_assert_ptr_nonnull(text_of("fire"));
    ck_assert_ptr_null(text_of("shown_ago"));
    ck_assert_ptr_null(text_of("own_shown_ago"));
    struct duel_input input = {.shown_ago = 5};
    hc_cl_controls_apply(&duel, &(struct hc_cl_controls){.buttons = {true, true, true}}, &input);
    ck_assert(input.fire == 1 && input.shown_ago == 0 && input.own_shown_ago == 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_keys");
    TCase *tests = tcase_create("keys");
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, list_has_the_keys_of_the_window_and_of_each_field_of_the_input);
    tcase_add_test(tests, each_key_of_the_table_is_one_of_the_keyboard_and_has_one_meaning);
    tcase_add_test(tests, each_of_two_clients_has_its_half_of_the_keyboard);
    tcase_add_test(tests, fields_that_the_library_writes_have_no_key);
    return run_suite(suite);
}
