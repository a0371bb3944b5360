/// How a match feels, in virtual time: people walk, rest and shoot, and what each client shows in
/// its frames is compared with what was final at the shown tick.
///
/// The game is a field of the size of a screen, without walls. A person presses a key, walks
/// straight on for most of a second, and rests for about as long: so each press is seen alone, on
/// the own screen and on those of the others. Frames are HC_FEEL_FRAME_US apart, and keys change at
/// frames, so at any moment of a tick.
#pragma once

#include "hindcast/histogram.h"
#include "tests/sim/players.h"

enum {
    HC_FEEL_CLIENTS_MAX = 16,
    HC_FEEL_FRAME_US = 4000,
    HC_FEEL_RATE = 60,       ///< ticks a second
    HC_FEEL_WIDTH_PX = 1280, ///< the width of the field, which is that of the screen
    HC_FEEL_TRAVEL_PX = 5,   ///< what a walker travels in a tick
    HC_FEEL_PX = 256,        ///< distances of results are in 1/256 pixels
};

struct hc_feel_config {
    unsigned clients;  ///< The clients, [2, HC_FEEL_CLIENTS_MAX].
    unsigned measured; ///< The first so many are measured, as walkers and as screens; 0: all.
    struct hc_client_timing timing;
    enum hc_others others;
    bool at_once; ///< Corrections are shown at once; false: they fade.
    struct hc_network_sim_config up, down;
    const struct hc_network_sim_config *last; ///< The link of the last client, each way; NULL: as
                                              ///< the others.
    uint32_t held_ppm; ///< This share of the datagrams takes `held_us` longer.
    uint32_t held_us;
    uint32_t seconds; ///< The measured time.
    uint64_t seed;
    bool shoots; ///< Each walk has a shot.
    /// Called before each frame, `us` after the measured time began; NULL: nothing is. It may
    /// disturb the match.
    void (*frame)(void *context, struct hc_sim *sim, uint64_t us);
    void *context; ///< The first argument of `frame`.
};

struct hc_feel_result {
    /// Microseconds from a press to the first frame that shows it: on the own screen, and on each
    /// other one.
    struct hc_histogram own_us, seen_us;
    /// Microseconds from a press until another screen shows the walker within a pixel of the final
    /// states, and goes on so until it rests.
    struct hc_histogram right_us;
    struct hc_histogram wrong_us; ///< Microseconds, of those, in which the walker is shown wrong.
    /// The greatest distance between a shown walker and its final states from one press to the
    /// next, in 1/HC_FEEL_PX pixels: of each press on each other screen.
    struct hc_histogram pop;
    struct hc_histogram own_pop; ///< That distance of each press on the own screen.
    /// The motion of a shown walker within four frames, about a tick, less that of its final
    /// states, in 1/HC_FEEL_PX pixels.
    struct hc_histogram leap;
    uint32_t off_ticks;    ///< Most ticks in a row that are shown farther off than a tick's travel.
    uint32_t frozen_ticks; ///< Most ticks in a row in which a walker is shown at rest and runs.
    uint64_t presses;      ///< The presses on other screens that count in `right_us`.
    uint64_t never;        ///< Of those, walkers that were shown wrong until they rested.
    struct hc_histogram delivered_us; ///< Microseconds from a trigger to the event of the shot on
                                      ///< another screen.
    /// Microseconds from the shot of a walker, as a screen shows it, to its event there.
    struct hc_histogram behind_us;
    uint64_t shots, cancelled; ///< The events of others' shots, and those that were taken back.
    // Of the server and of the clients that are measured, within the measured time.
    struct hc_histogram rewind_depth, rollback_depth; ///< Ticks.
    uint64_t ticks, rewinds, resimulated_ticks;
    uint64_t inputs, late, forced, refused, lost; ///< The inputs of all clients.
    uint64_t rollbacks, corrections, clock_jumps;
    double input_delay, lead; ///< The means over the measured time, in ticks.
};

/// Plays a match. False: it cannot be created, or a client does not play.
bool hc_feel_match(const struct hc_feel_config *config, struct hc_feel_result *result);
