/// Tests of the list of keys.
#include "client/view/keys.h"

#include "examples/duel/duel.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

static struct hc_cl_keys_line lines[HC_CL_KEYS_LINES];
static unsigned count;

static void set_up(void) {
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO), 0); // has the names of keys
}

static void tear_down(void) {
    SDL_Quit();
}

/// The keys of a line; NULL: the list does not have it.
static const char *keys_of(const char *what) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(lines[i].what, what) == 0)
            return lines[i].keys;
    return NULL;
}

START_TEST(list_has_the_keys_of_the_window_and_of_each_field_of_the_input) {
    count = hc_cl_keys_list(&hc_arena, 0, 1, lines);
    ck_assert_str_eq(keys_of("move_x"), "A D, Left Right, left stick");
    ck_assert_str_eq(keys_of("move_y"), "W S, Up Down, left stick");
    ck_assert_str_eq(keys_of("fire"), "Space, Return, left mouse, pad A");
    ck_assert_ptr_nonnull(strstr(keys_of("aim"), "mouse"));
    ck_assert_str_eq(keys_of("figures, ghosts"), "F1");
    ck_assert_str_eq(keys_of("this list"), "F2");
    ck_assert_str_eq(keys_of("leave"), "Escape");
    ck_assert_uint_eq(count, 7);
}
END_TEST

START_TEST(each_of_two_clients_has_its_half_of_the_keyboard) {
    count = hc_cl_keys_list(&hc_arena, 0, 2, lines);
    ck_assert_str_eq(keys_of("move_x"), "A D, left stick");
    ck_assert_str_eq(keys_of("fire"), "Space, left mouse, pad A");
    count = hc_cl_keys_list(&hc_arena, 1, 2, lines);
    ck_assert_str_eq(keys_of("move_x"), "Left Right, left stick");
    ck_assert_str_eq(keys_of("fire"), "Return, pad A");
    ck_assert_ptr_null(strstr(keys_of("aim"), "mouse"));
}
END_TEST

START_TEST(fields_that_the_library_writes_have_no_key) {
    count = hc_cl_keys_list(&duel, 0, 1, lines);
    ck_assert_ptr_nonnull(keys_of("fire"));
    ck_assert_ptr_null(keys_of("shown_ago"));
    ck_assert_ptr_null(keys_of("own_shown_ago"));
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
    tcase_add_test(tests, each_of_two_clients_has_its_half_of_the_keyboard);
    tcase_add_test(tests, fields_that_the_library_writes_have_no_key);
    return run_suite(suite);
}
