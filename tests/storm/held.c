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
    uint32_t *seq;     ///< [rows][entities] of the datagram that said so; 0: nobody's
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
                                .seq = malloc(cells * sizeof *held->seq)};
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

void storm_held_snapshot(struct storm_held *held, const struct hc_timeline *timeline, hc_tick tick,
                         uint32_t seq) {
    size_t row = tick % held->rows, entities = held->world->entities;
    size_t bytes = entities * held->world->stride;
    held->tick[row] = tick;
    memcpy(held->presence + row * entities, hc_timeline_presence(timeline, tick), entities);
    memcpy(held->states + row * bytes, hc_timeline_states(timeline, tick), bytes);
    for (size_t e = 0; e < entities; e++)
        held->seq[row * entities + e] = seq;
}

uint32_t storm_held_correction(struct storm_held *held, const struct hc_timeline *timeline,
                               hc_tick tick, hc_entity entity, uint32_t seq) {
    size_t row = tick % held->rows, entities = held->world->entities, stride = held->world->stride;
    size_t cell = row * entities + entity;
    uint8_t presence = hc_timeline_presence(timeline, tick)[entity];
    const uint8_t *state = hc_timeline_states(timeline, tick) + entity * stride;
    if (held->tick[row] != tick) {
        held->tick[row] = tick;
        memset(held->presence + row * entities, NEVER, entities);
        memset(held->seq + row * entities, 0, entities * sizeof *held->seq);
    }
    bool same = held->presence[cell] == presence &&
                memcmp(held->states + cell * stride, state, stride) == 0;
    uint32_t before = same ? held->seq[cell] : 0;
    held->presence[cell] = presence;
    memcpy(held->states + cell * stride, state, stride);
    held->seq[cell] = seq;
    return before;
}

/// The first entity that lacks in the tick; `entities`: none.
static uint32_t first_lacking(const struct storm_held *held, const struct hc_timeline *timeline,
                              hc_tick tick) {
    size_t row = tick % held->rows, entities = held->world->entities, stride = held->world->stride;
    const uint8_t *presence = hc_timeline_presence(timeline, tick);
    const uint8_t *states = hc_timeline_states(timeline, tick);
    const uint8_t *told = held->presence + row * entities;
    const uint8_t *told_states = held->states + row * entities * stride;
    uint32_t e = 0;
    if (held->tick[row] != tick)
        return 0;
    if (memcmp(told, presence, entities) == 0 &&
        memcmp(told_states, states, entities * stride) == 0)
        return (uint32_t)entities;
    while (told[e] == presence[e] &&
           memcmp(told_states + e * stride, states + e * stride, stride) == 0)
        e++;
    return e;
}

bool storm_held_lacks(const struct storm_held *held, const struct hc_timeline *timeline,
                      hc_tick from, hc_tick end, hc_tick *tick, hc_entity *entity) {
    for (hc_tick t = end; t-- > from;) {
        uint32_t e = first_lacking(held, timeline, t);
        if (e == held->world->entities)
            continue;
        *tick = t;
        *entity = (hc_entity)e;
        return true;
    }
    return false;
}
