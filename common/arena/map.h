/// The arena's map: walls and free places, computed from the world's seed without map data.
///
/// The map is a square of cells of 8 x 8 tiles, with about one cell for each player up to 1,024
/// players; more share the same map. A cell holds nothing, a block or a room with two doors. Its
/// outermost tiles stay free, so every free tile can be reached from every other.
#pragma once

#include "hindcast/game.h"

/// The side of the map in tiles.
int32_t hc_arena_side(const struct hc_world *world);

/// Whether the tile at column `tx` and row `ty` is a wall; tiles outside of the map are.
bool hc_arena_wall(const struct hc_world *world, int32_t tx, int32_t ty);

/// Whether the point (x, y), in units, is inside a wall.
bool hc_arena_inside_wall(const struct hc_world *world, int32_t x, int32_t y);

/// Writes the centre, in units, of the free tile that 64 random bits select.
void hc_arena_free_place(const struct hc_world *world, uint64_t random, uint16_t *x, uint16_t *y);

/// A square that slides. Lengths are in units.
struct hc_arena_square {
    int32_t x, y;      ///< the centre
    int32_t half;      ///< half of a side, at most half a tile
    bool hit_x, hit_y; ///< whether a wall stopped it along x, along y
};

/// Moves the square by (dx, dy), in units, first along x, then along y, each up to the first wall.
void hc_arena_slide(const struct hc_world *world, struct hc_arena_square *square, int32_t dx,
                    int32_t dy);
