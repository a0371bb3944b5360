/// The ticks that a client shows: its own players' one, and the one of the others, which may be
/// farther back so that they are shown as they were received (hc_client_config.others).
#pragma once

#include "client/world/interpolation.h"

enum { HC_CL_DISPLAY_SAMPLES = 64 }; ///< ticks whose snapshots are remembered

/// Offsets and positions are in 1/HC_CL_INTERPOLATION_WHOLE ticks.
struct hc_cl_display {
    uint32_t offset; ///< ticks that the own players are to be shown behind the newest predicted one
    int64_t from;    ///< their offset at `since`, from which it goes to `offset`
    int64_t since;   ///< position in simulated time
    bool follows;    ///< the others are shown as received
    bool joined;     ///< the others are shown at the tick of the own players
    uint32_t most;   ///< ticks that they are shown behind at most, unless `offset` is more
    int64_t now, before; ///< their offset at the newest predicted tick, and at the one before it
    uint32_t wanted;     ///< ticks that `now` approaches while it follows
    uint32_t peak;       ///< the most ticks needed since `wanted` ticks were needed last
    uint32_t calm;       ///< predicted ticks since then
    hc_tick first;       ///< of the first snapshot; HC_NO_TICK before it
    uint32_t count;      ///< predicted ticks that were remembered
    uint8_t behind[HC_CL_DISPLAY_SAMPLES]; ///< ring: ticks from the newest snapshot's to the newest
};

/// Begins with a new world. `input_delay`: that of the connection, ticks.
struct hc_cl_display hc_cl_display_begin(const struct hc_client_config *config,
                                         uint32_t input_delay);

/// Takes another choice of the game, while `position` is shown: the offsets go there by an eighth
/// of what the position goes forth, so that nothing that is shown goes back.
void hc_cl_display_choose(struct hc_cl_display *display, const struct hc_client_config *config,
                          int64_t position);

/// The tick `head` was predicted, while the newest snapshot is of the tick `newest`.
void hc_cl_display_predicted(struct hc_cl_display *display, hc_tick head, hc_tick newest);

/// The ticks that the own players are shown behind the newest predicted tick, which is `head`,
/// rounded.
uint32_t hc_cl_display_own(const struct hc_cl_display *display, hc_tick head);

/// The ticks that the others are shown behind it, rounded.
uint32_t hc_cl_display_others(const struct hc_cl_display *display, hc_tick head);

/// The ticks behind it that anything is shown at most.
uint32_t hc_cl_display_farthest(const struct hc_cl_display *display, hc_tick head);

/// The times shown at a position in simulated time, in 1/HC_CL_INTERPOLATION_WHOLE ticks.
struct hc_cl_interpolation_times hc_cl_display_times(const struct hc_cl_display *display,
                                                     const struct hc_timeline *timeline,
                                                     int64_t position);
