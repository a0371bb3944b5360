/// Tests of the tick at which others are shown: it follows the snapshots, gradually.
#include "client/world/display.h"

#include "common/timeline.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

enum { LOOKBACK = 30, HEAD = 2000, WHOLE = HC_CL_INTERPOLATION_WHOLE };

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
        ck_assert_uint_le(hc_cl_display_others(display, HEAD),
                          hc_cl_display_farthest(display, HEAD));
    }
}

START_TEST(others_are_shown_as_the_configuration_or_the_game_wants) {
    struct hc_client_config configs[] = {
        config_of(&plain, HC_OTHERS_BY_GAME), config_of(&plain, HC_OTHERS_AS_RECEIVED),
        config_of(&aiming, HC_OTHERS_BY_GAME), config_of(&aiming, HC_OTHERS_PREDICTED)};
    for (unsigned i = 0; i < 4; i++) {
        struct hc_cl_display display = begin(&configs[i]);
        predict(&display, 15, 300);
        ck_assert_uint_eq(hc_cl_display_others(&display, HEAD), i == 1 || i == 2 ? 15 : 0);
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
    ck_assert_uint_eq(hc_cl_display_farthest(&display, HEAD), 7);
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
    ck_assert_uint_eq(hc_cl_display_others(&display, HEAD), 5);
    predict(&display, 60, 300);
    ck_assert_uint_eq(hc_cl_display_others(&display, HEAD), LOOKBACK - config.input_delay);
    config = config_of(&plain, HC_OTHERS_AS_RECEIVED);
    display = begin(&config);
    predict(&display, 239, 300);
    ck_assert_uint_eq(hc_cl_display_others(&display, HEAD), config.prediction_limit);
}
END_TEST

START_TEST(nothing_is_measured_before_the_server_has_taken_an_input) {
    struct hc_client_config config = config_of(&plain, HC_OTHERS_AS_RECEIVED);
    struct hc_cl_display display = begin(&config);
    for (hc_tick head = 1001; head < 1030; head++)
        hc_cl_display_predicted(&display, head, 1000);
    ck_assert_uint_eq(hc_cl_display_others(&display, HEAD), 0);
}
END_TEST

/// A display whose position goes forth by random steps, of which the head is a little early or
/// late.
struct moving {
    struct hc_cl_display display;
    struct hc_timeline *timeline;
    int64_t position;
    struct hc_cl_interpolation_times times; ///< shown at the position
};

static int64_t moment(const struct hc_cl_interpolation_time *time) {
    return (int64_t)time->tick * WHOLE + time->fraction;
}

/// Goes forth by some ticks. What is shown of the own players never goes back, and by at most 9/8
/// of the position, and the others are never shown after them.
static void go(struct moving *moving, struct hc_rng *rng, uint32_t ticks, uint32_t behind) {
    int64_t end = moving->position + (int64_t)ticks * WHOLE;
    while (moving->position < end) {
        struct hc_cl_interpolation_times before = moving->times;
        int64_t step = hc_rng_below(rng, 2 * WHOLE);
        hc_tick head = (hc_tick)((moving->position + step) / WHOLE + hc_rng_below(rng, 4));
        for (hc_tick tick = hc_timeline_head(moving->timeline) + 1; tick <= head; tick++) {
            hc_timeline_advance(moving->timeline);
            hc_cl_display_predicted(&moving->display, tick, tick - behind);
        }
        moving->position += step;
        moving->times = hc_cl_display_times(&moving->display, moving->timeline, moving->position);
        int64_t shown = moment(&moving->times.own) - moment(&before.own);
        ck_assert_int_ge(shown, 0);
        ck_assert_int_le(shown, step + step / 8 + 1);
        ck_assert_int_le(moment(&moving->times.others), moment(&moving->times.own));
        ck_assert_uint_le(
            hc_timeline_head(moving->timeline) - moving->times.others.tick,
            hc_cl_display_farthest(&moving->display, hc_timeline_head(moving->timeline)) + 5);
    }
}

START_TEST(any_choices_of_the_game_are_reached_without_going_back_or_leaping) {
    enum { OFFSET_MAX = 40, BEHIND = 7, START = 1000 };
    struct hc_rng rng = hc_rng_init(1, 0);
    struct hc_client_config config = config_of(&plain, HC_OTHERS_PREDICTED);
    struct hc_world world;
    ck_assert_int_eq(hc_world_init(&world, &plain, 1, 60, 1, NULL), HC_OK);
    struct hc_timeline_config timeline = {
        .world = &world, .history = 128, .future = 64, .replica = true};
    struct moving moving = {.display = hc_cl_display_begin(&config, config.input_delay),
                            .timeline = hc_timeline_create(&timeline),
                            .position = (int64_t)START * WHOLE};
    hc_timeline_put_state(moving.timeline, START, START, NULL, 0);
    hc_cl_display_predicted(&moving.display, START, START - BEHIND);
    moving.times = hc_cl_display_times(&moving.display, moving.timeline, moving.position);
    for (unsigned i = 0; i < 60; i++) {
        bool waits = i % 4 == 0;
        go(&moving, &rng, waits ? 360 : hc_rng_below(&rng, 40), BEHIND);
        if (waits) { // all is reached
            bool follows = config.others == HC_OTHERS_AS_RECEIVED;
            uint32_t own = config.display_offset, head = hc_timeline_head(moving.timeline);
            ck_assert_uint_eq(hc_cl_display_own(&moving.display, head), own);
            ck_assert_uint_eq(hc_cl_display_others(&moving.display, head),
                              follows && own < BEHIND ? BEHIND : own);
            ck_assert_int_eq(moving.display.joined, !follows);
        }
        config.display_offset = hc_rng_below(&rng, OFFSET_MAX + 1);
        config.others = (enum hc_others)hc_rng_below(&rng, HC_OTHERS_AS_RECEIVED + 1);
        hc_cl_display_choose(&moving.display, &config, moving.position);
        struct hc_cl_interpolation_times times =
            hc_cl_display_times(&moving.display, moving.timeline, moving.position);
        ck_assert_int_eq(moment(&times.own), moment(&moving.times.own)); // it stays now
    }
    hc_timeline_destroy(moving.timeline);
    hc_world_free(&world);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_display");
    TCase *tests = tcase_create("client_display");
    tcase_add_test(tests, others_are_shown_as_the_configuration_or_the_game_wants);
    tcase_add_test(tests, offset_follows_nearly_all_snapshots_and_ignores_a_lost_one);
    tcase_add_test(tests, offset_stays_between_the_display_offset_and_what_the_game_can_look_back);
    tcase_add_test(tests, nothing_is_measured_before_the_server_has_taken_an_input);
    tcase_add_test(tests, any_choices_of_the_game_are_reached_without_going_back_or_leaping);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
