/// The spatial index of one tick: the alive entities with a position, by position.
///
/// Space is cut into square cells at least twice as wide as the game's reach. Cells hash to
/// buckets; each bucket lists the entities of its cells. A tick's grid is a patched copy of the one
/// before. It repeats the positions, so that a search reads no states.
#pragma once

#include "hindcast/game.h"

#define HC_GRID_NONE UINT16_MAX

/// An entity in the list of its bucket.
struct hc_grid_node {
    uint32_t x, y; ///< position of the entity, modulo 2^32
    uint16_t next, prev;
};

/// Pointers into the memory of one grid.
struct hc_grid {
    uint16_t *bucket;          ///< [buckets] first entity of each list
    struct hc_grid_node *node; ///< [entities]
};

/// The sizes that all grids of a world share.
struct hc_grid_shape {
    uint32_t buckets;  ///< a power of two
    uint32_t entities; ///< 0: none has a position
    uint32_t shift;    ///< log2 of a cell's width in wire units
    bool wide;         ///< distant positions may be equal modulo 2^32
};

/// The shape of the grids of `world`.
struct hc_grid_shape hc_grid_shape(const struct hc_world *world);

/// The bytes of one grid.
size_t hc_grid_memory(const struct hc_grid_shape *shape);

/// The grid at `memory` (hc_grid_memory bytes, aligned to 4).
struct hc_grid hc_grid_at(const struct hc_grid_shape *shape, void *memory);

/// Empties the grid.
void hc_grid_clear(const struct hc_grid_shape *shape, struct hc_grid grid);

/// The bucket of position (x, y).
uint32_t hc_grid_bucket(const struct hc_grid_shape *shape, int64_t x, int64_t y);

/// Adds `entity` at (x, y), whose bucket is `bucket`; it must not be in the grid.
void hc_grid_insert(struct hc_grid grid, uint32_t bucket, hc_entity entity, int64_t x, int64_t y);

/// Whether `entity` is within `reach` of `at`, {x, y}, in both axes, modulo 2^32: in a wide grid a
/// distant one may be, too.
static inline bool hc_grid_near(struct hc_grid grid, hc_entity entity, const int64_t at[2],
                                uint32_t reach) {
    const struct hc_grid_node *node = &grid.node[entity];
    return node->x - (uint32_t)at[0] + reach <= 2 * reach &&
           node->y - (uint32_t)at[1] + reach <= 2 * reach;
}

/// Removes `entity` from `bucket`; it must be there.
void hc_grid_remove(struct hc_grid grid, uint32_t bucket, hc_entity entity);

/// Moves `entity` from position `from` to position `to`, each {x, y}; NULL: it has none.
void hc_grid_move(const struct hc_grid_shape *shape, struct hc_grid grid, hc_entity entity,
                  const int64_t *from, const int64_t *to);

/// Writes the entities that hc_grid_near tells of `at`, {x, y}, to `found` (room for all entities),
/// in no order and without duplicates; returns their number.
uint32_t hc_grid_query(const struct hc_grid_shape *shape, struct hc_grid grid, const int64_t at[2],
                       uint32_t reach, hc_entity *found);

/// As hc_grid_query, around two positions {x, y}, `a` and `b`.
uint32_t hc_grid_query_either(const struct hc_grid_shape *shape, struct hc_grid grid,
                              const int64_t a[2], const int64_t b[2], uint32_t reach,
                              hc_entity *found);
