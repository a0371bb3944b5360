/// Memo: deltas that were encoded, so that each is encoded once for all who need it.
///
/// The key is the pair of versions and the referee's version that the guess was made with, so that
/// a hit needs no look at the values. A fixed table of two-way sets; what is longer than an entry
/// is not kept. Numbers of versions come round after days, entries are overwritten within seconds.
#pragma once

#include "common/bits.h"
#include "server/replication/sent_values.h"

enum { HC_SV_DELTA_CACHE_BYTES = 44 }; ///< of the longest delta kept

struct hc_sv_delta_key {
    hc_sv_value_id base;    ///< 0: nothing
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
    struct hc_sv_delta_entry *entries; ///< [sets][2], of each set the newer first
    uint64_t hits, misses;             ///< of hc_sv_delta_cache_find since hc_sv_delta_cache_clear
};

/// Lays the table out from `base` (NULL: only measures) for `entries`, rounded up to a power of
/// two; returns the bytes.
size_t hc_sv_delta_cache_layout(struct hc_sv_delta_cache *delta_cache, uint32_t entries,
                                uint8_t *base);

/// Forgets everything.
void hc_sv_delta_cache_clear(struct hc_sv_delta_cache *delta_cache);

/// The entry of `key`, borrowed until the next hc_sv_delta_cache_put; NULL: there is none. Counts.
const struct hc_sv_delta_entry *hc_sv_delta_cache_find(struct hc_sv_delta_cache *delta_cache,
                                                       const struct hc_sv_delta_key *key);

/// Keeps `bits` bits at `data`, as a bits writer leaves them, for `key`, in the place of the older
/// of its set.
void hc_sv_delta_cache_put(struct hc_sv_delta_cache *delta_cache, const struct hc_sv_delta_key *key,
                           const uint8_t *data, uint32_t bits);
