/// The grid's cells, hash and linked lists.
#include "common/grid.h"

#include "hindcast/check.h"

#include <string.h>

struct hc_grid_shape hc_grid_shape(const struct hc_world *world) {
    struct hc_grid_shape shape = {.buckets = 16, .entities = 0, .shift = 0};
    // With cells of twice the reach a query touches at most four.
    while ((UINT64_C(1) << shape.shift) < 2 * (uint64_t)world->game->reach)
        shape.shift++;
    // The reach is at most 2^30: positions of 30 bits, signed or not, differ by less than the rest.
    const struct hc_game *game = world->game;
    for (unsigned k = 0; k < game->kind_count; k++) {
        if (world->x_of[k] < 0)
            continue;
        shape.entities = world->entities;
        shape.wide |= game->kinds[k].fields[world->x_of[k]].bits > 30 ||
                      game->kinds[k].fields[world->y_of[k]].bits > 30;
    }
    while (shape.buckets < shape.entities)
        shape.buckets *= 2;
    return shape;
}

size_t hc_grid_memory(const struct hc_grid_shape *shape) {
    return shape->buckets * sizeof(uint16_t) + shape->entities * sizeof(struct hc_grid_node);
}

struct hc_grid hc_grid_at(const struct hc_grid_shape *shape, void *memory) {
    uint16_t *bucket = memory;
    return (struct hc_grid){.bucket = bucket, .node = (void *)(bucket + shape->buckets)};
}

void hc_grid_clear(const struct hc_grid_shape *shape, struct hc_grid grid) {
    memset(grid.bucket, 0xff, shape->buckets * sizeof *grid.bucket);
}

static uint32_t cell_bucket(const struct hc_grid_shape *shape, int64_t cx, int64_t cy) {
    uint32_t hash = (uint32_t)cx * UINT32_C(0x9e3779b1);
    // Cells that differ in y by little are mostly in one cache line.
    return ((hash ^ hash >> 15) + (uint32_t)cy) & (shape->buckets - 1);
}

uint32_t hc_grid_bucket(const struct hc_grid_shape *shape, int64_t x, int64_t y) {
    return cell_bucket(shape, x >> shape->shift, y >> shape->shift);
}

static void set_position(struct hc_grid grid, hc_entity entity, int64_t x, int64_t y) {
    grid.node[entity].x = (uint32_t)x;
    grid.node[entity].y = (uint32_t)y;
}

void hc_grid_insert(struct hc_grid grid, uint32_t bucket, hc_entity entity, int64_t x, int64_t y) {
    uint16_t first = grid.bucket[bucket];
    set_position(grid, entity, x, y);
    grid.node[entity].next = first;
    grid.node[entity].prev = HC_GRID_NONE;
    if (first != HC_GRID_NONE)
        grid.node[first].prev = entity;
    grid.bucket[bucket] = entity;
}

void hc_grid_remove(struct hc_grid grid, uint32_t bucket, hc_entity entity) {
    uint16_t next = grid.node[entity].next, prev = grid.node[entity].prev;
    HC_CHECK(prev != HC_GRID_NONE || grid.bucket[bucket] == entity);
    if (prev == HC_GRID_NONE)
        grid.bucket[bucket] = next;
    else
        grid.node[prev].next = next;
    if (next != HC_GRID_NONE)
        grid.node[next].prev = prev;
}

void hc_grid_move(const struct hc_grid_shape *shape, struct hc_grid grid, hc_entity entity,
                  const int64_t *from, const int64_t *to) {
    bool in_both = from != NULL && to != NULL;
    if (in_both && (((from[0] ^ to[0]) | (from[1] ^ to[1])) >> shape->shift) == 0) {
        set_position(grid, entity, to[0], to[1]);
        return;
    }
    if (from != NULL)
        hc_grid_remove(grid, hc_grid_bucket(shape, from[0], from[1]), entity);
    if (to != NULL)
        hc_grid_insert(grid, hc_grid_bucket(shape, to[0], to[1]), entity, to[0], to[1]);
}

/// The buckets of a query. The cells around two positions are at most eight.
struct query {
    uint32_t seen[8], buckets;
    uint16_t next[8]; ///< of each bucket, the first entity that was not looked at
};

/// Adds the buckets of the cells within `reach` of (x, y), except those seen before.
static inline void add_cells(const struct hc_grid_shape *shape, struct hc_grid grid, int64_t x,
                             int64_t y, uint32_t reach, struct query *query) {
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
            query->next[query->buckets] = grid.bucket[bucket];
            query->seen[query->buckets++] = bucket;
        }
    }
}

/// Writes the entities of the query's buckets that are within `reach` of `a` or `b` to `found`;
/// returns their number. The lists alternate, so that their cache misses overlap.
static inline uint32_t search(struct hc_grid grid, struct query *query, const int64_t a[2],
                              const int64_t b[2], uint32_t reach, hc_entity *found) {
    uint32_t count = 0;
    while (query->buckets > 0) {
        for (uint32_t i = 0; i < query->buckets;) {
            hc_entity e = query->next[i];
            if (e == HC_GRID_NONE) { // the last list takes its place
                query->next[i] = query->next[--query->buckets];
                continue;
            }
            query->next[i++] = grid.node[e].next;
            found[count] = e;
            count += hc_grid_near(grid, e, a, reach) || (a != b && hc_grid_near(grid, e, b, reach));
        }
    }
    return count;
}

uint32_t hc_grid_query(const struct hc_grid_shape *shape, struct hc_grid grid, const int64_t at[2],
                       uint32_t reach, hc_entity *found) {
    struct query query = {.buckets = 0};
    add_cells(shape, grid, at[0], at[1], reach, &query);
    return search(grid, &query, at, at, reach, found);
}

uint32_t hc_grid_query_either(const struct hc_grid_shape *shape, struct hc_grid grid,
                              const int64_t a[2], const int64_t b[2], uint32_t reach,
                              hc_entity *found) {
    struct query query = {.buckets = 0};
    add_cells(shape, grid, a[0], a[1], reach, &query);
    if (a[0] == b[0] && a[1] == b[1])
        return search(grid, &query, a, a, reach, found);
    add_cells(shape, grid, b[0], b[1], reach, &query);
    return search(grid, &query, a, b, reach, found);
}
