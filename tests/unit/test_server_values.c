/// Stored values against a list of all values that were ever stored.
#include "hindcast/rng.h"
#include "server/replication/values.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    HISTORY = 12,
    EACH = 4, ///< values of a unit in the ring
    STEPS = 1500,
    ASKED = 12, ///< values in a step
    BYTES_MAX = 256,
    UNITS_MAX = 16,
    VALUES_MAX = STEPS * ASKED + UNITS_MAX + 1,
};

static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_values values;
static uint8_t *memory;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, 3, 60, 1, NULL), HC_OK);
    ck_assert_uint_le(hc_unit_bytes(&world), BYTES_MAX);
    ck_assert_uint_le(hc_unit_total(&world), UNITS_MAX);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.history = HISTORY;
    config.replica = true; // so that any state can be put at any tick
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    struct hc_entity_state referee = {.entity = HC_REFEREE, .presence = HC_ABSENT};
    ck_assert_int_eq(hc_timeline_put_state(timeline, 1, 0, &referee, 1), HC_OK);
    size_t bytes = hc_sv_values_layout(&values, &world, HISTORY + 1, EACH, 2, NULL);
    memory = calloc(1, bytes);
    hc_sv_values_layout(&values, &world, HISTORY + 1, EACH, 2, memory);
    hc_sv_values_begin(&values);
}

static void tear_down(void) {
    free(memory);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

/// Rewrites a tick that is still in the ring: few different states, so that many come again.
static void put_state(struct hc_rng *rng, hc_tick as_of) {
    uint8_t state[HC_STATE_MAX] = {(uint8_t)hc_rng_below(rng, 2)};
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    hc_tick tick = head - hc_rng_below(rng, head - oldest + 1);
    struct hc_entity_state entity = {.entity = (hc_entity)hc_rng_below(rng, world.entities),
                                     .presence = (uint8_t)hc_rng_below(rng, 3),
                                     .state = state};
    ck_assert_int_eq(hc_timeline_put_state(timeline, tick, as_of, &entity, 1), HC_OK);
}

static void put_input(struct hc_rng *rng) {
    struct small_input input = {.buttons = (uint8_t)hc_rng_below(rng, 2)};
    hc_tick tick = hc_tick_back(hc_timeline_head(timeline), hc_rng_below(rng, HISTORY));
    hc_timeline_put_input(timeline, (hc_player)hc_rng_below(rng, 3), tick, &input);
}

static hc_sv_value_id ask(hc_unit unit, hc_tick tick) {
    struct hc_sv_values_row row = hc_sv_values_row(&values, timeline, tick);
    return hc_sv_values_put(&row, unit);
}

struct stored {
    struct hc_unit_value value;
    hc_unit unit;
    uint8_t bytes[BYTES_MAX];
};

/// Reads (unit, tick) from the timeline, entity by entity.
static void read_now(hc_unit unit, hc_tick tick, struct stored *out) {
    memset(out, 0, sizeof *out);
    out->unit = unit;
    out->value.tick = tick;
    out->value.known = HC_NO_TICK;
    hc_unit_place(&world, &out->value, out->bytes);
    hc_player player = hc_unit_player(&world, unit);
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(timeline, player, tick, &out->value.known, out->value.input);
    uint32_t at = 0;
    for (uint32_t e = 0; e < world.entities; e++) {
        if (hc_unit_of(&world, (hc_entity)e) != unit)
            continue;
        out->value.presence[at] = hc_timeline_presence(timeline, tick)[e];
        memcpy(out->value.states + at++ * world.stride,
               hc_timeline_states(timeline, tick) + e * world.stride, world.stride);
    }
}

/// The hash of a value by its entities.
static uint32_t hash_of(const struct stored *of) {
    uint64_t hash = 0;
    uint32_t at = 0;
    for (uint32_t e = 0; e < world.entities; e++)
        if (hc_unit_of(&world, (hc_entity)e) == of->unit) {
            hash += hc_unit_entity_hash(&world, (hc_entity)e, of->value.presence[at],
                                        of->value.states + at * world.stride);
            at++;
        }
    return (uint32_t)hash;
}

static bool same(const struct hc_unit_value *a, const struct stored *b) {
    size_t count = hc_unit_count(&world, b->unit);
    return a->tick == b->value.tick && a->known == b->value.known &&
           memcmp(a->input, b->value.input, HC_INPUT_MAX) == 0 &&
           memcmp(a->presence, b->value.presence, count) == 0 &&
           memcmp(a->states, b->value.states, count * world.stride) == 0;
}

/// Every value ever stored, in order from 1 on.
static struct stored all[VALUES_MAX];
static hc_sv_value_id number_of[VALUES_MAX];
static uint32_t count;

/// Values in the ring once every unit has had one.
static uint32_t ring_size(void) {
    return EACH * hc_unit_total(&world);
}

/// The newest values are in the ring unchanged, and no others.
static void check_ring(void) {
    for (uint32_t v = 1; v <= count; v++) {
        const struct hc_sv_value *is = hc_sv_values_get(&values, number_of[v]);
        bool must = v + ring_size() > count;
        if ((is != NULL) != must)
            ck_abort_msg("at %u, value %u is %s", count, v, is == NULL ? "gone" : "there");
        if (is != NULL &&
            (!same(&is->unit, &all[v]) || is->id != number_of[v] || is->hash != hash_of(&all[v])))
            ck_abort_msg("at %u, value %u has changed", count, v);
    }
    ck_assert_ptr_null(hc_sv_values_get(&values, number_of[count] + 1));
}

static uint32_t newest_of[STEPS + HISTORY][UNITS_MAX]; // of (tick, unit), in `all`; 0: none

/// Asks for a value; it has the number of the newest one of its tick if that is equal, and young.
/// Returns whether it has.
static bool check_ask(hc_unit unit, hc_tick tick) {
    struct stored now;
    read_now(unit, tick, &now);
    uint32_t before = newest_of[tick][unit];
    hc_sv_value_id number = ask(unit, tick);
    const struct hc_sv_value *is = hc_sv_values_get(&values, number);
    ck_assert_msg(is != NULL && same(&is->unit, &now), "at %u", count);
    bool young = before != 0 && count + 1 - before < ring_size() - ring_size() / 4;
    if (young && same(&all[before].value, &now)) {
        ck_assert_uint_eq(number, number_of[before]);
        return true;
    }
    ck_assert_uint_gt(number, number_of[count]);
    number_of[++count] = number;
    newest_of[tick][unit] = count;
    all[count] = now;
    hc_unit_place(&world, &all[count].value, all[count].bytes);
    return false;
}

START_TEST(a_value_gets_a_new_number_only_when_the_timeline_has_changed) {
    struct hc_rng rng = hc_rng_init(1, 1);
    uint32_t again = 0;
    hc_timeline_advance(timeline);
    for (hc_unit unit = 0; unit < hc_unit_total(&world); unit++)
        check_ask(unit, 1); // the ring is whole from here on
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t n = hc_rng_below(&rng, 6); n > 0; n--)
            put_state(&rng, step);
        put_input(&rng);
        hc_timeline_advance(timeline);
        hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
        // In some phases few values are asked for, so that they outlive several heads.
        for (uint32_t n = step / 300 % 2 == 0 ? ASKED : 3; n > 0; n--)
            again += check_ask((hc_unit)hc_rng_below(&rng, hc_unit_total(&world)),
                               head - hc_rng_below(&rng, head - oldest + 1));
        if (step % 50 == 0)
            check_ring();
    }
    ck_assert_uint_gt(again, 100);
    ck_assert_uint_gt(count, 20 * ring_size());
}
END_TEST

START_TEST(values_of_few_units_take_few_places_and_outlive_the_growth_of_the_ring) {
    hc_sv_value_id stored[5 * EACH];
    for (uint32_t i = 0; i < 5 * EACH; i++) {
        hc_timeline_advance(timeline);
        stored[i] = ask(1, hc_timeline_head(timeline));
    }
    ck_assert_uint_eq(values.in_use, EACH);
    hc_sv_value_id first = ask(2, hc_timeline_head(timeline));
    ck_assert_uint_eq(values.in_use, 2 * EACH);
    for (uint32_t i = 0; i < 5 * EACH; i++) // that value replaced one
        ck_assert_int_eq(hc_sv_values_get(&values, stored[i]) != NULL, i > 4 * EACH);
    ck_assert_ptr_nonnull(hc_sv_values_get(&values, first));
}
END_TEST

START_TEST(a_pinned_value_outlives_the_ring_and_a_replaced_one_is_not_pinned) {
    hc_timeline_advance(timeline);
    hc_sv_value_id id = ask(2, 1);
    struct stored was;
    read_now(2, 1, &was);
    hc_sv_values_pin(&values, 1, 2, id);
    for (hc_tick tick = 2; tick < 3 * ring_size(); tick++) {
        hc_timeline_advance(timeline);
        ask(1, tick);
    }
    ck_assert_ptr_null(hc_sv_values_get(&values, id));
    const struct hc_sv_value *pin = hc_sv_values_pinned(&values, 1, id);
    ck_assert_uint_eq(pin->id, id);
    ck_assert(same(&pin->unit, &was));
    ck_assert_uint_eq(pin->hash, hash_of(&was));
    ck_assert_ptr_null(hc_sv_values_pinned(&values, 0, id));
    hc_sv_values_pin(&values, 1, 2, id);
    ck_assert_ptr_null(hc_sv_values_pinned(&values, 1, id));
}
END_TEST

START_TEST(numbers_wrap_without_a_zero) {
    values.next = UINT32_MAX;
    hc_timeline_advance(timeline);
    ck_assert_uint_eq(ask(0, 1), UINT32_MAX);
    ck_assert_uint_eq(ask(1, 1), 1);
    ck_assert_uint_eq(ask(0, 1), UINT32_MAX);
    ck_assert_ptr_nonnull(hc_sv_values_get(&values, UINT32_MAX));
    ck_assert_ptr_nonnull(hc_sv_values_get(&values, 1));
    ck_assert_ptr_null(hc_sv_values_get(&values, 0));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server values");
    TCase *tc = tcase_create("values");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_value_gets_a_new_number_only_when_the_timeline_has_changed);
    tcase_add_test(tc, values_of_few_units_take_few_places_and_outlive_the_growth_of_the_ring);
    tcase_add_test(tc, a_pinned_value_outlives_the_ring_and_a_replaced_one_is_not_pinned);
    tcase_add_test(tc, numbers_wrap_without_a_zero);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
