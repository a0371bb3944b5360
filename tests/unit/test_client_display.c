/// Tests of the tick at which others are shown: it follows the snapshots, gradually.
#include "client/world/display.h"

#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

enum { LOOKBACK = 30, WHOLE = HC_CL_INTERPOLATION_WHOLE };

static const struct hc_field state_fields[] = {{.name = "state", .size = 1, .bits = 8}};
static const struct hc_field input_fields[] = {
    {.name = "ago", .size = 1, .bits = 8, .shown_ago = true}};
static const struct hc_kind kinds[] = {BYTE_REFEREE,
                                       {"player", 1, 1, state_fields, NULL, NULL, 0, 0}};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    (void)scene, (void)self, (void)out;
    return false;
}

static struct hc_game aiming, plain = BYTE_GAME("display", 1, kinds, owned, step);

static struct hc_client_config config_of(const struct hc_game *game, enum hc_others others) {
    struct hc_client_config config = hc_client_config_default();
    aiming = plain;
    aiming.input_fields = input_fields;
    aiming.lookback = LOOKBACK;
    config.game = game;
    config.others = others;
    return config;
}

static struct hc_cl_display begin(const struct hc_client_config *config) {
    struct hc_cl_display display = hc_cl_display_begin(config, config->input_delay);
    hc_cl_display_predicted(&display, 1000, 1000); // the first snapshot
    return display;
}

/// Predicts `count` ticks, each `behind` ticks after the newest snapshot's.
static void predict(struct hc_cl_display *display, uint32_t behind, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t before = display->now;
        hc_cl_display_predicted(display, 2000 + behind, 2000);
        ck_assert_int_eq(display->before == before || display->before == display->now, 1);
        ck_assert_uint_le(hc_cl_display_others(display), hc_cl_display_farthest(display));
    }
}

START_TEST(others_are_shown_as_the_configuration_or_the_game_wants) {
    struct hc_client_config configs[] = {
        config_of(&plain, HC_OTHERS_BY_GAME), config_of(&plain, HC_OTHERS_AS_RECEIVED),
        config_of(&aiming, HC_OTHERS_BY_GAME), config_of(&aiming, HC_OTHERS_PREDICTED)};
    for (unsigned i = 0; i < 4; i++) {
        struct hc_cl_display display = begin(&configs[i]);
        predict(&display, 15, 300);
        ck_assert_uint_eq(hc_cl_display_others(&display), i == 1 || i == 2 ? 15 : 0);
    }
}
END_TEST

START_TEST(offset_follows_nearly_all_snapshots_and_ignores_a_lost_one) {
    struct hc_client_config config = config_of(&plain, HC_OTHERS_AS_RECEIVED);
    struct hc_cl_display display = begin(&config);
    predict(&display, 6, 300);
    ck_assert_int_eq(display.now, 6 * WHOLE);
    predict(&display, 7, 1); // one snapshot is lost
    predict(&display, 6, 100);
    ck_assert_int_eq(display.now, 6 * WHOLE);
    predict(&display, 10, 8); // the path is longer: an eighth of a tick at each tick
    ck_assert_int_gt(display.now, 6 * WHOLE);
    ck_assert_int_le(display.now, 7 * WHOLE);
    ck_assert_uint_eq(hc_cl_display_farthest(&display), 7);
    predict(&display, 10, 40);
    ck_assert_int_eq(display.now, 10 * WHOLE);
    predict(&display, 4, 60); // it is shorter, but for how long?
    ck_assert_int_eq(display.now, 10 * WHOLE);
    predict(&display, 4, 300);
    ck_assert_int_eq(display.now, 4 * WHOLE);
    predict(&display, 40, 3); // too far to follow gradually
    ck_assert_int_eq(display.now, 40 * WHOLE);
    ck_assert_int_eq(display.before, 40 * WHOLE);
}
END_TEST

START_TEST(offset_stays_between_the_display_offset_and_what_the_game_can_look_back) {
    struct hc_client_config config = config_of(&aiming, HC_OTHERS_BY_GAME);
    config.display_offset = 5;
    struct hc_cl_display display = begin(&config);
    predict(&display, 1, 300);
    ck_assert_uint_eq(hc_cl_display_others(&display), 5);
    predict(&display, 60, 300);
    ck_assert_uint_eq(hc_cl_display_others(&display), LOOKBACK - config.input_delay);
    config = config_of(&plain, HC_OTHERS_AS_RECEIVED);
    display = begin(&config);
    predict(&display, 239, 300);
    ck_assert_uint_eq(hc_cl_display_others(&display), config.prediction_limit);
}
END_TEST

START_TEST(nothing_is_measured_before_the_server_has_taken_an_input) {
    struct hc_client_config config = config_of(&plain, HC_OTHERS_AS_RECEIVED);
    struct hc_cl_display display = begin(&config);
    for (hc_tick head = 1001; head < 1030; head++)
        hc_cl_display_predicted(&display, head, 1000);
    ck_assert_uint_eq(hc_cl_display_others(&display), 0);
}
END_TEST

/// Predicts `count` ticks; nothing that is shown goes back, and the others are not after the own
/// players.
static void predict_forward(struct hc_cl_display *display, uint32_t behind, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t own = display->own_now, others = display->now;
        predict(display, behind, 1);
        ck_assert_int_lt(display->own_now - own, WHOLE);
        ck_assert_int_lt(display->now - others, WHOLE);
        ck_assert_int_ge(display->now, display->own_now);
        ck_assert_int_ge(display->before, display->own_before);
    }
}

START_TEST(another_choice_of_the_game_is_reached_without_going_back) {
    static const struct {
        uint32_t offset;
        enum hc_others others;
        uint32_t own_shown, others_shown;
    } choices[] = {{5, HC_OTHERS_PREDICTED, 5, 5},   {5, HC_OTHERS_AS_RECEIVED, 5, 7},
                   {8, HC_OTHERS_AS_RECEIVED, 8, 8}, {0, HC_OTHERS_AS_RECEIVED, 0, 7},
                   {0, HC_OTHERS_PREDICTED, 0, 0},   {0, HC_OTHERS_AS_RECEIVED, 0, 7},
                   {3, HC_OTHERS_BY_GAME, 3, 3}};
    struct hc_client_config config = config_of(&plain, HC_OTHERS_PREDICTED);
    struct hc_cl_display display = begin(&config);
    predict_forward(&display, 7, 300);
    for (unsigned i = 0; i < sizeof choices / sizeof *choices; i++) {
        config.display_offset = choices[i].offset;
        config.others = choices[i].others;
        hc_cl_display_choose(&display, &config);
        predict_forward(&display, 7, 300);
        ck_assert_uint_eq(hc_cl_display_own(&display), choices[i].own_shown);
        ck_assert_uint_eq(hc_cl_display_others(&display), choices[i].others_shown);
    }
}
END_TEST

START_TEST(choice_more_than_8_ticks_away_is_reached_at_once) {
    struct hc_client_config config = config_of(&plain, HC_OTHERS_AS_RECEIVED);
    struct hc_cl_display display = begin(&config);
    predict(&display, 5, 300);
    config.display_offset = 12;
    hc_cl_display_choose(&display, &config);
    predict(&display, 5, 1);
    ck_assert(display.own_now == 12 * WHOLE && display.own_before == 12 * WHOLE);
    ck_assert(display.now == 12 * WHOLE && display.before == 12 * WHOLE);
    ck_assert_uint_eq(hc_cl_display_farthest(&display), 12);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_display");
    TCase *tests = tcase_create("client_display");
    tcase_add_test(tests, others_are_shown_as_the_configuration_or_the_game_wants);
    tcase_add_test(tests, offset_follows_nearly_all_snapshots_and_ignores_a_lost_one);
    tcase_add_test(tests, offset_stays_between_the_display_offset_and_what_the_game_can_look_back);
    tcase_add_test(tests, nothing_is_measured_before_the_server_has_taken_an_input);
    tcase_add_test(tests, another_choice_of_the_game_is_reached_without_going_back);
    tcase_add_test(tests, choice_more_than_8_ticks_away_is_reached_at_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
