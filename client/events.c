/// Owns the queue of events for the game.
#include "client/events.h"

static void put(struct hc_cl_events *events, const struct hc_client_event *event, uint32_t places) {
    if (events->count < places)
        events->queue[(events->first + events->count++) % HC_CL_EVENTS] = *event;
}

void hc_cl_events_put(struct hc_cl_events *events, const struct hc_client_event *event) {
    put(events, event, HC_CL_EVENTS - 1);
}

void hc_cl_events_put_last(struct hc_cl_events *events, const struct hc_client_event *event) {
    put(events, event, HC_CL_EVENTS);
}

void hc_cl_events_put_player(struct hc_cl_events *events, const struct hc_client_event *event) {
    put(events, event, HC_CL_EVENTS - HC_CL_EVENTS_SPARE);
}

bool hc_cl_events_next(struct hc_cl_events *events, struct hc_client_event *event) {
    if (events->count == 0)
        return false;
    *event = events->queue[events->first];
    events->first = (events->first + 1) % HC_CL_EVENTS;
    events->count--;
    return true;
}
