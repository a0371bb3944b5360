/// Stored deltas: a delta between two values, encoded once for all clients that need it.
///
/// The key of a delta names the baseline, the value, the extrapolation, and the referee's value
/// that it used, so a delta that is stored is found without reading values. The store is a table
/// of two-way sets. A delta longer than an entry is not stored. Each set is overwritten thousands
/// of times before numbers of values wrap. The table in use grows with the units that have deltas,
/// so that it stays in the processor's caches.
#pragma once

#include "common/unit.h"
#include "server/replication/sent_log.h"

enum {
    HC_SV_DELTA_STORED = 44, ///< bytes of the longest delta stored
};

struct hc_sv_delta_key {
    hc_sv_value_id base;    ///< 0: none
    hc_sv_value_id value;   ///< never 0: a drop needs no delta
    hc_sv_value_id referee; ///< 0: unknown, or not read
    hc_unit unit;
    enum hc_extrapolation how; ///< of the baseline; HC_EXTRAPOLATION_HOLD without one
};

struct hc_sv_delta_entry {
    struct hc_sv_delta_key key; ///< value 0: free
    uint16_t bits;              ///< in `data`
    uint8_t data[HC_SV_DELTA_STORED];
};

struct hc_sv_deltas {
    const struct hc_world *world;
    uint32_t each;                     ///< stored deltas for a unit
    uint32_t units;                    ///< units that have deltas
    uint32_t sets;                     ///< sets in use, a power of two
    struct hc_sv_delta_entry *entries; ///< [sets][2], the newer of each set first
};

/// Lays the table out from `base` (NULL: only measures) for `each` stored deltas of a unit, rounded
/// up to a power of two of all; returns the bytes needed. The memory is zeroed. `world` is
/// borrowed.
size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world, uint32_t each,
                           uint8_t *base);

/// Begins without deltas, for one unit.
void hc_sv_deltas_begin(struct hc_sv_deltas *deltas);

/// Stores the deltas of so many units from now on, if they are more than before; the deltas stored
/// so far may be lost then.
void hc_sv_deltas_serve(struct hc_sv_deltas *deltas, uint32_t units);

/// The stored delta of `key`, borrowed until the next hc_sv_deltas_put; NULL: there is none.
const struct hc_sv_delta_entry *hc_sv_deltas_find(const struct hc_sv_deltas *deltas,
                                                  const struct hc_sv_delta_key *key);

/// Stores the `bits` bits at `data`, as a bits writer leaves them, for `key`. They replace the
/// older entry of its set.
void hc_sv_deltas_put(struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key,
                      const uint8_t *data, uint32_t bits);

/// Begins to load the entries that `key` may have into the processor's cache.
void hc_sv_deltas_prefetch(const struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key);
