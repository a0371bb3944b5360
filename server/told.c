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

void hc_sv_told_put_all(struct hc_sv_told *told, hc_tick tick, const uint8_t *presence,
                        const uint8_t *states, uint32_t seq) {
    size_t row = cell_of(told, tick, 0), entities = told->world->entities;
    hc_tick *newest = &told->tick[tick % told->rows];
    if (*newest != HC_NO_TICK && *newest > tick)
        return;
    *newest = tick;
    for (size_t e = 0; e < entities; e++)
        told->seq[row + e] = seq;
    memcpy(told->presence + row, presence, entities);
    memcpy(told->states + row * told->world->stride, states, entities * told->world->stride);
}

/// Whether what was sent in the datagram `seq` has not arrived and will not.
static bool is_lost(const struct hc_sent *sent, uint32_t acked, uint32_t seq) {
    const struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    bool remembered = entry->seq == seq;
    return !remembered || (!entry->acked && acked >= entry->seq + HC_SV_TOLD_REORDER);
}

bool hc_sv_told_holds_all(const struct hc_sv_told *told, const struct hc_sent *sent, uint32_t acked,
                          hc_tick tick, const uint8_t *presence, const uint8_t *states) {
    size_t row = cell_of(told, tick, 0), entities = told->world->entities;
    if (told->tick[tick % told->rows] != tick ||
        memcmp(told->presence + row, presence, entities) != 0 ||
        memcmp(told->states + row * told->world->stride, states, entities * told->world->stride) !=
            0)
        return false;
    // Most rows went out in one datagram.
    uint32_t held = 0; // no datagram's
    for (const uint32_t *seq = told->seq + row, *end = seq + entities; seq < end; seq++) {
        if (*seq == 0 || (*seq != held && is_lost(sent, acked, *seq)))
            return false;
        held = *seq;
    }
    return true;
}

bool hc_sv_told_holds(const struct hc_sv_told *told, const struct hc_sent *sent, uint32_t acked,
                      hc_tick tick, hc_entity entity, uint8_t presence, const uint8_t *state) {
    size_t cell = cell_of(told, tick, entity), stride = told->world->stride;
    if (told->tick[tick % told->rows] != tick || told->seq[cell] == 0)
        return false;
    bool lost = is_lost(sent, acked, told->seq[cell]);
    if (lost)
        HC_MARK("told-presumed-lost");
    return !lost && told->presence[cell] == presence &&
           memcmp(told->states + cell * stride, state, stride) == 0;
}
