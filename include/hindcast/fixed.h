/// Integer arithmetic for a game's step: roots, lengths and angles, without floats.
///
/// Angles have 1024 steps in a full turn, from the x axis towards the y axis, and wrap.
#pragma once

#include "hindcast/check.h"

#include <stdint.h>

HC_C_BEGIN

enum {
    HC_FIXED_TURN = 1024,   ///< angle steps in a full turn
    HC_FIXED_ONE = 1 << 14, ///< 1.0 in the results of hc_fixed_sin and hc_fixed_cos (Q14)
};

/// The square root of `value`, rounded down.
HC_API uint32_t hc_fixed_sqrt(uint64_t value);

/// The length of (x, y), rounded down.
HC_API uint32_t hc_fixed_length(int32_t x, int32_t y);

/// Scales (x, y) to the length `length`, in [0, INT32_MAX]; (0, 0) stays. Each component is rounded
/// towards 0 and off by less than 1 + length / 2^28.
HC_API void hc_fixed_set_length(int32_t *x, int32_t *y, int32_t length);

/// Scales (x, y) to the length `length`, in [0, INT32_MAX], if it is longer.
HC_API void hc_fixed_limit_length(int32_t *x, int32_t *y, int32_t length);

/// The sine of `angle` (any; it wraps) times HC_FIXED_ONE, rounded to nearest.
HC_API int32_t hc_fixed_sin(uint32_t angle);

/// The cosine of `angle` (any; it wraps) times HC_FIXED_ONE, rounded to nearest.
HC_API int32_t hc_fixed_cos(uint32_t angle);

/// The angle of (x, y) rounded to the nearest step, in [0, HC_FIXED_TURN); 0 for (0, 0).
HC_API uint32_t hc_fixed_angle(int32_t x, int32_t y);

/// `value` limited to [low, high]; `low` <= `high`.
static inline int64_t hc_fixed_clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/// a / b rounded towards minus infinity; `b` > 0.
static inline int64_t hc_fixed_floor_div(int64_t a, int64_t b) {
    HC_ASSERT(b > 0);
    return a / b - (a % b < 0);
}

/// The remainder of hc_fixed_floor_div, in [0, b); `b` > 0.
static inline int64_t hc_fixed_floor_mod(int64_t a, int64_t b) {
    HC_ASSERT(b > 0);
    return a % b < 0 ? a % b + b : a % b;
}

HC_C_END
