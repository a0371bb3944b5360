/// Stored values against a list of all values that were ever stored.
#include "hindcast/rng.h"
#include "server/replication/deltas.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    HISTORY = 12,
    LEAST = 16,    ///< values asked for
    CAPACITY = 16, ///< of the ring then
    FRESH = 12,    ///< values that are found again: younger than so many
    STEPS = 1500,
    ASKED = 12, ///< values in a step
    VALUES_MAX = STEPS * ASKED + 1,
    BYTES_MAX = 256,
    UNITS_MAX = 16,
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
    size_t bytes = hc_sv_values_layout(&values, &world, HISTORY + 1, LEAST, 2, NULL);
    memory = calloc(1, bytes);
    hc_sv_values_layout(&values, &world, HISTORY + 1, LEAST, 2, memory);
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

/// Every value ever stored, by number.
static struct stored all[VALUES_MAX];

/// The newest values are in the ring unchanged, and no others.
static void check_ring(hc_sv_value_id newest) {
    for (hc_sv_value_id v = 0; v <= newest + 2; v++) {
        const struct hc_sv_value *is = hc_sv_values_get(&values, v);
        bool stored = v > 0 && v <= newest;
        bool must = stored && v + CAPACITY > newest;
        if ((is != NULL) != must)
            ck_abort_msg("at %u, value %u is %s", newest, v, is == NULL ? "gone" : "there");
        if (is != NULL &&
            (!same(&is->unit, &all[v]) || is->id != v || is->hash != hash_of(&all[v])))
            ck_abort_msg("at %u, value %u has changed", newest, v);
    }
}

START_TEST(a_value_gets_a_new_number_only_when_the_timeline_has_changed) {
    static hc_sv_value_id last[STEPS + HISTORY][UNITS_MAX]; // of (tick, unit)
    struct hc_rng rng = hc_rng_init(1, 1);
    hc_sv_value_id newest = 0;
    uint32_t again = 0, replaced = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t n = hc_rng_below(&rng, 6); n > 0; n--)
            put_state(&rng, step);
        put_input(&rng);
        hc_timeline_advance(timeline);
        hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
        // In some phases few values are asked for, so that they outlive several heads.
        for (uint32_t n = step / 300 % 2 == 0 ? ASKED : 3; n > 0; n--) {
            hc_unit unit = (hc_unit)hc_rng_below(&rng, hc_unit_total(&world));
            hc_tick tick = head - hc_rng_below(&rng, head - oldest + 1);
            struct stored now;
            read_now(unit, tick, &now);
            hc_sv_value_id before = last[tick][unit];
            hc_sv_value_id number = ask(unit, tick);
            const struct hc_sv_value *is = hc_sv_values_get(&values, number);
            ck_assert_msg(is != NULL && same(&is->unit, &now), "step %u", step);
            last[tick][unit] = number;
            bool was_there = before != 0 && newest + 1 - before < FRESH;
            replaced += before != 0 && !was_there;
            if (was_there && same(&all[before].value, &now)) {
                ck_assert_uint_eq(number, before);
                again++;
                continue;
            }
            ck_assert_uint_eq(number, ++newest);
            all[number] = now;
            hc_unit_place(&world, &all[number].value, all[number].bytes);
        }
        if (step % 50 == 0)
            check_ring(newest);
    }
    ck_assert_uint_gt(again, 100);
    ck_assert_uint_gt(replaced, 100);
    ck_assert_uint_gt(newest, 20 * CAPACITY);
}
END_TEST

START_TEST(a_pinned_value_outlives_the_ring_and_a_replaced_one_is_not_pinned) {
    hc_timeline_advance(timeline);
    hc_sv_value_id id = ask(2, 1);
    struct stored was;
    read_now(2, 1, &was);
    hc_sv_values_pin(&values, 1, 2, id);
    for (hc_tick tick = 2; tick < 3 * CAPACITY; tick++) {
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
    tcase_add_test(tc, a_pinned_value_outlives_the_ring_and_a_replaced_one_is_not_pinned);
    tcase_add_test(tc, numbers_wrap_without_a_zero);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
