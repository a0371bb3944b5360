/// Chooses input delay and lead.
#include "client/delays.h"

#include "common/elapsed.h"
#include "common/mark.h"
#include "proto/limits.h"

enum { SLEW_TICKS = 20 }; ///< in which simulated time gains or loses a tick

static uint32_t at_most(uint32_t value, uint32_t most) {
    return value < most ? value : most;
}

static uint32_t within(uint32_t value, uint32_t min, uint32_t max) {
    return value < min ? min : at_most(value, max);
}

/// Sets both delays so that they are `sum` ticks, or as near to that as the bounds allow.
static void choose(struct hc_cl_delays *delays, uint32_t sum) {
    const struct hc_client_timing *bounds = &delays->bounds;
    delays->input_delay = within(sum > bounds->lead ? sum - bounds->lead : 0, bounds->input_delay,
                                 bounds->input_delay_max);
    delays->lead = within(sum > delays->input_delay ? sum - delays->input_delay : 0, bounds->lead,
                          bounds->lead_max);
}

/// How long reports cover delays that were in effect before, in ticks.
static hc_tick mixed_ticks(const struct hc_cl_delays_now *now) {
    return hc_tick_at_us(HC_MARGIN_WINDOW_US, now->tick_rate);
}

/// The least sum of both that the reports cover.
static uint32_t least_covered(const struct hc_cl_delays *delays) {
    uint32_t sum = delays->input_delay + delays->lead;
    return delays->mixed_until > 0 ? at_most(delays->before, sum) : sum;
}

/// Sets the bounds. A maximum below its minimum is the minimum.
static bool limit(struct hc_cl_delays *delays, const struct hc_client_timing *timing,
                  uint32_t future) {
    struct hc_client_timing *bounds = &delays->bounds;
    uint32_t delay_max = within(timing->input_delay_max, timing->input_delay, UINT32_MAX);
    uint32_t lead_max = within(timing->lead_max, timing->lead, UINT32_MAX);
    bounds->input_delay_max = at_most(delay_max, future);
    bounds->input_delay = at_most(timing->input_delay, future);
    bounds->lead_max = at_most(lead_max, future - bounds->input_delay_max);
    bounds->lead = at_most(timing->lead, bounds->lead_max);
    return delay_max + lead_max > future;
}

bool hc_cl_delays_begin(struct hc_cl_delays *delays, const struct hc_client_timing *timing,
                        uint32_t future) {
    *delays = (struct hc_cl_delays){.mixed_until = HC_NO_TICK};
    bool limited = limit(delays, timing, future);
    choose(delays, delays->bounds.input_delay_max + delays->bounds.lead);
    delays->before = delays->input_delay + delays->lead;
    return limited;
}

bool hc_cl_delays_allow(struct hc_cl_delays *delays, const struct hc_client_timing *timing,
                        uint32_t future) {
    uint32_t before = least_covered(delays);
    bool limited = limit(delays, timing, future);
    choose(delays, delays->input_delay + delays->lead);
    delays->before = before;
    delays->mixed_until = HC_NO_TICK; // the next report sets it
    delays->calm_us = 0;
    return limited;
}

/// The ticks that were needed: those that were in effect, and as many as the low margin lacks, or
/// less those that it has left.
static uint32_t needed(uint32_t in_effect, int64_t margin_us, uint32_t interval_us) {
    if (margin_us < 0)
        return in_effect + (uint32_t)((uint64_t)-margin_us / interval_us) + 1;
    uint32_t left = (uint32_t)((uint64_t)margin_us / interval_us);
    return in_effect > left ? in_effect - left : 0;
}

/// The least sum to which the delays may fall at once, the lead first.
static uint32_t fallen(const struct hc_cl_delays *delays, const struct hc_cl_delays_now *now) {
    uint32_t ticks = hc_tick_max(1, hc_tick_at_us(HC_CL_DELAYS_FALL_US, now->tick_rate));
    uint32_t kept = delays->lead > ticks ? delays->lead - ticks : 0;
    return kept > 0 ? delays->input_delay + kept : 0;
}

/// Changes the sum of both to `sum` ticks.
static void change(struct hc_cl_delays *delays, uint32_t sum, hc_tick as_of,
                   const struct hc_cl_delays_now *now) {
    uint32_t before = least_covered(delays), lead = delays->lead;
    choose(delays, sum);
    uint32_t slews = lead > delays->lead ? lead - delays->lead : delays->lead - lead;
    delays->before = before;
    hc_tick mixed_until = as_of + mixed_ticks(now) + slews * SLEW_TICKS +
                          2 * (hc_tick_at_us(now->rtt_us, now->tick_rate) + 1);
    delays->mixed_until = hc_tick_max(delays->mixed_until, mixed_until); // a lead may still slew
    delays->calm_us = 0;
    HC_MARK("delays-changed");
}

void hc_cl_delays_take(struct hc_cl_delays *delays, const struct hc_cl_margin *margin,
                       const struct hc_cl_delays_now *now) {
    const struct hc_client_timing *bounds = &delays->bounds;
    uint32_t most = bounds->input_delay_max + bounds->lead_max;
    uint32_t least = bounds->input_delay + bounds->lead;
    uint32_t sum = delays->input_delay + delays->lead;
    if (!margin->known || margin->at_us == delays->report_us || least == most)
        return;
    delays->report_us = margin->at_us;
    if (delays->mixed_until == HC_NO_TICK)
        delays->mixed_until = margin->as_of + mixed_ticks(now);
    if (margin->as_of >= delays->mixed_until)
        delays->mixed_until = 0;
    uint32_t in_effect = least_covered(delays);
    int64_t spare_us = hc_offset(HC_CL_DELAYS_SPARE_US, (uint64_t)(int64_t)margin->low_us);
    uint32_t wanted = within(needed(in_effect, spare_us, 1000000 / now->tick_rate), least, most);
    if (wanted > sum) {
        change(delays, wanted, margin->as_of, now);
        return;
    }
    if (wanted == sum || delays->mixed_until > 0) { // a report of other delays proves nothing
        delays->calm_us = 0;
        return;
    }
    if (delays->calm_us == 0) {
        delays->calm_us = now->now_us;
        delays->peak = 0;
    }
    delays->peak = wanted > delays->peak ? wanted : delays->peak;
    if (hc_since(delays->calm_us, now->now_us) + HC_MARGIN_WINDOW_US >= HC_CL_DELAYS_PROOF_US)
        change(delays, hc_tick_max(delays->peak, fallen(delays, now)), margin->as_of, now);
}
