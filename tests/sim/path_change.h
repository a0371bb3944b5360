/// Changes of a client's path or of its time in mid-match, and when its input delay and its lead
/// are right again.
#pragma once

#include "hindcast/client.h"

#include <stdbool.h>

enum hc_path_change {
    HC_PATH_SCAN,       ///< every 10 s nothing passes for 200 ms, and comes then at once
    HC_PATH_LONGER,     ///< both ways become 40 ms longer
    HC_PATH_SHORTER,    ///< both ways become 40 ms shorter
    HC_PATH_UPLINK,     ///< the uplink becomes 100 ms longer, with 20 ms of jitter
    HC_PATH_SLOW_FRAME, ///< the client does nothing for 40 ms
    HC_PATH_SUSPEND,    ///< the client does nothing for 3 s
    HC_PATH_CHANGES
};

enum {
    // Each and a round trip, until which the client knows it.
    HC_PATH_RAISED_US = 1000000, ///< delays that rise are right
    /// Delays that fall are right: a second of margins, 4 s of proof, and a report at the begin of
    /// the proof and at its end, of which ten come in a second.
    HC_PATH_LOWERED_US = 5200000,
    HC_PATH_SLEW = 20, ///< ticks that the slewed clock takes for each tick of lead
};

/// The effect of a change. Times begin when the change is complete.
struct hc_path_result {
    const char *name;
    uint32_t before, after; ///< Input delay and lead together, ticks: before, and 10 s later.
    uint32_t most;          ///< The most of them meanwhile.
    /// From then on they were no less than a tick below `after`; nor more than a tick above it if
    /// they must fall. Of `before` instead, in both ways, if the path is as before.
    uint64_t right_us;
    uint64_t late_us;  ///< The last input that came late; 0: none did.
    uint64_t bound_us; ///< The most that `right_us` may be.
    /// The most that `late_us` may be: the time in which delays rise, and that in which the lead
    /// follows.
    uint64_t late_bound_us;
    uint64_t late, forced, refused, lost, clock_jumps;
};

/// Plays a match of four walkers with the preset `ahead`, of which one has the change. False: it
/// could not be played.
bool hc_path_change_play(enum hc_path_change change, struct hc_path_result *result);
