/// The quick arena: matches of a second instead of two minutes, and one place for all.
///
/// In an ordinary arena late inputs hardly ever change the referee or a neighbour. Here nearly
/// every late input may end a match, or not, some ticks ago.
#pragma once

#include "hindcast/game.h"

struct storm_quick_arena {
    struct hc_game game; ///< of server and clients; its steps find the numbers below by its address
    /// The arena's, and the sum of all aims.
    struct hc_reduction reductions[HC_REDUCTIONS_MAX];
    uint32_t phase_ms; ///< no phase lasts longer
    uint32_t wait_ms;  ///< neither a respawn nor a refill takes longer
    uint32_t whim;     ///< a match also ends where the aims' sum is a multiple of it; 0: does not
    uint8_t goal;      ///< kills that end a match; at least 1
    uint8_t health;    ///< of a player that appears, in [1, HC_ARENA_HEALTH]
    bool crowd;        ///< all appear in one place, at which the pickups lie
    uint32_t lookback; ///< players also stop by where others were up to so many ticks ago; 0: not
};

/// Makes `arena->game` and `arena->reductions` of the rest; it must stay where it is.
void storm_quick_arena_init(struct storm_quick_arena *arena);
