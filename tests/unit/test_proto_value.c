/// Tests proto/value: encoding and decoding with any input changes, and decoding of any bits.
#include "common/byte_order.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/value.h"
#include "tests/run_suite.h"
#include "tests/sim/games.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 6000,
    PLAYERS = 3,
    ROOM = HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX),
    BITS_ROOM = 2048,
    TICKS = HC_EXTRAPOLATE_TICKS_MAX + 3, ///< more than input changes can cover
};

static const struct hc_game *const games[] = {&hc_arena, &lanes};

/// A value with memory of its own.
struct holder {
    struct hc_unit_value value;
    _Alignas(8) uint8_t room[ROOM];
};

/// A sent value, with its baseline and input changes, and the value that was read.
struct value_case {
    struct hc_world world;
    struct hc_value_codec codec;
    struct hc_extrapolator *extrapolator;
    hc_unit unit;
    struct holder from, sent, read;
    struct hc_input_changes changes;
    struct hc_value_base base;
};

static void random_fields(struct hc_rng *rng, const struct hc_field *fields, unsigned count,
                          uint32_t ppm, uint8_t *data) {
    for (unsigned f = 0; f < count; f++) {
        int64_t low = fields[f].is_signed ? -(INT64_C(1) << (fields[f].bits - 1)) : 0;
        if (hc_rng_chance(rng, ppm))
            hc_field_set(&fields[f], data,
                         low + (int64_t)(hc_rng_next(rng) & ((UINT64_C(1) << fields[f].bits) - 1)));
    }
}

static void random_input(struct hc_rng *rng, const struct hc_game *game, uint8_t *input) {
    random_fields(rng, game->input_fields, game->input_field_count, 400000, input);
    game->sanitize_input(input);
}

/// Changes fields and presence of a value with a probability of `ppm` each.
static void stir(struct hc_rng *rng, const struct value_case *t, uint32_t ppm,
                 struct hc_unit_value *value) {
    const struct hc_world *world = &t->world;
    for (uint32_t i = 0; i < hc_unit_count(world, t->unit); i++) {
        const struct hc_kind *kind =
            hc_world_kind(world, (hc_entity)(hc_unit_first(world, t->unit) + i));
        uint8_t *state = value->states + (size_t)i * world->stride;
        if (hc_rng_chance(rng, ppm))
            value->presence[i] = hc_rng_below(rng, 2) == 0 ? HC_ABSENT : HC_ALIVE;
        if (value->presence[i] == HC_ALIVE)
            random_fields(rng, kind->fields, kind->field_count, ppm, state);
        else
            memset(state, 0, world->stride);
    }
    if (hc_unit_player(world, t->unit) == HC_NO_PLAYER || !hc_rng_chance(rng, ppm))
        return;
    value->known = value->tick - 1 - hc_rng_below(rng, 20);
    random_input(rng, world->game, value->input);
}

static void random_changes(struct hc_rng *rng, struct value_case *t) {
    const struct hc_game *game = t->world.game;
    uint8_t input[HC_INPUT_MAX] = {0}, before[HC_INPUT_MAX] = {0};
    uint32_t one_in = 1 + hc_rng_below(rng, 8);
    t->changes.count = 0;
    hc_extrapolate_input(&t->world, &t->from.value, before);
    for (hc_tick tick = t->from.value.tick; tick < t->sent.value.tick; tick++) {
        memcpy(input, before, sizeof input);
        random_input(rng, game, input);
        if (hc_rng_below(rng, one_in) > 0 || memcmp(input, before, sizeof input) == 0)
            continue;
        struct hc_input_change *change = &t->changes.at[t->changes.count++];
        change->tick = tick;
        memcpy(change->input, input, sizeof input);
        memcpy(before, input, sizeof input);
    }
}

/// Any value, near its extrapolation or not, with or without a baseline and input changes.
static struct hc_rng random_case(uint32_t round, struct value_case *t) {
    struct hc_rng rng = hc_rng_init(78, round);
    memset(t, 0, sizeof *t);
    ck_assert_int_eq(hc_world_init(&t->world, games[round % 2], PLAYERS, 60, 5, NULL), HC_OK);
    hc_value_codec_init(&t->codec, &t->world);
    t->extrapolator = hc_extrapolator_create(&t->world);
    ck_assert(t->extrapolator != NULL && hc_unit_bytes(&t->world) <= ROOM);
    t->unit = (hc_unit)hc_rng_below(&rng, hc_rng_below(&rng, 4) > 0 ? 1 + PLAYERS
                                                                    : hc_unit_total(&t->world));
    hc_unit_place(&t->world, &t->from.value, t->from.room);
    hc_unit_place(&t->world, &t->sent.value, t->sent.room);
    hc_unit_place(&t->world, &t->read.value, t->read.room);
    memset(t->read.room, 0xee, ROOM);
    hc_extrapolate_absent(&t->world, t->unit, 100 + hc_rng_below(&rng, 1000), &t->from.value);
    stir(&rng, t, 700000, &t->from.value);
    hc_tick tick = t->from.value.tick + hc_rng_below(&rng, TICKS);
    bool against = hc_rng_below(&rng, 6) > 0;
    t->sent.value.tick = tick;
    t->base = (struct hc_value_base){.how = HC_EXTRAPOLATION_STEP,
                                     .codec = &t->codec,
                                     .extrapolator = t->extrapolator,
                                     .unit = t->unit,
                                     .from = against ? &t->from.value : NULL};
    if (against && hc_extrapolate_takes_changes(&t->world, HC_EXTRAPOLATION_STEP, t->unit,
                                                &t->from.value, tick))
        random_changes(&rng, t);
    if (against)
        hc_extrapolate(t->extrapolator, HC_EXTRAPOLATION_STEP, t->unit, &t->from.value,
                       &(struct hc_extrapolate_under){.changes = &t->changes}, tick,
                       &t->sent.value);
    else
        hc_extrapolate_absent(&t->world, t->unit, tick, &t->sent.value);
    stir(&rng, t, hc_rng_below(&rng, 3) * 150000, &t->sent.value);
    return rng;
}

static void free_case(struct value_case *t) {
    hc_extrapolator_destroy(t->extrapolator);
    hc_world_free(&t->world);
}

static size_t put(const struct value_case *t, uint8_t *data, size_t size) {
    struct hc_bits_writer bits = hc_bits_writer(data, size);
    hc_value_put(&bits, &t->base, &t->changes, &t->sent.value);
    return hc_bits_finish(&bits);
}

static bool get(struct value_case *t, const uint8_t *data, size_t size) {
    struct hc_bits_reader bits = hc_bits_reader(data, size);
    t->read.value.tick = t->sent.value.tick;
    hc_value_get(&bits, &t->base, &t->read.value);
    return hc_bits_done(&bits);
}

START_TEST(every_value_reads_back_with_any_input_changes) {
    static struct value_case t;
    uint8_t data[BITS_ROOM];
    unsigned listed = 0, many = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_case(round, &t);
        size_t size = put(&t, data, sizeof data);
        ck_assert_msg(size > 0 && get(&t, data, size), "round %u", round);
        ck_assert_msg(t.read.value.known == t.sent.value.known &&
                          hc_unit_equal(&t.world, t.unit, &t.read.value, &t.sent.value),
                      "round %u", round);
        listed += t.changes.count > 0;
        many += t.changes.count > 10;
        free_case(&t);
    }
    ck_assert_msg(listed > ROUNDS / 4 && many > ROUNDS / 40, "%u listed, %u many", listed, many);
}
END_TEST

START_TEST(any_bits_fail_or_read_as_fields_that_fit) {
    static struct value_case t;
    uint8_t whole[BITS_ROOM];
    unsigned taken = 0;
    for (uint32_t round = 0; round < 2 * ROUNDS; round++) {
        struct hc_rng rng = random_case(round, &t);
        size_t size = put(&t, whole, sizeof whole);
        bool random = hc_rng_below(&rng, 3) == 0;
        if (random)
            size = hc_rng_below(&rng, 60);
        uint8_t *data = malloc(size + (size == 0)); // exactly, for the sanitizers
        for (size_t i = 0; i < size; i++)
            data[i] = random ? (uint8_t)hc_rng_next(&rng) : whole[i];
        for (uint32_t flips = hc_rng_below(&rng, 4); flips > 0 && size > 0; flips--)
            data[hc_rng_below(&rng, (uint32_t)size)] ^= (uint8_t)(1u << hc_rng_below(&rng, 8));
        taken += get(&t, data, size);
        const struct hc_unit_value *read = &t.read.value;
        for (uint32_t e = 0; e < hc_unit_count(&t.world, t.unit); e++) {
            const struct hc_kind *kind =
                hc_world_kind(&t.world, (hc_entity)(hc_unit_first(&t.world, t.unit) + e));
            ck_assert(read->presence[e] == HC_ABSENT || read->presence[e] == HC_ALIVE);
            for (unsigned f = 0; f < kind->field_count; f++)
                ck_assert_msg(
                    hc_field_fits(
                        &kind->fields[f],
                        hc_field_get(&kind->fields[f], read->states + (size_t)e * t.world.stride)),
                    "round %u", round);
        }
        free(data);
        free_case(&t);
    }
    ck_assert_uint_gt(taken, ROUNDS / 4);
}
END_TEST

/// Changes the first field that is smaller than its member, above its bits. False: there is none.
static bool overflow(const struct value_case *t) {
    for (uint32_t e = 0; e < hc_unit_count(&t->world, t->unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(&t->world, (hc_entity)(hc_unit_first(&t->world, t->unit) + e));
        for (unsigned f = 0; f < kind->field_count && t->sent.value.presence[e] == HC_ALIVE; f++) {
            const struct hc_field *field = &kind->fields[f];
            if (field->bits >= 8 * field->size || field->is_signed)
                continue;
            unsigned at = field->bits / 8u, byte = HC_BIG_ENDIAN ? field->size - 1 - at : at;
            t->sent.value.states[(size_t)e * t->world.stride + field->offset + byte] ^=
                (uint8_t)(1u << field->bits % 8);
            return true;
        }
    }
    return false;
}

START_TEST(a_value_that_does_not_fit_its_field_is_sent_as_one_that_does) {
    static struct value_case t;
    uint8_t data[BITS_ROOM];
    unsigned count = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_case(round, &t);
        if (overflow(&t)) {
            size_t size = put(&t, data, sizeof data);
            ck_assert_msg(size > 0 && get(&t, data, size), "round %u", round);
            ck_assert(!hc_unit_equal(&t.world, t.unit, &t.read.value, &t.sent.value));
            count++;
        }
        free_case(&t);
    }
    ck_assert_uint_gt(count, ROUNDS / 8);
}
END_TEST

START_TEST(a_shortened_value_is_refused) {
    static struct value_case t;
    uint8_t whole[BITS_ROOM], cut[BITS_ROOM];
    for (uint32_t round = 0; round < ROUNDS / 20; round++) {
        random_case(round, &t);
        size_t used = put(&t, whole, sizeof whole);
        for (size_t size = 0; size < used; size++) {
            ck_assert_uint_eq(put(&t, cut, size), 0);
            ck_assert_msg(!get(&t, whole, size), "round %u", round);
        }
        free_case(&t);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto value");
    TCase *tc = tcase_create("value");
    tcase_add_test(tc, every_value_reads_back_with_any_input_changes);
    tcase_add_test(tc, any_bits_fail_or_read_as_fields_that_fit);
    tcase_add_test(tc, a_value_that_does_not_fit_its_field_is_sent_as_one_that_does);
    tcase_add_test(tc, a_shortened_value_is_refused);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
