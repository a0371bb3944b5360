/// Limits how often something may happen for one network address.
#include "server/address_limit.h"

#include "common/limit.h"

#include <string.h>
#include <xxhash.h>

enum { SECOND_US = 1000000, IPV6_PREFIX = 8 };

void hc_sv_address_limit_prefix(const struct hc_address *address, uint8_t out[static 16]) {
    memcpy(out, address->ip, 16);
    if (!hc_address_is_ipv4(address))
        memset(out + IPV6_PREFIX, 0, 16 - IPV6_PREFIX);
}

uint64_t hc_sv_address_limit_hash(const struct hc_address *address, uint64_t seed) {
    uint8_t prefix[16];
    hc_sv_address_limit_prefix(address, prefix);
    return XXH3_64bits_withSeed(prefix, sizeof prefix, seed);
}

/// Finds the entry of `prefix`. A new one replaces the entry of its set that is least in use.
static struct hc_sv_address_limit_entry *find(struct hc_sv_address_limit *limit,
                                              const uint8_t prefix[static 16]) {
    uint64_t set = XXH3_64bits_withSeed(prefix, 16, limit->seed) % HC_SV_ADDRESS_LIMIT_SETS;
    struct hc_sv_address_limit_entry *least = &limit->entries[set][0];
    for (unsigned way = 0; way < HC_SV_ADDRESS_LIMIT_WAYS; way++) {
        struct hc_sv_address_limit_entry *entry = &limit->entries[set][way];
        if (memcmp(entry->prefix, prefix, 16) == 0)
            return entry;
        if (entry->until_us < least->until_us)
            least = entry;
    }
    memcpy(least->prefix, prefix, 16);
    least->until_us = 0;
    return least;
}

bool hc_sv_address_limit_take(struct hc_sv_address_limit *limit, const struct hc_address *address,
                              uint32_t per_s, uint64_t now_us) {
    uint8_t prefix[16];
    if (per_s == 0 || hc_address_is_loopback(address))
        return true;
    hc_sv_address_limit_prefix(address, prefix);
    struct hc_sv_address_limit_entry *entry = find(limit, prefix);
    return !hc_limit_exceeds(&entry->until_us, SECOND_US / per_s, SECOND_US, now_us);
}
