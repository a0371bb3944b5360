/// Early lists: the game events of ticks that are not final yet, as one client is sent them.
///
/// A snapshot lists the events of the tick that it shows, and of the ticks before it whose events a
/// rewind has changed since they were listed. The client takes them as predicted, and the newest
/// list of a tick replaces the ones before it, until the final one (listing.h) decides. So events
/// of others come with the state that shows them, and wait for no other client. A tick without
/// events is listed only if it had some in an earlier list.
///
/// A list is repeated until it is acked or not yet considered lost; that of the tick shown until it
/// is acked, so that a state comes together with its events.
///
/// Calls belong in this order: hc_sv_listing_look; hc_sv_early_gather for a snapshot whose units
/// are gathered; hc_sv_early_reserve, then hc_sv_early_put as the snapshot's last part.
#pragma once

#include "server/replication/open_events.h"
#include "server/replication/seen_events.h"
#include "server/replication/sent_log.h"

/// Ticks before the one shown whose early lists change. Later changes of older ones come with the
/// final list.
enum { HC_SV_EARLY_TICKS = HC_GAME_EVENTS_EARLY };

/// The newest list of a tick that the client was sent, or is to be sent.
struct hc_sv_early_tick {
    hc_tick tick;         ///< The tick; HC_NO_TICK: none.
    bool held;            ///< The client has the list, or was sent none and there are no events.
    uint64_t version;     ///< The version of the open events from which the list was made.
    uint64_t hash;        ///< A hash of the listed events; 0: none.
    hc_sv_places carried; ///< The logged snapshots that carried the list.
};

struct hc_sv_early {
    struct hc_sv_early_tick ticks[HC_SV_EARLY_TICKS]; ///< ring by tick
};

/// The lists that a snapshot carries.
struct hc_sv_early_gathered {
    uint32_t count; ///< The number of ticks, newest first.
    uint32_t bits;  ///< The bits of all lists, or a little more.
    hc_tick ticks[HC_SV_EARLY_TICKS];
    uint16_t ends[HC_SV_EARLY_TICKS]; ///< of each tick in `events`
    struct hc_sv_event events[HC_SV_LISTING_EVENTS];
};

struct hc_sv_builder;

/// No tick was listed.
void hc_sv_early_clear(struct hc_sv_early *early);

/// Gathers the lists for a snapshot whose final list is gathered. The log has evicted the places
/// `gone`, and the snapshot has no place yet.
void hc_sv_early_gather(struct hc_sv_builder *builder, hc_sv_places gone);

/// The bytes at the end of the snapshot that the gathered lists take, at most.
uint32_t hc_sv_early_reserve(const struct hc_sv_builder *builder);

/// Writes the gathered lists after the corrections, and logs them as sent.
void hc_sv_early_put(struct hc_sv_builder *builder);
