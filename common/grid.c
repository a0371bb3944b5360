/// The grid's cells, hash and linked lists.
#include "common/grid.h"

#include "hindcast/check.h"

#include <string.h>

struct hc_grid_shape hc_grid_shape(const struct hc_world *world) {
    struct hc_grid_shape shape = {.buckets = 16, .entities = world->entities, .shift = 0};
    while (shape.buckets < world->entities)
        shape.buckets *= 2;
    // With cells of twice the reach a query touches at most four.
    while ((UINT64_C(1) << shape.shift) < 2 * (uint64_t)world->game->reach)
        shape.shift++;
    return shape;
}

size_t hc_grid_memory(const struct hc_grid_shape *shape) {
    return (shape->buckets + 2 * (size_t)shape->entities) * sizeof(uint16_t);
}

struct hc_grid hc_grid_at(const struct hc_grid_shape *shape, void *memory) {
    uint16_t *base = memory;
    return (struct hc_grid){.bucket = base,
                            .next = base + shape->buckets,
                            .prev = base + shape->buckets + shape->entities};
}

void hc_grid_clear(const struct hc_grid_shape *shape, struct hc_grid grid) {
    memset(grid.bucket, 0xff, shape->buckets * sizeof *grid.bucket);
}

static uint32_t cell_bucket(const struct hc_grid_shape *shape, int64_t cx, int64_t cy) {
    uint32_t hash = (uint32_t)cx * UINT32_C(0x9e3779b1) ^ (uint32_t)cy * UINT32_C(0x85ebca77);
    return (hash ^ hash >> 15) & (shape->buckets - 1);
}

uint32_t hc_grid_bucket(const struct hc_grid_shape *shape, int64_t x, int64_t y) {
    return cell_bucket(shape, x >> shape->shift, y >> shape->shift);
}

void hc_grid_insert(struct hc_grid grid, uint32_t bucket, hc_entity entity) {
    uint16_t first = grid.bucket[bucket];
    grid.next[entity] = first;
    grid.prev[entity] = HC_GRID_NONE;
    if (first != HC_GRID_NONE)
        grid.prev[first] = entity;
    grid.bucket[bucket] = entity;
}

void hc_grid_remove(struct hc_grid grid, uint32_t bucket, hc_entity entity) {
    uint16_t next = grid.next[entity], prev = grid.prev[entity];
    HC_CHECK(prev != HC_GRID_NONE || grid.bucket[bucket] == entity);
    if (prev == HC_GRID_NONE)
        grid.bucket[bucket] = next;
    else
        grid.next[prev] = next;
    if (next != HC_GRID_NONE)
        grid.prev[next] = prev;
}

void hc_grid_move(const struct hc_grid_shape *shape, struct hc_grid grid, hc_entity entity,
                  const int64_t *from, const int64_t *to) {
    bool same_cell = from != NULL && to != NULL &&
                     (((from[0] ^ to[0]) | (from[1] ^ to[1])) >> shape->shift) == 0;
    if (same_cell || (from == NULL && to == NULL))
        return;
    uint32_t old = from == NULL ? 0 : hc_grid_bucket(shape, from[0], from[1]);
    uint32_t new = to == NULL ? 0 : hc_grid_bucket(shape, to[0], to[1]);
    if (from != NULL && to != NULL && old == new)
        return;
    if (from != NULL)
        hc_grid_remove(grid, old, entity);
    if (to != NULL)
        hc_grid_insert(grid, new, entity);
}

/// The buckets of a query. The cells around two positions are at most eight.
struct query {
    uint32_t seen[8], buckets;
    uint32_t count; ///< entities found
};

/// Adds the entities of the cells within `reach` of (x, y), except those of buckets seen before.
static void search(const struct hc_grid_shape *shape, struct hc_grid grid, int64_t x, int64_t y,
                   uint32_t reach, struct query *query, hc_entity *found) {
    int64_t last_x = (x + reach) >> shape->shift, last_y = (y + reach) >> shape->shift;
    for (int64_t cx = (x - reach) >> shape->shift; cx <= last_x; cx++) {
        for (int64_t cy = (y - reach) >> shape->shift; cy <= last_y; cy++) {
            uint32_t bucket = cell_bucket(shape, cx, cy);
            bool again = false;
            for (uint32_t i = 0; i < query->buckets; i++)
                again |= query->seen[i] == bucket;
            if (again)
                continue;
            HC_ASSERT(query->buckets < 8);
            query->seen[query->buckets++] = bucket;
            for (uint16_t e = grid.bucket[bucket]; e != HC_GRID_NONE; e = grid.next[e])
                found[query->count++] = e;
        }
    }
}

uint32_t hc_grid_query(const struct hc_grid_shape *shape, struct hc_grid grid, int64_t x, int64_t y,
                       uint32_t reach, hc_entity *found) {
    struct query query = {.count = 0};
    search(shape, grid, x, y, reach, &query, found);
    return query.count;
}

uint32_t hc_grid_query_either(const struct hc_grid_shape *shape, struct hc_grid grid,
                              const int64_t a[2], const int64_t b[2], uint32_t reach,
                              hc_entity *found) {
    struct query query = {.count = 0};
    search(shape, grid, a[0], a[1], reach, &query, found);
    if (a[0] != b[0] || a[1] != b[1])
        search(shape, grid, b[0], b[1], reach, &query, found);
    return query.count;
}
