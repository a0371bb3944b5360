/// The processor time of extrapolations: a baseline is sent against by extrapolating it to the tick
/// shown, which is most of what a snapshot costs, and what one client needs is kept for all others
/// who need the same.
///
/// A snapshot may take twice the median of what snapshots ask for, HC_SV_EXTRAPOLATION_MIN steps at
/// least, and what its client has saved up. A step counts divided by how many snapshots of the tick
/// before had a base as old and showed a tick as old: these share it. So a client whose baselines
/// are like others' is never short, honest clients at many distances hardly are, and one that
/// acknowledges at times of its own takes no more than its share for long. The median is of what is
/// asked for, not of what is granted, so that the share does not shrink by being used up.
///
/// Calls belong in this order: hc_sv_extrapolation_tick; for each snapshot
/// hc_sv_extrapolation_begin, hc_sv_extrapolation_fits and hc_sv_extrapolation_take for each guess,
/// hc_sv_extrapolation_end.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_EXTRAPOLATION_PARTS = 16, ///< of a step: so finely is counted
    HC_SV_EXTRAPOLATION_MIN = 32,   ///< steps that each snapshot may take
    HC_SV_EXTRAPOLATION_KINDS = 1024,
};

/// Of all clients; all zeros is a beginning.
struct hc_sv_extrapolation_budget {
    uint64_t median; ///< parts that a snapshot asks for
    uint16_t like[HC_SV_EXTRAPOLATION_KINDS],
        before[HC_SV_EXTRAPOLATION_KINDS]; ///< of one kind: now, last tick
};

/// Of one snapshot, in parts.
struct hc_sv_extrapolation_cost {
    uint64_t taken, most;
    uint32_t sharers; ///< of its kind
};

/// Another tick begins.
void hc_sv_extrapolation_tick(struct hc_sv_extrapolation_budget *share);

/// Begins a snapshot of a client that has `saved` parts, with a base `base_age` ticks before the
/// head and of a tick `tick_age` before it; `own_steps` are set aside for what goes first.
struct hc_sv_extrapolation_cost hc_sv_extrapolation_begin(struct hc_sv_extrapolation_budget *share,
                                                          uint32_t saved, uint32_t base_age,
                                                          uint32_t tick_age, uint32_t own_steps);

/// Whether a guess of so many steps can be taken beside what was set aside.
bool hc_sv_extrapolation_fits(const struct hc_sv_extrapolation_cost *extrapolation, uint32_t steps);

/// A guess of so many steps is made.
void hc_sv_extrapolation_take(struct hc_sv_extrapolation_cost *extrapolation, uint32_t steps);

/// Ends a snapshot whose units would all have taken `asked_steps`, kept or not; returns what its
/// client has saved now, at most `saved_most`. `own_steps` as before.
uint32_t hc_sv_extrapolation_end(struct hc_sv_extrapolation_budget *share,
                                 const struct hc_sv_extrapolation_cost *extrapolation,
                                 uint32_t asked_steps, uint32_t own_steps, uint32_t saved_most);
