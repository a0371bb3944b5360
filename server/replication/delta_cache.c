/// A fixed hash table of encoded deltas.
#include "server/replication/delta_cache.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

enum { WAYS = 2 }; ///< entries of a set, the newer first

size_t hc_sv_delta_cache_layout(struct hc_sv_delta_cache *delta_cache, uint32_t entries,
                                uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(entries <= UINT32_C(1) << 30);
    delta_cache->sets = 1;
    while (delta_cache->sets * WAYS < entries)
        delta_cache->sets *= 2;
    delta_cache->entries =
        hc_carve(base, &used, (size_t)delta_cache->sets * WAYS * sizeof *delta_cache->entries);
    return used;
}

void hc_sv_delta_cache_clear(struct hc_sv_delta_cache *delta_cache) {
    memset(delta_cache->entries, 0,
           (size_t)delta_cache->sets * WAYS * sizeof *delta_cache->entries);
}

static struct hc_sv_delta_entry *set_of(const struct hc_sv_delta_cache *delta_cache,
                                        const struct hc_sv_delta_key *key) {
    uint64_t hash = hc_random(key->unit, key->base, key->value, key->referee);
    return &delta_cache->entries[(hash & (delta_cache->sets - 1)) * WAYS];
}

static bool is_of(const struct hc_sv_delta_entry *entry, const struct hc_sv_delta_key *key) {
    return entry->key.value == key->value && entry->key.base == key->base &&
           entry->key.referee == key->referee && entry->key.unit == key->unit;
}

const struct hc_sv_delta_entry *hc_sv_delta_cache_find(const struct hc_sv_delta_cache *delta_cache,
                                                       const struct hc_sv_delta_key *key) {
    const struct hc_sv_delta_entry *set = set_of(delta_cache, key);
    HC_ASSERT(key->value != 0);
    for (unsigned i = 0; i < WAYS; i++)
        if (is_of(&set[i], key))
            return &set[i];
    return NULL;
}

void hc_sv_delta_cache_put(struct hc_sv_delta_cache *delta_cache, const struct hc_sv_delta_key *key,
                           const uint8_t *data, uint32_t bits) {
    struct hc_sv_delta_entry *set = set_of(delta_cache, key);
    HC_ASSERT(key->value != 0);
    if (bits > 8 * HC_SV_DELTA_CACHE_BYTES)
        return;
    if (!is_of(&set[0], key))
        set[1] = set[0];
    set[0].key = *key;
    set[0].bits = (uint16_t)bits;
    memcpy(set[0].data, data, (bits + 7) / 8);
}
