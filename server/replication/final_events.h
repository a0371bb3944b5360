/// Final events: the game events of the newest final ticks, for the whole world.
///
/// When a tick is final its events are appended to a ring, in the order of entities. From there the
/// server's game reads them, and each client is sent those of the units that it sees (listing.h).
#pragma once

#include "proto/limits.h"
#include "server/replication/event_ring.h"

struct hc_sv_final_events {
    struct hc_sv_event_ring ring;        ///< The events, tick by tick.
    hc_tick final;                       ///< the newest tick in it
    hc_tick first;                       ///< the oldest tick of which it has all events
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
bool hc_sv_final_events_next(struct hc_sv_final_events *finals, struct hc_sv_event *event);

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
