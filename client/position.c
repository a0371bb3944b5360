/// Moves a client's position in simulated time towards its target.
#include "client/position.h"

#include "common/elapsed.h"

enum {
    PPM = 1000000,
    DONE = 8, ///< A fast correction ends within the deadband divided by this.
};

static uint64_t magnitude(int64_t difference_us) {
    return difference_us < 0 ? (uint64_t)-difference_us : (uint64_t)difference_us;
}

/// How much of the correction is done `elapsed_us` after it began.
static uint64_t done_us(const struct hc_cl_position *position, uint64_t elapsed_us) {
    uint64_t whole_us = magnitude(position->correction_us);
    uint64_t longest_us = position->ppm > 0 ? whole_us * PPM / position->ppm : 0;
    return elapsed_us < longest_us ? elapsed_us * position->ppm / PPM : whole_us;
}

/// The position `elapsed_us` after the correction began.
static uint64_t after(const struct hc_cl_position *position, uint64_t elapsed_us) {
    uint64_t even_us = position->begin_us + elapsed_us;
    uint64_t us = done_us(position, elapsed_us);
    return position->correction_us < 0 ? hc_since(us, even_us) : even_us + us;
}

void hc_cl_position_set(struct hc_cl_position *position, uint64_t now_us, uint64_t position_us) {
    *position = (struct hc_cl_position){.since_us = now_us, .begin_us = position_us};
}

uint64_t hc_cl_position_at(const struct hc_cl_position *position, uint64_t now_us) {
    return after(position, hc_since(position->since_us, now_us));
}

/// Begins a correction of `difference_us`, unless it is what the one under way has left.
static void correct(struct hc_cl_position *position, uint64_t now_us, int64_t difference_us,
                    uint32_t ppm) {
    uint64_t elapsed_us = hc_since(position->since_us, now_us);
    uint64_t whole_us = magnitude(position->correction_us);
    uint64_t left_us = hc_since(done_us(position, elapsed_us), whole_us);
    bool same_way = (difference_us < 0) == (position->correction_us < 0);
    if (position->ppm == ppm && same_way && left_us == magnitude(difference_us))
        return;
    position->begin_us = after(position, elapsed_us);
    position->since_us += elapsed_us;
    position->correction_us = difference_us;
    position->ppm = ppm;
}

enum hc_cl_position_way hc_cl_position_follow(struct hc_cl_position *position, uint64_t now_us,
                                              uint64_t target_us, uint64_t deadband_us, bool free) {
    int64_t difference_us = hc_offset(hc_cl_position_at(position, now_us), target_us);
    uint64_t off_us = magnitude(difference_us);
    bool waited = position->waits, jumps = free || off_us > HC_CL_POSITION_JUMP_US;
    if (jumps && difference_us >= 0) {
        hc_cl_position_set(position, now_us, target_us);
        return free ? HC_CL_POSITION_SLEWS : HC_CL_POSITION_JUMPS;
    }
    position->waits = !free && difference_us < 0 && (jumps || waited);
    position->fast = off_us > deadband_us || (position->fast && off_us > deadband_us / DONE);
    uint32_t rate = position->fast ? HC_CL_POSITION_SLEW_PPM : HC_CL_POSITION_DRIFT_PPM;
    correct(position, now_us, difference_us, position->waits || free ? PPM : rate);
    return position->waits && !waited ? HC_CL_POSITION_JUMPS : HC_CL_POSITION_SLEWS;
}

uint64_t hc_cl_position_local_us(const struct hc_cl_position *position, uint64_t position_us) {
    uint64_t even_us = hc_since(position->begin_us, position_us);
    uint64_t whole_us = magnitude(position->correction_us);
    bool slower = position->correction_us < 0;
    uint64_t elapsed_us = slower ? even_us + whole_us : hc_since(whole_us, even_us);
    if (even_us == 0)
        return position->since_us;
    if (done_us(position, elapsed_us) < whole_us) // it is reached during the correction
        elapsed_us = even_us * PPM / (slower ? PPM - position->ppm : PPM + position->ppm);
    elapsed_us = hc_since(2, elapsed_us); // the division has rounded
    while (after(position, elapsed_us) < position_us)
        elapsed_us++;
    return position->since_us + elapsed_us;
}
