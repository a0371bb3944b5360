/// The time budget of a kind of work that is done in measured pieces: a limit for each tick.
///
/// Calls belong in this order:
///     1. while hc_sv_time_budget_lasts: a piece of work, then hc_sv_time_budget_take
///     2. at the next tick hc_sv_time_budget_renew
#pragma once

#include "hindcast/histogram.h"

#include <stdbool.h>
#include <stdint.h>

/// All zeros but `limit_us` is an unused budget.
struct hc_sv_time_budget {
    uint64_t limit_us;            ///< for each tick
    uint64_t taken_us;            ///< of this tick
    uint64_t longest_us;          ///< longest piece of this tick
    struct hc_histogram ticks_us; ///< time taken of each tick with such work
};

/// Whether another piece may begin: the first of a tick always, a later one if it ends in time when
/// it is no longer than the pieces before it.
bool hc_sv_time_budget_lasts(const struct hc_sv_time_budget *budget);

/// Counts a piece of work that took `us`.
void hc_sv_time_budget_take(struct hc_sv_time_budget *budget, uint64_t us);

/// Starts the budget of the next tick.
void hc_sv_time_budget_renew(struct hc_sv_time_budget *budget);
