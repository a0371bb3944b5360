/// The extrapolation budget: the processor time that the extrapolations of one snapshot may take.
///
/// A delta is encoded against an extrapolation of its baseline to the tick shown, which is most of
/// the cost of a snapshot. The delta cache shares the result with every client that needs the same.
///
/// A snapshot may take 9/8 of the median demand of snapshots, at least HC_SV_EXTRAPOLATION_MIN
/// steps, and its client's savings. The price of a step is divided by the number of snapshots in
/// the tick before whose base and shown tick were as old, because these can share its result. So a
/// client whose baselines resemble the others' never runs short, honest clients at many distances
/// hardly do, and a client that acks at odd times takes no more than its share for long. The median
/// counts demands rather than grants, so using the budget up does not shrink it.
///
/// Calls belong in this order: hc_sv_extrapolation_tick; for each snapshot
/// hc_sv_extrapolation_begin, then hc_sv_extrapolation_fits and hc_sv_extrapolation_take for each
/// extrapolation, then hc_sv_extrapolation_end.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_EXTRAPOLATION_PARTS = 16, ///< of a step, the unit of the counts
    HC_SV_EXTRAPOLATION_MIN = 32,   ///< steps that every snapshot may take
    HC_SV_EXTRAPOLATION_KINDS = 1024,
};

/// The budget of all clients; it begins as all zeros.
struct hc_sv_extrapolation_budget {
    uint64_t median;                               ///< parts that a snapshot demands
    uint16_t snapshots[HC_SV_EXTRAPOLATION_KINDS]; ///< snapshots of each kind at this tick
    uint16_t before[HC_SV_EXTRAPOLATION_KINDS];    ///< snapshots of each kind at the tick before
};

/// The cost of one snapshot, in parts.
struct hc_sv_extrapolation_cost {
    uint64_t spent, most;
    uint32_t sharers; ///< snapshots of its kind
};

/// Begins another tick.
void hc_sv_extrapolation_tick(struct hc_sv_extrapolation_budget *budget);

/// Begins a snapshot for a client with `saved` parts, a base `base_age` ticks before the head and a
/// shown tick `tick_age` before it; reserves `own_steps` for the client's own units.
struct hc_sv_extrapolation_cost hc_sv_extrapolation_begin(struct hc_sv_extrapolation_budget *budget,
                                                          uint32_t saved, uint32_t base_age,
                                                          uint32_t tick_age, uint32_t own_steps);

/// Whether an extrapolation of so many steps fits beside the reserved ones.
bool hc_sv_extrapolation_fits(const struct hc_sv_extrapolation_cost *cost, uint32_t steps);

/// Spends an extrapolation of so many steps.
void hc_sv_extrapolation_take(struct hc_sv_extrapolation_cost *cost, uint32_t steps);

/// Ends a snapshot whose units demand `demanded_steps` in all, cached or not; returns the client's
/// savings, at most `saved_most`. `own_steps` as before.
uint32_t hc_sv_extrapolation_end(struct hc_sv_extrapolation_budget *budget,
                                 const struct hc_sv_extrapolation_cost *cost,
                                 uint32_t demanded_steps, uint32_t own_steps, uint32_t saved_most);
