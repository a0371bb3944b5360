/// Sent values: every value of a unit that a snapshot sent to any client, stored once for all.
///
/// A rewind rewrites ticks, so a unit can have several values at one tick. Every one that is sent
/// gets a number, and the rest of the server remembers that number for each client. The values lie
/// in a ring: a new one replaces the oldest, whose number then finds nothing. Numbers wrap after
/// 2^32 values.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"

typedef uint32_t hc_sv_value_id; ///< grows by one with each value; 0: none

struct hc_sv_sent_values {
    const struct hc_world *world;
    uint32_t rows;     ///< ticks whose newest values are known
    uint32_t capacity; ///< records in the ring, a power of two; one of them is for the next value
    size_t record;     ///< bytes of one
    hc_sv_value_id next;
    uint8_t *ring;          ///< [capacity * record] by number
    hc_sv_value_id *newest; ///< [rows][units] of (tick % rows, unit)
    hc_tick *row_tick;      ///< [rows] the tick of each row
    hc_tick *compared_head; ///< [rows][units] the head at which the newest was last compared
};

/// The values of one tick, at one head.
struct hc_sv_sent_values_row {
    struct hc_sv_sent_values *sent_values;
    const struct hc_timeline *timeline;
    hc_tick tick, head;
    const uint8_t *presence, *states; ///< of the whole world
    hc_sv_value_id *newest;           ///< [units]
    hc_tick *compared_head;           ///< [units]
};

/// Lays the arrays out from `base` (NULL: only measures) for a window of `rows` ticks and at least
/// `capacity` values; returns the bytes needed. `world` is borrowed.
size_t hc_sv_sent_values_layout(struct hc_sv_sent_values *sent_values, const struct hc_world *world,
                                uint32_t rows, uint32_t capacity, uint8_t *base);

/// Forgets all values; the next number is 1.
void hc_sv_sent_values_clear(struct hc_sv_sent_values *sent_values);

/// The row of `tick`, which the timeline must still hold; valid until the timeline changes.
struct hc_sv_sent_values_row hc_sv_sent_values_row(struct hc_sv_sent_values *sent_values,
                                                   const struct hc_timeline *timeline,
                                                   hc_tick tick);

/// The slow path of hc_sv_sent_values_put, which alone calls it.
hc_sv_value_id hc_sv_sent_values_compare(const struct hc_sv_sent_values_row *row, hc_unit unit);

/// The number of the value that the timeline now has of `unit` at the row's tick: that of the
/// newest value of the tick if they are equal, else a new one. It compares once per head, so the
/// timeline may not change between two calls at one head.
static inline hc_sv_value_id hc_sv_sent_values_put(const struct hc_sv_sent_values_row *row,
                                                   hc_unit unit) {
    const struct hc_sv_sent_values *sent_values = row->sent_values;
    hc_sv_value_id newest = row->newest[unit];
    // A record is not reused before `capacity` newer values were made.
    if (row->compared_head[unit] == row->head && sent_values->next - newest < sent_values->capacity)
        return newest;
    return hc_sv_sent_values_compare(row, unit);
}

/// The value with this number, in the ring: borrowed until the next hc_sv_sent_values_put. NULL:
/// it was replaced, or the number is 0.
const struct hc_unit_value *hc_sv_sent_values_get(const struct hc_sv_sent_values *sent_values,
                                                  hc_sv_value_id value_id);
