#include "server/replication/extrapolation_budget.h"

#include <string.h>

enum { MOVE = 64 }; ///< a snapshot moves the median by one part in so many

void hc_sv_extrapolation_tick(struct hc_sv_extrapolation_budget *share) {
    memcpy(share->before, share->like, sizeof share->like);
    memset(share->like, 0, sizeof share->like);
}

static uint64_t each(const struct hc_sv_extrapolation_budget *share) {
    uint64_t parts = 2 * share->median, least = HC_SV_EXTRAPOLATION_MIN * HC_SV_EXTRAPOLATION_PARTS;
    return parts > least ? parts : least;
}

/// Moves the median towards what a snapshot has asked for: the few that ask for much move it
/// little.
static void note(struct hc_sv_extrapolation_budget *share, uint64_t asked) {
    uint64_t by = share->median / MOVE + 1;
    if (asked > share->median)
        share->median += by;
    else
        share->median -= by < share->median ? by : share->median;
}

static uint64_t parts_of(const struct hc_sv_extrapolation_cost *extrapolation, uint32_t steps) {
    return (uint64_t)steps * HC_SV_EXTRAPOLATION_PARTS / extrapolation->sharers;
}

struct hc_sv_extrapolation_cost hc_sv_extrapolation_begin(struct hc_sv_extrapolation_budget *share,
                                                          uint32_t saved, uint32_t base_age,
                                                          uint32_t tick_age, uint32_t own_steps) {
    uint32_t kind = (base_age * 31 + tick_age) % HC_SV_EXTRAPOLATION_KINDS;
    struct hc_sv_extrapolation_cost extrapolation = {
        .sharers = share->before[kind] > 0 ? share->before[kind] : 1};
    uint64_t own = parts_of(&extrapolation, own_steps);
    extrapolation.most = each(share) + saved;
    extrapolation.most -= own < extrapolation.most ? own : extrapolation.most;
    share->like[kind]++;
    return extrapolation;
}

bool hc_sv_extrapolation_fits(const struct hc_sv_extrapolation_cost *extrapolation,
                              uint32_t steps) {
    return extrapolation->taken + parts_of(extrapolation, steps) <= extrapolation->most;
}

void hc_sv_extrapolation_take(struct hc_sv_extrapolation_cost *extrapolation, uint32_t steps) {
    extrapolation->taken += parts_of(extrapolation, steps);
}

uint32_t hc_sv_extrapolation_end(struct hc_sv_extrapolation_budget *share,
                                 const struct hc_sv_extrapolation_cost *extrapolation,
                                 uint32_t asked_steps, uint32_t own_steps, uint32_t saved_most) {
    uint64_t all = extrapolation->most + parts_of(extrapolation, own_steps);
    uint64_t left = all > extrapolation->taken ? all - extrapolation->taken : 0;
    note(share, parts_of(extrapolation, asked_steps));
    return left < saved_most ? (uint32_t)left : saved_most;
}
