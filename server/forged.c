/// Counts forged DATA datagrams by their source.
#include "server/forged.h"

#include "server/address_limit.h"

#include <string.h>
#include <xxhash.h>

/// The index of the source's count.
static size_t index_of(const struct hc_sv_forged *forged, const struct hc_address *from) {
    uint8_t key[18] = {0};
    hc_sv_address_limit_prefix(from, key);
    if (hc_address_is_loopback(from)) // each program of this machine is a source
        memcpy(key + 16, &from->port, sizeof from->port);
    return XXH3_64bits_withSeed(key, sizeof key, forged->seed) % HC_SV_FORGED_SOURCES;
}

bool hc_sv_forged_drops(const struct hc_sv_forged *forged, const struct hc_address *from,
                        uint32_t named) {
    return named >= HC_FORGED_PER_CONNECTION ||
           forged->counts[index_of(forged, from)] >= HC_FORGED_PER_SOURCE;
}

void hc_sv_forged_add(struct hc_sv_forged *forged, const struct hc_address *from) {
    uint8_t *count = &forged->counts[index_of(forged, from)];
    if (*count < HC_FORGED_PER_SOURCE)
        ++*count;
}

void hc_sv_forged_renew(struct hc_sv_forged *forged) {
    memset(forged->counts, 0, sizeof forged->counts);
}
