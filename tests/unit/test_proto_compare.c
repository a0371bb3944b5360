/// Tests of COMPARE and DIFFERS, and of the sentences on differences.
#include "proto/compare.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"
#include "tests/unit/small_game.h"

#include <stdio.h>
#include <string.h>

enum { PLAYERS = 3 };

static uint8_t buffer[HC_DATA_BODY_MAX];
static struct hc_body body;
static struct hc_world world;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, PLAYERS, 60, 1, NULL), HC_OK);
}

static void tear_down(void) {
    hc_world_free(&world);
}

/// Makes the only message of the body the current one.
static void reread(const struct hc_writer *writer) {
    ck_assert_int_eq(hc_body_begin(&body, writer->data, writer->at), HC_OK);
    ck_assert_int_ne(hc_body_next(&body), HC_MESSAGE_END);
}

START_TEST(a_question_reads_back_with_every_number_of_hashes) {
    static uint8_t hashes[HC_COMPARE_HASH_BYTES * HC_SNAPSHOT_UNITS_MAX];
    for (uint32_t count = 1; count <= HC_SNAPSHOT_UNITS_MAX; count++) {
        struct hc_compare in = {.as_of = HC_NO_TICK - count, .count = count, .hashes = hashes}, out;
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        hc_compare_set_hash(hashes, count - 1, UINT64_C(0x12340000) + count);
        ck_assert(hc_compare_put(&writer, &in));
        ck_assert_uint_le(writer.at, HC_COMPARE_SIZE_MAX);
        reread(&writer);
        ck_assert_int_eq(hc_compare_get(&body, &out), HC_OK);
        ck_assert_uint_eq(out.as_of, in.as_of);
        ck_assert_uint_eq(out.count, count);
        for (uint32_t i = 0; i < count; i++) {
            ck_assert(hc_compare_is_hash(out.hashes, i, i + 1));
            ck_assert(!hc_compare_is_hash(out.hashes, i, i + 2));
        }
    }
}
END_TEST

START_TEST(a_question_without_whole_hashes_is_refused) {
    static const struct {
        uint8_t bytes[8], size;
        bool good;
    } rows[] = {
        {{0x93, 11, 5, 0xc4, 2, 1, 2}, 7, true},
        {{0x93, 11, 5, 0xc4, 0}, 5, false},
        {{0x93, 11, 5, 0xc4, 1, 1}, 6, false},
        {{0x93, 11, 5, 0xc4, 3, 1, 2, 3}, 8, false},
        {{0x93, 11, 0xff, 0xc4, 2, 1, 2}, 7, false},
        {{0x92, 11, 5}, 3, false},
        {{0x93, 11, 5, 7}, 4, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hc_compare out;
        ck_assert_int_eq(hc_body_begin(&body, rows[i].bytes, rows[i].size), HC_OK);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_COMPARE);
        ck_assert_int_eq(hc_compare_get(&body, &out) == HC_OK, rows[i].good);
    }
}
END_TEST

/// A value of `unit` with the presence and the bytes of its states drawn from `seed`.
static struct hc_unit_value value_of(hc_unit unit, uint8_t seed, uint8_t *memory) {
    struct hc_unit_value value = {.tick = 7, .known = HC_NO_TICK};
    hc_unit_place(&world, &value, memory);
    memset(value.states, 0, hc_unit_count(&world, unit) * (size_t)world.stride);
    for (uint32_t e = 0; e < hc_unit_count(&world, unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(&world, (hc_entity)(hc_unit_first(&world, unit) + e));
        value.presence[e] = (seed + e) % 3 == 0 ? HC_ABSENT : HC_ALIVE;
        for (unsigned f = 0; value.presence[e] == HC_ALIVE && f < kind->field_count; f++)
            memset(value.states + (size_t)e * world.stride + kind->fields[f].offset,
                   (int)(0xf0 + seed + f), kind->fields[f].size); // most do not fit their bits
    }
    return value;
}

START_TEST(an_answer_reads_back_also_with_values_beyond_their_bits) {
    uint8_t memory[1024];
    for (uint8_t seed = 0; seed < 6; seed++) {
        for (uint32_t unit = 0; unit < hc_unit_total(&world); unit++) {
            struct hc_unit_value value = value_of((hc_unit)unit, seed, memory);
            struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
            struct hc_differs out;
            struct hc_differs_entity entity;
            ck_assert(hc_differs_put(&writer, &world, 90, (hc_unit)unit, &value));
            reread(&writer);
            ck_assert_int_eq(hc_differs_get(&body, &world, &out), HC_OK);
            ck_assert_uint_eq(out.as_of, 90);
            ck_assert_uint_eq(out.unit, unit);
            hc_entity first = hc_unit_first(&world, (hc_unit)unit);
            for (uint32_t e = 0; e < hc_unit_count(&world, (hc_unit)unit); e++) {
                ck_assert(hc_differs_next(&out, &world, (hc_entity)(first + e), &entity));
                ck_assert_uint_eq(entity.presence, value.presence[e]);
                ck_assert_mem_eq(entity.state, value.states + (size_t)e * world.stride,
                                 hc_world_kind(&world, (hc_entity)(first + e))->state_size);
            }
            ck_assert(!hc_differs_next(&out, &world, first, &entity));
        }
    }
}
END_TEST

START_TEST(a_cut_or_longer_answer_is_refused) {
    uint8_t memory[1024];
    struct hc_unit_value value = value_of(1, 1, memory);
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    struct hc_differs out;
    ck_assert(hc_differs_put(&writer, &world, 90, 1, &value));
    // [12, 90, 1, values]: the binary's size is one byte.
    ck_assert_uint_eq(buffer[4], 0xc4);
    uint8_t size = buffer[5];
    unsigned good = 0;
    for (unsigned cut = 0; cut <= size + 2u; cut++) {
        buffer[5] = (uint8_t)cut;
        if (cut > size)
            memset(buffer + 6 + size, HC_ABSENT, cut - size);
        ck_assert_int_eq(hc_body_begin(&body, buffer, 6 + cut), HC_OK);
        hc_body_next(&body);
        enum hc_status status = hc_differs_get(&body, &world, &out);
        good += status == HC_OK; // it may end after any entity
        ck_assert(cut != size || status == HC_OK);
        ck_assert(cut <= size || status == HC_MALFORMED);
    }
    ck_assert_uint_eq(good, hc_unit_count(&world, 1));
    buffer[5] = size;
    buffer[6] = HC_UNKNOWN;
    ck_assert_int_eq(hc_body_begin(&body, buffer, 6 + size), HC_OK);
    hc_body_next(&body);
    ck_assert_int_eq(hc_differs_get(&body, &world, &out), HC_MALFORMED);
}
END_TEST

// ---- A large unit -------------------------------------------------------------------------------

enum { LARGE_ENTITIES = 16, LARGE_STATE = 256 };

static bool no_step(struct hc_scene *scene, hc_entity self, void *out) {
    (void)scene, (void)self, (void)out;
    return false;
}

START_TEST(an_answer_leaves_out_entities_that_do_not_fit) {
    static struct hc_field fields[HC_FIELDS_MAX];
    static char names[HC_FIELDS_MAX][8];
    for (uint16_t f = 0; f < HC_FIELDS_MAX; f++) {
        snprintf(names[f], sizeof names[f], "bit%u", f);
        fields[f] =
            (struct hc_field){.name = names[f], .offset = (uint16_t)(4 * f), .size = 4, .bits = 1};
    }
    const struct hc_kind kinds[] = {
        BYTE_REFEREE, {"large", LARGE_STATE, HC_FIELDS_MAX, fields, NULL, NULL, 0, 0}};
    const struct hc_slots owned[] = {{.kind = 1, .count = 1},
                                     {.kind = 1, .count = LARGE_ENTITIES - 1}};
    const struct hc_game game = BYTE_GAME("large", 1, kinds, owned, no_step);
    static uint8_t memory[LARGE_ENTITIES * (LARGE_STATE + 1)];
    tear_down();
    ck_assert_int_eq(hc_world_init(&world, &game, 1, 60, 1, NULL), HC_OK);
    struct hc_unit_value value = value_of(1, 1, memory);
    memset(value.presence, HC_ALIVE, LARGE_ENTITIES);
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    struct hc_differs out;
    struct hc_differs_entity entity;
    ck_assert(hc_differs_put(&writer, &world, 90, 1, &value));
    reread(&writer);
    ck_assert_int_eq(hc_differs_get(&body, &world, &out), HC_OK);
    unsigned taken = 0;
    while (hc_differs_next(&out, &world, (hc_entity)(1 + taken), &entity))
        taken++;
    ck_assert_uint_eq(taken, HC_DIFFERS_BYTES / (LARGE_STATE + 1));
}
END_TEST

// ---- Differences --------------------------------------------------------------------------------

START_TEST(the_first_field_that_differs_is_named) {
    uint8_t memory[2][1024];
    struct hc_unit_value client = value_of(1, 1, memory[0]), server = value_of(1, 1, memory[1]);
    struct hc_difference found;
    hc_entity player = hc_unit_first(&world, 1);
    const struct hc_kind *kind = hc_world_kind(&world, player);
    ck_assert(!hc_compare_entity(&world, player, HC_ALIVE, client.states, HC_ALIVE, server.states,
                                 &found));
    for (unsigned f = kind->field_count; f-- > 0;) {
        client.states[kind->fields[f].offset] ^= 1;
        ck_assert(hc_compare_entity(&world, player, HC_ALIVE, client.states, HC_ALIVE,
                                    server.states, &found));
        ck_assert(found.compared && found.kind == kind && found.field == &kind->fields[f]);
        ck_assert_int_eq(found.client_value, hc_field_get(&kind->fields[f], client.states));
        ck_assert_int_eq(found.server_value, hc_field_get(&kind->fields[f], server.states));
    }
    ck_assert(hc_compare_entity(&world, player, HC_ABSENT, client.states, HC_ALIVE, server.states,
                                &found));
    ck_assert(found.field == NULL && found.client_value == HC_ABSENT);
    ck_assert(!hc_compare_entity(&world, player, HC_ABSENT, client.states, HC_ABSENT, server.states,
                                 &found));
}
END_TEST

START_TEST(each_difference_has_a_sentence) {
    const struct hc_kind *kind = &small_kinds[SMALL_PLAYER];
    const struct {
        struct hc_difference difference;
        const char *text;
    } rows[] = {
        {{.tick = 9}, "the snapshot of tick 9 differs, and no entity is suspect"},
        {{.tick = 9, .entity = 4, .kind = kind},
         "the snapshot of tick 9 differs; the suspect is entity 4, a player"},
        {{.tick = 9, .entity = 4, .kind = kind, .field = &kind->fields[2]},
         "the snapshot of tick 9 differs; the suspect is score of entity 4, a player"},
        {{.tick = 9,
          .compared = true,
          .entity = 4,
          .kind = kind,
          .client_value = HC_ALIVE,
          .server_value = HC_ABSENT},
         "at tick 9 entity 4, a player, is alive on the client and absent on the server"},
        {{.tick = 9,
          .compared = true,
          .entity = 4,
          .kind = kind,
          .field = &kind->fields[3],
          .client_value = -7,
          .server_value = 255},
         "at tick 9 debt of entity 4, a player, is -7 on the client and 255 on the server"},
        {{.tick = 9,
          .compared = true,
          .entity = 4,
          .kind = kind,
          .field = &kind->fields[3],
          .client_value = -256,
          .server_value = 256},
         "at tick 9 debt of entity 4, a player, is -256 on the client and 256 on the server, which "
         "does not fit the field: the rule has overflowed it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[HC_DIFFERENCE_TEXT_MAX];
        ck_assert_str_eq(hc_difference_text(&rows[i].difference, text, sizeof text), rows[i].text);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_compare");
    TCase *tests = tcase_create("compare");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_question_reads_back_with_every_number_of_hashes);
    tcase_add_test(tests, a_question_without_whole_hashes_is_refused);
    tcase_add_test(tests, an_answer_reads_back_also_with_values_beyond_their_bits);
    tcase_add_test(tests, a_cut_or_longer_answer_is_refused);
    tcase_add_test(tests, an_answer_leaves_out_entities_that_do_not_fit);
    tcase_add_test(tests, the_first_field_that_differs_is_named);
    tcase_add_test(tests, each_difference_has_a_sentence);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
