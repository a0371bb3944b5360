/// The game events of a client: those that its timeline predicts, those that the server lists for
/// each final tick, and what the game has not read yet.
///
/// An event is predicted when the timeline first has it, however late. It stays predicted, even if
/// the timeline loses it again, until a snapshot lists which events of its tick happened: then it
/// is confirmed or cancelled, and events of the tick that were not predicted are late. Nothing more
/// is said of that tick. A tick of which the server says nothing for HC_GAME_EVENTS_TICKS has lost
/// its events.
#pragma once

#include "client/world/snapshot_reader.h"
#include "hindcast/client.h"

enum {
    HC_CL_EVENTS_PREDICTED = 2048, ///< events that are predicted at once
    /// That wait for hc_client_next_game_event: those that a snapshot may list, and as many that it
    /// cancels.
    HC_CL_EVENTS_UNREAD = 2 * HC_GAME_EVENTS_MAX,
};

struct hc_cl_predicted_event {
    hc_tick tick;
    hc_entity entity;
    hc_game_event event;
};

/// Only game_events.c writes to it.
struct hc_cl_game_events {
    uint64_t scanned; ///< the greatest hc_timeline_events_changed so far
    bool any;         ///< a snapshot came
    hc_tick through;  ///< the newest final tick
    uint64_t
        listed[HC_GAME_EVENTS_TICKS / 64]; ///< final ticks that a snapshot has listed, a bit each
    uint32_t count;
    struct hc_cl_predicted_event predicted[HC_CL_EVENTS_PREDICTED];
    uint32_t first, unread; ///< of the ring
    struct hc_client_game_event queue[HC_CL_EVENTS_UNREAD];
};

/// A new connection begins: cancels what is predicted. The timeline has no states.
void hc_cl_game_events_begin(struct hc_cl_game_events *events, struct hc_client_stats *stats);

/// Finds events that the timeline has and had not at the last call.
void hc_cl_game_events_predict(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                               const struct hc_world *world, struct hc_client_stats *stats);

/// Takes the events of an accepted snapshot.
void hc_cl_game_events_take(struct hc_cl_game_events *events, const struct hc_cl_received *snapshot,
                            struct hc_client_stats *stats);

/// Removes the oldest event that the game has not read and writes it to `*event`; false: there is
/// none.
bool hc_cl_game_events_next(struct hc_cl_game_events *events, struct hc_client_game_event *event);
