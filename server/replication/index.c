/// The grids of the ticks, each filled when it is asked for.
#include "server/replication/index.h"

#include "common/alloc.h"
#include "common/presence.h"

#include <string.h>

enum { BUCKETS_MIN = 16 };

/// Cells as wide as the view, or down to half of it: a sight comes upon nine to sixteen, which
/// reach little farther than the view.
static struct hc_grid_shape shape_of(const struct hc_world *world) {
    struct hc_grid_shape shape = hc_grid_shape(world);
    shape.shift = 0;
    while ((UINT64_C(2) << shape.shift) <= world->game->view)
        shape.shift++;
    return shape;
}

size_t hc_sv_index_layout(struct hc_sv_index *index, const struct hc_world *world, uint8_t *base) {
    size_t used = 0, units = hc_unit_total(world);
    index->world = world;
    index->shape = shape_of(world);
    index->stamps = hc_carve(base, &used, units * sizeof *index->stamps);
    index->found = hc_carve(base, &used, units * sizeof *index->found);
    for (unsigned i = 0; i < HC_SV_INDEX_TICKS && world->game->view != 0; i++) {
        struct hc_sv_index_tick *at = &index->ticks[i];
        void *memory = hc_carve(base, &used, hc_grid_memory(&index->shape));
        at->grid = base == NULL ? (struct hc_grid){0} : hc_grid_at(&index->shape, memory);
        at->everywhere = hc_carve(base, &used, (units - world->players) * sizeof(hc_unit));
    }
    return used;
}

void hc_sv_index_clear(struct hc_sv_index *index) {
    index->stamp = 0;
    index->placed = 0;
    memset(index->stamps, 0, hc_unit_total(index->world) * sizeof *index->stamps);
    for (unsigned i = 0; i < HC_SV_INDEX_TICKS; i++)
        index->ticks[i].tick = index->ticks[i].head = HC_NO_TICK;
}

/// The shape of the next grid, for about as many entities as were in the one before: most of the
/// world's may be absent.
static struct hc_grid_shape next_shape(const struct hc_sv_index *index) {
    struct hc_grid_shape shape = index->shape;
    while (shape.buckets / 2 >= BUCKETS_MIN && shape.buckets / 2 >= index->placed)
        shape.buckets /= 2;
    return shape;
}

static void fill_index(struct hc_sv_index *index, const struct hc_timeline *timeline,
                       struct hc_sv_index_tick *at) {
    const struct hc_world *world = index->world;
    const uint8_t *presence = hc_timeline_presence(timeline, at->tick);
    const uint8_t *states = hc_timeline_states(timeline, at->tick);
    int64_t x, y;
    at->shape = next_shape(index);
    hc_grid_clear(&at->shape, at->grid);
    at->everywhere_count = index->placed = 0;
    for (uint32_t e = 1;
         (e = hc_presence_next_alive(presence, e, world->entities)) < world->entities; e++) {
        hc_entity entity = (hc_entity)e;
        if (hc_world_position(world, entity, states + (size_t)e * world->stride, &x, &y)) {
            hc_grid_insert(at->grid, hc_grid_bucket(&at->shape, x, y), entity, x, y);
            index->placed++;
        } else if (world->owner_of[e] == HC_NO_PLAYER) {
            at->everywhere[at->everywhere_count++] = hc_unit_of(world, entity);
        }
    }
}

const struct hc_sv_index_tick *hc_sv_index_at(struct hc_sv_index *index,
                                              const struct hc_timeline *timeline, hc_tick tick) {
    struct hc_sv_index_tick *at = &index->ticks[tick % HC_SV_INDEX_TICKS];
    if (at->tick != tick || hc_timeline_changed(timeline, tick) > at->head) {
        at->tick = tick;
        at->head = hc_timeline_head(timeline);
        fill_index(index, timeline, at);
    }
    return at;
}
