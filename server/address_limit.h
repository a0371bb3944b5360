/// How often something may happen for each network address.
///
/// For each IPv4 address, or each /64 of IPv6, at most so many times in a second, and never more
/// than that at once; loopback may always. The memory is constant: of more addresses than fit in
/// one set the one that has done the least lately is forgotten.
#pragma once

#include "proto/address.h"

enum { HC_SV_ADDRESS_LIMIT_SETS = 256, HC_SV_ADDRESS_LIMIT_WAYS = 4 };

struct hc_sv_address_limit_entry {
    uint8_t prefix[16];
    uint64_t until_us; ///< by when all of it would have happened at the rate allowed
};

/// All zeros is the beginning.
struct hc_sv_address_limit {
    uint64_t seed; ///< random: nobody can choose addresses that share a set
    struct hc_sv_address_limit_entry entries[HC_SV_ADDRESS_LIMIT_SETS][HC_SV_ADDRESS_LIMIT_WAYS];
};

/// The part of an address that stands for its owner: all of IPv4, 64 bits of IPv6, no port.
void hc_sv_address_limit_prefix(const struct hc_address *address, uint8_t out[static 16]);

/// Whether it may happen once more for `address` now; then it has happened. `per_s` 0: always.
bool hc_sv_address_limit_take(struct hc_sv_address_limit *rate, const struct hc_address *address,
                              uint32_t per_s, uint64_t now_us);

/// Whether something that takes `cost_us` of a rate comes too soon: `*until_us`, at first 0, is by
/// when all that came would have come at the rate, and may be `burst_us` ahead. Counts it if not.
/// The virtual scheduling of the generic cell rate algorithm (ITU-T I.371).
bool hc_sv_address_limit_exceeds(uint64_t *until_us, uint64_t cost_us, uint64_t burst_us,
                                 uint64_t now_us);
