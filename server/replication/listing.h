/// The listing of final game events for one client: the ticks whose events it has received.
///
/// Each snapshot carries one run of final ticks, the oldest that its client neither acked nor is
/// about to: the events of the units that the client sees at each of them, and that a tick had
/// none. A run that is lost is sent again. So a client learns of each tick once which of its
/// predicted events happened, and which others. A tick whose events leave the server's ring
/// (final_events.h) before the client has acked it is never listed: the client cancels the events
/// that it predicted there.
///
/// Calls belong in this order: hc_sv_final_events_add for each final tick; hc_sv_listing_keep_up at
/// each tick; hc_sv_listing_look after each look at a client; hc_sv_listing_gather and
/// hc_sv_listing_put for its snapshot.
#pragma once

#include "server/replication/final_events.h"
#include "server/replication/seen_events.h"
#include "server/replication/sent_log.h"

/// The final ticks whose events snapshots have listed for a client. Ticks are bits by tick %
/// HC_GAME_EVENTS_TICKS.
struct hc_sv_listing {
    hc_tick from;    ///< ticks before it are acked or left out; HC_NO_TICK: no snapshot yet
    hc_tick through; ///< the newest final tick of the last look
    hc_tick counted; ///< the events that were left out of ticks before it are counted
    uint64_t acked[HC_GAME_EVENTS_TICKS / 64]; ///< ticks in snapshots that were acked
    hc_sv_places carried;         ///< places of snapshots with runs that are not in `acked` yet
    hc_tick first[HC_SV_PLACES];  ///< by place: first tick of the run that the snapshot carried
    uint16_t count[HC_SV_PLACES]; ///< by place: ticks of that run; 0: the snapshot carried none
};

/// The run that a snapshot may carry.
struct hc_sv_listing_gathered {
    hc_tick first;
    uint32_t used;                           ///< The number of gathered events.
    uint32_t count;                          ///< ticks; 0: none
    uint16_t ends[HC_GAME_EVENTS_TICKS];     ///< of each tick in `events`
    uint16_t left_out[HC_GAME_EVENTS_TICKS]; ///< of each tick, events that it has besides
    struct hc_sv_event events[HC_SV_LISTING_EVENTS];
};

struct hc_sv_builder;
struct hc_sv_client;
struct hc_sv_replicator;

/// No tick was listed.
void hc_sv_listing_clear(struct hc_sv_listing *listing);

/// Takes the ticks that became final since the last look. A unit that is out of view at one of them
/// counts as seen from the next one on only.
void hc_sv_listing_look(struct hc_sv_replicator *replicator, struct hc_sv_client *client);

/// Takes ticks that the timeline is about to forget, although no snapshot is due: afterwards nobody
/// knows which units the client saw there. Call it at each tick, after hc_sv_final_events_add.
void hc_sv_listing_keep_up(struct hc_sv_replicator *replicator, struct hc_sv_client *client);

/// Gathers the run for a snapshot. The log has evicted the places `gone`, and the snapshot has no
/// place yet.
void hc_sv_listing_gather(struct hc_sv_builder *builder, hc_sv_places gone);

/// Writes the run, as many ticks as fit, and logs these as sent. May be called again for the same
/// snapshot.
void hc_sv_listing_put(struct hc_sv_builder *builder);
