/// Values: every value of a unit that a snapshot sent to any client, stored once for all.
///
/// A rewind rewrites ticks, so a unit can have several values at one tick. Every one that is sent
/// gets a number, and the rest of the server remembers that number for each client. The values lie
/// in a ring: a new one replaces the oldest, whose number then finds nothing. Numbers wrap after
/// 2^32 values. A value that is needed for longer is pinned: copied to memory of its own.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"
#include "server/replication/sent_log.h"

/// A stored value.
struct hc_sv_value {
    hc_sv_value_id id; ///< grows by one with each value; 0: free
    uint32_t hash;     ///< low 32 bits of the sum of hc_unit_entity_hash of its entities
    uint64_t states;   ///< hc_sv_values_hash of its states
    struct hc_unit_value unit;
};

/// The newest known value of a unit at a tick.
struct hc_sv_newest {
    hc_sv_value_id id;
    hc_tick compared; ///< the head at which it was last compared,
    hc_tick changed;  ///< and at which it became the newest
};

struct hc_sv_values {
    const struct hc_world *world;
    uint32_t rows;     ///< ticks whose newest values are known
    uint32_t capacity; ///< values in the ring, a power of two
    size_t each;       ///< bytes of one
    hc_sv_value_id next;
    uint8_t *ring;               ///< [capacity * each] by number
    struct hc_sv_newest *newest; ///< [rows][units] of (tick % rows, unit)
    hc_tick *row_tick;           ///< [rows] the tick of each row
};

/// The values of one tick, at one head.
struct hc_sv_values_row {
    struct hc_sv_values *values;
    const struct hc_timeline *timeline;
    hc_tick tick, head;
    const uint8_t *presence, *states; ///< of the whole world
    struct hc_sv_newest *newest;      ///< [units]
};

/// Lays the arrays out from `base` (NULL: only measures) for a window of `rows` ticks and at least
/// `capacity` values; returns the bytes needed. `world` is borrowed.
size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t capacity, uint8_t *base);

/// Forgets all values; the next number is 1.
void hc_sv_values_clear(struct hc_sv_values *values);

/// The row of `tick`, which the timeline must still hold; valid until the timeline changes.
struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick);

/// The slow path of hc_sv_values_put, which alone calls it.
hc_sv_value_id hc_sv_values_compare(const struct hc_sv_values_row *row, hc_unit unit);

/// The number of the value that the timeline now has of `unit` at the row's tick: that of the
/// newest value of the tick if they are equal, else a new one, so that it stays for at least a
/// quarter of the ring. It compares once per head, so the timeline may not change between two calls
/// at one head.
static inline hc_sv_value_id hc_sv_values_put(const struct hc_sv_values_row *row, hc_unit unit) {
    const struct hc_sv_newest *newest = &row->newest[unit];
    uint32_t age = row->values->next - newest->id;
    if (newest->compared == row->head && age < row->values->capacity / 4 * 3)
        return newest->id;
    return hc_sv_values_compare(row, unit);
}

/// The value with this number, in the ring: borrowed until it is replaced, see hc_sv_values_put.
/// NULL: it was replaced, or the number is 0.
static inline const struct hc_sv_value *hc_sv_values_get(const struct hc_sv_values *values,
                                                         hc_sv_value_id id) {
    size_t place = id & (values->capacity - 1);
    const struct hc_sv_value *value = (const void *)(values->ring + place * values->each);
    return id != 0 && value->id == id ? value : NULL;
}

/// The hash of a unit's presence and states.
uint64_t hc_sv_values_hash(const struct hc_world *world, hc_unit unit,
                           const struct hc_unit_value *value);

/// Bytes of a pinned value, a multiple of its alignment.
size_t hc_sv_values_pin_size(const struct hc_world *world);

/// Copies the value of `unit` with the number `id` to `pin`, hc_sv_values_pin_size bytes; if it was
/// replaced, the pin holds none.
void hc_sv_values_pin(const struct hc_sv_values *values, hc_unit unit, hc_sv_value_id id,
                      struct hc_sv_value *pin);
