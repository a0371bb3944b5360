/// Owns the times at which the ticks of a world are due.
#pragma once

#include "hindcast/tick.h"

#include <stdint.h>

struct hc_sv_schedule {
    uint64_t epoch_us;  ///< the due time of tick 0, moved on by missed ticks
    uint32_t tick_rate; ///< Hz
};

/// Tick 0 is due at `epoch_us`.
void hc_sv_schedule_init(struct hc_sv_schedule *schedule, uint32_t tick_rate, uint64_t epoch_us);

/// The time at which `tick` is due.
uint64_t hc_sv_schedule_due_us(const struct hc_sv_schedule *schedule, hc_tick tick);

/// Microseconds since `head` was due, at most HC_PHASE_MAX_US.
uint32_t hc_sv_schedule_phase_us(const struct hc_sv_schedule *schedule, hc_tick head,
                                 uint64_t now_us);

/// Leaves out the ticks after `head` that were due by now: `head` + 1 is due later by so many, of
/// which it returns the number, at least one.
uint64_t hc_sv_schedule_skip(struct hc_sv_schedule *schedule, hc_tick head, uint64_t now_us);
