/// The arena in a hurry: its own rules, but whoever joins stands in a crowd, is weak or has nearly
/// won, and matches are short. So that a hundred ticks hold deaths, contests and ends of matches.
#pragma once

#include "hindcast/game.h"

/// Fills `game` with the arena's tables and this beginning; how hurried, the world's seed decides.
void hurry_game(struct hc_game *game);
