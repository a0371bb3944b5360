/// The running median of demands, and the price of a step.
#include "server/replication/extrapolation_budget.h"

#include <string.h>

enum { MEDIAN_STEP = 64 }; ///< a snapshot moves the median by one part in so many

void hc_sv_extrapolation_tick(struct hc_sv_extrapolation_budget *budget) {
    memcpy(budget->before, budget->snapshots, sizeof budget->snapshots);
    memset(budget->snapshots, 0, sizeof budget->snapshots);
}

/// Parts that every snapshot may take.
static uint64_t grant(const struct hc_sv_extrapolation_budget *budget) {
    uint64_t parts = budget->median + budget->median / 8;
    uint64_t least = HC_SV_EXTRAPOLATION_MIN * HC_SV_EXTRAPOLATION_PARTS;
    return parts > least ? parts : least;
}

/// Moves the median towards the demand of a snapshot: a few great demands move it little.
static void move_median(struct hc_sv_extrapolation_budget *budget, uint64_t demanded) {
    uint64_t by = budget->median / MEDIAN_STEP + 1;
    if (demanded > budget->median)
        budget->median += by;
    else
        budget->median -= by < budget->median ? by : budget->median;
}

static uint32_t price(const struct hc_sv_extrapolation_cost *cost, uint32_t steps) {
    return steps * HC_SV_EXTRAPOLATION_PARTS / cost->sharers;
}

struct hc_sv_extrapolation_cost hc_sv_extrapolation_begin(struct hc_sv_extrapolation_budget *budget,
                                                          uint32_t saved, uint32_t base_age,
                                                          uint32_t tick_age, uint32_t own_steps) {
    uint32_t kind = (base_age * 31 + tick_age) % HC_SV_EXTRAPOLATION_KINDS;
    struct hc_sv_extrapolation_cost cost = {
        .sharers = budget->before[kind] > 0 ? budget->before[kind] : 1};
    uint64_t own = price(&cost, own_steps);
    cost.most = grant(budget) + saved;
    cost.most -= own < cost.most ? own : cost.most;
    budget->snapshots[kind]++;
    return cost;
}

bool hc_sv_extrapolation_fits(const struct hc_sv_extrapolation_cost *cost, uint32_t steps) {
    return cost->spent + price(cost, steps) <= cost->most;
}

void hc_sv_extrapolation_take(struct hc_sv_extrapolation_cost *cost, uint32_t steps) {
    cost->spent += price(cost, steps);
}

uint32_t hc_sv_extrapolation_end(struct hc_sv_extrapolation_budget *budget,
                                 const struct hc_sv_extrapolation_cost *cost,
                                 uint32_t demanded_steps, uint32_t own_steps, uint32_t saved_most) {
    uint64_t all = cost->most + price(cost, own_steps);
    uint64_t left = all > cost->spent ? all - cost->spent : 0;
    move_median(budget, price(cost, demanded_steps));
    return left < saved_most ? (uint32_t)left : saved_most;
}
