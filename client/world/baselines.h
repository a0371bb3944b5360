/// The baselines of a client: every value that it received in the snapshots of the last
/// HC_SNAPSHOT_BASELINE_TICKS ticks, corrections included.
///
/// The server refers to a baseline by the snapshot that carried it, its unit and, of a correction,
/// its tick. It refers only to acked values, so all of them are here. Older ones are dropped, and
/// so are values that `capacity` others came after. Snapshots are put one after the other: begin,
/// then its values.
///
/// One snapshot outlives this: the newest that the server calls its base, with its values of its
/// own tick. Without acks it stays the server's base, no matter how long. Snapshots overtake each
/// other, so the former base stays too if the new one is newer by half of
/// HC_SNAPSHOT_BASELINE_TICKS or more: until it is replaced in the same way, or the present base is
/// about to be dropped.
#pragma once

#include "common/unit.h"
#include "proto/limits.h"

/// The name of a value, apart from the value so that a search reads little.
struct hc_cl_baseline_key {
    hc_tick tick;
    hc_unit unit;
};

/// One snapshot.
struct hc_cl_baseline_row {
    hc_tick as_of;   ///< server tick of the snapshot; HC_NO_TICK: none
    hc_tick tick;    ///< tick that the snapshot shows; HC_NO_TICK: none
    uint32_t count;  ///< values
    uint32_t sorted; ///< values at the start that are of the tick, in ascending order of units
    uint64_t first;  ///< number of its first value
};

struct hc_cl_baselines {
    const struct hc_world *world;
    uint32_t capacity;               ///< values
    size_t record;                   ///< bytes of one, packed
    uint8_t *unpacked;               ///< [hc_unit_bytes] the value that was got last
    uint64_t next;                   ///< number of the next value; its place is next % capacity
    uint8_t *ring;                   ///< [capacity * record]
    struct hc_cl_baseline_key *keys; ///< [capacity]
    struct hc_cl_baseline_row *rows; ///< [HC_SNAPSHOT_BASELINE_TICKS] by as_of
    hc_tick newest;                  ///< newest as_of here; HC_NO_TICK: none
    hc_tick begun;                   ///< as_of of the snapshot being put
    struct hc_cl_baseline_row base;  ///< row of the server's base; as_of HC_NO_TICK: none
    struct hc_cl_baseline_row moved; ///< the newest base that left the ring for the arrays below;
                                     ///< `count` counts its values there
    uint8_t *moved_values;           ///< [units of a snapshot, at most][record]
    struct hc_cl_baseline_key *moved_keys; ///< [units of a snapshot, at most]
};

/// Lays the arrays out from `base` (NULL: only measures) for `capacity` values, at least 1; returns
/// the bytes. hc_cl_baselines_clear comes next.
size_t hc_cl_baselines_layout(struct hc_cl_baselines *baselines, const struct hc_world *world,
                              uint32_t capacity, uint8_t *base);

/// Drops everything.
void hc_cl_baselines_clear(struct hc_cl_baselines *baselines);

/// Whether hc_cl_baselines_begin would be true.
bool hc_cl_baselines_takes(const struct hc_cl_baselines *baselines, hc_tick as_of);

/// Begins the snapshot of `tick` that was sent at the server tick `as_of`; its values are put after
/// this. An overtaken one has its own row. False, and nothing changed: `as_of` is too old, is here
/// already, or is HC_NO_TICK.
bool hc_cl_baselines_begin(struct hc_cl_baselines *baselines, hc_tick as_of, hc_tick tick);

/// The server calls the snapshot of `as_of` its newest base. It stays until a newer base replaces
/// it. Nothing changes if it is not here, or older than the present base.
void hc_cl_baselines_refer(struct hc_cl_baselines *baselines, hc_tick as_of);

/// Puts `value`, which is copied, as that of `unit` in the snapshot that began last, of `as_of`.
void hc_cl_baselines_put(struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit unit,
                         const struct hc_unit_value *value);

/// The value of `unit` at `tick` in the snapshot of `as_of`, the last of several. False: it is not
/// here. `out` is borrowed until the next call. Fast if the snapshot's values of its own tick were
/// put first, in ascending order of units; else linear in its values.
bool hc_cl_baselines_get(const struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit unit,
                         hc_tick tick, struct hc_unit_value *out);

/// Writes the units that the snapshot of `as_of` had at its own tick to `out`, which has room for
/// `most`, in the order in which they were put. False: it, or some of it, is not here.
bool hc_cl_baselines_units(const struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit *out,
                           uint32_t most, uint32_t *count);

/// The tick of the snapshot of `as_of`; HC_NO_TICK: it is not here.
hc_tick hc_cl_baselines_tick(const struct hc_cl_baselines *baselines, hc_tick as_of);
