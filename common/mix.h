/// Hashing for tables that only this process reads.
#pragma once

#include <stdint.h>

/// A hash of two words.
static inline uint64_t hc_mix(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}
