/// The arena with crowded, weak players that have nearly won, and with short matches.
///
/// Its rules are the arena's; only joins and the clock differ. So a hundred ticks contain deaths,
/// contested pickups and ends of matches.
#pragma once

#include "hindcast/game.h"

/// Writes the arena's tables with the changed step to `game`. The world's seed decides which of the
/// changes apply.
void crowded_arena_game(struct hc_game *game);
