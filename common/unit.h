/// Units: the groups of entities that are sent together, and their values.
///
/// Unit 0 is the referee, unit 1 + p is player p with the slots that it owns, and each unowned
/// entity is a unit of its own after those. The server sends and a client acks values of units: the
/// states of a unit's entities at a tick, and the newest known input of its owner.
#pragma once

#include "hindcast/game.h"

typedef uint16_t hc_unit; ///< in [0, hc_unit_total)

enum {
    HC_UNIT_ENTITIES_MAX = 16, ///< entities of a unit
};

/// A unit's value. `presence` and `states` point into memory of the holder and are in the order of
/// the entities; the state of an entity that is not alive is all zeros.
struct hc_unit_value {
    hc_tick tick;                ///< the tick of the states
    hc_tick known;               ///< the tick of the owner's newest known input before `tick` since
                                 ///< its join; HC_NO_TICK: none, or no owner
    uint8_t input[HC_INPUT_MAX]; ///< input at `known`; all zeros without one
    uint8_t *presence;           ///< [hc_unit_count] an enum hc_presence each
    uint8_t *states;             ///< [hc_unit_count * stride]
};

/// The number of units of the world.
static inline uint32_t hc_unit_total(const struct hc_world *world) {
    return world->entities - (uint32_t)world->players * (world->per_owner - 1u);
}

/// The unit's player; HC_NO_PLAYER for the referee and unowned entities.
static inline hc_player hc_unit_player(const struct hc_world *world, hc_unit unit) {
    return unit >= 1 && unit <= world->players ? (hc_player)(unit - 1) : HC_NO_PLAYER;
}

/// The number of entities of `unit`.
static inline uint32_t hc_unit_count(const struct hc_world *world, hc_unit unit) {
    return hc_unit_player(world, unit) == HC_NO_PLAYER ? 1 : world->per_owner;
}

/// The first entity of `unit`; its other entities follow it.
hc_entity hc_unit_first(const struct hc_world *world, hc_unit unit);

/// The unit that `entity`, below world->entities, belongs to.
static inline hc_unit hc_unit_of(const struct hc_world *world, hc_entity entity) {
    hc_player owner = world->owner_of[entity];
    if (owner != HC_NO_PLAYER)
        return (hc_unit)(1 + owner);
    if (entity == HC_REFEREE)
        return 0;
    return (hc_unit)(entity - (uint32_t)world->players * (world->per_owner - 1u));
}

/// The bytes that the presence and the states of the largest unit take.
static inline size_t hc_unit_bytes(const struct hc_world *world) {
    return (size_t)world->per_owner * (1u + world->stride);
}

/// Points `value` into a buffer of hc_unit_bytes.
void hc_unit_place(const struct hc_world *world, struct hc_unit_value *value, uint8_t *buffer);

/// Copies `from` to the memory of `to`, whose pointers stay.
void hc_unit_copy(const struct hc_world *world, hc_unit unit, struct hc_unit_value *to,
                  const struct hc_unit_value *from);

/// Whether two values of `unit` have the same states and the same input of the same age.
bool hc_unit_equal(const struct hc_world *world, hc_unit unit, const struct hc_unit_value *a,
                   const struct hc_unit_value *b);

/// Copies the states of `unit` out of a world's `presence` and `states` to `out`, whose tick and
/// input stay.
void hc_unit_read(const struct hc_world *world, hc_unit unit, const uint8_t *presence,
                  const uint8_t *states, struct hc_unit_value *out);

/// The hash of one entity's state. Snapshots add these up, so that the hash of a set of entities
/// does not depend on their order. XXH3 over its id (2 bytes), its presence (1) and, if alive, its
/// fields in table order, little-endian; equal on every architecture.
uint64_t hc_unit_entity_hash(const struct hc_world *world, hc_entity entity, uint8_t presence,
                             const uint8_t *state);

/// The sum of the hashes of a unit's entities.
uint64_t hc_unit_hash(const struct hc_world *world, hc_unit unit,
                      const struct hc_unit_value *value);
