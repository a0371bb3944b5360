/// Ticks: the discrete time of a world, counted from 0. The type lasts 828 days at 60 Hz.
#pragma once

#include "hindcast/api.h"

#include <stdint.h>

HC_C_BEGIN

typedef uint32_t hc_tick;

/// No tick. It is greater than every tick and never simulated.
#define HC_NO_TICK UINT32_MAX

/// `tick - ticks`, at least 0.
static inline hc_tick hc_tick_back(hc_tick tick, uint32_t ticks) {
    return tick > ticks ? tick - ticks : 0;
}

/// `tick + ticks`, at most HC_NO_TICK - 1.
static inline hc_tick hc_tick_ahead(hc_tick tick, uint32_t ticks) {
    return ticks < HC_NO_TICK - 1 - tick ? tick + ticks : HC_NO_TICK - 1;
}

/// The older of two ticks.
static inline hc_tick hc_tick_min(hc_tick a, hc_tick b) {
    return a < b ? a : b;
}

/// The newer of two ticks.
static inline hc_tick hc_tick_max(hc_tick a, hc_tick b) {
    return a > b ? a : b;
}

/// The time at which `tick` is due, in microseconds after tick 0, at `rate` ticks a second (> 0).
static inline uint64_t hc_tick_due_us(hc_tick tick, uint32_t rate) {
    return (uint64_t)tick * 1000000u / rate;
}

/// The newest tick that is due at `us` microseconds after tick 0, at `rate` ticks a second (> 0).
static inline hc_tick hc_tick_at_us(uint64_t us, uint32_t rate) {
    uint64_t tick = (us * rate + rate - 1) / 1000000u;
    while (tick > 0 && tick * 1000000u / rate > us)
        tick--;
    return tick >= HC_NO_TICK ? HC_NO_TICK - 1 : (hc_tick)tick;
}

HC_C_END
