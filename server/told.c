#include "server/told.h"

#include "common/check.h"
#include "common/mark.h"

#include <string.h>

size_t hc_sv_told_layout(struct hc_sv_told *told, const struct hc_world *world, uint32_t rows,
                         uint8_t *base) {
    size_t cells = (size_t)rows * world->entities, used = 0;
    told->world = world;
    told->rows = rows;
    told->tick = hc_carve(base, &used, rows * sizeof *told->tick);
    told->seq = hc_carve(base, &used, cells * sizeof *told->seq);
    told->presence = hc_carve(base, &used, cells);
    told->states = hc_carve(base, &used, cells * world->stride);
    return used;
}

void hc_sv_told_clear(struct hc_sv_told *told) {
    memset(told->tick, 0xff, told->rows * sizeof *told->tick);
}

static size_t cell_of(const struct hc_sv_told *told, hc_tick tick, hc_entity entity) {
    return (size_t)(tick % told->rows) * told->world->entities + entity;
}

void hc_sv_told_put(struct hc_sv_told *told, hc_tick tick, hc_entity entity, uint8_t presence,
                    const uint8_t *state, uint32_t seq) {
    hc_tick *row = &told->tick[tick % told->rows];
    HC_ASSERT(entity < told->world->entities && presence != HC_UNKNOWN);
    if (*row != HC_NO_TICK && *row > tick)
        return;
    if (*row != tick) {
        *row = tick;
        memset(told->seq + cell_of(told, tick, 0), 0, told->world->entities * sizeof *told->seq);
    }
    size_t cell = cell_of(told, tick, entity), stride = told->world->stride;
    told->seq[cell] = seq;
    told->presence[cell] = presence;
    if (presence == HC_ALIVE)
        memcpy(told->states + cell * stride, state, stride);
    else
        memset(told->states + cell * stride, 0, stride);
}

bool hc_sv_told_holds(const struct hc_sv_told *told, const struct hc_sent *sent, uint32_t acked,
                      hc_tick tick, hc_entity entity, uint8_t presence, const uint8_t *state) {
    size_t cell = cell_of(told, tick, entity), stride = told->world->stride;
    if (told->tick[tick % told->rows] != tick || told->seq[cell] == 0)
        return false;
    const struct hc_sent_entry *entry = &sent->ring[told->seq[cell] % HC_SENT_RING];
    bool remembered = entry->seq == told->seq[cell];
    bool lost = !remembered || (!entry->acked && acked >= entry->seq + HC_SV_TOLD_REORDER);
    if (lost)
        HC_MARK("told-presumed-lost");
    return !lost && told->presence[cell] == presence &&
           memcmp(told->states + cell * stride, state, stride) == 0;
}
