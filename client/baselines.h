/// What the server told lately, so that it can tell differences: every unit's value of every
/// snapshot of the last HC_CL_BASELINE_TICKS, corrections of older ticks included.
///
/// The server refers to a value by the snapshot that told it, its unit, and, of a correction, its
/// tick. It refers only to what was acknowledged, so all of it is here; what is older is forgotten.
/// So is what more than `capacity` values were put after. Snapshots are put one after the other:
/// begin, then its values.
///
/// What is not forgotten so is what the newest snapshot that the server calls its base told of the
/// tick that it showed: while no acknowledgement reaches the server that stays its base, however
/// long it lasts and whatever it tells meanwhile. Since snapshots overtake each other, it stays
/// when it gives way to one that is newer by half of HC_CL_BASELINE_TICKS or more: until another
/// gives way so, or a base is about to be forgotten.
#pragma once

#include "common/unit.h"

enum {
    HC_CL_BASELINE_TICKS = 128, ///< of the newest snapshot's head, that are kept
};

/// One value's place in what was told; kept apart from the values, so that a search reads little.
struct hc_cl_baseline_key {
    hc_tick tick;
    hc_unit unit;
};

/// One snapshot.
struct hc_cl_baseline_row {
    hc_tick as_of;  ///< its head; HC_NO_TICK: none
    hc_tick tick;   ///< that it showed; HC_NO_TICK: none
    uint32_t count; ///< of its values
    uint64_t first; ///< number of its first value
};

struct hc_cl_baselines {
    const struct hc_world *world;
    uint32_t capacity;               ///< values
    size_t record;                   ///< bytes of one
    uint64_t next;                   ///< number of the next value; its place is next % capacity
    uint8_t *ring;                   ///< [capacity * record]
    struct hc_cl_baseline_key *keys; ///< [capacity]
    struct hc_cl_baseline_row *rows; ///< [HC_CL_BASELINE_TICKS] by as_of
    hc_tick newest;                  ///< newest as_of here; HC_NO_TICK: none
    hc_tick begun;                   ///< as_of of the snapshot being put
    struct hc_cl_baseline_row base;  ///< the server's, as its row was; as_of HC_NO_TICK: none
    struct hc_cl_baseline_row moved; ///< the newest that has left the ring for the arrays below;
                                     ///< `count` is that of its values there
    uint8_t *moved_values;           ///< [units of a snapshot, at most][record]
    struct hc_cl_baseline_key *moved_keys; ///< of the same
};

/// Lays the arrays out from `base` (NULL: only measures) for `capacity` values, at least 1; returns
/// the bytes. Clear it before its use.
size_t hc_cl_baselines_layout(struct hc_cl_baselines *baselines, const struct hc_world *world,
                              uint32_t capacity, uint8_t *base);

/// Forgets everything.
void hc_cl_baselines_clear(struct hc_cl_baselines *baselines);

/// Whether hc_cl_baselines_begin would be true.
bool hc_cl_baselines_takes(const struct hc_cl_baselines *baselines, hc_tick as_of);

/// A snapshot of head `as_of` begins, which shows `tick`; what it tells is put after this. An
/// overtaken one has its own row. False, and nothing changed: it is too old, one of that head is
/// here, or it is HC_NO_TICK.
bool hc_cl_baselines_begin(struct hc_cl_baselines *baselines, hc_tick as_of, hc_tick tick);

/// The server has said that the snapshot of head `as_of` is its newest base. It is not forgotten
/// until a newer one would be; where it is not here, or older than the one before, nothing changes.
void hc_cl_baselines_refer(struct hc_cl_baselines *baselines, hc_tick as_of);

/// The snapshot that began last, of head `as_of`, tells `value`, which is copied, of `unit`.
void hc_cl_baselines_put(struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit unit,
                         const struct hc_unit_value *value);

/// What the snapshot of head `as_of` told of `unit` at `tick`, the last if it did so twice: false
/// when that is not here. `out` is borrowed until the next call that changes anything. Linear in
/// what that snapshot told.
bool hc_cl_baselines_get(const struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit unit,
                         hc_tick tick, struct hc_unit_value *out);

/// The units of which the snapshot of head `as_of` told the tick that it showed, in the order in
/// which they were put, to `out`, which has room for `most`. False: it, or some of it, is not here.
bool hc_cl_baselines_units(const struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit *out,
                           uint32_t most, uint32_t *count);

/// The tick that the snapshot of head `as_of` showed; HC_NO_TICK: that is not here.
hc_tick hc_cl_baselines_tick(const struct hc_cl_baselines *baselines, hc_tick as_of);
