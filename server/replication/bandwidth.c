/// A token bucket whose rate follows the losses.
#include "server/replication/bandwidth.h"

#include "common/elapsed.h"

#include "hindcast/check.h"

#include <stdbool.h>

enum {
    MICRO = 1000000,    ///< parts of a byte in which savings are counted
    LOSS_BEARABLE = 20, ///< one in so many
    FALL = 7,
    RISE = 40,
};

/// The most that may be saved at the present rate.
static int64_t burst(const struct hc_sv_bandwidth *bandwidth) {
    return (int64_t)bandwidth->rate * (HC_SV_BANDWIDTH_BURST_MS * 1000);
}

void hc_sv_bandwidth_begin(struct hc_sv_bandwidth *bandwidth, uint32_t cap, uint64_t now_us) {
    HC_ASSERT(cap >= HC_SV_BANDWIDTH_FLOOR);
    *bandwidth =
        (struct hc_sv_bandwidth){.cap = cap, .rate = cap, .at_us = now_us, .since_us = now_us};
    bandwidth->saved = burst(bandwidth);
}

/// Adds the savings since the last call.
static void fill(struct hc_sv_bandwidth *bandwidth, uint64_t now_us) {
    int64_t most = burst(bandwidth);
    if (now_us <= bandwidth->at_us)
        return;
    uint64_t passed_us = hc_since(bandwidth->at_us, now_us);
    // The product below would overflow after a long time; so long a time pays any debt.
    uint64_t full_us = (uint64_t)(most - bandwidth->saved) / bandwidth->rate + 1;
    if (passed_us >= full_us)
        bandwidth->saved = most;
    else
        bandwidth->saved += (int64_t)(passed_us * bandwidth->rate);
    bandwidth->at_us = now_us;
    HC_ASSERT(bandwidth->saved <= most);
}

int32_t hc_sv_bandwidth_room(struct hc_sv_bandwidth *bandwidth, uint32_t most, uint64_t now_us) {
    fill(bandwidth, now_us);
    int64_t room = bandwidth->saved / MICRO - HC_SV_BANDWIDTH_OVERHEAD;
    if (room < 0)
        return 0;
    return (int32_t)(room < most ? room : most);
}

void hc_sv_bandwidth_spend(struct hc_sv_bandwidth *bandwidth, uint32_t bytes) {
    bandwidth->saved -= ((int64_t)bytes + HC_SV_BANDWIDTH_OVERHEAD) * MICRO;
}

static void set_rate(struct hc_sv_bandwidth *bandwidth, uint64_t rate) {
    uint32_t floor = bandwidth->cap / HC_SV_BANDWIDTH_PART;
    if (floor < HC_SV_BANDWIDTH_FLOOR)
        floor = HC_SV_BANDWIDTH_FLOOR;
    bandwidth->rate = rate < bandwidth->cap ? (uint32_t)rate : bandwidth->cap;
    if (bandwidth->rate < floor)
        bandwidth->rate = floor;
    if (bandwidth->saved > burst(bandwidth))
        bandwidth->saved = burst(bandwidth);
}

void hc_sv_bandwidth_limit(struct hc_sv_bandwidth *bandwidth, uint32_t cap, uint64_t now_us) {
    HC_ASSERT(cap >= HC_SV_BANDWIDTH_FLOOR);
    bool is_at_cap = bandwidth->rate == bandwidth->cap;
    fill(bandwidth, now_us); // the old rate holds up to now
    bandwidth->cap = cap;
    set_rate(bandwidth, is_at_cap ? cap : bandwidth->rate);
}

void hc_sv_bandwidth_learn(struct hc_sv_bandwidth *bandwidth, uint32_t acked, uint32_t lost,
                           uint64_t now_us) {
    bandwidth->sent += acked + lost;
    bandwidth->lost += lost;
    if (now_us < bandwidth->since_us + HC_SV_BANDWIDTH_WINDOW_US)
        return;
    fill(bandwidth, now_us); // the old rate holds up to now
    if ((uint64_t)bandwidth->lost * LOSS_BEARABLE > bandwidth->sent)
        set_rate(bandwidth, bandwidth->rate - bandwidth->rate / FALL);
    else if (bandwidth->sent > 0)
        set_rate(bandwidth, (uint64_t)bandwidth->rate + bandwidth->rate / RISE);
    bandwidth->since_us = now_us;
    bandwidth->sent = 0;
    bandwidth->lost = 0;
}
