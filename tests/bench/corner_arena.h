/// The arena in a world with more places than players: they appear, and see pickups, in the corner
/// of the map that would be the whole map of as few places. So views are alike in worlds of any
/// size.
#pragma once

#include "hindcast/game.h"

/// Makes `*game` the arena whose players appear where `*players` would be all places of the world.
/// `players` is borrowed as the game's level.
void bench_corner_arena(struct hc_game *game, const uint16_t *players);
