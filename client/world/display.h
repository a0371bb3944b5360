/// The ticks that a client shows: its own players' one, and the one of the others, which may be
/// farther back so that they are shown as they were received (hc_client_config.others).
#pragma once

#include "client/world/interpolation.h"

enum { HC_CL_DISPLAY_SAMPLES = 64 }; ///< ticks whose snapshots are remembered

struct hc_cl_display {
    uint32_t offset; ///< ticks that the own players are to be shown behind the newest predicted one
    bool follows;    ///< the others are shown as received
    uint32_t most;   ///< ticks that they are shown behind it at most, unless `offset` is more
    /// The offset of the own players at the newest predicted tick, and at the one before it, in
    /// 1/HC_CL_INTERPOLATION_WHOLE. It approaches `offset`.
    int64_t own_now, own_before;
    int64_t now, before; ///< those of the others, which approach `wanted`
    uint32_t wanted;     ///< ticks that the offset of the others approaches
    uint32_t peak;       ///< the most ticks needed since `wanted` ticks were needed last
    uint32_t calm;       ///< predicted ticks since then
    hc_tick first;       ///< of the first snapshot; HC_NO_TICK before it
    uint32_t count;      ///< predicted ticks that were remembered
    uint8_t behind[HC_CL_DISPLAY_SAMPLES]; ///< ring: ticks from the newest snapshot's to the newest
};

/// Begins with a new world. `input_delay`: that of the connection, ticks.
struct hc_cl_display hc_cl_display_begin(const struct hc_client_config *config,
                                         uint32_t input_delay);

/// Takes another choice of the game: the offsets approach it tick by tick, so that what is shown
/// does not go back, or go there at once if it is more than 8 ticks away.
void hc_cl_display_choose(struct hc_cl_display *display, const struct hc_client_config *config);

/// The tick `head` was predicted, while the newest snapshot is of the tick `newest`.
void hc_cl_display_predicted(struct hc_cl_display *display, hc_tick head, hc_tick newest);

/// The ticks that the own players are shown behind the newest predicted tick, rounded.
uint32_t hc_cl_display_own(const struct hc_cl_display *display);

/// The ticks that the others are shown behind the newest predicted tick, rounded.
uint32_t hc_cl_display_others(const struct hc_cl_display *display);

/// The ticks behind the newest predicted one that anything is shown at most.
uint32_t hc_cl_display_farthest(const struct hc_cl_display *display);

/// The times shown at a position in simulated time, in 1/HC_CL_INTERPOLATION_WHOLE ticks.
struct hc_cl_interpolation_times hc_cl_display_times(const struct hc_cl_display *display,
                                                     const struct hc_timeline *timeline,
                                                     int64_t position);
