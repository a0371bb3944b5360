/// Owns the queue of events for the game.
#include "client/events.h"

static bool put(struct hc_cl_events *events, const struct hc_client_event *event, uint32_t places) {
    if (events->count >= places)
        return false;
    events->queue[(events->first + events->count++) % HC_CL_EVENTS] = *event;
    return true;
}

void hc_cl_events_put(struct hc_cl_events *events, const struct hc_client_event *event) {
    (void)put(events, event, HC_CL_EVENTS - 1);
}

void hc_cl_events_put_last(struct hc_cl_events *events, const struct hc_client_event *event) {
    (void)put(events, event, HC_CL_EVENTS);
}

void hc_cl_events_put_player(struct hc_cl_events *events, const struct hc_client_event *event) {
    (void)put(events, event, HC_CL_EVENTS - HC_CL_EVENTS_SPARE);
}

bool hc_cl_events_put_notice(struct hc_cl_events *events, const struct hc_notice *notice) {
    const uint32_t places = HC_CL_NOTICES + 1;
    struct hc_notice *copy =
        &events->notices[(events->notice_first + events->notice_count) % places];
    if (events->notice_count == HC_CL_NOTICES ||
        !put(events, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_NOTICE, .notice = copy},
             HC_CL_EVENTS - 1))
        return false;
    *copy = *notice;
    events->notice_count++;
    return true;
}

bool hc_cl_events_next(struct hc_cl_events *events, struct hc_client_event *event) {
    if (events->count == 0)
        return false;
    *event = events->queue[events->first];
    events->first = (events->first + 1) % HC_CL_EVENTS;
    events->count--;
    if (event->kind == HC_CLIENT_EVENT_NOTICE) {
        events->notice_first = (events->notice_first + 1) % (HC_CL_NOTICES + 1);
        events->notice_count--;
    }
    return true;
}
