/// The arena's map: walls and free places, all derived from the world's seed; there is no map data.
///
/// The map is a square of cells of 8 x 8 tiles, whose side grows with the players so that each has
/// about one cell. A cell holds nothing, a block or a room with two doors, and its outermost tiles
/// stay free: so every free tile can be walked to from every other.
#pragma once

#include "hindcast/game.h"

/// The side of the map in tiles.
int32_t hc_arena_side(const struct hc_world *world);

/// Whether the tile at column `tx` and row `ty` is a wall; everything outside of the map is.
bool hc_arena_wall(const struct hc_world *world, int32_t tx, int32_t ty);

/// Whether the point (x, y), in units, is inside a wall.
bool hc_arena_inside_wall(const struct hc_world *world, int32_t x, int32_t y);

/// The middle of a free tile, chosen by 64 random bits, in units.
void hc_arena_free_place(const struct hc_world *world, uint64_t random, uint16_t *x, uint16_t *y);

/// Moves a square of half side `half` (at most half a tile), its centre at (*x, *y), by
/// (dx, dy), first along x, then along y, up to the first wall. Sets *hit_x, *hit_y.
void hc_arena_slide(const struct hc_world *world, int32_t half, int32_t dx, int32_t dy, int32_t *x,
                    int32_t *y, bool *hit_x, bool *hit_y);
