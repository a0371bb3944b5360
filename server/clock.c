/// Follows the caller's clock, and notices that it is set back.
#include "server/clock.h"

#include "common/elapsed.h"

/// By how much the caller's clock was set back when it shows `given_us`, if it was set when it
/// differs from the newest time by more than `step_us` to the past.
static uint64_t set_at(const struct hc_sv_clock *clock, uint64_t given_us, uint64_t step_us) {
    uint64_t back_us = hc_since(given_us, clock->newest_us);
    uint64_t ahead_us = hc_since(clock->newest_us, given_us);
    if (back_us > step_us)
        return clock->set_us + back_us;
    return ahead_us > HC_SV_CLOCK_STEP_US ? hc_since(ahead_us, clock->set_us) : clock->set_us;
}

uint64_t hc_sv_clock_advance(struct hc_sv_clock *clock, uint64_t given_us) {
    clock->set_us = set_at(clock, given_us, HC_SV_CLOCK_STEP_US);
    clock->newest_us = given_us;
    return given_us + clock->set_us;
}

uint64_t hc_sv_clock_own_us(const struct hc_sv_clock *clock, uint64_t given_us) {
    return given_us + set_at(clock, given_us, HC_SV_CLOCK_ARRIVAL_US);
}

uint64_t hc_sv_clock_given_us(const struct hc_sv_clock *clock, uint64_t own_us) {
    return own_us == UINT64_MAX ? own_us : hc_since(clock->set_us, own_us);
}
