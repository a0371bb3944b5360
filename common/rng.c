/// SplitMix64, as a hash and as a stream.
#include "hindcast/rng.h"

/// 2^64 divided by the golden ratio, made odd: the increment of SplitMix64.
static const uint64_t GAMMA = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t hc_random(uint64_t seed, uint32_t a, uint32_t b, uint32_t c) {
    uint64_t hash = mix(seed + GAMMA);
    // A round for each 64 bits, so that nearly equal arguments give unrelated results.
    hash = mix((hash ^ ((uint64_t)b << 32 | a)) + GAMMA);
    return mix((hash ^ c) + GAMMA);
}

struct hc_rng hc_rng_init(uint64_t seed, uint32_t stream) {
    return (struct hc_rng){.state = hc_random(seed, stream, 0, 0)};
}

uint64_t hc_rng_next(struct hc_rng *rng) {
    rng->state += GAMMA;
    return mix(rng->state);
}

uint32_t hc_rng_below(struct hc_rng *rng, uint32_t bound) {
    return (uint32_t)((hc_rng_next(rng) >> 32) * bound >> 32);
}

int hc_rng_chance(struct hc_rng *rng, uint32_t ppm) {
    return hc_rng_below(rng, 1000000) < ppm;
}
