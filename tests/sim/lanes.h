/// A game of players who never meet: each runs on a lane of its own and remembers all its inputs.
///
/// One wrong input changes a player's digest for good, so nothing can go wrong and heal unseen.
#pragma once

#include "hindcast/game.h"

extern const struct hc_game lanes;

/// The same game in another version, which cannot talk to the first.
extern const struct hc_game lanes_next;

struct lanes_runner {
    int32_t x, y; ///< y is the lane
    int32_t v;
    uint16_t digest; ///< of every input since the join, in order
    uint16_t inputs; ///< how many those were, modulo 2^16
};

struct lanes_input {
    int8_t push;   ///< [-8, 7]
    uint8_t touch; ///< anything; counts only in the digest
};
