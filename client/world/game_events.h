/// The game events of a client: those that its timeline or the server predicts, those that the
/// server lists for each final tick, and those that are delivered and that the game has not read
/// yet.
///
/// An event is predicted when the timeline first has it, however late, or when an early list of the
/// server has it. Once a tick has an early list, the newest one alone says which events of the tick
/// are predicted. A kind that waits for the final tick is never predicted.
///
/// An event is delivered when its entity is shown on the way to its tick, or at once if its kind
/// says so. Before that it waits, and whoever predicted it may take it back: the timeline when it
/// simulates the tick again, the server by a newer list. Then it is never delivered.
///
/// Once delivered, an event stays predicted, even if it is taken back, because a rewind may bring
/// it again, until a snapshot lists which events of its tick happened: then it is confirmed or
/// cancelled, and events of the tick that were not predicted are late. So each is delivered once,
/// and cancelled at most once. Nothing more is said of that tick. An event that is confirmed while
/// it waits is delivered as predicted and as confirmed when it is shown. A tick of which the server
/// says nothing for HC_GAME_EVENTS_TICKS has lost its events.
#pragma once

#include "client/world/interpolation.h"
#include "client/world/snapshot_reader.h"
#include "hindcast/client.h"

enum {
    /// Events that are predicted or wait at most. An event that finds no place is not predicted,
    /// and is delivered when it is listed.
    HC_CL_EVENTS_KEPT = 2048,
    /// That wait for hc_client_next_game_event: those that a snapshot may list, and as many that it
    /// cancels.
    HC_CL_EVENTS_UNREAD = 2 * HC_GAME_EVENTS_MAX,
};

/// The phases of an event that is kept.
enum hc_cl_event_phase {
    HC_CL_EVENT_PREDICTED, ///< The event is predicted by the timeline and waits to be shown.
    HC_CL_EVENT_EARLY,     ///< The event is in an early list and waits to be shown.
    HC_CL_EVENT_DELIVERED, ///< The event is predicted and delivered, and waits to be listed.
    HC_CL_EVENT_CONFIRMED, ///< The event was predicted, is listed and waits to be shown.
    HC_CL_EVENT_LATE,      ///< The event was not predicted, is listed and waits to be shown.
};

struct hc_cl_kept_event {
    hc_tick tick;
    hc_entity entity;
    uint8_t phase; ///< The phase is an enum hc_cl_event_phase.
    hc_game_event event;
};

/// Only game_events.c writes to it.
struct hc_cl_game_events {
    uint64_t scanned; ///< the greatest hc_timeline_events_changed so far
    bool any;         ///< a snapshot came
    hc_tick through;  ///< the newest final tick
    uint64_t
        listed[HC_GAME_EVENTS_TICKS / 64]; ///< final ticks that a snapshot has listed, a bit each
    /// The head of the newest early list of each tick, by tick, and that tick; HC_NO_TICK: the tick
    /// has none.
    struct {
        hc_tick tick, as_of;
    } early[HC_GAME_EVENTS_TICKS];
    struct hc_cl_interpolation_times shown; ///< The times of the newest hc_cl_game_events_show.
    uint32_t count;
    struct hc_cl_kept_event kept[HC_CL_EVENTS_KEPT]; ///< [count]
    uint32_t first, unread;                          ///< of the ring
    struct hc_client_game_event queue[HC_CL_EVENTS_UNREAD];
};

/// A new connection begins: cancels the events that are predicted, and delivers the listed ones
/// that wait. The timeline has no states.
void hc_cl_game_events_begin(struct hc_cl_game_events *events, struct hc_client_stats *stats);

/// Finds events that the timeline has and had not at the last call, and delivers those that are
/// shown already. Takes back those that wait and that it has no longer.
void hc_cl_game_events_predict(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                               const struct hc_cl_interpolation *interpolation,
                               struct hc_client_stats *stats);

/// Takes the events of an accepted snapshot, and delivers those that are shown already.
void hc_cl_game_events_take(struct hc_cl_game_events *events, const struct hc_cl_received *snapshot,
                            const struct hc_cl_interpolation *interpolation,
                            struct hc_client_stats *stats);

/// Delivers the events that are shown at `times`.
void hc_cl_game_events_show(struct hc_cl_game_events *events,
                            const struct hc_cl_interpolation *interpolation,
                            const struct hc_cl_interpolation_times *times,
                            struct hc_client_stats *stats);

/// Removes the oldest delivered event that the game has not read and writes it to `*event`; false:
/// there is none.
bool hc_cl_game_events_next(struct hc_cl_game_events *events, struct hc_client_game_event *event);
