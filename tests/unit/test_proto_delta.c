/// Tests proto/value: the encoding and decoding of deltas against any extrapolation.
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/value.h"
#include "tests/run_suite.h"
#include "tests/sim/games.h"
#include "tests/unit/small_game.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 4000,
    BITS_ROOM = 8192, ///< bytes, more than any units below take
    UNITS_MAX = 8,    ///< of one random case
    VALUE_ROOM = HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX),
};

/// Leaves any input as it is: its encoding must survive.
static void sanitize_nothing(void *input) {
    (void)input;
}

/// The games, with inputs of any fields.
static const struct hc_game *game_of(uint32_t number) {
    static const struct hc_game *const games[] = {&hc_arena, &lanes, &small_game};
    static struct hc_game any[3];
    any[number] = *games[number];
    any[number].sanitize_input = sanitize_nothing;
    return &any[number];
}

/// A value with memory of its own.
struct holder {
    struct hc_unit_value value;
    uint8_t room[VALUE_ROOM];
};

/// Some units of a random world: their extrapolated, sent and read values.
struct units {
    struct hc_world world;
    struct hc_value_codec codec;
    struct hc_extrapolator *extrapolator;
    uint32_t count;
    hc_unit unit[UNITS_MAX];
    struct holder extrapolated[UNITS_MAX], sent[UNITS_MAX], read[UNITS_MAX];
};

static int64_t lowest(const struct hc_field *field) {
    return field->is_signed ? -(INT64_C(1) << (field->bits - 1)) : 0;
}

/// A value that fits: any, an end of the range, or one near `near`, modulo the range.
static int64_t random_value(struct hc_rng *rng, const struct hc_field *field, int64_t near) {
    int64_t low = lowest(field), range = INT64_C(1) << field->bits;
    switch (hc_rng_below(rng, 4)) {
    case 0:
        return low + (int64_t)(hc_rng_next(rng) & (uint64_t)(range - 1));
    case 1:
        return hc_rng_below(rng, 2) == 0 ? low : low + range - 1;
    default:
        return low + ((near - low + (int64_t)hc_rng_below(rng, 65) - 32) & (range - 1));
    }
}

/// Changes each field with a probability of `ppm`.
static void stir(struct hc_rng *rng, const struct hc_field *fields, unsigned count, uint32_t ppm,
                 uint8_t *state) {
    for (unsigned f = 0; f < count; f++)
        if (hc_rng_chance(rng, ppm))
            hc_field_set(&fields[f], state,
                         random_value(rng, &fields[f], hc_field_get(&fields[f], state)));
}

static uint8_t random_presence(struct hc_rng *rng, bool may_be_unknown) {
    uint32_t any = hc_rng_below(rng, 8);
    return any == 0 && may_be_unknown ? HC_UNKNOWN : any < 4 ? HC_ABSENT : HC_ALIVE;
}

/// Changes the owner's input of a value.
static void stir_owner(struct hc_rng *rng, const struct hc_game *game, uint32_t ppm,
                       struct hc_unit_value *value) {
    if (hc_rng_chance(rng, ppm)) {
        uint32_t most = hc_rng_below(rng, 2) == 0 ? 20 : value->tick;
        uint32_t age = hc_rng_below(rng, most < value->tick ? most + 1 : value->tick + 1);
        value->known = age == 0 ? HC_NO_TICK : value->tick - age;
    }
    if (value->known == HC_NO_TICK)
        memset(value->input, 0, sizeof value->input);
    else
        stir(rng, game->input_fields, game->input_field_count, ppm, value->input);
}

/// Changes a value; `may_be_unknown`: as an extrapolated one.
static void stir_value(struct hc_rng *rng, const struct hc_world *world, hc_unit unit, uint32_t ppm,
                       bool may_be_unknown, struct hc_unit_value *value) {
    if (hc_unit_player(world, unit) != HC_NO_PLAYER)
        stir_owner(rng, world->game, ppm, value);
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++) {
        const struct hc_kind *kind =
            hc_world_kind(world, (hc_entity)(hc_unit_first(world, unit) + i));
        uint8_t *state = value->states + (size_t)i * world->stride;
        if (hc_rng_chance(rng, ppm) || (!may_be_unknown && value->presence[i] == HC_UNKNOWN))
            value->presence[i] = random_presence(rng, may_be_unknown);
        if (value->presence[i] == HC_ALIVE)
            stir(rng, kind->fields, kind->field_count, ppm, state);
        else
            memset(state, 0, world->stride);
    }
}

static void begin_world(struct units *t, const struct hc_game *game, uint16_t players) {
    ck_assert_int_eq(hc_world_init(&t->world, game, players, 60, 5, NULL), HC_OK);
    hc_value_codec_init(&t->codec, &t->world);
    t->extrapolator = hc_extrapolator_create(&t->world);
    ck_assert_ptr_nonnull(t->extrapolator);
}

static void end_world(struct units *t) {
    hc_extrapolator_destroy(t->extrapolator);
    hc_world_free(&t->world);
}

/// A random world, units and extrapolated values; sent ones at any distance from those.
static struct hc_rng random_case(uint32_t round, struct units *t) {
    static const uint32_t distances[] = {0, 50000, 300000, 1000000};
    struct hc_rng rng = hc_rng_init(77, round);
    const struct hc_game *game = game_of(hc_rng_below(&rng, 3));
    memset(t, 0, sizeof *t);
    uint16_t players = (uint16_t)(1 + hc_rng_below(&rng, 8));
    begin_world(t, game, players);
    ck_assert_uint_le(hc_unit_bytes(&t->world), VALUE_ROOM);
    t->count = 1 + hc_rng_below(&rng, UNITS_MAX);
    for (uint32_t i = 0; i < t->count; i++) {
        hc_unit unit = (hc_unit)hc_rng_below(&rng, hc_unit_total(&t->world));
        hc_tick tick = hc_rng_below(&rng, 2) == 0 ? hc_rng_below(&rng, 100) : HC_NO_TICK - 1;
        t->unit[i] = unit;
        hc_unit_place(&t->world, &t->extrapolated[i].value, t->extrapolated[i].room);
        hc_unit_place(&t->world, &t->sent[i].value, t->sent[i].room);
        hc_unit_place(&t->world, &t->read[i].value, t->read[i].room);
        memset(t->read[i].room, 0xee, VALUE_ROOM);
        t->extrapolated[i].value.tick = tick;
        t->extrapolated[i].value.known = HC_NO_TICK;
        stir_value(&rng, &t->world, unit, 1000000, true, &t->extrapolated[i].value);
        hc_unit_copy(&t->world, unit, &t->sent[i].value, &t->extrapolated[i].value);
        stir_value(&rng, &t->world, unit, distances[hc_rng_below(&rng, 4)], false,
                   &t->sent[i].value);
    }
    return rng;
}

/// The base of a unit: its extrapolated value, which is no further extrapolated to its own tick.
static struct hc_value_base base_of(const struct units *t, uint32_t i) {
    return (struct hc_value_base){.how = HC_EXTRAPOLATION_STEP,
                                  .codec = &t->codec,
                                  .extrapolator = t->extrapolator,
                                  .unit = t->unit[i],
                                  .from = &t->extrapolated[i].value};
}

static void put_one(const struct units *t, uint32_t i, struct hc_bits_writer *writer) {
    struct hc_value_base base = base_of(t, i);
    hc_value_put(writer, &base, NULL, &t->sent[i].value);
}

static void get_one(struct units *t, uint32_t i, struct hc_bits_reader *reader) {
    struct hc_value_base base = base_of(t, i);
    t->read[i].value.tick = t->sent[i].value.tick;
    hc_value_get(reader, &base, &t->read[i].value);
}

/// Encodes all units; returns the bytes used, 0 when `size` is too small.
static size_t put_all(const struct units *t, uint8_t *data, size_t size) {
    struct hc_bits_writer writer = hc_bits_writer(data, size);
    for (uint32_t i = 0; i < t->count; i++)
        put_one(t, i, &writer);
    return hc_bits_finish(&writer);
}

/// Decodes all units; false: the bits are no deltas.
static bool get_all(struct units *t, const uint8_t *data, size_t size) {
    struct hc_bits_reader reader = hc_bits_reader(data, size);
    for (uint32_t i = 0; i < t->count; i++)
        get_one(t, i, &reader);
    return hc_bits_done(&reader);
}

START_TEST(every_delta_reads_back_against_any_extrapolation) {
    static struct units t;
    uint8_t buffer[BITS_ROOM];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_case(round, &t);
        size_t used = put_all(&t, buffer, sizeof buffer);
        ck_assert_msg(used > 0 && get_all(&t, buffer, used), "round %u", round);
        for (uint32_t i = 0; i < t.count; i++) {
            const struct hc_unit_value *sent = &t.sent[i].value, *read = &t.read[i].value;
            uint32_t count = hc_unit_count(&t.world, t.unit[i]);
            ck_assert_msg(sent->tick == read->tick && sent->known == read->known, "round %u, %u",
                          round, i);
            ck_assert_mem_eq(sent->input, read->input, HC_INPUT_MAX);
            ck_assert_mem_eq(sent->presence, read->presence, count);
            ck_assert_mem_eq(sent->states, read->states, (size_t)count * t.world.stride);
        }
        end_world(&t);
    }
}
END_TEST

static void check_fits(const struct hc_field *fields, unsigned count, const void *state,
                       uint32_t round) {
    for (unsigned f = 0; f < count; f++)
        ck_assert_msg(hc_field_fits(&fields[f], hc_field_get(&fields[f], state)), "round %u: %s",
                      round, fields[f].name);
}

/// Checks that all fields that were read fit and, if `sure`, that the owner's input is valid.
static void check_read(const struct units *t, bool sure, uint32_t round) {
    const struct hc_game *game = t->world.game;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct hc_unit_value *read = &t->read[i].value;
        check_fits(game->input_fields, game->input_field_count, read->input, round);
        ck_assert(!sure || read->known == HC_NO_TICK || read->known < read->tick);
        for (uint32_t e = 0; e < hc_unit_count(&t->world, t->unit[i]); e++) {
            hc_entity entity = (hc_entity)(hc_unit_first(&t->world, t->unit[i]) + e);
            const struct hc_kind *kind = hc_world_kind(&t->world, entity);
            ck_assert(read->presence[e] == HC_ABSENT || read->presence[e] == HC_ALIVE);
            check_fits(kind->fields, kind->field_count, read->states + (size_t)e * t->world.stride,
                       round);
        }
    }
}

START_TEST(any_bits_fail_or_are_the_only_encoding_of_a_value) {
    static struct units t;
    uint8_t again[BITS_ROOM];
    uint32_t taken = 0;
    for (uint32_t round = 0; round < 3 * ROUNDS; round++) {
        struct hc_rng rng = random_case(round, &t);
        size_t used = put_all(&t, again, sizeof again);
        bool random = hc_rng_below(&rng, 3) == 0;
        size_t size = random ? hc_rng_below(&rng, 60) : used;
        uint8_t *data = malloc(size + (size == 0)); // exactly, for the sanitizers
        for (size_t i = 0; i < size; i++)
            data[i] = random ? (uint8_t)hc_rng_next(&rng) : again[i];
        for (uint32_t flips = hc_rng_below(&rng, 4); flips > 0 && size > 0; flips--)
            data[hc_rng_below(&rng, (uint32_t)size)] ^= (uint8_t)(1u << hc_rng_below(&rng, 8));
        bool good = get_all(&t, data, size);
        check_read(&t, good, round);
        if (good) {
            taken++;
            for (uint32_t i = 0; i < t.count; i++)
                hc_unit_copy(&t.world, t.unit[i], &t.sent[i].value, &t.read[i].value);
            ck_assert_msg(put_all(&t, again, sizeof again) == size, "round %u", round);
            ck_assert_msg(memcmp(data, again, size) == 0, "round %u", round);
        }
        free(data);
        end_world(&t);
    }
    ck_assert_uint_gt(taken, ROUNDS / 2);
}
END_TEST

START_TEST(a_full_writer_fails_at_every_size_and_is_not_overrun) {
    static struct units t;
    uint8_t whole[BITS_ROOM];
    for (uint32_t round = 0; round < ROUNDS / 20; round++) {
        random_case(round, &t);
        size_t used = put_all(&t, whole, sizeof whole);
        for (size_t size = 0; size <= used; size++) {
            uint8_t *data = malloc(size + 1);
            data[size] = 0xa5;
            ck_assert_msg(put_all(&t, data, size) == (size < used ? 0 : used), "round %u", round);
            ck_assert_uint_eq(data[size], 0xa5);
            ck_assert(size < used || memcmp(data, whole, used) == 0);
            // A shortened delta must not decode.
            ck_assert_msg(size == used || !get_all(&t, whole, size), "round %u", round);
            free(data);
        }
        end_world(&t);
    }
}
END_TEST

/// The bits of one unit.
static size_t cost(const struct units *t, uint32_t i) {
    uint8_t data[BITS_ROOM];
    struct hc_bits_writer writer = hc_bits_writer(data, sizeof data);
    put_one(t, i, &writer);
    return hc_bits_written(&writer);
}

START_TEST(a_right_extrapolation_costs_one_bit_and_a_wrong_one_more) {
    static struct units t;
    uint32_t right = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_case(round, &t);
        for (uint32_t i = 0; i < t.count; i++) {
            bool same =
                hc_unit_equal(&t.world, t.unit[i], &t.extrapolated[i].value, &t.sent[i].value);
            right += same;
            ck_assert_msg((cost(&t, i) == 1) == same, "round %u, %u", round, i);
        }
        end_world(&t);
    }
    ck_assert_uint_gt(right, ROUNDS / 4);
}
END_TEST

static const struct hc_arena_player someone = {.x = 20000, .y = 30000, .health = 100, .aim = 7};

/// Gives a value the state of `someone`, without shots.
static void place_someone(const struct hc_world *world, struct holder *holder) {
    hc_unit_place(world, &holder->value, holder->room);
    memset(holder->value.presence, HC_ABSENT, world->per_owner);
    holder->value.presence[0] = HC_ALIVE;
    holder->value.tick = 100;
    holder->value.known = 99;
    memcpy(holder->value.states, &someone, sizeof someone);
}

static void begin_arena(struct units *t) {
    memset(t, 0, sizeof *t);
    begin_world(t, &hc_arena, 2);
    t->count = 1;
    t->unit[0] = 2;
    place_someone(&t->world, &t->extrapolated[0]);
    place_someone(&t->world, &t->sent[0]);
}

START_TEST(a_shot_costs_less_at_its_owner) {
    static struct units t;
    static const struct hc_arena_shot shots[] = {
        {.x = 20000, .y = 30000, .angle = 7, .life = 48},
        {.x = 20050, .y = 29950, .angle = 7, .life = 48},
        {.x = 0, .y = 0, .angle = 7, .life = 48},
    };
    size_t costs[3];
    begin_arena(&t);
    t.sent[0].value.presence[2] = HC_ALIVE;
    for (int i = 0; i < 3; i++) {
        memcpy(t.sent[0].value.states + 2 * (size_t)t.world.stride, &shots[i], sizeof shots[i]);
        costs[i] = cost(&t, 0);
    }
    ck_assert_uint_lt(costs[0], costs[1]);
    ck_assert_uint_lt(costs[1], costs[2]);
    end_world(&t);
}
END_TEST

/// The cost of a state with `aim`: the input's aim is 90, and was extrapolated as given.
static size_t aim_cost(struct units *t, uint8_t extrapolated, uint8_t aim) {
    struct hc_arena_input input = {.aim = extrapolated};
    memcpy(t->extrapolated[0].value.input, &input, sizeof input);
    input.aim = 90;
    memcpy(t->sent[0].value.input, &input, sizeof input);
    struct hc_arena_player me = someone;
    me.aim = aim;
    memcpy(t->sent[0].value.states, &me, sizeof me);
    return cost(t, 0);
}

START_TEST(an_aim_that_equals_the_input_is_encoded_once) {
    static struct units t;
    begin_arena(&t);
    size_t follows = aim_cost(&t, someone.aim, 90), strays = aim_cost(&t, someone.aim, 7);
    ck_assert_uint_lt(follows, strays);
    // A state that does not equal its extrapolated input (the dead do not turn) does not follow.
    ck_assert_uint_lt(aim_cost(&t, someone.aim + 1, 7), strays);
    end_world(&t);
}
END_TEST

START_TEST(an_age_is_sent_in_digits_of_two_bits) {
    static struct units t;
    size_t costs[4];
    begin_arena(&t);
    for (uint32_t older = 1; older < 4; older++) {
        t.sent[0].value.known = t.extrapolated[0].value.known - older;
        costs[older] = cost(&t, 0);
    }
    // The numbers are 2, 4 and 6: one digit, one digit, two digits, each with a bit before it.
    ck_assert_uint_eq(costs[2], costs[1]);
    ck_assert_uint_eq(costs[3], costs[1] + 3);
    end_world(&t);
}
END_TEST

START_TEST(an_input_reads_back_against_the_one_before_it) {
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct hc_rng rng = hc_rng_init(78, round);
        const struct hc_game *game = game_of(hc_rng_below(&rng, 3));
        static struct units t;
        begin_world(&t, game, 1);
        uint8_t last[HC_INPUT_MAX] = {0}, read[HC_INPUT_MAX] = {0}, data[64];
        uint8_t inputs[10][HC_INPUT_MAX];
        struct hc_bits_writer writer = hc_bits_writer(data, sizeof data);
        for (int i = 0; i < 10; i++) {
            size_t before = hc_bits_written(&writer);
            memcpy(inputs[i], last, sizeof last);
            stir(&rng, game->input_fields, game->input_field_count, 300000, inputs[i]);
            hc_value_put_input(&writer, &t.codec, last, inputs[i]);
            bool same = memcmp(last, inputs[i], sizeof last) == 0;
            ck_assert((hc_bits_written(&writer) - before == 1) == same);
            memcpy(last, inputs[i], sizeof last);
        }
        struct hc_bits_reader reader = hc_bits_reader(data, hc_bits_finish(&writer));
        for (int i = 0; i < 10; i++) {
            hc_value_get_input(&reader, &t.codec, read, read);
            ck_assert_msg(memcmp(read, inputs[i], sizeof read) == 0, "round %u", round);
        }
        ck_assert(hc_bits_done(&reader));
        end_world(&t);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("delta");
    TCase *tests = tcase_create("delta");
    tcase_add_test(tests, every_delta_reads_back_against_any_extrapolation);
    tcase_add_test(tests, a_full_writer_fails_at_every_size_and_is_not_overrun);
    tcase_add_test(tests, a_right_extrapolation_costs_one_bit_and_a_wrong_one_more);
    tcase_add_test(tests, a_shot_costs_less_at_its_owner);
    tcase_add_test(tests, an_aim_that_equals_the_input_is_encoded_once);
    tcase_add_test(tests, an_age_is_sent_in_digits_of_two_bits);
    tcase_add_test(tests, an_input_reads_back_against_the_one_before_it);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, any_bits_fail_or_are_the_only_encoding_of_a_value);
    return run_suite(suite);
}
