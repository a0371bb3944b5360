/// Two games for tests, both small enough that any error of the netcode stays visible: lanes, in
/// which players never meet, and shove, in which they push each other.
#pragma once

#include "hindcast/game.h"

/// The input of both games.
struct lanes_input {
    int8_t push;   ///< [-8, 7]: accelerates in lanes, walks in shove
    uint8_t touch; ///< counts only in the digest of lanes; in shove it decides about the arm
};

/// Each player runs on a lane of its own and digests all its inputs: one wrong input changes the
/// digest for good.
extern const struct hc_game lanes;

/// The same game in another version: clients of one are denied by servers of the other.
extern const struct hc_game lanes_next;

struct lanes_runner {
    int32_t x, y; ///< y is the lane
    int32_t v;
    uint16_t digest; ///< of every input since the join, in order
    uint16_t inputs; ///< how many those were, modulo 2^16
};

/// Players stand close together. Each may put out an arm, which pushes all others within reach on
/// that side at the next tick. The digest of positions shows a shove that is lost for one tick.
extern const struct hc_game shove;

struct shove_player {
    int32_t x, y;     ///< y is always 0
    int16_t arm;      ///< -1: out to the left, 1: to the right, 0: neither
    uint16_t shoved;  ///< how often it was shoved
    uint16_t digest;  ///< of every position since the join, in order
    uint16_t padding; ///< always 0
};
