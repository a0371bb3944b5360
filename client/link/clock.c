/// Filters samples of the server's time.
#include "client/link/clock.h"

#include "common/elapsed.h"
#include "common/mark.h"
#include "hindcast/check.h"

static int64_t offset_of(uint64_t now_us, uint64_t rtt_us, uint64_t server_us) {
    return hc_offset(now_us, server_us + rtt_us / 2);
}

void hc_cl_clock_estimate(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                          uint64_t server_us) {
    int64_t offset_us = offset_of(now_us, rtt_us, server_us);
    if (clock->count > 0 || (clock->known && offset_us <= clock->offset_us))
        return;
    clock->known = true;
    clock->offset_us = offset_us;
}

static bool in_window(const struct hc_cl_clock *clock, uint32_t sample, uint64_t now_us) {
    return hc_since(clock->samples[sample].at_us, now_us) <= HC_CL_CLOCK_WINDOW_US;
}

bool hc_cl_clock_sample(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us) {
    uint32_t newest = clock->next, best = newest, before = clock->best;
    clock->rtt_us[newest] = rtt_us;
    clock->samples[newest] = (struct hc_cl_clock_sample){
        .at_us = now_us, .offset_us = offset_of(now_us, rtt_us, server_us)};
    clock->next = (clock->next + 1) % HC_CL_CLOCK_SAMPLES;
    if (clock->count < HC_CL_CLOCK_SAMPLES)
        clock->count++;
    // The best so far first: it is mostly better than all others, whose times are not needed then.
    if (clock->rtt_us[before] < rtt_us && in_window(clock, before, now_us))
        best = before;
    for (uint32_t i = 0; i < clock->count; i++) {
        // Of equal ones the newest counts, or else the first.
        bool first = clock->rtt_us[i] == clock->rtt_us[best] && best != newest && i < best;
        if ((clock->rtt_us[i] < clock->rtt_us[best] || first) && in_window(clock, i, now_us))
            best = i;
    }
    // The stamp was true when it was sent, at most one round trip ago. If the estimate contradicts
    // it, the server's clock was set since.
    int64_t least_us = hc_offset(now_us, server_us), most_us = least_us + (int64_t)rtt_us;
    int64_t offset_us = clock->samples[best].offset_us;
    bool was_set =
        offset_us + HC_CL_CLOCK_MARGIN_US < least_us || offset_us > most_us + HC_CL_CLOCK_MARGIN_US;
    if (was_set) {
        HC_MARK("server-clock-was-set");
        clock->samples[0] = clock->samples[newest];
        clock->rtt_us[0] = rtt_us;
        clock->count = clock->next = 1;
        best = 0;
    }
    clock->known = true;
    clock->best = best;
    clock->offset_us = clock->samples[best].offset_us;
    clock->rtt_min_us = clock->rtt_us[best];
    return was_set;
}

uint64_t hc_cl_clock_server_us(const struct hc_cl_clock *clock, uint64_t now_us) {
    HC_ASSERT(clock->known);
    int64_t server_us = (int64_t)(now_us + (uint64_t)clock->offset_us);
    return server_us > 0 ? (uint64_t)server_us : 0;
}

uint64_t hc_cl_clock_local_us(const struct hc_cl_clock *clock, uint64_t server_us) {
    HC_ASSERT(clock->known);
    int64_t local_us = hc_offset((uint64_t)clock->offset_us, server_us);
    return local_us > 0 && server_us > 0 ? (uint64_t)local_us : 0;
}
