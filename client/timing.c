/// Owns the predicted tick, its distance to the server's, and stalls.
#include "client/timing.h"

#include "client/config.h"
#include "common/elapsed.h"
#include "common/mark.h"

enum {
    BUDGET_US = 100000, ///< ticks of so much time that an advance predicts, if not configured
    BUDGET_MIN = 4,     ///< these ticks at least
    JOIN_SAMPLES = 8,   ///< round trips without which a client has not joined
    DEADBAND = 4,       ///< of a tick: the deadband is a quarter
};

bool hc_cl_timing_begin(struct hc_cl_timing *timing, const struct hc_client_config *config,
                        uint32_t future, uint32_t tick_rate) {
    struct hc_client_timing wanted = hc_cl_config_timing(config);
    *timing = (struct hc_cl_timing){.config = config, .future = future, .tick_rate = tick_rate};
    return hc_cl_delays_begin(&timing->effective, &wanted, future);
}

bool hc_cl_timing_allow(struct hc_cl_timing *timing) {
    struct hc_client_timing wanted = hc_cl_config_timing(timing->config);
    return hc_cl_delays_allow(&timing->effective, &wanted, timing->future);
}

uint64_t hc_cl_timing_interval_us(const struct hc_cl_timing *timing) {
    return 1000000u / timing->tick_rate;
}

// ---- The position -------------------------------------------------------------------------------

/// The simulated time at which `tick` is due.
static uint64_t due_us(const struct hc_cl_timing *timing, hc_tick tick) {
    return hc_tick_due_us(tick, timing->tick_rate);
}

static uint64_t target_us(const struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                          uint64_t now_us) {
    return hc_cl_clock_server_us(clock, now_us) + due_us(timing, timing->effective.lead);
}

void hc_cl_timing_restart(struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                          hc_tick head, uint64_t now_us) {
    // The server is never behind what it has sent.
    uint64_t least_us = due_us(timing, head), aim_us = target_us(timing, clock, now_us);
    if (!timing->started)
        timing->began_us = now_us;
    if (!timing->started || hc_cl_position_at(&timing->position, now_us) < least_us)
        hc_cl_position_set(&timing->position, now_us, aim_us > least_us ? aim_us : least_us);
    timing->started = timing->catches_up = true;
    timing->head = head;
}

/// Sets the position back to a target before it, as far as nothing is shown meanwhile: what is
/// shown rests at the head until a newer tick comes.
static void skip_unseen(struct hc_cl_timing *timing, uint64_t now_us, uint64_t aim_us) {
    uint64_t position_us = hc_cl_position_at(&timing->position, now_us);
    uint64_t unseen_us = due_us(timing, timing->head + 1);
    uint64_t back_us = aim_us > unseen_us ? aim_us : unseen_us;
    if (timing->catches_up && back_us < position_us)
        hc_cl_position_set(&timing->position, now_us, back_us);
}

bool hc_cl_timing_follow(struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                         uint64_t now_us, struct hc_client_stats *stats) {
    timing->settled |= clock->samples >= JOIN_SAMPLES &&
                       hc_since(timing->began_us, now_us) >= HC_CL_TIMING_JOIN_US;
    uint64_t aim_us = target_us(timing, clock, now_us);
    skip_unseen(timing, now_us, aim_us);
    bool jumps = hc_cl_position_follow(&timing->position, now_us, aim_us,
                                       hc_cl_timing_interval_us(timing) / DEADBAND,
                                       !timing->settled) == HC_CL_POSITION_JUMPS;
    if (jumps)
        HC_MARK("client-clock-jumped");
    timing->catches_up |= jumps || !timing->settled;
    stats->clock_jumps += jumps;
    return jumps;
}

hc_tick hc_cl_timing_due(const struct hc_cl_timing *timing, uint64_t now_us) {
    return hc_tick_at_us(hc_cl_position_at(&timing->position, now_us), timing->tick_rate);
}

int64_t hc_cl_timing_position(const struct hc_cl_timing *timing, uint64_t now_us, uint32_t whole) {
    uint64_t position_us = hc_cl_position_at(&timing->position, now_us);
    hc_tick tick = hc_tick_at_us(position_us, timing->tick_rate);
    uint64_t begin_us = due_us(timing, tick), end_us = due_us(timing, tick + 1);
    return (int64_t)tick * whole +
           (int64_t)(hc_since(begin_us, position_us) * whole / hc_since(begin_us, end_us));
}

// ---- Ticks --------------------------------------------------------------------------------------

hc_tick hc_cl_timing_limit(const struct hc_cl_timing *timing, hc_tick newest) {
    return hc_tick_ahead(newest, timing->config->prediction_limit);
}

hc_tick hc_cl_timing_end(const struct hc_cl_timing *timing) {
    hc_tick ticks = timing->config->ticks_per_advance;
    if (ticks == 0)
        ticks = hc_tick_max(BUDGET_MIN, hc_tick_at_us(BUDGET_US, timing->tick_rate));
    return hc_tick_ahead(timing->head, ticks);
}

bool hc_cl_timing_is_near(const struct hc_cl_timing *timing, hc_tick tick) {
    hc_tick near = hc_tick_at_us(HC_CL_POSITION_JUMP_US, timing->tick_rate) + 1;
    return tick <= hc_tick_ahead(timing->head, near);
}

void hc_cl_timing_step(struct hc_cl_timing *timing) {
    timing->head++;
    timing->ticks++;
}

bool hc_cl_timing_finish(struct hc_cl_timing *timing, hc_tick due, uint64_t now_us,
                         struct hc_client_stats *stats) {
    if (timing->head >= due)
        timing->catches_up = false;
    if (timing->head >= due || timing->catches_up)
        return false;
    uint64_t late_us = hc_since(due_us(timing, timing->head), due_us(timing, due));
    if (late_us > HC_CL_POSITION_JUMP_US) {
        timing->catches_up = true;
        stats->clock_jumps++;
        return true;
    }
    HC_MARK("client-position-fell-back");
    hc_cl_position_set(&timing->position, now_us,
                       hc_since(late_us, hc_cl_position_at(&timing->position, now_us)));
    return false;
}

// ---- Stalls -------------------------------------------------------------------------------------

bool hc_cl_timing_must_stall(const struct hc_cl_timing *timing, hc_tick due, hc_tick limit) {
    return (timing->head < due && timing->head >= limit) || timing->position.waits;
}

void hc_cl_timing_stall(struct hc_cl_timing *timing, hc_tick due, struct hc_client_stats *stats) {
    if (!timing->stalled) {
        HC_MARK("client-stalled");
        timing->stalled = true;
        timing->stalled_target = timing->head;
        stats->stalls++;
    }
    if (due > timing->stalled_target) {
        stats->stalled_ticks += due - timing->stalled_target;
        timing->stalled_target = due;
    }
    timing->catches_up = true;
}

void hc_cl_timing_resume(struct hc_cl_timing *timing) {
    if (timing->stalled)
        HC_MARK("client-unstalled");
    timing->stalled = false;
}

uint64_t hc_cl_timing_deadline(const struct hc_cl_timing *timing, hc_tick limit) {
    hc_tick counted = timing->head;
    if (timing->stalled && timing->head >= limit)
        counted = hc_tick_max(timing->head, timing->stalled_target);
    return hc_cl_position_local_us(&timing->position, due_us(timing, counted + 1));
}
