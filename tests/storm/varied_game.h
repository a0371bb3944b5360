/// A game whose entities are shown in other ways, which changes nothing that is simulated.
#pragma once

#include "hindcast/game.h"

struct storm_varied_game {
    struct hc_game game;
    struct hc_kind kinds[HC_KINDS_MAX];
    struct hc_field fields[HC_KINDS_MAX][HC_FIELDS_MAX];
};

/// How a game is varied.
struct storm_varying {
    uint64_t seed; ///< of what is drawn
    unsigned tick_rate;
    bool fields; ///< some fields are angles, are interpolated or hold, and a distance that players
                 ///< run in a tick is a teleport
    bool flags;  ///< a field of each kind tells that its entity has teleported
};

/// Makes `varied` of `game`. It must live as long as its game.
void storm_varied_game_init(struct storm_varied_game *varied, const struct hc_game *game,
                            const struct storm_varying *varying);
