/// Owns the predicted tick, its distance to the server's, and stalls.
#include "client/timing.h"

#include "common/mark.h"

enum { AHEAD_US = 50000 }; ///< head ahead of the client clock, at least 3 ticks, before a stall

bool hc_cl_timing_begin(struct hc_cl_timing *timing, const struct hc_client_config *config,
                        uint32_t future, uint32_t tick_rate) {
    struct hc_cl_delays effective = {.input_delay = config->input_delay, .lead = config->lead};
    if (effective.input_delay > future)
        effective.input_delay = future;
    if (effective.lead > future - effective.input_delay)
        effective.lead = future - effective.input_delay;
    *timing =
        (struct hc_cl_timing){.config = config, .effective = effective, .tick_rate = tick_rate};
    return config->input_delay + config->lead > future;
}

uint64_t hc_cl_timing_interval_us(const struct hc_cl_timing *timing) {
    return 1000000u / timing->tick_rate;
}

hc_tick hc_cl_timing_target(const struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                            uint64_t now_us) {
    uint64_t server_us = hc_cl_clock_server_us(clock, now_us);
    return hc_tick_ahead(hc_tick_at_us(server_us, timing->tick_rate), timing->effective.lead);
}

hc_tick hc_cl_timing_limit(const struct hc_cl_timing *timing, hc_tick newest) {
    return hc_tick_ahead(newest, timing->config->prediction_limit);
}

/// When the head becomes `tick`.
static uint64_t due_us(const struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                       hc_tick tick) {
    hc_tick server = hc_tick_back(tick, timing->effective.lead);
    return hc_cl_clock_local_us(clock, hc_tick_due_us(server, timing->tick_rate));
}

void hc_cl_timing_step(struct hc_cl_timing *timing) {
    timing->head++;
    timing->ticks++;
}

void hc_cl_timing_reach(struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                        uint64_t now_us) {
    // Stored once: a better estimate of the server's clock must not move the shown state back.
    uint64_t head_us = due_us(timing, clock, timing->head);
    timing->head_us = head_us < now_us ? head_us : now_us;
}

void hc_cl_timing_restart(struct hc_cl_timing *timing, hc_tick head, uint64_t now_us) {
    timing->head = head;
    timing->head_us = now_us;
}

bool hc_cl_timing_must_stall(const struct hc_cl_timing *timing, hc_tick target) {
    hc_tick ahead = hc_tick_max(3, hc_tick_at_us(AHEAD_US, timing->tick_rate) + 1);
    return timing->head < target || timing->head > hc_tick_ahead(target, ahead);
}

void hc_cl_timing_stall(struct hc_cl_timing *timing, hc_tick target,
                        struct hc_client_stats *stats) {
    if (!timing->stalled) {
        HC_MARK("client-stalled");
        timing->stalled = true;
        timing->stalled_target = timing->head;
        stats->stalls++;
    }
    if (target > timing->stalled_target) {
        stats->stalled_ticks += target - timing->stalled_target;
        timing->stalled_target = target;
    }
}

void hc_cl_timing_resume(struct hc_cl_timing *timing) {
    if (timing->stalled)
        HC_MARK("client-unstalled");
    timing->stalled = false;
}

uint64_t hc_cl_timing_deadline(const struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                               hc_tick limit) {
    hc_tick counted = timing->head;
    if (timing->stalled && timing->head >= limit)
        counted = hc_tick_max(timing->head, timing->stalled_target);
    return due_us(timing, clock, counted + 1);
}
