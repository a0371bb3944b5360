/// The table of stored deltas.
#include "server/replication/deltas.h"

#include "common/alloc.h"
#include "common/mix.h"
#include "hindcast/check.h"

#include <string.h>

enum { WAYS = 2 }; ///< entries of a set, the newer first

/// The sets for the deltas of so many units, a power of two.
static uint32_t sets_for(const struct hc_sv_deltas *deltas, uint32_t units) {
    uint32_t sets = 1;
    while (sets * WAYS < units * deltas->each)
        sets *= 2;
    return sets;
}

size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world, uint32_t each,
                           uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(hc_unit_total(world) * (size_t)each <= UINT32_C(1) << 30);
    deltas->world = world;
    deltas->each = each;
    size_t sets = sets_for(deltas, hc_unit_total(world));
    deltas->entries = hc_carve(base, &used, sets * WAYS * sizeof *deltas->entries);
    return used;
}

void hc_sv_deltas_begin(struct hc_sv_deltas *deltas) {
    deltas->units = 0;
    hc_sv_deltas_serve(deltas, 1);
}

void hc_sv_deltas_serve(struct hc_sv_deltas *deltas, uint32_t units) {
    HC_ASSERT(units <= hc_unit_total(deltas->world));
    if (units <= deltas->units)
        return;
    deltas->units = units;
    deltas->sets = sets_for(deltas, units);
}

static struct hc_sv_delta_entry *set_of(const struct hc_sv_deltas *deltas,
                                        const struct hc_sv_delta_key *key) {
    uint64_t hash = hc_mix(hc_mix((uint64_t)key->base << 32 | key->value, key->referee), key->unit);
    return &deltas->entries[(hash & (deltas->sets - 1)) * WAYS];
}

static bool is_of(const struct hc_sv_delta_entry *entry, const struct hc_sv_delta_key *key) {
    return entry->key.value == key->value && entry->key.base == key->base &&
           entry->key.referee == key->referee && entry->key.unit == key->unit &&
           entry->key.how == key->how;
}

const struct hc_sv_delta_entry *hc_sv_deltas_find(const struct hc_sv_deltas *deltas,
                                                  const struct hc_sv_delta_key *key) {
    const struct hc_sv_delta_entry *set = set_of(deltas, key);
    HC_ASSERT(key->value != 0);
    for (unsigned i = 0; i < WAYS; i++)
        if (is_of(&set[i], key))
            return &set[i];
    return NULL;
}

void hc_sv_deltas_put(struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key,
                      const uint8_t *data, uint32_t bits) {
    struct hc_sv_delta_entry *set = set_of(deltas, key);
    HC_ASSERT(key->value != 0);
    if (bits > 8 * HC_SV_DELTA_STORED)
        return;
    if (!is_of(&set[0], key))
        set[1] = set[0];
    set[0].key = *key;
    set[0].bits = (uint16_t)bits;
    memcpy(set[0].data, data, (bits + 7) / 8);
}

void hc_sv_deltas_prefetch(const struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key) {
    const struct hc_sv_delta_entry *set = set_of(deltas, key);
    for (unsigned i = 0; i < WAYS; i++)
        __builtin_prefetch(&set[i]);
}
