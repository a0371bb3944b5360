/// Taps of a button, in virtual time: the clients of a match have frames of different lengths, and
/// do nothing between them.
#pragma once

#include "hindcast/game.h"

enum {
    HC_TAP_MATCH_TAPS = 200, ///< taps of each client
    HC_TAP_MATCH_CLIENTS = 6,
};

/// The frames a second of each client.
extern const uint32_t hc_tap_match_rates[HC_TAP_MATCH_CLIENTS];

struct hc_tap_match_config {
    uint32_t tap_us;           ///< The time from a press to its release.
    enum hc_sampling sampling; ///< The sampling of the button.
    bool at_frames; ///< A client takes the events of its keys at its frames, else as they come.
};

/// The button of a client, as the server knows it.
struct hc_tap_match_count {
    unsigned presses; ///< The runs of ticks in which it is pressed.
    unsigned ticks;   ///< These ticks.
};

/// Plays a match at 60 Hz over 30 ms each way, and counts by client. False: it could not be played.
bool hc_tap_match_play(const struct hc_tap_match_config *config,
                       struct hc_tap_match_count counts[HC_TAP_MATCH_CLIENTS]);
