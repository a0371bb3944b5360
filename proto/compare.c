/// Encodes and decodes COMPARE and DIFFERS, and compares entities.
#include "proto/compare.h"

#include "hindcast/check.h"
#include "proto/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMPARE_VALUES = 3, DIFFERS_VALUES = 4 };

_Static_assert(1 + HC_STATE_MAX <= HC_DIFFERS_BYTES, "the values of an entity fit");

bool hc_compare_put(struct hc_writer *body, const struct hc_compare *compare) {
    struct hc_writer before = *body;
    HC_ASSERT(compare->count >= 1 && compare->count <= HC_SNAPSHOT_UNITS_MAX);
    hc_pack_array(body, COMPARE_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_COMPARE);
    hc_pack_uint32(body, compare->as_of);
    size_t size = HC_COMPARE_HASH_BYTES * (size_t)compare->count;
    hc_pack_bin(body, size);
    hc_pack_bin_body(body, compare->hashes, size);
    return hc_body_commit(body, &before);
}

enum hc_status hc_compare_get(const struct hc_body *body, struct hc_compare *out) {
    if (body->type != HC_MESSAGE_COMPARE)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    out->as_of = (hc_tick)hc_values_unsigned(&values, HC_NO_TICK - 1);
    size_t size;
    out->hashes = hc_values_binary(&values, &size);
    out->count = (uint32_t)(size / HC_COMPARE_HASH_BYTES);
    return hc_values_done(&values) != HC_OK || size % HC_COMPARE_HASH_BYTES != 0 ||
                   out->count < 1 || out->count > HC_SNAPSHOT_UNITS_MAX
               ? HC_MALFORMED
               : HC_OK;
}

/// Appends the state of an entity.
static void put_entity(struct hc_writer *writer, const struct hc_kind *kind, uint8_t presence,
                       const uint8_t *state) {
    hc_bytes_put_u8(writer, presence);
    for (unsigned f = 0; presence == HC_ALIVE && f < kind->field_count; f++) {
        uint64_t value = (uint64_t)hc_field_get(&kind->fields[f], state);
        for (unsigned byte = 0; byte < kind->fields[f].size; byte++)
            hc_bytes_put_u8(writer, (uint8_t)(value >> 8 * byte));
    }
}

bool hc_differs_put(struct hc_writer *body, const struct hc_world *world, hc_tick as_of,
                    hc_unit unit, const struct hc_unit_value *value) {
    struct hc_writer before = *body;
    uint8_t packed[HC_DIFFERS_BYTES];
    struct hc_writer writer = hc_bytes_writer(packed, sizeof packed), whole = writer;
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(world, (hc_entity)(hc_unit_first(world, unit) + e));
        put_entity(&writer, kind, value->presence[e], value->states + (size_t)e * world->stride);
        if (writer.failed)
            break;
        whole = writer;
    }
    hc_pack_array(body, DIFFERS_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_DIFFERS);
    hc_pack_uint32(body, as_of);
    hc_pack_uint16(body, unit);
    hc_pack_bin(body, whole.at);
    hc_pack_bin_body(body, packed, whole.at);
    return hc_body_commit(body, &before);
}

/// Reads a field's bytes into the state as they are: they may not fit the field's bits.
static void get_field(struct hc_reader *reader, const struct hc_field *field, uint8_t *state) {
    struct hc_field whole = *field;
    uint32_t value = 0;
    for (unsigned byte = 0; byte < field->size; byte++)
        value |= (uint32_t)hc_bytes_get_u8(reader) << 8 * byte;
    whole.bits = (uint8_t)(8 * field->size);
    whole.is_signed = false;
    hc_field_set(&whole, state, value);
}

bool hc_differs_next(struct hc_differs *differs, const struct hc_world *world, hc_entity entity,
                     struct hc_differs_entity *out) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    struct hc_reader *reader = &differs->values;
    if (hc_bytes_left(reader) == 0)
        return false;
    out->presence = hc_bytes_get_u8(reader);
    reader->failed |= out->presence != HC_ABSENT && out->presence != HC_ALIVE;
    memset(out->state, 0, kind->state_size);
    for (unsigned f = 0; out->presence == HC_ALIVE && f < kind->field_count; f++)
        get_field(reader, &kind->fields[f], out->state);
    return !reader->failed;
}

enum hc_status hc_differs_get(const struct hc_body *body, const struct hc_world *world,
                              struct hc_differs *out) {
    struct hc_differs_entity entity;
    if (body->type != HC_MESSAGE_DIFFERS)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    out->as_of = (hc_tick)hc_values_unsigned(&values, HC_NO_TICK - 1);
    out->unit = (hc_unit)hc_values_unsigned(&values, hc_unit_total(world) - 1);
    size_t size;
    const uint8_t *bytes = hc_values_binary(&values, &size);
    if (hc_values_done(&values) != HC_OK || size < 1 || size > HC_DIFFERS_BYTES)
        return HC_MALFORMED;
    out->values = hc_bytes_reader(bytes, size);
    struct hc_differs read = *out;
    for (uint32_t e = 0; e < hc_unit_count(world, out->unit); e++)
        if (!hc_differs_next(&read, world, (hc_entity)(hc_unit_first(world, out->unit) + e),
                             &entity))
            break;
    return read.values.failed || read.values.at < size ? HC_MALFORMED : HC_OK;
}

bool hc_compare_entity(const struct hc_world *world, hc_entity entity, uint8_t client_presence,
                       const uint8_t *client_state, uint8_t server_presence,
                       const uint8_t *server_state, struct hc_difference *out) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    *out = (struct hc_difference){.compared = true, .entity = entity, .kind = kind};
    out->client_value = client_presence;
    out->server_value = server_presence;
    if (client_presence != server_presence)
        return true;
    for (unsigned f = 0; client_presence == HC_ALIVE && f < kind->field_count; f++) {
        out->field = &kind->fields[f];
        out->client_value = hc_field_get(out->field, client_state);
        out->server_value = hc_field_get(out->field, server_state);
        if (out->client_value != out->server_value)
            return true;
    }
    return false;
}

// ---- Text ---------------------------------------------------------------------------------------

static const char *presence_text(int64_t presence) {
    return presence == HC_ALIVE ? "alive" : "absent";
}

const char *hc_difference_text(const struct hc_difference *difference, char *text, size_t size) {
    const struct hc_kind *kind = difference->kind;
    const struct hc_field *field = difference->field;
    unsigned entity = difference->entity;
    hc_tick tick = difference->tick;
    if (kind == NULL)
        snprintf(text, size, "the snapshot of tick %" PRIu32 " differs, and no entity is suspect",
                 tick);
    else if (!difference->compared)
        snprintf(text, size,
                 "the snapshot of tick %" PRIu32 " differs; the suspect is %s%sentity %u, a %s",
                 tick, field != NULL ? field->name : "", field != NULL ? " of " : "", entity,
                 kind->name);
    else if (field == NULL)
        snprintf(text, size,
                 "at tick %" PRIu32 " entity %u, a %s, is %s on the client and %s on the server",
                 tick, entity, kind->name, presence_text(difference->client_value),
                 presence_text(difference->server_value));
    else
        snprintf(text, size,
                 "at tick %" PRIu32 " %s of entity %u, a %s, is %" PRId64
                 " on the client and %" PRId64 " on the server%s",
                 tick, field->name, entity, kind->name, difference->client_value,
                 difference->server_value,
                 hc_field_fits(field, difference->server_value)
                     ? ""
                     : ", which does not fit the field: the rule has overflowed it");
    return text;
}
