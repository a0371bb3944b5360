/// Final events: the game events of the newest final ticks, for the whole world.
///
/// When a tick is final its events are appended to a ring, in the order of entities. From there the
/// server's game reads them, and each client is sent those of the units that it sees (listing.h).
/// Events are numbered from 0 on.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"
#include "proto/limits.h"

struct hc_sv_final_event {
    hc_tick tick;
    hc_entity entity;
    hc_unit unit; ///< of the entity
    hc_game_event event;
};

/// The ring. Without kinds of events it is empty.
struct hc_sv_final_events {
    const struct hc_world *world;
    hc_tick final;                       ///< the newest tick in it
    hc_tick first;                       ///< the oldest tick of which it has all events
    uint32_t capacity;                   ///< a power of two; 0: the game has no events
    struct hc_sv_final_event *events;    ///< [capacity] ring by number
    uint64_t end;                        ///< the number of the next event
    uint64_t ends[HC_GAME_EVENTS_TICKS]; ///< by tick: of the event after its last
    uint64_t unread;                     ///< the number of the next event for the server's game
};

/// Lays the ring out from `base` (NULL: only measures); returns the bytes needed. The ring begins
/// as all zeros. `world` is borrowed.
size_t hc_sv_final_events_layout(struct hc_sv_final_events *finals, const struct hc_world *world,
                                 uint8_t *base);

/// Appends the events of the tick after the newest one, which is final now.
void hc_sv_final_events_add(struct hc_sv_final_events *finals, const struct hc_timeline *timeline);

/// The next event for the server's game; false: there is none.
bool hc_sv_final_events_next(struct hc_sv_final_events *finals, struct hc_sv_final_event *event);

/// The number of the oldest event that is still there.
static inline uint64_t hc_sv_final_events_oldest(const struct hc_sv_final_events *finals) {
    return finals->end > finals->capacity ? finals->end - finals->capacity : 0;
}

/// The number of a tick's first event.
static inline uint64_t hc_sv_final_events_first(const struct hc_sv_final_events *finals,
                                                hc_tick tick) {
    return tick == 0 ? 0 : finals->ends[(tick - 1) % HC_GAME_EVENTS_TICKS];
}

/// The number of the event after a tick's last.
static inline uint64_t hc_sv_final_events_end(const struct hc_sv_final_events *finals,
                                              hc_tick tick) {
    return finals->ends[tick % HC_GAME_EVENTS_TICKS];
}

/// The event with this number, which must still be there, or be the next one.
static inline struct hc_sv_final_event *
hc_sv_final_events_at(const struct hc_sv_final_events *finals, uint64_t number) {
    return &finals->events[number & (finals->capacity - 1)];
}
