/// Integer arithmetic that a game's step needs: roots, lengths, angles; no float anywhere.
///
/// Angles count 1024 steps to a full turn, from the x axis towards the y axis, and wrap.
#pragma once

#include "hindcast/check.h"

#include <stdint.h>

enum {
    HC_FIXED_TURN = 1024,   ///< angle steps in a full turn
    HC_FIXED_ONE = 1 << 14, ///< 1.0 as hc_fixed_sin and hc_fixed_cos give it (Q14)
};

/// The square root of `value`, rounded down.
uint32_t hc_fixed_sqrt(uint64_t value);

/// The length of (x, y), rounded down.
uint32_t hc_fixed_length(int32_t x, int32_t y);

/// Gives (x, y) the length `length`, in [0, INT32_MAX], in the same direction; (0, 0) stays. Each
/// component is rounded towards 0 and off by less than 1 + length / 2^28.
void hc_fixed_set_length(int32_t *x, int32_t *y, int32_t length);

/// The same, only where (x, y) is longer than `length`.
void hc_fixed_limit_length(int32_t *x, int32_t *y, int32_t length);

/// The sine of `angle` (any; it wraps) times HC_FIXED_ONE, rounded to nearest.
int32_t hc_fixed_sin(uint32_t angle);

/// The cosine of `angle` (any; it wraps) times HC_FIXED_ONE, rounded to nearest.
int32_t hc_fixed_cos(uint32_t angle);

/// The angle of (x, y), in [0, HC_FIXED_TURN): the step that lies nearest; of (0, 0) it is 0.
uint32_t hc_fixed_angle(int32_t x, int32_t y);

/// `value` brought into [low, high]; `low` <= `high`.
static inline int64_t hc_fixed_clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/// a / b rounded towards minus infinity; `b` > 0.
static inline int64_t hc_fixed_floor_div(int64_t a, int64_t b) {
    HC_ASSERT(b > 0);
    return a / b - (a % b < 0);
}

/// What hc_fixed_floor_div leaves over, in [0, b); `b` > 0.
static inline int64_t hc_fixed_floor_mod(int64_t a, int64_t b) {
    HC_ASSERT(b > 0);
    return a % b < 0 ? a % b + b : a % b;
}
