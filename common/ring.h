/// The ring of a timeline: one row of arrays for each tick in it. Shared by timeline.c, spread.c
/// and stepping.c, which own the changes, their spread, and the steps.
#pragma once

#include "common/grid.h"
#include "common/inputs.h"
#include "common/overflows.h"
#include "common/rewind_log.h"
#include "common/timeline.h"
#include "hindcast/check.h"

enum { HC_RUN_MAX = 128 }; ///< entities that are stepped again at once

/// The arrays hold one row for each tick, in its slot, see hc_ring_slot. "The step of a slot" reads
/// the slot's tick and writes the next.
struct hc_timeline {
    struct hc_timeline_config config;
    struct hc_inputs inputs;
    struct hc_grid_shape shape;
    struct hc_timeline_stats stats;
    struct hc_overflows overflows;
    struct hc_rewind_log *rewinds; ///< borrowed; NULL: rewinds are not recorded
    hc_timeline_watch *watch;      ///< NULL: nobody is told of the work
    void *watch_context;
    const struct hc_scene *volatile stepping; ///< of the step that is being taken; NULL: none
    bool started;
    hc_tick oldest, head;
    hc_tick earliest; ///< the earliest tick to be resimulated, or HC_NO_TICK
    uint32_t slots;   ///< hc_ring_slots

    uint8_t *states;      ///< [slots][entities * stride]
    uint8_t *presence;    ///< [slots][entities]
    uint64_t *again;      ///< [slots][entity words] bit e: the slot's step of e must be taken again
    uint64_t *inputs_put; ///< [slots][player words] bit p: the slot's input of p may have changed
    uint8_t *whole;       ///< [slots] 1: all of the slot's steps must be taken again
    uint8_t *groups;      ///< [slots][entities] referee groups that the step of the slot read
    uint64_t *past;       ///< [slots][entities] hc_scene.past_read of the step of the slot; NULL:
                          ///< the game has no lookback
    uint64_t *past_any;   ///< [slots] the union of these, of each step since the slot was cleared
    hc_tick *changed;     ///< [slots] hc_timeline_changed
    uint8_t *reduce;      ///< [slots] 1: the slot's reductions may have changed
    int64_t *reductions;  ///< [slots][reduction_count] that the step of the slot was given
    uint8_t *grids;       ///< [slots][grid memory]
    hc_tick *authoritative; ///< [slots][entities] as_of of the authoritative state, or HC_NO_TICK;
                            ///< a replica's only
    uint64_t *received;     ///< [slots][entity words] bit e: `authoritative` of e may be a tick; a
                            ///< replica's only

    uint32_t *event_at;       ///< [entities + 1] the place of an entity's events in a row
    uint8_t *event_counts;    ///< [slots + 1][entities] game events at the slot's tick; the row
                              ///< after the slots is that of the steps in progress
    hc_game_event *events;    ///< [slots + 1][event_total]
    uint64_t *events_changed; ///< [slots] hc_timeline_events_changed
    uint64_t event_changes;   ///< changes of events so far
    uint32_t event_total;     ///< places in a row; 0: the game has no events, nor these arrays

    hc_entity *run_end;        ///< [entities] the slot after the run of slots of one kind
    hc_entity *alike_end;      ///< [entities] the slot after the run of slots that are of one kind,
                               ///< or of kinds that are rewritten alike
    uint8_t *next;             ///< [HC_RUN_MAX * stride] states of steps that are taken again
    struct hc_grid scene_grid; ///< of the tick that is stepped
    hc_entity *near;           ///< [entities] result of the newest search for neighbours
    hc_entity *past_near;      ///< [entities] the same for past neighbours; NULL without lookback
    hc_tick begin;             ///< the tick of the newest start or restart: none is before it
};

/// The row of one tick.
struct hc_ring_row {
    hc_tick tick;
    size_t slot;
    uint8_t *states;
    uint8_t *presence;
    uint64_t *again;
    uint8_t *groups;
    uint64_t *past;         ///< NULL without lookback
    hc_tick *authoritative; ///< NULL on an authority
    uint64_t *received;     ///< NULL on an authority
    struct hc_grid grid;
};

/// The words of a set of `count` bits.
static inline size_t hc_ring_words(uint32_t count) {
    return (count + 63u) / 64u;
}

/// One tick more than the history, and at least the two that a step needs; before these, the ticks
/// that only a look back reads.
static inline uint32_t hc_ring_slots(const struct hc_timeline *timeline) {
    return (timeline->config.history > 0 ? timeline->config.history : 1) + 1 +
           timeline->config.world->game->lookback;
}

/// The slot of `tick`.
static inline size_t hc_ring_slot(const struct hc_timeline *timeline, hc_tick tick) {
    return tick % timeline->slots;
}

/// The row of `tick`.
static inline struct hc_ring_row hc_ring_row(const struct hc_timeline *timeline, hc_tick tick) {
    const struct hc_world *world = timeline->config.world;
    size_t slot = hc_ring_slot(timeline, tick), first = slot * world->entities;
    return (struct hc_ring_row){
        .tick = tick,
        .slot = slot,
        .states = timeline->states + first * world->stride,
        .presence = timeline->presence + first,
        .again = timeline->again + slot * hc_ring_words(world->entities),
        .groups = timeline->groups + first,
        .past = timeline->past != NULL ? timeline->past + first : NULL,
        .authoritative = timeline->config.replica ? timeline->authoritative + first : NULL,
        .received = timeline->config.replica
                        ? timeline->received + slot * hc_ring_words(world->entities)
                        : NULL,
        .grid =
            hc_grid_at(&timeline->shape, timeline->grids + slot * hc_grid_memory(&timeline->shape)),
    };
}

/// The game events of the entities from `entity` on in a slot.
static inline hc_game_event *hc_ring_events_at(const struct hc_timeline *timeline, size_t slot,
                                               uint32_t entity) {
    return timeline->events + slot * timeline->event_total + timeline->event_at[entity];
}

/// How many game events each entity has in a slot.
static inline uint8_t *hc_ring_event_counts(const struct hc_timeline *timeline, size_t slot) {
    return timeline->event_counts + slot * timeline->config.world->entities;
}

/// The inputs of `tick` that may have changed.
static inline uint64_t *hc_ring_inputs_put(const struct hc_timeline *timeline, hc_tick tick) {
    return timeline->inputs_put +
           hc_ring_slot(timeline, tick) * hc_ring_words(timeline->config.world->players);
}

/// The reductions that the step of `tick` was given.
static inline int64_t *hc_ring_reductions(const struct hc_timeline *timeline, hc_tick tick) {
    return timeline->reductions +
           hc_ring_slot(timeline, tick) * timeline->config.world->game->reduction_count;
}

/// Whether the step of `tick` has been taken and can be taken again from a state in the ring.
static inline bool hc_ring_stepped(const struct hc_timeline *timeline, hc_tick tick) {
    return tick >= timeline->oldest && tick < timeline->head;
}
