/// The due times of ticks.
#include "server/schedule.h"

#include "common/elapsed.h"
#include "proto/limits.h"

void hc_sv_schedule_init(struct hc_sv_schedule *schedule, uint32_t tick_rate, uint64_t epoch_us) {
    *schedule = (struct hc_sv_schedule){.epoch_us = epoch_us, .tick_rate = tick_rate};
}

uint64_t hc_sv_schedule_due_us(const struct hc_sv_schedule *schedule, hc_tick tick) {
    return schedule->epoch_us + hc_tick_due_us(tick, schedule->tick_rate);
}

uint32_t hc_sv_schedule_phase_us(const struct hc_sv_schedule *schedule, hc_tick head,
                                 uint64_t now_us) {
    uint64_t phase = hc_since(hc_sv_schedule_due_us(schedule, head), now_us);
    return phase < HC_PHASE_MAX_US ? (uint32_t)phase : HC_PHASE_MAX_US;
}

uint64_t hc_sv_schedule_skip(struct hc_sv_schedule *schedule, hc_tick head, uint64_t now_us) {
    uint64_t rate = schedule->tick_rate;
    uint64_t behind_us = hc_since(hc_sv_schedule_due_us(schedule, head + 1), now_us);
    uint64_t missed = behind_us * rate / 1000000 + 1;
    schedule->epoch_us += (missed * 1000000 + rate - 1) / rate;
    return missed;
}
