#include "tests/storm/held.h"

#include <stdlib.h>
#include <string.h>

enum { NEVER = 0xff }; ///< no presence

/// Rows of one tick each; the row of a tick is tick % rows.
struct storm_held {
    const struct hc_world *world;
    uint32_t rows;
    hc_tick *tick;     ///< [rows]
    uint8_t *presence; ///< [rows][entities]
    uint8_t *states;   ///< [rows][entities * stride]
    uint32_t *seq;     ///< [rows][units] of the datagram that said so; 0: none
};

struct storm_held *storm_held_create(const struct hc_world *world, uint32_t rows) {
    struct storm_held *held = calloc(1, sizeof *held);
    if (held == NULL)
        return NULL;
    size_t cells = (size_t)rows * world->entities;
    *held = (struct storm_held){.world = world,
                                .rows = rows,
                                .tick = malloc(rows * sizeof *held->tick),
                                .presence = malloc(cells),
                                .states = malloc(cells * world->stride),
                                .seq = malloc(rows * hc_unit_total(world) * sizeof *held->seq)};
    if (held->tick == NULL || held->presence == NULL || held->states == NULL || held->seq == NULL) {
        storm_held_destroy(held);
        return NULL;
    }
    memset(held->tick, 0xff, rows * sizeof *held->tick);
    return held;
}

void storm_held_destroy(struct storm_held *held) {
    if (held == NULL)
        return;
    free(held->tick);
    free(held->presence);
    free(held->states);
    free(held->seq);
    free(held);
}

uint32_t storm_held_told(struct storm_held *held, const struct hc_timeline *timeline, hc_tick tick,
                         hc_unit unit, uint32_t seq) {
    const struct hc_world *world = held->world;
    size_t row = tick % held->rows, first = hc_unit_first(world, unit);
    size_t count = hc_unit_count(world, unit), cell = row * world->entities + first;
    uint32_t *said = &held->seq[row * hc_unit_total(world) + unit];
    const uint8_t *presence = hc_timeline_presence(timeline, tick) + first;
    const uint8_t *states = hc_timeline_states(timeline, tick) + first * world->stride;
    if (held->tick[row] != tick) {
        held->tick[row] = tick;
        memset(held->presence + row * world->entities, NEVER, world->entities);
        memset(held->seq + row * hc_unit_total(world), 0, hc_unit_total(world) * sizeof *said);
    }
    bool same = memcmp(held->presence + cell, presence, count) == 0 &&
                memcmp(held->states + cell * world->stride, states, count * world->stride) == 0;
    uint32_t before = same ? *said : 0;
    memcpy(held->presence + cell, presence, count);
    memcpy(held->states + cell * world->stride, states, count * world->stride);
    *said = seq;
    return before;
}

void storm_held_dropped(struct storm_held *held, hc_tick tick, hc_unit unit, uint32_t seq) {
    const struct hc_world *world = held->world;
    size_t row = tick % held->rows;
    if (held->tick[row] != tick)
        return;
    held->seq[row * hc_unit_total(world) + unit] = seq;
    memset(held->presence + row * world->entities + hc_unit_first(world, unit), NEVER,
           hc_unit_count(world, unit));
}

bool storm_held_lacks(const struct storm_held *held, const struct hc_timeline *timeline,
                      hc_tick tick, hc_unit unit, uint32_t *seq) {
    const struct hc_world *world = held->world;
    size_t row = tick % held->rows, first = hc_unit_first(world, unit);
    size_t count = hc_unit_count(world, unit), cell = row * world->entities + first;
    *seq = held->tick[row] == tick ? held->seq[row * hc_unit_total(world) + unit] : 0;
    return *seq == 0 ||
           memcmp(held->presence + cell, hc_timeline_presence(timeline, tick) + first, count) !=
               0 ||
           memcmp(held->states + cell * world->stride,
                  hc_timeline_states(timeline, tick) + first * world->stride,
                  count * world->stride) != 0;
}
