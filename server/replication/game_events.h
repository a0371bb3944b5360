/// Game events that are final: a journal of them for the whole world, and the ticks whose events
/// each client has received.
///
/// When a tick is final its events are appended to the journal, in the order of entities. Each
/// snapshot carries one run of final ticks, the oldest that its client neither acked nor is about
/// to: the events of the units that the client sees at each of them, and that a tick had none. A
/// run that is lost is sent again. So a client learns of each tick once which of its predicted
/// events happened, and which others. A tick that leaves the journal before the client has acked it
/// is never listed: the client cancels the events that it predicted there.
///
/// Calls belong in this order: hc_sv_journal_add for each final tick; hc_sv_listing_keep_up at each
/// tick; hc_sv_listing_look after each look at a client; hc_sv_listing_gather and hc_sv_listing_put
/// for its snapshot.
#pragma once

#include "common/timeline.h"
#include "proto/limits.h"
#include "server/replication/sent_log.h"

enum {
    HC_SV_LISTING_BITS = 512, ///< of a tick's events for one client; those beyond are left out
    HC_SV_LISTING_EVENTS = HC_GAME_EVENTS_MAX, ///< in a snapshot, at most
};

struct hc_sv_final_event {
    hc_tick tick;
    hc_entity entity;
    hc_unit unit; ///< of the entity
    hc_game_event event;
};

/// The events of the newest final ticks, numbered from 0 on. Without kinds of events it is empty.
struct hc_sv_journal {
    const struct hc_world *world;
    hc_tick final;                       ///< the newest tick in it
    hc_tick first;                       ///< the oldest tick of which it has all events
    uint32_t capacity;                   ///< a power of two; 0: the game has no events
    struct hc_sv_final_event *events;    ///< [capacity] ring by number
    uint64_t end;                        ///< the number of the next event
    uint64_t ends[HC_GAME_EVENTS_TICKS]; ///< by tick: of the event after its last
    uint64_t unread;                     ///< the number of the next event for the server's game
};

/// The final ticks whose events snapshots have listed for a client. Ticks are bits by tick %
/// HC_GAME_EVENTS_TICKS.
struct hc_sv_listing {
    hc_tick from;    ///< ticks before it are acked or left out; HC_NO_TICK: no snapshot yet
    hc_tick through; ///< the newest final tick of the last look
    hc_tick counted; ///< the events that were left out of ticks before it are counted
    uint64_t acked[HC_GAME_EVENTS_TICKS / 64]; ///< ticks in snapshots that were acked
    hc_sv_places carried;         ///< places of snapshots with runs that are not in `acked` yet
    hc_tick first[HC_SV_PLACES];  ///< by place: the run that the snapshot carried
    uint16_t count[HC_SV_PLACES]; ///< its ticks; 0: none
};

/// The run that a snapshot may carry.
struct hc_sv_listing_gathered {
    hc_tick first;
    uint32_t count;                          ///< ticks; 0: none
    uint16_t ends[HC_GAME_EVENTS_TICKS];     ///< of each tick in `events`
    uint16_t left_out[HC_GAME_EVENTS_TICKS]; ///< of each tick, events that it has besides
    struct hc_sv_final_event events[HC_SV_LISTING_EVENTS];
};

struct hc_sv_builder;
struct hc_sv_client;
struct hc_sv_replicator;

/// Lays the journal out from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_journal_layout(struct hc_sv_journal *journal, const struct hc_world *world,
                            uint8_t *base);

/// Appends the events of the tick after the journal's newest, which is final now.
void hc_sv_journal_add(struct hc_sv_journal *journal, const struct hc_timeline *timeline);

/// The next event for the server's game; false: there is none.
bool hc_sv_journal_next(struct hc_sv_journal *journal, struct hc_sv_final_event *event);

/// No tick was listed.
void hc_sv_listing_clear(struct hc_sv_listing *listing);

/// Takes the ticks that became final since the last look. A unit that is out of view at one of them
/// counts as seen from the next one on only.
void hc_sv_listing_look(struct hc_sv_replicator *replicator, struct hc_sv_client *client);

/// Takes ticks that the timeline is about to forget, although no snapshot is due: afterwards nobody
/// knows which units the client saw there. Call it at each tick, after hc_sv_journal_add.
void hc_sv_listing_keep_up(struct hc_sv_replicator *replicator, struct hc_sv_client *client);

/// Gathers the run for a snapshot. The log has evicted the places `gone`, and the snapshot has no
/// place yet.
void hc_sv_listing_gather(struct hc_sv_builder *builder, hc_sv_places gone);

/// Writes the run, as many ticks as fit, and logs these as sent. May be called again for the same
/// snapshot.
void hc_sv_listing_put(struct hc_sv_builder *builder);
