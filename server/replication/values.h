/// Values: every value of a unit that a snapshot sent to any client, stored once for all.
///
/// A rewind rewrites ticks, so a unit can have several values at one tick. Every one that is sent
/// gets a number, and the rest of the server remembers that number for each client. The values lie
/// in a ring: a new one replaces the oldest, whose number then finds nothing. A value that is
/// needed for longer is pinned: copied to a place of its own.
///
/// A world may have room for many more units than play. So the ring in use grows with the units
/// that have had a value: those of the others would be read from memory that is too large for the
/// processor's caches. The low bits of a number are its value's place in the whole ring, the others
/// count how often the ring in use was filled. Numbers wrap after hours at the soonest.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"
#include "server/replication/sent_log.h"

/// A stored value.
struct hc_sv_value {
    hc_sv_value_id id; ///< greater than those of the values stored before; 0: free
    uint32_t hash;     ///< low 32 bits of the sum of hc_unit_entity_hash of its entities
    uint64_t states;   ///< hc_runs_hash of it
    struct hc_unit_value unit;
};

/// The newest known value of a unit at a tick.
struct hc_sv_newest {
    hc_sv_value_id id;
    hc_tick compared; ///< the head at which it was last compared, plus 1; up to the tick: the entry
                      ///< is of an earlier tick
    hc_tick changed;  ///< the head at which it became the newest
};

struct hc_sv_values {
    const struct hc_world *world;
    uint32_t rows;     ///< ticks whose newest values are known
    uint32_t each;     ///< values in the ring for a unit
    uint32_t capacity; ///< values in the whole ring, a power of two
    uint32_t in_use;   ///< the first of its places, which values take one after another
    uint32_t units;    ///< units that have had a value
    size_t size;       ///< bytes of a value
    hc_sv_value_id next;
    uint8_t *ring;               ///< [capacity * size] by place
    uint8_t *pins;               ///< [pins * size] by place
    struct hc_sv_newest *newest; ///< [rows][units] of (tick % rows, unit)
    bool *has;                   ///< [units] the unit has had a value
};

/// The values of one tick, at one head.
struct hc_sv_values_row {
    struct hc_sv_values *values;
    const struct hc_timeline *timeline;
    hc_tick tick, head;
    const uint8_t *presence, *states; ///< of the whole world
    struct hc_sv_newest *newest;      ///< [units]
};

/// Lays the arrays out from `base` (NULL: only measures) for a window of `rows` ticks, `each`
/// values of a unit, and places for `pins` pinned ones; returns the bytes needed. The memory is
/// zeroed; most of it stays untouched until it is used. `world` is borrowed.
size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t each, uint32_t pins, uint8_t *base);

/// Begins without values, in memory that is unused; the first number is 1.
void hc_sv_values_begin(struct hc_sv_values *values);

/// The row of `tick`, which the timeline must still hold; valid until the timeline changes.
struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick);

/// Begins to load what hc_sv_values_put reads of `unit` into the processor's cache.
static inline void hc_sv_values_prefetch_unit(const struct hc_sv_values_row *row, hc_unit unit) {
    const struct hc_world *world = row->values->world;
    __builtin_prefetch(&row->newest[unit]);
    __builtin_prefetch(row->states + (size_t)hc_unit_first(world, unit) * world->stride);
}

/// The number of the value that the timeline now has of `unit` at the row's tick: that of the
/// newest value of the tick if they are equal, else a new one, so that it stays for at least a
/// quarter of the ring. It compares once per head, so the timeline may not change between two calls
/// at one head.
hc_sv_value_id hc_sv_values_put(const struct hc_sv_values_row *row, hc_unit unit);

/// The value with this number, in the ring: borrowed until it is replaced, see hc_sv_values_put.
/// NULL: it was replaced, or the number is 0.
const struct hc_sv_value *hc_sv_values_get(const struct hc_sv_values *values, hc_sv_value_id id);

/// Begins to load the value with this number into the processor's cache, if it is in the ring.
void hc_sv_values_prefetch(const struct hc_sv_values *values, hc_sv_value_id id);

/// Whether two stored values of `unit`, of one tick, have the same states; their inputs may differ,
/// because a client shows nothing of them. False: one of them was replaced.
bool hc_sv_values_alike(const struct hc_sv_values *values, hc_unit unit, hc_sv_value_id a,
                        hc_sv_value_id b);

/// Pins the value of `unit` with the number `id` at the place `pin`, instead of the one there; if
/// the ring has replaced it, nothing is pinned there.
void hc_sv_values_pin(struct hc_sv_values *values, uint32_t pin, hc_unit unit, hc_sv_value_id id);

/// The value with this number, pinned at the place `pin` or in the ring; NULL: in neither.
const struct hc_sv_value *hc_sv_values_pinned(const struct hc_sv_values *values, uint32_t pin,
                                              hc_sv_value_id id);
