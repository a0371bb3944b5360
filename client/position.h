/// The slewed clock: a client's position in simulated time, which follows a target at a rate in
/// [0.95, 1.05].
///
/// Simulated time is in microseconds since tick 0. It never goes back. A position follows its
/// target by corrections: each makes time run a little faster or slower until the difference is
/// gone, and then time runs as the local clock does. So a position knows what it has corrected, and
/// a target that does not change is never corrected twice. A difference within the deadband is
/// corrected at a thousandth: that follows the drift of two clocks, and no noise is seen. Beyond
/// HC_CL_POSITION_JUMP_US the position jumps: ahead at once; back by standing still.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_CL_POSITION_SLEW_PPM = 50000, ///< Time runs faster or slower by at most so much.
    HC_CL_POSITION_DRIFT_PPM = 1000, ///< Within the deadband it does by at most so much.
    HC_CL_POSITION_JUMP_US = 250000, ///< The position jumps if it is off by more than this.
};

/// Only position.c writes to it. hc_cl_position_set begins.
struct hc_cl_position {
    uint64_t since_us;     ///< The correction began at this local time.
    uint64_t begin_us;     ///< The position then.
    int64_t correction_us; ///< The correction; negative: time runs slower.
    uint32_t ppm;          ///< By so much time runs faster or slower until the correction is done.
    bool fast;             ///< The correction began beyond the deadband.
    bool waits;            ///< The position stands still until the target has come.
};

/// The ways in which a position follows its target.
enum hc_cl_position_way {
    HC_CL_POSITION_SLEWS, ///< The position approaches the target, or is there.
    HC_CL_POSITION_JUMPS, ///< The position has jumped, or stands still from now on.
};

/// The position is `position_us` at `now_us`.
void hc_cl_position_set(struct hc_cl_position *position, uint64_t now_us, uint64_t position_us);

/// Follows the target, which is `target_us` at `now_us`. `free`: a target of any distance is
/// followed by a jump that is not told.
enum hc_cl_position_way hc_cl_position_follow(struct hc_cl_position *position, uint64_t now_us,
                                              uint64_t target_us, uint64_t deadband_us, bool free);

/// The position at `now_us`, which is no earlier than the last call of the two above.
uint64_t hc_cl_position_at(const struct hc_cl_position *position, uint64_t now_us);

/// The first local time at which the position is `position_us` or more.
uint64_t hc_cl_position_local_us(const struct hc_cl_position *position, uint64_t position_us);
