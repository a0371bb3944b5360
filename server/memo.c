#include "server/memo.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

enum { WAYS = 2 }; ///< entries of a set, the newer first

size_t hc_sv_memo_layout(struct hc_sv_memo *memo, uint32_t entries, uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(entries <= UINT32_C(1) << 30);
    memo->sets = 1;
    while (memo->sets * WAYS < entries)
        memo->sets *= 2;
    memo->entries = hc_carve(base, &used, (size_t)memo->sets * WAYS * sizeof *memo->entries);
    return used;
}

void hc_sv_memo_clear(struct hc_sv_memo *memo) {
    memset(memo->entries, 0, (size_t)memo->sets * WAYS * sizeof *memo->entries);
    memo->hits = 0;
    memo->misses = 0;
}

static struct hc_sv_memo_entry *set_of(const struct hc_sv_memo *memo,
                                       const struct hc_sv_memo_key *key) {
    uint64_t hash = hc_random(key->unit, key->base, key->value, key->referee);
    return &memo->entries[(hash & (memo->sets - 1)) * WAYS];
}

static bool is_of(const struct hc_sv_memo_entry *entry, const struct hc_sv_memo_key *key) {
    return entry->key.value == key->value && entry->key.base == key->base &&
           entry->key.referee == key->referee && entry->key.unit == key->unit;
}

const struct hc_sv_memo_entry *hc_sv_memo_find(struct hc_sv_memo *memo,
                                               const struct hc_sv_memo_key *key) {
    const struct hc_sv_memo_entry *set = set_of(memo, key);
    HC_ASSERT(key->value != 0);
    for (unsigned i = 0; i < WAYS; i++) {
        if (!is_of(&set[i], key))
            continue;
        memo->hits++;
        return &set[i];
    }
    memo->misses++;
    return NULL;
}

void hc_sv_memo_put(struct hc_sv_memo *memo, const struct hc_sv_memo_key *key, const uint8_t *data,
                    uint32_t bits) {
    struct hc_sv_memo_entry *set = set_of(memo, key);
    HC_ASSERT(key->value != 0);
    if (bits > 8 * HC_SV_MEMO_BYTES)
        return;
    if (!is_of(&set[0], key))
        set[1] = set[0];
    set[0].key = *key;
    set[0].bits = (uint16_t)bits;
    memcpy(set[0].data, data, (bits + 7) / 8);
}
