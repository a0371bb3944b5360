/// The walls of the arena, and moves along them.
#include "common/arena/map.h"

#include "common/arena/rules.h"

enum { CELL = 8 }; ///< tiles

/// Cells along the map's side: the smallest square with a cell for each player, at most
/// HC_ARENA_SIDE_MAX tiles, but at least two, because the map's border takes the outermost tiles.
/// Every hc_arena_wall calls this, and counting up is faster than a square root.
static int32_t cells(const struct hc_world *world) {
    int32_t side = 2;
    while (side * side < world->players && side < HC_ARENA_SIDE_MAX / CELL)
        side++;
    return side;
}

int32_t hc_arena_side(const struct hc_world *world) {
    return cells(world) * CELL;
}

/// Whether tile (x, y) of a cell, both in [1, CELL - 2], is in a block of 2 to 4 by 2 to 4 tiles.
static bool in_block(uint64_t shape, int32_t x, int32_t y) {
    int32_t left = 1 + (int32_t)(shape & 1), top = 1 + (int32_t)(shape >> 1 & 1);
    int32_t width = 2 + (int32_t)(shape >> 2 & 0xff) % 3;
    int32_t height = 2 + (int32_t)(shape >> 10 & 0xff) % 3;
    return x >= left && x < left + width && y >= top && y < top + height;
}

/// Whether tile (x, y) is in the wall around a room of 4 x 4 tiles, which has doors two tiles wide
/// in two opposite sides.
static bool in_room_wall(uint64_t shape, int32_t x, int32_t y) {
    bool column = x == 1 || x == 6, row = y == 1 || y == 6;
    if (!column && !row)
        return false;
    int32_t along = (shape & 1) ? x : y;
    bool door_side = (shape & 1) ? row : column;
    return !(door_side && (along == 3 || along == 4));
}

bool hc_arena_wall(const struct hc_world *world, int32_t tx, int32_t ty) {
    int32_t side = hc_arena_side(world);
    if (tx <= 0 || ty <= 0 || tx >= side - 1 || ty >= side - 1)
        return true;
    int32_t x = tx % CELL, y = ty % CELL;
    if (x == 0 || y == 0 || x == CELL - 1 || y == CELL - 1)
        return false;
    uint64_t shape =
        hc_random(world->seed, (uint32_t)(tx / CELL), (uint32_t)(ty / CELL), HC_ARENA_RANDOM_CELL);
    switch (shape >> 62) {
    case 0:
        return false;
    case 1:
        return in_room_wall(shape, x, y);
    default:
        return in_block(shape, x, y);
    }
}

/// The tile of a coordinate. Coordinates left of or above the map are in its border.
static int32_t tile(int32_t coordinate) {
    return coordinate < 0 ? 0 : coordinate / HC_ARENA_TILE;
}

bool hc_arena_inside_wall(const struct hc_world *world, int32_t x, int32_t y) {
    return hc_arena_wall(world, tile(x), tile(y));
}

void hc_arena_free_place(const struct hc_world *world, uint64_t random, uint16_t *x, uint16_t *y) {
    uint32_t inner = (uint32_t)hc_arena_side(world) - 2;
    uint32_t place = (uint32_t)(random % (inner * inner));
    // The next free tile, row by row. The rows at the edges of cells are free, so this ends.
    while (hc_arena_wall(world, (int32_t)(place % inner) + 1, (int32_t)(place / inner) + 1))
        place = (place + 1) % (inner * inner);
    *x = (uint16_t)((place % inner + 1) * HC_ARENA_TILE + HC_ARENA_TILE / 2);
    *y = (uint16_t)((place / inner + 1) * HC_ARENA_TILE + HC_ARENA_TILE / 2);
}

/// Whether the side of the square, [across - half, across + half) at `edge` on the other axis,
/// touches a wall.
static bool edge_blocked(const struct hc_world *world, bool along_x, int32_t edge, int32_t across,
                         int32_t half) {
    int32_t line = tile(edge), first = tile(across - half), last = tile(across + half - 1);
    for (int32_t t = first; t <= last; t++)
        if (along_x ? hc_arena_wall(world, line, t) : hc_arena_wall(world, t, line))
            return true;
    return false;
}

/// Moves the coordinate `from` by `by` along one axis, up to the first wall; true when it hits one.
/// A move never starts in a wall, so it can hit one only where the edge enters a tile.
static bool slide_axis(const struct hc_world *world, bool along_x, int32_t half, int32_t by,
                       int32_t across, int32_t *from) {
    int32_t sign = by < 0 ? -1 : 1;
    // A piece is at most a tile long, so that it cannot skip a wall.
    for (int32_t left = by * sign; left > 0;) {
        int32_t piece = left < HC_ARENA_TILE ? left : HC_ARENA_TILE;
        int32_t to = *from + sign * piece;
        int32_t reach = sign > 0 ? half - 1 : -half, edge = to + reach;
        if (tile(edge) != tile(*from + reach) && edge_blocked(world, along_x, edge, across, half)) {
            int32_t wall = tile(edge) * HC_ARENA_TILE;
            *from = sign > 0 ? wall - half : wall + HC_ARENA_TILE + half;
            return true;
        }
        *from = to;
        left -= piece;
    }
    return false;
}

void hc_arena_slide(const struct hc_world *world, struct hc_arena_square *square, int32_t dx,
                    int32_t dy) {
    int32_t half = square->half;
    HC_ASSERT(half > 0 && 2 * half <= HC_ARENA_TILE);
    square->hit_x = slide_axis(world, true, half, dx, square->y, &square->x);
    square->hit_y = slide_axis(world, false, half, dy, square->x, &square->y);
}
