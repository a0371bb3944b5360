/// The clock of a client, which is ahead and runs fast or slowly.
#pragma once

#include <stdint.h>

/// The time that the clock shows at `now`. It was `offset_us` ahead at 0, and is `ppm` millionths fast.
uint64_t hc_sim_clock(uint64_t offset_us, int32_t ppm, uint64_t now);

/// The first moment at which the clock shows at least `local`; UINT64_MAX for UINT64_MAX.
uint64_t hc_sim_clock_moment(uint64_t offset_us, int32_t ppm, uint64_t local);
