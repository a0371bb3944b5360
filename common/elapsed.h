/// Differences of times, which cannot wrap. tests/check_source.py refuses a bare subtraction of
/// times.
#pragma once

#include <stdint.h>

/// The time from `then` to `now`, which have one unit; 0 if `then` is after `now`. The times of an
/// event and of the call that asks for its age come from different places, such as the kernel's
/// stamp of an arrival and a clock: their order may be the other one. Of durations: what is left of
/// `now` without `then`.
static inline uint64_t hc_since(uint64_t then, uint64_t now) {
    return now > then ? now - then : 0;
}

/// The time from `from` to `to`, which is negative if `to` is before: how far two clocks are apart.
static inline int64_t hc_offset(uint64_t from, uint64_t to) {
    return (int64_t)(to - from);
}
