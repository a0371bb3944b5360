/// What a client draws: at any moment it is what it has recorded, blended as the game's tables say,
/// and corrections fade instead of popping.
///
/// It is looked at through hc_client_show alone. From one look to the next the recorded ticks that
/// are shown are remembered, so that what was shown before a correction is known after it.
#pragma once

#include "hindcast/game.h"

struct storm_match;
struct storm_show;

/// The tables of a game, to be shown in another way.
struct storm_tables {
    struct hc_game game;
    struct hc_kind kinds[HC_KINDS_MAX];
    struct hc_field fields[HC_KINDS_MAX][HC_FIELDS_MAX];
};

/// The same game with some kinds shown in another way, drawn from `seed`: other fields are angles,
/// go straight or hold, and what moves about as fast as players run is a teleport. `tables` must
/// live as long as the game.
const struct hc_game *storm_show_vary(struct storm_tables *tables, const struct hc_game *game,
                                      uint64_t seed, unsigned tick_rate);

/// An honest client has received something or has advanced. Allocates what is remembered at the
/// first call. Of many clients a few are looked at.
void storm_show_look(struct storm_match *match, unsigned client);

/// Frees what is remembered of a client; NULL is allowed.
void storm_show_free(struct storm_show *show);
