/// Random numbers, equal on every architecture: hashes without state for steps, streams for tools.
#pragma once

#include "hindcast/api.h"

#include <stdint.h>

HC_C_BEGIN

/// 64 random bits for (seed, a, b, c); the same arguments always give the same bits. The mixing
/// steps are those of SplitMix64 (Steele, Lea and Flood 2014).
HC_API uint64_t hc_random(uint64_t seed, uint32_t a, uint32_t b, uint32_t c);

/// A stream of random numbers for simulations and tests; steps never use one.
struct hc_rng {
    uint64_t state;
};

/// The stream of number `stream` for `seed`.
HC_API struct hc_rng hc_rng_init(uint64_t seed, uint32_t stream);

/// The next 64 bits.
HC_API uint64_t hc_rng_next(struct hc_rng *rng);

/// The next number in [0, bound), with a relative bias below bound / 2^32; 0 when `bound` is 0.
HC_API uint32_t hc_rng_below(struct hc_rng *rng, uint32_t bound);

/// True with a probability of `ppm` in a million.
HC_API int hc_rng_chance(struct hc_rng *rng, uint32_t ppm);

HC_C_END
