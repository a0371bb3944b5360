/// The arena with players that shout: at some ticks each player emits more game events than a
/// snapshot lists of all players together.
#pragma once

#include "hindcast/arena.h"

enum {
    HC_LOUD_SHOUT = HC_ARENA_EVENT_TAKEN + 1, ///< the kind of event that players emit besides
    HC_LOUD_SHOUTS = 9,                       ///< of a player in a tick, so that one client's fit
    HC_LOUD_EVERY = 32,                       ///< ticks from one to the next with shouts
};

/// The game and what it points to. It stays at one place as long as the game is used.
struct hc_loud_arena {
    struct hc_game game; ///< the game; first member, because its step finds the rest by its address
    hc_tick end;         ///< from this tick on nobody shouts
    struct hc_game_event_kind events[HC_LOUD_SHOUT + 1];
    struct hc_kind kinds[HC_KINDS_MAX];
};

/// Makes the game; its players see the whole world.
void hc_loud_arena_init(struct hc_loud_arena *loud, hc_tick end);
