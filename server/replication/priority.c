/// The growth of scores, and their order.
#include "server/replication/priority.h"

#include <stddef.h>

enum { NEAR_STEPS = 4 }; ///< steps of nearness between the slowest growth and twice that

/// Gaps of the Shell sort (Ciura 2001), continued by 2.25 for up to 2^16 units.
static const uint32_t gaps[] = {46187, 20528, 9124, 4055, 1802, 701, 301, 132, 57, 23, 10, 4, 1};

void hc_sv_priority_grow(uint32_t *score, bool changed, uint32_t distance, uint32_t view) {
    uint32_t steps = NEAR_STEPS, most = UINT32_MAX - 1; // own ones are above all
    if (distance < view)
        steps += (uint32_t)((uint64_t)(view - distance) * ((HC_SV_PRIORITY_NEAR - 1) * NEAR_STEPS) /
                            view);
    if (changed)
        steps *= HC_SV_PRIORITY_CHANGED;
    *score = *score < most - steps ? *score + steps : most;
}

uint64_t hc_sv_priority_key(uint32_t score, bool own, uint32_t number) {
    return (uint64_t)(own ? UINT32_MAX : score) << 32 | (UINT32_MAX - number);
}

void hc_sv_priority_order(uint64_t *keys, uint32_t count) {
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (uint32_t i = gaps[g], gap = gaps[g], at; i < count; i++) {
            uint64_t key = keys[i];
            for (at = i; at >= gap && key > keys[at - gap]; at -= gap)
                keys[at] = keys[at - gap];
            keys[at] = key;
        }
}
