/// Random numbers without state: a hash of what they are for, equal on every architecture.
#pragma once

#include "hindcast/api.h"

#include <stdint.h>

HC_C_BEGIN

/// 64 random bits for (seed, a, b, c); the same arguments give the same bits, always.
/// The mixing steps are those of SplitMix64 (Steele, Lea and Flood 2014).
HC_API uint64_t hc_random(uint64_t seed, uint32_t a, uint32_t b, uint32_t c);

/// A stream of random numbers, for scripts, links and tests; steps never use one.
struct hc_rng {
    uint64_t state;
};

/// A stream that depends on `seed` and `stream` alone.
HC_API struct hc_rng hc_rng_init(uint64_t seed, uint32_t stream);

/// The next 64 bits.
HC_API uint64_t hc_rng_next(struct hc_rng *rng);

/// The next number in [0, bound), without bias that matters; 0 when `bound` is 0.
HC_API uint32_t hc_rng_below(struct hc_rng *rng, uint32_t bound);

/// True with a probability of `ppm` in a million.
HC_API int hc_rng_chance(struct hc_rng *rng, uint32_t ppm);

HC_C_END
