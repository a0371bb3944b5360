/// A ring of game events of the whole world, appended tick by tick. Events are numbered from 0 on.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"

/// A game event of any entity.
struct hc_sv_event {
    hc_tick tick;
    hc_entity entity;
    hc_unit unit; ///< The unit of the entity.
    hc_game_event event;
};

/// The ring. Without kinds of events it is empty.
struct hc_sv_event_ring {
    const struct hc_world *world;
    uint32_t capacity;          ///< The capacity is a power of two; 0: the game has no events.
    struct hc_sv_event *events; ///< [capacity] ring by number
    uint64_t end;               ///< The number of the next event.
};

/// Lays the ring out from `base` (NULL: only measures), with at least `least` places and `each`
/// more for each player; returns the bytes needed. The ring begins as all zeros. `world` is
/// borrowed.
size_t hc_sv_event_ring_layout(struct hc_sv_event_ring *ring, const struct hc_world *world,
                               uint32_t least, uint32_t each, uint8_t *base);

/// Appends the events of a tick in [oldest, head], in the order of their units. Without `final`
/// those of kinds that wait for the final tick are left out.
void hc_sv_event_ring_add(struct hc_sv_event_ring *ring, const struct hc_timeline *timeline,
                          hc_tick tick, bool final);

/// The number of the oldest event that is still there.
static inline uint64_t hc_sv_event_ring_oldest(const struct hc_sv_event_ring *ring) {
    return ring->end > ring->capacity ? ring->end - ring->capacity : 0;
}

/// The event with this number, which must still be there, or be the next one.
static inline struct hc_sv_event *hc_sv_event_ring_at(const struct hc_sv_event_ring *ring,
                                                      uint64_t number) {
    return &ring->events[number & (ring->capacity - 1)];
}
