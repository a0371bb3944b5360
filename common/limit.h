/// Limits how often something may happen.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Returns whether an event that costs `cost_us` exceeds the limit, and counts it if not.
/// `*until_us`, initially 0, is when all events would have come at the allowed rate; it may be
/// `burst_us` ahead of now. This is the virtual scheduling of the generic cell rate algorithm
/// (ITU-T I.371).
bool hc_limit_exceeds(uint64_t *until_us, uint64_t cost_us, uint64_t burst_us, uint64_t now_us);
