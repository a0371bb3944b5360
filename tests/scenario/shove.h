/// A game of players who stand close together and shove each other, and forget no shove.
///
/// A player puts out an arm, and at the next tick whoever is within reach on that side is pushed:
/// so what one does at a tick moves another at the next. Positions go into a digest, in which a
/// shove that is lost for a single tick shows for good.
#pragma once

#include "hindcast/game.h"

/// Its input is a struct lanes_input: `push` walks, and `touch` decides whether the arm goes out.
extern const struct hc_game shove;

struct shove_player {
    int32_t x, y;     ///< y is always 0
    int16_t arm;      ///< -1: out to the left, 1: to the right, 0: neither
    uint16_t shoved;  ///< how often it was shoved
    uint16_t digest;  ///< of every position since the join, in order
    uint16_t padding; ///< always 0
};
