/// What some work may take of each tick: it is done in pieces, and whoever does it measures them.
///
/// Calls belong in this order: while hc_sv_time_budget_lasts, a piece of work and
/// hc_sv_time_budget_take; at the next tick hc_sv_time_budget_renew.
#pragma once

#include "hindcast/histogram.h"

#include <stdbool.h>
#include <stdint.h>

/// All zeros but for `limit_us` is a share of which nothing was taken yet.
struct hc_sv_time_budget {
    uint64_t limit_us;            ///< of each tick
    uint64_t taken_us;            ///< of this tick
    uint64_t longest_us;          ///< piece of this tick
    struct hc_histogram ticks_us; ///< what was taken of each tick in which there was such work
};

/// Whether another piece may be begun: the first of a tick always, and then as long as one that is
/// no longer than those before ends in time.
bool hc_sv_time_budget_lasts(const struct hc_sv_time_budget *share);

/// A piece of work has taken `us`.
void hc_sv_time_budget_take(struct hc_sv_time_budget *share, uint64_t us);

/// Another tick begins.
void hc_sv_time_budget_renew(struct hc_sv_time_budget *share);
