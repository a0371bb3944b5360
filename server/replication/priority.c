/// The scores of a client's units, and the order that follows from them.
#include "server/replication/priority.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

enum { NEAR_STEPS = 4 }; ///< steps of nearness between the slowest growth and twice that

/// Gaps of the Shell sort (Ciura 2001), continued by 2.25 for up to 2^16 units.
static const uint32_t gaps[] = {46187, 20528, 9124, 4055, 1802, 701, 301, 132, 57, 23, 10, 4, 1};

size_t hc_sv_priority_layout(struct hc_sv_priority *priority, const struct hc_world *world,
                             uint8_t *base) {
    size_t used = 0;
    priority->units = hc_unit_total(world);
    priority->score = hc_carve(base, &used, priority->units * sizeof *priority->score);
    return used;
}

void hc_sv_priority_clear(struct hc_sv_priority *priority) {
    memset(priority->score, 0, priority->units * sizeof *priority->score);
}

/// By how much a candidate's score grows: from NEAR_STEPS to HC_SV_PRIORITY_SPREAD times that.
static uint32_t growth(const struct hc_sv_candidate *candidate) {
    uint32_t steps = NEAR_STEPS;
    if (candidate->distance < candidate->view)
        steps += (uint32_t)((uint64_t)(candidate->view - candidate->distance) *
                            ((HC_SV_PRIORITY_NEAR - 1) * NEAR_STEPS) / candidate->view);
    return candidate->changed ? steps * HC_SV_PRIORITY_CHANGED : steps;
}

/// Whether `a` goes before `b`.
static bool before(const uint32_t *score, const struct hc_sv_candidate *a,
                   const struct hc_sv_candidate *b) {
    if (a->own != b->own)
        return a->own;
    if (!a->own && score[a->unit] != score[b->unit])
        return score[a->unit] > score[b->unit];
    return a->unit < b->unit;
}

/// Moves `candidates[at]` to its place among those a multiple of `gap` before it.
static void sink(const uint32_t *score, struct hc_sv_candidate *candidates, uint32_t at,
                 uint32_t gap) {
    struct hc_sv_candidate moved = candidates[at];
    for (; at >= gap && before(score, &moved, &candidates[at - gap]); at -= gap)
        candidates[at] = candidates[at - gap];
    candidates[at] = moved;
}

void hc_sv_priority_grow(struct hc_sv_priority *priority, const struct hc_sv_candidate *candidates,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        HC_ASSERT(candidates[i].unit < priority->units);
        uint32_t *score = &priority->score[candidates[i].unit];
        uint32_t more = growth(&candidates[i]);
        *score = *score < UINT32_MAX - more ? *score + more : UINT32_MAX;
    }
}

void hc_sv_priority_order(const struct hc_sv_priority *priority, struct hc_sv_candidate *candidates,
                          uint32_t count) {
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (uint32_t i = gaps[g]; i < count; i++)
            sink(priority->score, candidates, i, gaps[g]);
}

void hc_sv_priority_sent(struct hc_sv_priority *priority, hc_unit unit) {
    HC_ASSERT(unit < priority->units);
    priority->score[unit] = 0;
}
