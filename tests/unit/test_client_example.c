/// Decodes the snapshots of proto/EXAMPLE.md to the values of that page; extrapolations come from
/// the game's own step.
#include "client/world/snapshot_reader.h"
#include "hindcast/arena.h"
#include "proto/game_events.h"
#include "proto/value.h"
#include "tests/run_suite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 2, UNITS = 5, ENTITIES = 13, LISTS = 3, BODIES = 2, BODY_MAX = 64 };

/// A list of entities in the page, as values of their units.
struct list {
    struct hc_unit_value value[UNITS];
    uint8_t room[UNITS][HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX)];
    bool has[UNITS];
};

/// The lists of the page: of the first example, before the second, and of the second.
static const hc_tick ticks[LISTS] = {4, 59, 63};
static const hc_tick server_ticks[LISTS] = {4, 60, 64};
static struct list lists[LISTS];
static uint8_t bodies[BODIES][BODY_MAX];
static size_t sizes[BODIES];

static struct hc_world world;
static struct hc_value_codec codec;

/// The pairs of hex digits at `text`, one space between two, to `out`; returns how many.
static size_t get_bytes(const char *text, uint8_t *out, size_t most) {
    size_t count = 0;
    while (isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1])) {
        const char pair[] = {text[0], text[1], '\0'};
        ck_assert_uint_lt(count, most);
        out[count++] = (uint8_t)strtoul(pair, NULL, 16);
        if (text[2] != ' ')
            break;
        text += 3;
    }
    return count;
}

/// Reads an entity as in its hash: id, presence, fields.
static void get_entity(struct list *list, hc_tick tick, const uint8_t *bytes, size_t size) {
    hc_entity entity = (hc_entity)(bytes[0] | bytes[1] << 8);
    hc_unit unit = 0;
    size_t at = 3;
    while (unit + 1 < UNITS && hc_unit_first(&world, (hc_unit)(unit + 1)) <= entity)
        unit++;
    struct hc_unit_value *value = &list->value[unit];
    if (!list->has[unit]) {
        hc_unit_place(&world, value, list->room[unit]);
        hc_extrapolate_absent(&world, unit, tick, value);
        list->has[unit] = true;
    }
    uint32_t index = entity - hc_unit_first(&world, unit);
    const struct hc_kind *kind = hc_world_kind(&world, entity);
    value->presence[index] = bytes[2];
    for (unsigned f = 0; bytes[2] == HC_ALIVE && f < kind->field_count; f++) {
        const struct hc_field *field = &kind->fields[f];
        int64_t number = 0;
        for (unsigned i = 0; i < field->size; i++)
            number |= (int64_t)bytes[at++] << 8 * i;
        if (field->is_signed && number >> (8 * field->size - 1) != 0)
            number -= INT64_C(1) << 8 * field->size;
        hc_field_set(field, value->states + (size_t)index * world.stride, number);
    }
    ck_assert_uint_eq(at, size);
}

static void read_line(const char *line, int *list, int *body, bool *listed) {
    uint8_t bytes[BODY_MAX];
    int entity, skip, unit, input[4];
    unsigned age;
    if (strncmp(line, "    92 03 c4", 12) == 0)
        sizes[++*body] = 0;
    if (*body >= 0 && strncmp(line, "    ", 4) == 0 && isxdigit((unsigned char)line[4]) &&
        line[6] == ' ' && line[7] != ' ')
        sizes[*body] += get_bytes(line + 4, bodies[*body] + sizes[*body], BODY_MAX - sizes[*body]);
    if (sscanf(line, "    input of unit %d: %d, %d, %d, %d; age %u", &unit, &input[0], &input[1],
               &input[2], &input[3], &age) == 6) {
        struct hc_unit_value *value = &lists[*list].value[unit];
        value->known = value->tick - age;
        for (unsigned f = 0; f < hc_arena.input_field_count; f++)
            hc_field_set(&hc_arena.input_fields[f], value->input, input[f]);
    }
    if (sscanf(line, "    %d  %n", &entity, &skip) != 1 || line[skip - 2] != ' ') {
        *listed = false;
        return;
    }
    size_t size = get_bytes(line + skip, bytes, sizeof bytes);
    *list += !*listed;
    *listed = true;
    ck_assert(*list < LISTS && size >= 3 && bytes[0] == entity);
    get_entity(&lists[*list], ticks[*list], bytes, size);
}

static void set_up(void) {
    char line[400];
    int list = -1, body = -1;
    bool listed = false;
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL), HC_OK);
    hc_value_codec_init(&codec, &world);
    ck_assert_uint_eq(hc_unit_total(&world), UNITS);
    ck_assert_uint_eq(world.entities, ENTITIES);
    FILE *page = fopen("proto/EXAMPLE.md", "r");
    ck_assert_ptr_nonnull(page);
    while (fgets(line, sizeof line, page) != NULL)
        read_line(line, &list, &body, &listed);
    fclose(page);
    ck_assert_int_eq(list, LISTS - 1);
    ck_assert_int_eq(body, BODIES - 1);
}

static void tear_down(void) {
    hc_world_free(&world);
}

/// Writes a SNAPSHOT of a list without baselines; returns the body's size.
static size_t put_snapshot(const struct list *list, hc_tick tick, hc_tick as_of,
                           uint8_t body[HC_DATA_BODY_MAX]) {
    uint8_t packed[HC_DATA_BODY_MAX];
    struct hc_bits_writer bits = hc_bits_writer(packed, sizeof packed - HC_SNAPSHOT_OVERHEAD);
    struct hc_writer writer = hc_bytes_writer(body, HC_DATA_BODY_MAX);
    struct hc_snapshot_set none = {.count = 0};
    struct hc_snapshot_unit units[UNITS];
    struct hc_snapshot header = {.as_of = as_of,
                                 .tick = tick,
                                 .final = tick,
                                 .base = HC_NO_TICK,
                                 .own_count = 1,
                                 .inputs_through = {tick - 1}};
    for (hc_unit u = 0; u < UNITS; u++) {
        units[u] =
            (struct hc_snapshot_unit){.unit = u, .from = HC_SNAPSHOT_NOTHING, .as_of = HC_NO_TICK};
        for (uint32_t i = 0; i < hc_unit_count(&world, u); i++)
            header.hash += (uint32_t)hc_unit_entity_hash(
                &world, (hc_entity)(hc_unit_first(&world, u) + i), list->value[u].presence[i],
                list->value[u].states + (size_t)i * world.stride);
    }
    hc_snapshot_put(&bits, &header);
    hc_bits_put(&bits, 0, 1);
    hc_bits_put(&bits, 0, 1);
    hc_game_events_put_end(&bits);
    hc_snapshot_put_names(&bits, &header, &none, units, UNITS);
    for (hc_unit u = 0; u < UNITS; u++) {
        struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP, .codec = &codec, .unit = u};
        hc_value_put(&bits, &base, NULL, &list->value[u]);
        if (hc_unit_player(&world, u) != HC_NO_PLAYER)
            hc_bits_put_number(&bits, 0, 1); // no runs of inputs
    }
    hc_bits_put(&bits, 0, 1);
    size_t size = hc_bits_finish(&bits);
    ck_assert(hc_snapshot_put_message(&writer, packed, size));
    return writer.at;
}

/// Decodes and accepts a SNAPSHOT, which must have all values of the list.
static const struct hc_cl_received *receive(struct hc_cl_snapshot_reader *reader,
                                            const uint8_t *bytes, size_t size,
                                            const struct list *list, hc_tick as_of) {
    static struct hc_body body;
    const struct hc_cl_received *snapshot = NULL;
    uint32_t count = 0;
    ck_assert_int_eq(hc_body_begin(&body, bytes, size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_decode(reader, &body, as_of - 1, &snapshot), HC_OK);
    ck_assert_uint_eq(snapshot->header.as_of, as_of);
    for (hc_unit u = 0; u < UNITS; u++) {
        if (!list->has[u])
            continue;
        ck_assert_uint_lt(count, snapshot->value_count);
        const struct hc_cl_received_value *received = &snapshot->values[count++];
        ck_assert(received->unit == u && !received->dropped && !received->correction);
        ck_assert_uint_eq(received->value.tick, list->value[u].tick);
        ck_assert(hc_unit_equal(&world, u, &received->value, &list->value[u]));
    }
    ck_assert_uint_eq(snapshot->value_count, count);
    hc_cl_snapshot_reader_accept(reader);
    return snapshot;
}

START_TEST(example_without_baselines_decodes_to_its_values) {
    struct hc_cl_snapshot_reader *reader = hc_cl_snapshot_reader_create(&world, 1);
    const struct hc_cl_received *snapshot =
        receive(reader, bodies[0], sizes[0], &lists[0], server_ticks[0]);
    ck_assert_uint_eq(snapshot->header.inputs_through[0], 3);
    ck_assert(!snapshot->header.has_chain && snapshot->header.base == HC_NO_TICK);
    hc_cl_snapshot_reader_destroy(reader);
}
END_TEST

START_TEST(example_against_baselines_decodes_to_its_values) {
    static const struct hc_arena_input inputs[] = {
        {.move_y = 1, .aim = 70, .fire = 1},
        {.move_y = 1, .aim = 70, .fire = 1},
        {.move_y = 1, .aim = 80, .fire = 1},
    };
    uint8_t before[HC_DATA_BODY_MAX];
    struct hc_cl_snapshot_reader *reader = hc_cl_snapshot_reader_create(&world, 1);
    receive(reader, before, put_snapshot(&lists[1], ticks[1], server_ticks[1], before), &lists[1],
            server_ticks[1]);
    const struct hc_cl_received *snapshot =
        receive(reader, bodies[1], sizes[1], &lists[2], server_ticks[2]);
    ck_assert(snapshot->header.base == server_ticks[1] && snapshot->header.tick == ticks[2]);
    ck_assert_uint_eq(snapshot->header.ack_delay_us, 13333);
    ck_assert_uint_eq(snapshot->input_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(snapshot->inputs[i].player == 1 && snapshot->inputs[i].tick == ticks[2] + i);
        ck_assert_mem_eq(snapshot->inputs[i].input, &inputs[i], sizeof inputs[i]);
    }
    hc_cl_snapshot_reader_destroy(reader);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client example");
    TCase *tests = tcase_create("client example");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, example_without_baselines_decodes_to_its_values);
    tcase_add_test(tests, example_against_baselines_decodes_to_its_values);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
