/// Tests of the linear extrapolation and of holding: of random states of a game that moves fields
/// of every kind.
#include "common/extrapolate.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

#include <string.h>

struct body {
    uint32_t far;   ///< moves by fast
    int32_t fast;   ///< of the greatest range
    int16_t x, y;   ///< move by vx in a second, and by vy in 7 ticks
    int16_t vx, vy; ///< 12 bits
    uint16_t wait;  ///< counts down
    uint8_t angle;  ///< 7 bits, turns by spin each tick
    int8_t spin;
    int8_t bearing; ///< 6 bits, turns by spin in a second
    uint8_t still;
    uint16_t rest;
};

static const struct hc_field body_fields[] = {
    HC_FIELD(struct body, far, 32, false, .moves_by = "fast", .moves_per = 1),
    HC_FIELD(struct body, fast, 32, true),
    HC_FIELD(struct body, x, 14, true, .interpolate = HC_LINEAR, .moves_by = "vx"),
    HC_FIELD(struct body, y, 16, true, .moves_by = "vy", .moves_per = 7),
    HC_FIELD(struct body, vx, 12, true),
    HC_FIELD(struct body, vy, 12, true),
    HC_FIELD(struct body, wait, 9, false, .countdown = true),
    HC_FIELD(struct body, angle, 7, false, .interpolate = HC_ANGLE, .moves_by = "spin",
             .moves_per = 1),
    HC_FIELD(struct body, spin, 8, true),
    HC_FIELD(struct body, bearing, 6, true, .interpolate = HC_ANGLE, .moves_by = "spin"),
    HC_FIELD(struct body, still, 8, false),
    HC_FIELD(struct body, rest, 16, false),
};
enum { FIELDS = sizeof body_fields / sizeof body_fields[0], TICK_RATE = 60 };

static const struct hc_field referee_fields[] = {
    {.name = "left", .size = 1, .bits = 8, .countdown = true}};
static const struct hc_kind kinds[] = {
    {"referee", 1, 1, referee_fields, NULL, NULL, 0, 0},
    {"body", sizeof(struct body), FIELDS, body_fields, "x", "y", 0, 0},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    (void)scene, (void)self, (void)out;
    return false;
}

static const struct hc_game game = BYTE_GAME("bodies", 1, kinds, owned, step);

static struct hc_world world;
static struct hc_extrapolator *extrapolator;

static void open_world(void) {
    ck_assert_int_eq(hc_world_init(&world, &game, 1, TICK_RATE, 0, NULL), HC_OK);
    extrapolator = hc_extrapolator_create(&world);
    ck_assert_ptr_nonnull(extrapolator);
}

static void close_world(void) {
    hc_extrapolator_destroy(extrapolator);
    hc_world_free(&world);
}

/// A value of one entity.
struct held {
    struct hc_unit_value value;
    uint8_t presence;
    struct body body;
};

static void place(struct held *held) {
    held->value.presence = &held->presence;
    held->value.states = (uint8_t *)&held->body;
}

/// A random state: each field anywhere in its range, or at an end of it.
static void draw(struct hc_rng *rng, hc_tick tick, struct held *out) {
    memset(out, 0, sizeof *out);
    out->value.tick = tick;
    out->value.known = tick > 5 ? tick - 5 : HC_NO_TICK;
    out->presence = HC_ALIVE;
    place(out);
    for (unsigned i = 0; i < FIELDS; i++) {
        const struct hc_field *field = &body_fields[i];
        int64_t range = INT64_C(1) << field->bits, low = field->is_signed ? -range / 2 : 0;
        int64_t value = low + (int64_t)(hc_rng_next(rng) % (uint64_t)range);
        if (hc_rng_below(rng, 4) == 0)
            value = hc_rng_below(rng, 2) == 0 ? low : low + range - 1;
        hc_field_set(field, &out->body, value);
    }
}

static void extrapolate(enum hc_extrapolation how, const struct held *from, hc_tick tick,
                        struct held *out) {
    memset(out, 0, sizeof *out);
    place(out);
    hc_extrapolate(extrapolator, how, 1, &from->value, NULL, tick, &out->value);
    ck_assert_uint_eq(out->value.tick, tick);
    ck_assert_uint_eq(out->presence, from->presence);
    if (from->value.known != HC_NO_TICK)
        ck_assert_uint_eq(tick - out->value.known, from->value.tick - from->value.known);
}

/// The distance that a speed moves a field in the step from `tick`.
static int64_t moved(int64_t speed, hc_tick tick, int64_t per) {
    return speed * (tick + 1) / per - speed * tick / per;
}

static int64_t limit(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/// Moves a body by one step, as the tables say.
static void move(struct body *body, hc_tick tick) {
    body->far = (uint32_t)limit(body->far + moved(body->fast, tick, 1), 0, UINT32_MAX);
    body->x = (int16_t)limit(body->x + moved(body->vx, tick, TICK_RATE), -8192, 8191);
    body->y = (int16_t)limit(body->y + moved(body->vy, tick, 7), INT16_MIN, INT16_MAX);
    body->wait = (uint16_t)(body->wait > 0 ? body->wait - 1 : 0);
    body->angle = (uint8_t)(body->angle + body->spin) & 127;
    int bearing = body->bearing + (int)moved(body->spin, tick, TICK_RATE);
    body->bearing = (int8_t)(bearing < -32 ? bearing + 64 : bearing > 31 ? bearing - 64 : bearing);
}

START_TEST(the_closed_form_equals_its_steps_one_by_one) {
    struct hc_rng rng = hc_rng_init(1, 1);
    for (unsigned round = 0; round < 2000; round++) {
        hc_tick tick = hc_rng_below(&rng, 2) == 0 ? hc_rng_below(&rng, 5000)
                                                  : UINT32_MAX - 500 - hc_rng_below(&rng, 100);
        uint32_t ticks = hc_rng_below(&rng, 400);
        struct held from, out;
        draw(&rng, tick, &from);
        extrapolate(HC_EXTRAPOLATION_LINEAR, &from, tick + ticks, &out);
        for (uint32_t i = 0; i < ticks; i++)
            move(&from.body, tick + i);
        ck_assert_mem_eq(&out.body, &from.body, sizeof out.body);
    }
}
END_TEST

START_TEST(moving_twice_equals_moving_once_over_both_distances) {
    struct hc_rng rng = hc_rng_init(2, 1);
    for (unsigned round = 0; round < 20000; round++) {
        hc_tick ticks[3];
        for (unsigned i = 0; i < 3; i++)
            ticks[i] = (hc_tick)(hc_rng_next(&rng) % HC_NO_TICK);
        for (unsigned i = 0; i < 3; i++) // in ascending order
            for (unsigned j = i + 1; j < 3; j++)
                if (ticks[j] < ticks[i]) {
                    hc_tick later = ticks[i];
                    ticks[i] = ticks[j];
                    ticks[j] = later;
                }
        struct held from, halves, once;
        draw(&rng, ticks[0], &from);
        extrapolate(HC_EXTRAPOLATION_LINEAR, &from, ticks[1], &halves);
        hc_extrapolate(extrapolator, HC_EXTRAPOLATION_LINEAR, 1, &halves.value, NULL, ticks[2],
                       &halves.value);
        extrapolate(HC_EXTRAPOLATION_LINEAR, &from, ticks[2], &once);
        ck_assert_mem_eq(&halves.body, &once.body, sizeof once.body);
        ck_assert_uint_eq(halves.value.known, once.value.known);
    }
}
END_TEST

START_TEST(holding_changes_nothing_but_ticks) {
    struct hc_rng rng = hc_rng_init(3, 1);
    for (unsigned round = 0; round < 200; round++) {
        struct held from, out;
        draw(&rng, 1000, &from);
        extrapolate(HC_EXTRAPOLATION_HOLD, &from, 1000 + hc_rng_below(&rng, 100), &out);
        ck_assert_mem_eq(&out.body, &from.body, sizeof out.body);
    }
}
END_TEST

START_TEST(an_entity_that_is_not_alive_does_not_move) {
    struct held from = {.value = {.tick = 5, .known = HC_NO_TICK}, .presence = HC_ABSENT}, out;
    static const struct body nothing;
    place(&from);
    extrapolate(HC_EXTRAPOLATION_LINEAR, &from, 50, &out);
    ck_assert_mem_eq(&out.body, &nothing, sizeof nothing);
    ck_assert_uint_eq(out.value.known, HC_NO_TICK);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("extrapolate_linear");
    TCase *tests = tcase_create("extrapolate_linear");
    tcase_add_checked_fixture(tests, open_world, close_world);
    tcase_add_test(tests, the_closed_form_equals_its_steps_one_by_one);
    tcase_add_test(tests, moving_twice_equals_moving_once_over_both_distances);
    tcase_add_test(tests, holding_changes_nothing_but_ticks);
    tcase_add_test(tests, an_entity_that_is_not_alive_does_not_move);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
