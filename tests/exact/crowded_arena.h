/// The arena with crowded, weak players that have nearly won, and with short matches.
///
/// Its rules are the arena's; only joins and the clock differ. So a hundred ticks contain deaths,
/// contested pickups and ends of matches. With a lookback players and shots also read past states,
/// and move by them.
#pragma once

#include "hindcast/game.h"

/// Writes the arena's tables with the changed step to `game`, with this lookback, and with a
/// step_run if `runs`. The world's seed decides which of the changes apply, and which kind the runs
/// leave out.
void crowded_arena_game(struct hc_game *game, bool runs, uint32_t lookback);
