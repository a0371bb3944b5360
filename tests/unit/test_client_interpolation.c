/// Checks the shown state: interpolation, and corrections that fade.
#include "client/world/interpolation.h"

#include "common/timeline.h"
#include "hindcast/rng.h"
#include "hindcast/scene.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

#include <stdlib.h>
#include <string.h>

// A game of gliders: each moves by `speed` and turns by 40 of 256 in a tick.
struct glider {
    int32_t x, y;
    int16_t speed;
    uint8_t heading;
    uint8_t lamp;
};

enum { TELEPORT = 1000, HALF_US = 50000, INTERVAL_US = 16666, UNIT = HC_CL_INTERPOLATION_UNIT };

static const struct hc_field glider_fields[] = {
    HC_FIELD(struct glider, x, 32, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct glider, y, 32, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct glider, speed, 16, true),
    HC_FIELD(struct glider, heading, 8, false, .interpolate = HC_ANGLE),
    HC_FIELD(struct glider, lamp, 8, false),
};
static const struct hc_kind kinds[] = {
    BYTE_REFEREE,
    {"glider", sizeof(struct glider), 5, glider_fields, "x", "y", TELEPORT, 0},
};
static const struct hc_slots owned[] = {{1, 1, 0}};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    struct glider glider;
    const void *before = hc_scene_state(scene, self);
    if (self == HC_REFEREE || before == NULL)
        return false;
    memcpy(&glider, before, sizeof glider);
    glider.x += glider.speed;
    glider.heading = (uint8_t)(glider.heading + 40);
    glider.lamp++;
    memcpy(out, &glider, sizeof glider);
    return true;
}

static const struct hc_game game = BYTE_GAME("gliders", 4, kinds, owned, step);

static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_cl_interpolation interpolation;
static void *memory;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &game, 4, 60, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.replica = true;
    timeline = hc_timeline_create(&config);
    memory = calloc(1, hc_cl_interpolation_layout(&interpolation, &world, HALF_US, NULL));
    ck_assert(timeline != NULL && memory != NULL);
    hc_cl_interpolation_layout(&interpolation, &world, HALF_US, memory);
}

static void tear_down(void) {
    free(memory);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static void put_state(hc_tick tick, hc_tick as_of, hc_entity entity, const struct glider *glider) {
    struct hc_entity_state state = {
        .entity = entity, .presence = glider != NULL ? HC_ALIVE : HC_ABSENT, .state = glider};
    ck_assert_int_eq(hc_timeline_put_state(timeline, tick, as_of, &state, 1), HC_OK);
}

/// Corrects a state as a client that receives a snapshot at `now_us`.
static void correct(hc_tick tick, hc_tick as_of, hc_entity entity, const struct glider *glider,
                    struct hc_cl_interpolation_time time, uint64_t now_us) {
    const struct hc_cl_interpolation_times times = {time, time};
    hc_cl_interpolation_capture(&interpolation, timeline, &times);
    put_state(tick, as_of, entity, glider);
    hc_timeline_resimulate(timeline);
    hc_cl_interpolation_correct(&interpolation, timeline, &times, now_us);
}

/// The position in simulated time, so long after the head was due.
static int64_t position_at(uint64_t elapsed_us, uint64_t interval_us) {
    int64_t whole = HC_CL_INTERPOLATION_WHOLE;
    return (int64_t)hc_timeline_head(timeline) * whole +
           (int64_t)(elapsed_us * HC_CL_INTERPOLATION_WHOLE / interval_us);
}

/// The time shown with a constant offset of so many ticks.
static struct hc_cl_interpolation_time time_at(uint32_t offset, uint64_t elapsed_us,
                                               uint64_t interval_us) {
    int64_t whole = (int64_t)offset * HC_CL_INTERPOLATION_WHOLE;
    return hc_cl_interpolation_at(timeline, whole, whole, position_at(elapsed_us, interval_us));
}

struct shown {
    bool visible;
    int64_t fields[HC_FIELDS_MAX];
};

static struct shown show(struct hc_cl_interpolation_time time, uint64_t now_us, hc_entity entity) {
    struct shown shown = {.visible = false};
    const struct hc_cl_interpolation_times times = {time, time};
    shown.visible =
        hc_cl_interpolation_show(&interpolation, timeline, &times, now_us, entity, shown.fields);
    return shown;
}

static const struct glider fast = {.x = 500, .y = -70, .speed = 300, .heading = 230, .lamp = 9};

START_TEST(state_without_corrections_is_shown_as_recorded) {
    put_state(10, 10, 1, &fast);
    hc_timeline_advance(timeline);
    struct shown shown = show((struct hc_cl_interpolation_time){.tick = 10}, 0, 1);
    ck_assert(shown.visible);
    ck_assert_int_eq(shown.fields[0], 500 * UNIT);
    ck_assert_int_eq(shown.fields[1], -70 * UNIT);
    ck_assert_int_eq(shown.fields[2], 300 * UNIT);
    ck_assert_int_eq(shown.fields[3], 230 * UNIT);
    ck_assert_int_eq(shown.fields[4], 9 * UNIT);
    // Three quarters on: linear, the shorter way round, and held.
    struct hc_cl_interpolation_time later = {.tick = 10,
                                             .fraction = HC_CL_INTERPOLATION_WHOLE / 4 * 3};
    shown = show(later, 0, 1);
    ck_assert_int_eq(shown.fields[0], 725 * UNIT);
    ck_assert_int_eq(shown.fields[3], 4 * UNIT);
    ck_assert_int_eq(shown.fields[4], 9 * UNIT);
    ck_assert(!show(later, 0, 2).visible);
}
END_TEST

START_TEST(teleport_or_change_of_presence_is_not_interpolated) {
    struct glider leaping = fast, gone = fast;
    leaping.speed = TELEPORT + 1;
    put_state(10, 10, 1, &leaping);
    put_state(10, 10, 2, &gone);
    put_state(10, 10, 3, NULL);
    hc_timeline_advance(timeline);
    put_state(11, 12, 2, NULL);
    put_state(11, 12, 3, &fast);
    struct hc_cl_interpolation_time half = {.tick = 10, .fraction = HC_CL_INTERPOLATION_WHOLE / 2};
    ck_assert_int_eq(show(half, 0, 1).fields[0], 500 * UNIT);
    ck_assert_int_eq(show(half, 0, 1).fields[3], 230 * UNIT);
    ck_assert(show(half, 0, 2).visible);
    ck_assert_int_eq(show(half, 0, 2).fields[0], 500 * UNIT);
    ck_assert(!show(half, 0, 3).visible);
}
END_TEST

START_TEST(correction_does_not_jump_and_halves_in_the_configured_time) {
    struct hc_cl_interpolation_time time = {.tick = 10, .fraction = HC_CL_INTERPOLATION_WHOLE / 4};
    struct glider truth = fast;
    truth.x += 512;
    truth.heading = 10; // 36 more, across 0
    truth.lamp = 77;
    put_state(10, 10, 1, &fast);
    hc_timeline_advance(timeline);
    struct shown before = show(time, 1000, 1);
    correct(10, 11, 1, &truth, time, 1000);
    struct shown after = show(time, 1000, 1);
    for (int f = 0; f < 4; f++)
        ck_assert_int_eq(after.fields[f], before.fields[f]);
    ck_assert_int_eq(after.fields[4], 77 * UNIT); // HC_HOLD pops
    int64_t end = before.fields[0] + 512 * UNIT;
    for (int halves = 0; halves < 18; halves++) {
        int64_t shown = show(time, 1000 + (uint64_t)halves * HALF_US, 1).fields[0];
        ck_assert_int_eq(end - shown, 512 * UNIT >> halves);
    }
    ck_assert_int_eq(show(time, 1000 + 17 * HALF_US, 1).fields[3], 20 * UNIT);
    // The next correction replaces the error; it does not add to it.
    int64_t half_way = show(time, 1000 + HALF_US, 1).fields[0];
    truth.x -= 100;
    correct(10, 12, 1, &truth, time, 1000 + HALF_US);
    ck_assert_int_eq(show(time, 1000 + HALF_US, 1).fields[0], half_way);
}
END_TEST

START_TEST(fading_correction_ends_where_the_entity_teleports_or_is_away) {
    struct glider truth = fast, leaping;
    hc_entity leaper = 1, leaver = 2;
    truth.x += 100;
    for (hc_entity entity = leaper; entity <= leaver; entity++)
        put_state(10, 10, entity, &fast);
    for (int i = 0; i < 3; i++)
        hc_timeline_advance(timeline);
    struct hc_cl_interpolation_time time = {.tick = 10};
    correct(10, 11, leaper, &truth, time, 0);
    correct(10, 12, leaver, &truth, time, 0);
    memcpy(&leaping, hc_timeline_states(timeline, 11) + leaper * world.stride, sizeof leaping);
    leaping.speed = TELEPORT + 1; // to its place at tick 12
    put_state(11, 13, leaper, &leaping);
    put_state(11, 13, leaver, NULL);
    put_state(12, 13, leaver, &truth);
    hc_timeline_resimulate(timeline);
    time.tick = 11;
    ck_assert_int_eq(show(time, 0, leaper).fields[0], (leaping.x - 100) * UNIT);
    time.tick = 12;
    ck_assert_int_eq(show(time, 0, leaper).fields[0], (leaping.x + leaping.speed) * UNIT);
    ck_assert_int_eq(show(time, 0, leaver).fields[0], truth.x * UNIT);
    // The next correction does not take it up again, also when it is of both places.
    const struct hc_cl_interpolation_times times = {time, time};
    hc_cl_interpolation_capture(&interpolation, timeline, &times);
    hc_cl_interpolation_correct(&interpolation, timeline, &times, 0);
    ck_assert_int_eq(show(time, 0, leaper).fields[0], (leaping.x + leaping.speed) * UNIT);
    time.tick = 11;
    ck_assert_int_eq(show(time, 0, leaper).fields[0], leaping.x * UNIT);
}
END_TEST

START_TEST(short_teleport_that_a_field_marks_is_neither_interpolated_nor_faded_across) {
    struct hc_cl_interpolation_time time = {.tick = 10}, half = {11, HC_CL_INTERPOLATION_WHOLE / 2};
    struct glider truth = fast, hopped;
    world.teleports_of[1] = 2; // a change of the speed
    truth.x += 100;
    put_state(10, 10, 1, &fast);
    for (int i = 0; i < 3; i++)
        hc_timeline_advance(timeline);
    correct(10, 11, 1, &truth, time, 0);
    ck_assert_int_eq(show(time, 0, 1).fields[0], fast.x * UNIT);
    memcpy(&hopped, hc_timeline_states(timeline, 12) + world.stride, sizeof hopped);
    hopped.x += 50;
    hopped.speed++;
    put_state(12, 13, 1, &hopped);
    hc_timeline_resimulate(timeline);
    ck_assert_int_eq(show(half, 0, 1).fields[0], (fast.x + fast.speed) * UNIT);
    time.tick = 12;
    ck_assert_int_eq(show(time, 0, 1).fields[0], hopped.x * UNIT);
    // A correction that has another teleport pops.
    hopped.x -= 30;
    hopped.speed++;
    correct(12, 14, 1, &hopped, time, 0);
    ck_assert_int_eq(show(time, 0, 1).fields[0], hopped.x * UNIT);
    hopped.x -= 30;
    correct(12, 15, 1, &hopped, time, 0);
    ck_assert_int_eq(show(time, 0, 1).fields[0], (hopped.x + 30) * UNIT);
}
END_TEST

START_TEST(correction_beyond_the_teleport_distance_or_of_presence_pops) {
    struct hc_cl_interpolation_time time = {.tick = 10};
    struct glider truth = fast;
    put_state(10, 10, 1, &fast);
    put_state(10, 10, 2, &fast);
    truth.y += TELEPORT;
    correct(10, 11, 1, &truth, time, 0);
    ck_assert_int_eq(show(time, 0, 1).fields[1], fast.y * UNIT);
    truth.y += 1;
    correct(10, 12, 1, &truth, time, 0);
    ck_assert_int_eq(show(time, 0, 1).fields[1], truth.y * UNIT);
    correct(10, 11, 2, NULL, time, 0);
    ck_assert(!show(time, 0, 2).visible);
    correct(10, 12, 2, &truth, time, 0);
    ck_assert_int_eq(show(time, 0, 2).fields[1], truth.y * UNIT);
}
END_TEST

START_TEST(own_players_are_shown_and_corrected_at_a_time_of_their_own) {
    static const hc_player own = 1;
    struct hc_cl_interpolation_times times = {{.tick = 13}, {.tick = 11}};
    struct glider truth = fast;
    hc_entity self = hc_world_player(&world, own), other = hc_world_player(&world, 2);
    int64_t fields[HC_FIELDS_MAX];
    const uint8_t *presence, *states;
    interpolation.own = &own;
    interpolation.own_count = 1;
    put_state(10, 10, self, &fast);
    put_state(10, 10, other, &fast);
    for (int i = 0; i < 3; i++)
        hc_timeline_advance(timeline);
    hc_cl_interpolation_compose(&interpolation, timeline, 13, 11, &presence, &states);
    for (hc_entity entity = self; entity <= other; entity = (hc_entity)(entity + other - self)) {
        int64_t x = fast.x + (entity == self ? 3 : 1) * fast.speed;
        ck_assert(hc_cl_interpolation_show(&interpolation, timeline, &times, 0, entity, fields));
        ck_assert_int_eq(fields[0], x * UNIT);
        ck_assert_int_eq(presence[entity], HC_ALIVE);
        memcpy(&truth, states + (size_t)entity * world.stride, sizeof truth);
        ck_assert_int_eq(truth.x, x);
    }
    // Both are corrected from tick 12 on: the other one is not shown there yet.
    truth = fast;
    truth.x += 2 * truth.speed + 40;
    hc_cl_interpolation_capture(&interpolation, timeline, &times);
    put_state(12, 12, self, &truth);
    put_state(12, 12, other, &truth);
    hc_timeline_resimulate(timeline);
    hc_cl_interpolation_correct(&interpolation, timeline, &times, 0);
    hc_cl_interpolation_show(&interpolation, timeline, &times, 0, self, fields);
    ck_assert_int_eq(fields[0], (fast.x + 3 * fast.speed) * UNIT);
    hc_cl_interpolation_show(&interpolation, timeline, &times, HALF_US, self, fields);
    ck_assert_int_eq(fields[0], (fast.x + 3 * fast.speed + 20) * UNIT);
    times.others.tick = 12;
    hc_cl_interpolation_show(&interpolation, timeline, &times, 0, other, fields);
    ck_assert_int_eq(fields[0], truth.x * UNIT);
}
END_TEST

START_TEST(shown_time_with_a_changing_offset_never_runs_backwards) {
    put_state(10, 10, 1, &fast);
    for (int i = 0; i < 5; i++)
        hc_timeline_advance(timeline);
    int64_t whole = HC_CL_INTERPOLATION_WHOLE, from = 3 * whole;
    for (int64_t to = from - whole / 8; to <= from + whole / 8; to += whole / 8) {
        int64_t last = 0;
        for (uint64_t us = 0; us <= 100; us++) {
            struct hc_cl_interpolation_time time =
                hc_cl_interpolation_at(timeline, from, to, position_at(us, 100));
            int64_t at = time.tick * whole + time.fraction;
            ck_assert_int_ge(at, last);
            last = at;
        }
        ck_assert_int_eq(last, 15 * whole - to);
    }
}
END_TEST

/// The server may be ahead of the client clock: the head is predicted early, and shown in time.
START_TEST(shown_time_before_the_head_is_due_is_that_of_the_position) {
    put_state(10, 10, 1, &fast);
    for (int i = 0; i < 5; i++)
        hc_timeline_advance(timeline);
    int64_t whole = HC_CL_INTERPOLATION_WHOLE;
    struct hc_cl_interpolation_time time =
        hc_cl_interpolation_at(timeline, 0, whole / 8, 13 * whole + whole / 2);
    ck_assert_uint_eq(time.tick, 12);
    ck_assert_uint_eq(time.fraction, (uint32_t)whole / 2);
}
END_TEST

START_TEST(every_correction_pops_without_smoothing) {
    struct hc_cl_interpolation_time time = {.tick = 10};
    struct glider truth = fast;
    hc_cl_interpolation_layout(&interpolation, &world, 0, memory);
    put_state(10, 10, 1, &fast);
    truth.x += 5;
    correct(10, 11, 1, &truth, time, 0);
    ck_assert_int_eq(show(time, 0, 1).fields[0], truth.x * UNIT);
}
END_TEST

START_TEST(error_falls_steadily_to_zero_from_either_side) {
    struct hc_rng rng = hc_rng_init(3, 0);
    for (int i = 0; i < 200; i++) {
        int64_t error = (int64_t)hc_rng_below(&rng, UINT32_MAX) << hc_rng_below(&rng, 9);
        uint32_t half_us = 1 + hc_rng_below(&rng, 1000000);
        int64_t last = error;
        for (uint64_t us = 0; us < 70 * (uint64_t)half_us; us += 1 + half_us / 7) {
            int64_t now = hc_cl_interpolation_decay(error, us, half_us);
            ck_assert_msg(now <= last && now >= 0, "%lld after %llu of %u", (long long)error,
                          (unsigned long long)us, half_us);
            ck_assert_int_eq(hc_cl_interpolation_decay(-error, us, half_us), -now);
            last = now;
        }
        ck_assert_int_eq(last, 0);
    }
}
END_TEST

START_TEST(random_corrections_never_make_the_shown_state_jump_and_always_fade) {
    struct hc_rng rng = hc_rng_init(4, 0);
    struct glider glider = fast;
    uint64_t now_us = 0;
    hc_tick as_of = 10;
    glider.speed = 20;
    put_state(10, as_of, 1, &glider);
    hc_timeline_advance(timeline);
    hc_timeline_advance(timeline);
    for (int i = 0; i < 2000; i++) {
        now_us += hc_rng_below(&rng, 3 * INTERVAL_US);
        if (hc_rng_chance(&rng, 300000))
            hc_timeline_advance(timeline);
        hc_tick head = hc_timeline_head(timeline);
        struct hc_cl_interpolation_time time =
            time_at(hc_rng_below(&rng, 2), hc_rng_below(&rng, 20000), INTERVAL_US);
        hc_tick tick = head - 1 - hc_rng_below(&rng, 2);
        memcpy(&glider, hc_timeline_states(timeline, tick) + world.stride, sizeof glider);
        glider.x += (int32_t)hc_rng_below(&rng, 100) - 50;
        glider.heading = (uint8_t)hc_rng_next(&rng);
        struct shown before = show(time, now_us, 1);
        correct(tick, ++as_of, 1, &glider, time, now_us);
        struct shown after = show(time, now_us, 1);
        ck_assert_msg(after.fields[0] == before.fields[0] && after.fields[3] == before.fields[3],
                      "round %d: %lld became %lld", i, (long long)before.fields[0],
                      (long long)after.fields[0]);
        struct hc_cl_interpolation_time exact = {.tick = head};
        memcpy(&glider, hc_timeline_states(timeline, head) + world.stride, sizeof glider);
        after = show(exact, now_us + 64 * HALF_US, 1);
        ck_assert_int_eq(after.fields[0], glider.x * UNIT);
        ck_assert_int_eq(after.fields[3], glider.heading * UNIT);
    }
}
END_TEST

START_TEST(shown_time_runs_from_the_tick_before_the_head_to_the_head_and_rests) {
    put_state(10, 10, 1, &fast);
    for (uint32_t offset = 0; offset < 3; offset++) { // nothing older than the first state
        struct hc_cl_interpolation_time time = time_at(offset, 99, 100);
        ck_assert(time.tick == 10 && time.fraction == 0);
    }
    for (int i = 0; i < 5; i++)
        hc_timeline_advance(timeline);
    for (uint32_t offset = 0; offset < 7; offset++) {
        struct hc_cl_interpolation_time time = time_at(offset, 25, 100);
        ck_assert_uint_eq(time.tick, offset < 5 ? 14 - offset : 10);
        ck_assert_uint_eq(time.fraction, offset < 5 ? HC_CL_INTERPOLATION_WHOLE / 4 : 0);
        time = time_at(offset, 100 + offset, 100);
        ck_assert_uint_eq(time.tick, offset < 5 ? 15 - offset : 10);
        ck_assert_uint_eq(time.fraction, 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_interpolation");
    TCase *tests = tcase_create("client_interpolation");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, state_without_corrections_is_shown_as_recorded);
    tcase_add_test(tests, teleport_or_change_of_presence_is_not_interpolated);
    tcase_add_test(tests, correction_does_not_jump_and_halves_in_the_configured_time);
    tcase_add_test(tests, fading_correction_ends_where_the_entity_teleports_or_is_away);
    tcase_add_test(tests,
                   short_teleport_that_a_field_marks_is_neither_interpolated_nor_faded_across);
    tcase_add_test(tests, correction_beyond_the_teleport_distance_or_of_presence_pops);
    tcase_add_test(tests, own_players_are_shown_and_corrected_at_a_time_of_their_own);
    tcase_add_test(tests, shown_time_with_a_changing_offset_never_runs_backwards);
    tcase_add_test(tests, shown_time_before_the_head_is_due_is_that_of_the_position);
    tcase_add_test(tests, every_correction_pops_without_smoothing);
    tcase_add_test(tests, error_falls_steadily_to_zero_from_either_side);
    tcase_add_test(tests, random_corrections_never_make_the_shown_state_jump_and_always_fade);
    tcase_add_test(tests, shown_time_runs_from_the_tick_before_the_head_to_the_head_and_rests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
