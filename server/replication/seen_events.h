/// Seen events: those game events of one tick that one client is sent, because it sees their units,
/// as many as it is sent of a tick.
#pragma once

#include "proto/limits.h"
#include "server/replication/event_ring.h"
#include "server/replication/view.h"

enum {
    HC_SV_LISTING_BITS = 512, ///< of a tick's events for one client; those beyond are left out
    HC_SV_LISTING_EVENTS = HC_GAME_EVENTS_MAX, ///< in a snapshot, at most
};

struct hc_sv_seen_events {
    struct hc_sv_event *events; ///< [room]
    uint32_t room, count;
    bool own[HC_SV_LISTING_EVENTS]; ///< of the client's own players, or of the referee
};

/// Finds the events with the numbers [first, end), all of `tick`, of units that the client saw at
/// that tick: as many as there is room for.
void hc_sv_seen_events_find(const struct hc_sv_event_ring *ring, uint64_t first, uint64_t end,
                            const struct hc_sv_view *view, hc_tick tick,
                            struct hc_sv_seen_events *seen);

/// Leaves out what does not fit into HC_SV_LISTING_BITS, the own events last. Returns how many
/// stay, `seen->count` is as before.
uint32_t hc_sv_seen_events_cut(const struct hc_world *world, struct hc_sv_seen_events *seen);
