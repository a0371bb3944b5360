/// Filters samples of the server's time.
#include "client/link/clock.h"

#include "common/elapsed.h"
#include "common/mark.h"
#include "hindcast/check.h"

enum { SPAN_US = HC_CL_CLOCK_WINDOW_US / HC_CL_CLOCK_SPANS };

static int64_t offset_of(uint64_t now_us, uint64_t rtt_us, uint64_t server_us) {
    return hc_offset(now_us, server_us + rtt_us / 2);
}

void hc_cl_clock_estimate(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                          uint64_t server_us) {
    int64_t offset_us = offset_of(now_us, rtt_us, server_us);
    if (clock->samples > 0 || (clock->known && offset_us <= clock->offset_us))
        return;
    clock->known = true;
    clock->offset_us = offset_us;
}

/// Narrows the bounds of `span` by those of `other`.
static void narrow(struct hc_cl_clock_span *span, const struct hc_cl_clock_span *other) {
    if (other->least_us > span->least_us)
        span->least_us = other->least_us;
    if (other->most_us < span->most_us)
        span->most_us = other->most_us;
    if (other->rtt_us < span->rtt_us)
        span->rtt_us = other->rtt_us;
}

/// Adds a sample to the span of its time.
static void add(struct hc_cl_clock *clock, const struct hc_cl_clock_span *sample) {
    struct hc_cl_clock_span *span = &clock->spans[sample->number % HC_CL_CLOCK_SPANS];
    if (span->number == sample->number)
        narrow(span, sample);
    else
        *span = *sample;
    clock->samples += clock->samples < UINT32_MAX;
}

/// The narrowest bounds of all spans in the window that ends with the one of `sample`.
static struct hc_cl_clock_span recent(const struct hc_cl_clock *clock,
                                      const struct hc_cl_clock_span *sample) {
    struct hc_cl_clock_span all = *sample;
    for (uint32_t i = 0; i < HC_CL_CLOCK_SPANS; i++)
        if (clock->spans[i].number > 0 &&
            clock->spans[i].number + HC_CL_CLOCK_SPANS > sample->number)
            narrow(&all, &clock->spans[i]);
    return all;
}

static int64_t middle(const struct hc_cl_clock_span *bounds) {
    return bounds->least_us + hc_offset((uint64_t)bounds->least_us, (uint64_t)bounds->most_us) / 2;
}

bool hc_cl_clock_sample(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us) {
    struct hc_cl_clock_span sample = {
        .number = now_us / SPAN_US + 1, .least_us = hc_offset(now_us, server_us), .rtt_us = rtt_us};
    sample.most_us = sample.least_us + (int64_t)rtt_us;
    struct hc_cl_clock_span bounds = recent(clock, &sample);
    bool was_set = bounds.least_us > bounds.most_us + HC_CL_CLOCK_MARGIN_US;
    if (was_set) {
        HC_MARK("server-clock-was-set");
        *clock = (struct hc_cl_clock){.known = true};
        bounds = sample;
    }
    add(clock, &sample);
    clock->known = true;
    clock->offset_us = middle(&bounds);
    clock->rtt_min_us = bounds.rtt_us;
    return was_set;
}

uint64_t hc_cl_clock_server_us(const struct hc_cl_clock *clock, uint64_t now_us) {
    HC_ASSERT(clock->known);
    int64_t server_us = (int64_t)(now_us + (uint64_t)clock->offset_us);
    return server_us > 0 ? (uint64_t)server_us : 0;
}
