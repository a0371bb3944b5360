/// Open events: the game events of ticks that are not final yet, for the whole world, as the newest
/// head has them. All clients that are sent a tick share them (early.h).
#pragma once

#include "proto/limits.h"
#include "server/replication/event_ring.h"

/// The events of one tick, without those of kinds that wait for the final tick.
struct hc_sv_open_tick {
    hc_tick tick;
    uint64_t version;    ///< The number of hc_timeline_events_changed; 0: the tick has no record.
    uint64_t first, end; ///< The numbers of the events in the ring, [first, end).
};

struct hc_sv_open_events {
    struct hc_sv_event_ring ring;
    struct hc_sv_open_tick ticks[HC_GAME_EVENTS_TICKS]; ///< ring by tick
};

/// Lays the ring out from `base` (NULL: only measures); returns the bytes needed. It begins as all
/// zeros. `world` is borrowed.
size_t hc_sv_open_events_layout(struct hc_sv_open_events *open, const struct hc_world *world,
                                uint8_t *base);

/// The events of a tick in [oldest, head], which never had the version 0. They are valid until the
/// next call.
const struct hc_sv_open_tick *hc_sv_open_events_at(struct hc_sv_open_events *open,
                                                   const struct hc_timeline *timeline,
                                                   hc_tick tick);
