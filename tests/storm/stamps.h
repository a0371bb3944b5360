/// Own inputs: what was sampled while a client predicted tick P is stamped P + D, each tick once,
/// and gaps are filled with the input before them. While a client waits P is where it would be.
#pragma once

#include "hindcast/client.h"

struct storm_match;

/// One client's since it was created.
struct storm_stamps {
    uint8_t present[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX]; ///< what its players do now
    uint8_t last[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX];    ///< as stamped last
    bool begun, any;                                   ///< it has a head; something was stamped
    hc_tick head;                                      ///< when it was looked at last
    hc_tick next;                                      ///< the next stamp
    uint64_t sampled, restarts;                        ///< as it said then
};

/// A player of the client does this from now on.
void storm_stamps_given(struct storm_match *match, unsigned client, unsigned index,
                        const void *input);

/// The client has received or has advanced.
void storm_stamps_changed(struct storm_match *match, unsigned client);
