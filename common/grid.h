/// The spatial index of one tick: which alive entities with a position lie near a point.
///
/// Space is cut into square cells, at least twice as wide as the game's reach; a hashed bucket
/// lists the entities of its cells. A tick's index is its predecessor's, copied and patched.
#pragma once

#include "hindcast/game.h"

#define HC_GRID_NONE UINT16_MAX

/// Views of the memory of one tick's index.
struct hc_grid {
    uint16_t *bucket; ///< [buckets] first entity of each list
    uint16_t *next;   ///< [entities]
    uint16_t *prev;   ///< [entities]
};

/// What all ticks' indices of one world share.
struct hc_grid_shape {
    uint32_t buckets; ///< a power of two
    uint32_t entities;
    uint32_t shift; ///< log2 of a cell's width in wire units
};

/// The shape that suits `world`.
struct hc_grid_shape hc_grid_shape(const struct hc_world *world);

/// Bytes of one index.
size_t hc_grid_memory(const struct hc_grid_shape *shape);

/// The index that lies at `memory` (hc_grid_memory bytes, aligned to 2).
struct hc_grid hc_grid_at(const struct hc_grid_shape *shape, void *memory);

/// Empties the index.
void hc_grid_clear(const struct hc_grid_shape *shape, struct hc_grid grid);

/// The bucket of position (x, y).
uint32_t hc_grid_bucket(const struct hc_grid_shape *shape, int64_t x, int64_t y);

/// Adds `entity`, which is not in it, to `bucket`.
void hc_grid_insert(struct hc_grid grid, uint32_t bucket, hc_entity entity);

/// Removes `entity`, which is in `bucket`.
void hc_grid_remove(struct hc_grid grid, uint32_t bucket, hc_entity entity);

/// Writes every entity whose bucket may hold something within `reach` of (x, y) to `found` (room
/// for all entities) and returns how many: a superset, in no order, none twice.
uint32_t hc_grid_query(const struct hc_grid_shape *shape, struct hc_grid grid, int64_t x, int64_t y,
                       uint32_t reach, hc_entity *found);
