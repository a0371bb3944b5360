/// Limits how often something may happen for one network address.
///
/// An IPv4 address, or a /64 of IPv6, has a number of times per second, and at most that many at
/// once. Loopback has no limit. The memory is constant: when a set is full, a new address replaces
/// the one that is least in use.
#pragma once

#include "hindcast/address.h"

enum { HC_SV_ADDRESS_LIMIT_SETS = 256, HC_SV_ADDRESS_LIMIT_WAYS = 4 };

struct hc_sv_address_limit_entry {
    uint8_t prefix[16];
    uint64_t until_us; ///< when all of it would have happened at the allowed rate
};

/// All zeros but `seed` is the initial state.
struct hc_sv_address_limit {
    uint64_t seed; ///< random, so that nobody can choose addresses that share a set
    struct hc_sv_address_limit_entry entries[HC_SV_ADDRESS_LIMIT_SETS][HC_SV_ADDRESS_LIMIT_WAYS];
};

/// Writes the part of an address that identifies its owner: all of IPv4, 64 bits of IPv6, no port.
void hc_sv_address_limit_prefix(const struct hc_address *address, uint8_t out[static 16]);

/// A hash of that part, with a seed that nobody can foretell.
uint64_t hc_sv_address_limit_hash(const struct hc_address *address, uint64_t seed);

/// Returns whether it may happen once more for `address` now, and counts it if so. `per_s` 0:
/// always.
bool hc_sv_address_limit_take(struct hc_sv_address_limit *limit, const struct hc_address *address,
                              uint32_t per_s, uint64_t now_us);
