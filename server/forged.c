#include "server/forged.h"

#include "server/address_limit.h"

#include <string.h>
#include <xxhash.h>

static size_t place(const struct hc_sv_forged *forged, const struct hc_address *from) {
    uint8_t key[18] = {0};
    hc_sv_address_limit_prefix(from, key);
    if (hc_address_is_loopback(from)) // programs of one machine are not one source
        memcpy(key + 16, &from->port, sizeof from->port);
    return XXH3_64bits_withSeed(key, sizeof key, forged->seed) % HC_SV_FORGED_SOURCES;
}

bool hc_sv_forged_drops(const struct hc_sv_forged *forged, const struct hc_address *from,
                        uint32_t named) {
    return named >= HC_FORGED_PER_CONNECTION ||
           forged->counts[place(forged, from)] >= HC_FORGED_PER_SOURCE;
}

void hc_sv_forged_add(struct hc_sv_forged *forged, const struct hc_address *from) {
    uint8_t *count = &forged->counts[place(forged, from)];
    if (*count < HC_FORGED_PER_SOURCE)
        ++*count;
}

void hc_sv_forged_renew(struct hc_sv_forged *forged) {
    memset(forged->counts, 0, sizeof forged->counts);
}
