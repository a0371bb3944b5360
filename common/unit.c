/// Copies, comparisons and hashes of unit values.
// Inline, because a call costs more than the hash of an entity. Scalar, as all hashes of states.
#define XXH_INLINE_ALL        // NOLINT(readability-identifier-naming)
#define XXH_VECTOR XXH_SCALAR // NOLINT(readability-identifier-naming)

#include "common/unit.h"

#include "common/byte_order.h"

#include <xxhash.h>

#include <string.h>

hc_entity hc_unit_first(const struct hc_world *world, hc_unit unit) {
    if (unit == 0)
        return HC_REFEREE;
    if (unit <= world->players)
        return hc_world_player(world, (hc_player)(unit - 1));
    return (hc_entity)(unit + (uint32_t)world->players * (world->per_owner - 1u));
}

void hc_unit_place(const struct hc_world *world, struct hc_unit_value *value, uint8_t *buffer) {
    value->presence = buffer;
    value->states = buffer + world->per_owner;
}

void hc_unit_copy(const struct hc_world *world, hc_unit unit, struct hc_unit_value *to,
                  const struct hc_unit_value *from) {
    size_t count = hc_unit_count(world, unit);
    to->tick = from->tick;
    to->known = from->known;
    // `from` may be `to`, or share its memory.
    memmove(to->input, from->input, sizeof to->input);
    memmove(to->presence, from->presence, count);
    memmove(to->states, from->states, count * world->stride);
}

/// Whether both have a known input of the same age, or none.
static bool same_age(const struct hc_unit_value *a, const struct hc_unit_value *b) {
    if (a->known == HC_NO_TICK || b->known == HC_NO_TICK)
        return a->known == b->known;
    return a->tick - a->known == b->tick - b->known;
}

bool hc_unit_equal(const struct hc_world *world, hc_unit unit, const struct hc_unit_value *a,
                   const struct hc_unit_value *b) {
    size_t count = hc_unit_count(world, unit);
    return same_age(a, b) && memcmp(a->input, b->input, world->game->input_size) == 0 &&
           memcmp(a->presence, b->presence, count) == 0 &&
           memcmp(a->states, b->states, count * world->stride) == 0;
}

void hc_unit_read(const struct hc_world *world, hc_unit unit, const uint8_t *presence,
                  const uint8_t *states, struct hc_unit_value *out) {
    size_t first = hc_unit_first(world, unit), count = hc_unit_count(world, unit);
    memcpy(out->presence, presence + first, count);
    memcpy(out->states, states + first * world->stride, count * world->stride);
}

uint64_t hc_unit_entity_hash(const struct hc_world *world, hc_entity entity, uint8_t presence,
                             const uint8_t *state) {
    uint8_t bytes[3 + HC_STATE_MAX];
    size_t length = 3;
    bytes[0] = (uint8_t)entity;
    bytes[1] = (uint8_t)(entity >> 8);
    bytes[2] = presence;
    if (presence == HC_ALIVE) {
        const struct hc_kind *kind = hc_world_kind(world, entity);
        hc_copy_little_endian(kind->fields, kind->field_count, kind->state_size, state,
                              bytes + length);
        length += kind->state_size;
    }
    return XXH3_64bits(bytes, length);
}

uint64_t hc_unit_hash(const struct hc_world *world, hc_unit unit,
                      const struct hc_unit_value *value) {
    hc_entity first = hc_unit_first(world, unit);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++)
        hash += hc_unit_entity_hash(world, (hc_entity)(first + i), value->presence[i],
                                    value->states + (size_t)i * world->stride);
    return hash;
}
