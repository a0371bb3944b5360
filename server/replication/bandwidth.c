#include "server/replication/bandwidth.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

enum {
    MICRO = 1000000,    // parts of a byte in which savings are counted
    LOSS_BEARABLE = 20, // one in so many
    FALL = 7,
    RISE = 40,
    NEAR_STEPS = 4, // grades of nearness from one time the slowest growth to the next
};

/// Gaps of the Shell sort (Ciura 2001), continued by 2.25 as far as 16-bit units can need.
static const uint32_t gaps[] = {46187, 20528, 9124, 4055, 1802, 701, 301, 132, 57, 23, 10, 4, 1};

size_t hc_sv_bandwidth_layout(struct hc_sv_bandwidth *budget, const struct hc_world *world,
                              uint8_t *base) {
    size_t used = 0;
    budget->units = hc_unit_total(world);
    budget->score = hc_carve(base, &used, budget->units * sizeof *budget->score);
    return used;
}

/// The most that may be saved at the present rate.
static int64_t burst(const struct hc_sv_bandwidth *budget) {
    return (int64_t)budget->rate * (HC_SV_BANDWIDTH_BURST_MS * 1000);
}

void hc_sv_bandwidth_begin(struct hc_sv_bandwidth *budget, uint32_t cap, uint64_t now_us) {
    HC_ASSERT(cap >= HC_SV_BANDWIDTH_FLOOR);
    budget->cap = cap;
    budget->rate = cap;
    budget->saved = burst(budget);
    budget->at_us = now_us;
    budget->since_us = now_us;
    budget->sent = 0;
    budget->lost = 0;
    memset(budget->score, 0, budget->units * sizeof *budget->score);
}

/// Saves what has come in since the last call.
static void fill(struct hc_sv_bandwidth *budget, uint64_t now_us) {
    int64_t most = burst(budget);
    if (now_us <= budget->at_us)
        return;
    uint64_t passed_us = now_us - budget->at_us;
    // After a long time the product below would not fit; a debt alone is paid over as long a time.
    uint64_t full_us = (uint64_t)(most - budget->saved) / budget->rate + 1;
    if (passed_us >= full_us)
        budget->saved = most;
    else
        budget->saved += (int64_t)(passed_us * budget->rate);
    budget->at_us = now_us;
    HC_ASSERT(budget->saved <= most);
}

int32_t hc_sv_bandwidth_room(struct hc_sv_bandwidth *budget, uint32_t most, uint64_t now_us) {
    fill(budget, now_us);
    int64_t room = budget->saved / MICRO - HC_SV_BANDWIDTH_OVERHEAD;
    if (room < 0)
        return 0;
    return (int32_t)(room < most ? room : most);
}

void hc_sv_bandwidth_spend(struct hc_sv_bandwidth *budget, uint32_t bytes) {
    budget->saved -= ((int64_t)bytes + HC_SV_BANDWIDTH_OVERHEAD) * MICRO;
}

static void set_rate(struct hc_sv_bandwidth *budget, uint64_t rate) {
    uint32_t floor = budget->cap / HC_SV_BANDWIDTH_PART;
    if (floor < HC_SV_BANDWIDTH_FLOOR)
        floor = HC_SV_BANDWIDTH_FLOOR;
    budget->rate = rate < budget->cap ? (uint32_t)rate : budget->cap;
    if (budget->rate < floor)
        budget->rate = floor;
    if (budget->saved > burst(budget))
        budget->saved = burst(budget);
}

void hc_sv_bandwidth_learn(struct hc_sv_bandwidth *budget, uint32_t arrived, uint32_t lost,
                           uint64_t now_us) {
    budget->sent += arrived + lost;
    budget->lost += lost;
    if (now_us < budget->since_us + HC_SV_BANDWIDTH_WINDOW_US)
        return;
    fill(budget, now_us); // up to now the old rate holds
    if ((uint64_t)budget->lost * LOSS_BEARABLE > budget->sent)
        set_rate(budget, budget->rate - budget->rate / FALL);
    else if (budget->sent > 0)
        set_rate(budget, (uint64_t)budget->rate + budget->rate / RISE);
    budget->since_us = now_us;
    budget->sent = 0;
    budget->lost = 0;
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

/// Brings `candidates[at]` to its place among those a multiple of `gap` before it.
static void sink(const uint32_t *score, struct hc_sv_candidate *candidates, uint32_t at,
                 uint32_t gap) {
    struct hc_sv_candidate moved = candidates[at];
    for (; at >= gap && before(score, &moved, &candidates[at - gap]); at -= gap)
        candidates[at] = candidates[at - gap];
    candidates[at] = moved;
}

void hc_sv_priority_grow(struct hc_sv_bandwidth *budget, const struct hc_sv_candidate *candidates,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        HC_ASSERT(candidates[i].unit < budget->units);
        uint32_t *score = &budget->score[candidates[i].unit];
        uint32_t more = growth(&candidates[i]);
        *score = *score < UINT32_MAX - more ? *score + more : UINT32_MAX;
    }
}

void hc_sv_priority_order(const struct hc_sv_bandwidth *budget, struct hc_sv_candidate *candidates,
                          uint32_t count) {
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (uint32_t i = gaps[g]; i < count; i++)
            sink(budget->score, candidates, i, gaps[g]);
}

void hc_sv_priority_sent(struct hc_sv_bandwidth *budget, hc_unit unit) {
    HC_ASSERT(unit < budget->units);
    budget->score[unit] = 0;
}
