/// The events that wait for the game to poll them.
#pragma once

#include "hindcast/client.h"

enum {
    HC_CL_EVENTS = 96,       ///< events that wait at most; later ones are dropped
    HC_CL_EVENTS_SPARE = 32, ///< places that joins, leaves and names of players leave to the rest
    HC_CL_NOTICES = 8,       ///< notices that wait at most; later ones are dropped
};

/// A ring. Only events.c writes to it; zeros are the beginning.
struct hc_cl_events {
    struct hc_client_event queue[HC_CL_EVENTS];
    uint32_t first, count; ///< The place of the oldest event, and the number of all.
    struct hc_notice
        notices[HC_CL_NOTICES + 1]; ///< A ring of those of events; one more was polled.
    uint32_t notice_first, notice_count;
};

/// Queues an event; drops it if only the last place is free, which is for the event that closes the
/// session.
void hc_cl_events_put(struct hc_cl_events *events, const struct hc_client_event *event);

/// Queues the event that closes the session: there is always a place for it.
void hc_cl_events_put_last(struct hc_cl_events *events, const struct hc_client_event *event);

/// Queues a NOTICE, whose notice is copied. False: it is dropped, because too many wait.
bool hc_cl_events_put_notice(struct hc_cl_events *events, const struct hc_notice *notice);

/// Queues a PLAYER_JOINED, PLAYER_LEFT or PLAYER_NAMED; drops it if many events wait.
void hc_cl_events_put_player(struct hc_cl_events *events, const struct hc_client_event *event);

/// Removes the oldest event and writes it to `*event`; false: there is none.
bool hc_cl_events_next(struct hc_cl_events *events, struct hc_client_event *event);
