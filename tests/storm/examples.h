/// The games of examples/, without their files.
#pragma once

#include "hindcast/game.h"

/// Pong for 1; duel, with a level, for 2; NULL for 0.
const struct hc_game *storm_examples_game(unsigned number);
