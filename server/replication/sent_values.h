/// Versions: every value of a unit that clients were sent, kept once for all of them.
///
/// A rewind rewrites ticks, so that a unit has several values at one tick over time; each that is
/// sent becomes a version with a number of its own, which is what the server remembers per client.
/// Versions live in a ring: a new one takes the place of the oldest, whoever refers to that finds
/// it gone and has to do without. Numbers come round after 2^32 versions.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"

typedef uint32_t hc_sv_value_id; ///< grows by one with each; 0: none

struct hc_sv_sent_values {
    const struct hc_world *world;
    uint32_t rows;     ///< ticks of which the newest version is known
    uint32_t capacity; ///< records in the ring, a power of two; one of them is for the next version
    size_t record;     ///< bytes of one
    hc_sv_value_id next;
    uint8_t *ring;          ///< [capacity * record] by version
    hc_sv_value_id *newest; ///< [rows][units] of (tick % rows, unit)
    hc_tick *seen_tick;     ///< [rows] whose row it is
    hc_tick *seen_head;     ///< [rows][units] head at which the newest was last compared
};

/// A tick of which versions are asked for, at one head.
struct hc_sv_sent_values_row {
    struct hc_sv_sent_values *sent_values;
    const struct hc_timeline *timeline;
    hc_tick tick, head;
    const uint8_t *presence, *states; ///< of the whole world
    hc_sv_value_id *newest;           ///< [units]
    hc_tick *seen_head;               ///< [units]
};

/// Lays the arrays out from `base` (NULL: only measures) for ticks in a window of `rows` and at
/// least `capacity` versions; returns the bytes needed. `world` is borrowed.
size_t hc_sv_sent_values_layout(struct hc_sv_sent_values *sent_values, const struct hc_world *world,
                                uint32_t rows, uint32_t capacity, uint8_t *base);

/// Forgets everything, and begins with 1 again.
void hc_sv_sent_values_clear(struct hc_sv_sent_values *sent_values);

/// The row of `tick`, in the timeline's ring; good until the timeline changes.
struct hc_sv_sent_values_row hc_sv_sent_values_row(struct hc_sv_sent_values *sent_values,
                                                   const struct hc_timeline *timeline,
                                                   hc_tick tick);

/// The slow way of hc_sv_sent_values_put, for its use alone.
hc_sv_value_id hc_sv_sent_values_compare(const struct hc_sv_sent_values_row *row, hc_unit unit);

/// The version of `unit` at the row's tick as the timeline has it now: the newest of that tick when
/// that is the same, else a new one. Compared once per head, so what changes must be settled before
/// the first call at a head.
static inline hc_sv_value_id hc_sv_sent_values_put(const struct hc_sv_sent_values_row *row,
                                                   hc_unit unit) {
    const struct hc_sv_sent_values *sent_values = row->sent_values;
    hc_sv_value_id newest = row->newest[unit];
    // Nobody has come to a version's place before so many have been made.
    if (row->seen_head[unit] == row->head && sent_values->next - newest < sent_values->capacity)
        return newest;
    return hc_sv_sent_values_compare(row, unit);
}

/// The value of a version, in `*value`, which is returned and points into the ring: borrowed until
/// the next hc_sv_sent_values_put. NULL when it is gone, and for 0.
const struct hc_unit_value *hc_sv_sent_values_get(const struct hc_sv_sent_values *sent_values,
                                                  hc_sv_value_id value_id,
                                                  struct hc_unit_value *value);
