/// Tests of overflows: a value beyond the bits of its field is found at the step that wrote it.
#include "common/overflows.h"
#include "common/timeline.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

#include <signal.h>
#include <stdio.h>

enum { PLAYERS = 3, ROUNDS = 20000, OVER_FROM = 20, OVER_SCORE = 40 };

// ---- Tables -------------------------------------------------------------------------------------

static bool no_step(struct hc_scene *scene, hc_entity self, void *out) {
    (void)scene, (void)self, (void)out;
    return false;
}

static const char *const field_names[] = {"a", "b", "c", "d", "e", "f",
                                          "g", "h", "i", "j", "k", "l"};

/// Draws the field of index `f` at `offset`, aligned to its size; its bits are mostly fewer than it
/// has.
static struct hc_field draw_field(struct hc_rng *rng, uint16_t f, uint16_t offset) {
    uint8_t size = (uint8_t)(1u << hc_rng_below(rng, 3));
    while (offset % size != 0)
        size /= 2;
    uint8_t bits = (uint8_t)(1 + hc_rng_below(rng, 8u * size));
    return (struct hc_field){.name = field_names[f],
                             .offset = offset,
                             .size = size,
                             .bits = bits,
                             .is_signed = hc_rng_below(rng, 2) != 0};
}

/// Writes a state whose fields mostly fit; returns whether all do.
static bool draw_state(struct hc_rng *rng, const struct hc_kind *kind, uint8_t *state) {
    bool all = true;
    for (unsigned f = 0; f < kind->field_count; f++) {
        const struct hc_field *field = &kind->fields[f];
        struct hc_field whole = *field;
        whole.bits = (uint8_t)(8 * field->size);
        bool fits = hc_rng_below(rng, 8) != 0;
        const struct hc_field *as = fits ? field : &whole;
        int64_t value = hc_rng_below(rng, UINT32_MAX) % ((INT64_C(1) << as->bits));
        value -= as->is_signed ? INT64_C(1) << (as->bits - 1) : 0;
        hc_field_set(&whole, state, value);
        all &= hc_field_fits(field, value);
    }
    return all;
}

START_TEST(every_table_is_checked_as_its_fields_are) {
    struct hc_rng rng = hc_rng_init(5, 0);
    unsigned fitting = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct hc_field fields[HC_FIELDS_MAX];
        struct hc_kind kinds[2] = {BYTE_REFEREE, {.name = "drawn", .fields = fields}};
        uint16_t count = (uint16_t)(1 + hc_rng_below(&rng, 12)), at = 0;
        for (uint16_t f = 0; f < count; at = (uint16_t)(fields[f].offset + fields[f].size), f++)
            fields[f] = draw_field(&rng, f, at);
        kinds[1].field_count = count;
        kinds[1].state_size = at;
        const struct hc_slots owned[] = {{.kind = 1, .count = 1}};
        const struct hc_game game = BYTE_GAME("drawn", 1, kinds, owned, no_step);
        struct hc_world world;
        ck_assert_int_eq(hc_world_init(&world, &game, 1, 60, 1, NULL), HC_OK);
        struct hc_overflows overflows;
        hc_overflows_init(&overflows, &world);
        uint8_t state[HC_STATE_MAX + 4];
        for (unsigned i = 0; i < sizeof state; i++) // bytes after the state count for nothing
            state[i] = (uint8_t)hc_rng_below(&rng, 256);
        bool fits = draw_state(&rng, &kinds[1], state);
        ck_assert_int_eq(hc_overflows_fits(&overflows.kinds[1], state), fits);
        fitting += fits;
        hc_world_free(&world);
    }
    ck_assert_uint_gt(fitting, ROUNDS / 8);
    ck_assert_uint_lt(fitting, ROUNDS - ROUNDS / 8);
}
END_TEST

// ---- Timelines ----------------------------------------------------------------------------------

struct climber {
    int16_t x;
    uint16_t score;
};

static const struct hc_field climber_fields[] = {
    HC_FIELD(struct climber, x, 11, true),
    HC_FIELD(struct climber, score, 10, false),
};
static const struct hc_kind climber_kinds[] = {
    BYTE_REFEREE, {"climber", sizeof(struct climber), 2, climber_fields, NULL, NULL, 0, 0}};
static const struct hc_slots climber_owned[] = {{.kind = 1, .count = 1}};

/// A player's fields grow beyond their bits at different ticks.
static bool climb(struct hc_scene *scene, hc_entity self, void *out) {
    struct climber *climber = out;
    if (self == HC_REFEREE)
        return true;
    if (hc_scene_roster(scene) != HC_ROSTER_JOIN && hc_scene_state(scene, self) == NULL)
        return false;
    climber->x = (int16_t)(scene->tick + 1 >= OVER_FROM ? -1025 : -1024);
    climber->score = (uint16_t)(scene->tick + 1 >= OVER_SCORE ? 1024 : 1023);
    return true;
}

static const struct hc_game climb_game =
    BYTE_GAME("climb", PLAYERS, climber_kinds, climber_owned, climb);

/// Plays `ticks` ticks with all players.
static struct hc_timeline *play(struct hc_world *world, unsigned ticks) {
    ck_assert_int_eq(hc_world_init(world, &climb_game, PLAYERS, 60, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = world;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    hc_timeline_start(timeline);
    for (hc_player p = 0; p < PLAYERS; p++)
        ck_assert_int_eq(hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN), HC_OK);
    for (unsigned i = 0; i < ticks; i++)
        hc_timeline_advance(timeline);
    return timeline;
}

START_TEST(a_timeline_of_fitting_states_lists_no_overflow) {
    struct hc_world world;
    struct hc_timeline *timeline = play(&world, OVER_FROM - 1);
    uint32_t count;
    ck_assert_ptr_nonnull(hc_timeline_overflows(timeline, &count));
    ck_assert_uint_eq(count, 0);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}
END_TEST

START_TEST(a_timeline_lists_the_first_overflow_of_each_field) {
    struct hc_world world;
    struct hc_timeline *timeline = play(&world, 100);
    char text[HC_OVERFLOW_TEXT_MAX];
    uint32_t count;
    const struct hc_overflow *found = hc_timeline_overflows(timeline, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(found[0].tick, OVER_FROM);
    ck_assert_uint_eq(found[0].entity, hc_world_player(&world, 0));
    ck_assert_uint_eq(found[0].field, 0);
    ck_assert_int_eq(found[0].value, -1025);
    ck_assert_uint_eq(found[1].tick, OVER_SCORE);
    ck_assert_uint_eq(found[1].field, 1);
    ck_assert_int_eq(found[1].value, 1024);
    ck_assert_str_eq(hc_overflow_text(&world, &found[0], text, sizeof text),
                     "the step of the climber with entity 1 wrote -1025 to x for tick 20, but its "
                     "11 bits hold -1024 to 1023");
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}
END_TEST

START_TEST(the_checks_of_the_dev_preset_abort_at_an_overflow) {
    struct hc_world world;
    hc_timeline_destroy(play(&world, 100));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("overflows");
    TCase *tests = tcase_create("overflows");
    tcase_add_test(tests, every_table_is_checked_as_its_fields_are);
    tcase_add_test(tests, a_timeline_of_fitting_states_lists_no_overflow);
    if (HC_VALIDATE)
        tcase_add_test_raise_signal(tests, the_checks_of_the_dev_preset_abort_at_an_overflow,
                                    SIGABRT);
    else
        tcase_add_test(tests, a_timeline_lists_the_first_overflow_of_each_field);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
