/// The delta cache: encoded deltas, so that each is encoded once for all clients that need it.
///
/// The key names the baseline, the value, and the referee's value that the extrapolation used, so a
/// hit reads no values. The cache is a fixed table of two-way sets. A delta longer than an entry is
/// not stored. Numbers of values wrap after days; an entry is overwritten within seconds.
#pragma once

#include "common/bits.h"
#include "server/replication/sent_values.h"

enum { HC_SV_DELTA_CACHE_BYTES = 44 }; ///< of the longest delta stored

struct hc_sv_delta_key {
    hc_sv_value_id base;    ///< 0: none
    hc_sv_value_id value;   ///< never 0: a drop needs no delta
    hc_sv_value_id referee; ///< 0: unknown
    hc_unit unit;
};

struct hc_sv_delta_entry {
    struct hc_sv_delta_key key; ///< value 0: free
    uint16_t bits;              ///< in `data`
    uint8_t data[HC_SV_DELTA_CACHE_BYTES];
};

struct hc_sv_delta_cache {
    uint32_t sets;                     ///< a power of two
    struct hc_sv_delta_entry *entries; ///< [sets][2], the newer of each set first
};

/// Lays the table out from `base` (NULL: only measures) for `entries`, rounded up to a power of
/// two; returns the bytes.
size_t hc_sv_delta_cache_layout(struct hc_sv_delta_cache *delta_cache, uint32_t entries,
                                uint8_t *base);

/// Forgets everything.
void hc_sv_delta_cache_clear(struct hc_sv_delta_cache *delta_cache);

/// The entry of `key`, borrowed until the next hc_sv_delta_cache_put; NULL: there is none.
const struct hc_sv_delta_entry *hc_sv_delta_cache_find(const struct hc_sv_delta_cache *delta_cache,
                                                       const struct hc_sv_delta_key *key);

/// Stores the `bits` bits at `data`, as a bits writer leaves them, for `key`. They replace the
/// older entry of its set.
void hc_sv_delta_cache_put(struct hc_sv_delta_cache *delta_cache, const struct hc_sv_delta_key *key,
                           const uint8_t *data, uint32_t bits);
