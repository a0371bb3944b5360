/// Owns the predicted game events, and the queue from which the game reads.
#include "client/world/game_events.h"

// ---- The queue ----------------------------------------------------------------------------------

/// Queues an event for the game; drops the oldest if too many are unread.
static void queue(struct hc_cl_game_events *events, enum hc_client_game_event_state state,
                  const struct hc_cl_predicted_event *event, struct hc_client_stats *stats) {
    if (events->unread == HC_CL_EVENTS_UNREAD) {
        events->first = (events->first + 1) % HC_CL_EVENTS_UNREAD;
        events->unread--;
        stats->game_events_unread++;
    }
    uint32_t at = (events->first + events->unread++) % HC_CL_EVENTS_UNREAD;
    events->queue[at] =
        (struct hc_client_game_event){.state = state,
                                      .tick = event->tick,
                                      .entity = event->entity,
                                      .kind = (uint8_t)hc_game_event_kind(event->event),
                                      .number = hc_game_event_number(event->event)};
}

bool hc_cl_game_events_next(struct hc_cl_game_events *events, struct hc_client_game_event *event) {
    if (events->unread == 0)
        return false;
    *event = events->queue[events->first];
    events->first = (events->first + 1) % HC_CL_EVENTS_UNREAD;
    events->unread--;
    return true;
}

// ---- Predicted events ---------------------------------------------------------------------------

/// The place of an event among the predicted ones; their number: it is not among them.
static uint32_t find(const struct hc_cl_game_events *events,
                     const struct hc_cl_predicted_event *event) {
    for (uint32_t i = 0; i < events->count; i++)
        if (events->predicted[i].tick == event->tick &&
            events->predicted[i].entity == event->entity &&
            events->predicted[i].event == event->event)
            return i;
    return events->count;
}

static void remove_at(struct hc_cl_game_events *events, uint32_t place) {
    events->predicted[place] = events->predicted[--events->count];
}

/// Whether it is decided which events of a tick happened.
static bool is_decided(const struct hc_cl_game_events *events, hc_tick tick) {
    if (!events->any || tick > events->through)
        return false;
    return events->through - tick >= HC_GAME_EVENTS_TICKS ||
           (events->listed[tick % HC_GAME_EVENTS_TICKS / 64] >> tick % 64 & 1) != 0;
}

/// Cancels the predicted events of decided ticks.
static void cancel_decided(struct hc_cl_game_events *events, struct hc_client_stats *stats) {
    for (uint32_t i = 0; i < events->count;) {
        if (!is_decided(events, events->predicted[i].tick)) {
            i++;
            continue;
        }
        stats->game_events_cancelled++;
        queue(events, HC_CLIENT_GAME_EVENT_CANCELLED, &events->predicted[i], stats);
        remove_at(events, i);
    }
}

/// Predicts an event unless it is predicted already.
static void predict(struct hc_cl_game_events *events, const struct hc_cl_predicted_event *event,
                    struct hc_client_stats *stats) {
    if (find(events, event) < events->count)
        return;
    if (events->count == HC_CL_EVENTS_PREDICTED)
        return; // it comes late
    queue(events, HC_CLIENT_GAME_EVENT_PREDICTED, event, stats);
    events->predicted[events->count++] = *event;
    stats->game_events_predicted++;
}

static void predict_tick(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                         const struct hc_world *world, hc_tick tick,
                         struct hc_client_stats *stats) {
    uint32_t count, e = 0;
    for (; (e = hc_timeline_next_emitter(timeline, tick, e)) < world->entities; e++) {
        const hc_game_event *emitted = hc_timeline_events(timeline, tick, (hc_entity)e, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct hc_cl_predicted_event event = {
                .tick = tick, .entity = (hc_entity)e, .event = emitted[i]};
            predict(events, &event, stats);
        }
    }
}

void hc_cl_game_events_predict(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                               const struct hc_world *world, struct hc_client_stats *stats) {
    uint64_t scanned = events->scanned;
    if (world->game->event_kind_count == 0 || !hc_timeline_started(timeline))
        return;
    hc_tick head = hc_timeline_head(timeline);
    for (hc_tick t = hc_timeline_oldest(timeline); t <= head; t++) {
        uint64_t changed = hc_timeline_events_changed(timeline, t);
        if (changed <= events->scanned)
            continue;
        scanned = changed > scanned ? changed : scanned;
        if (!is_decided(events, t))
            predict_tick(events, timeline, world, t, stats);
    }
    events->scanned = scanned;
}

// ---- Listed ticks -------------------------------------------------------------------------------

/// Moves on to the newest final tick of the server.
static void move_on(struct hc_cl_game_events *events, hc_tick final) {
    if (events->any && final <= events->through)
        return;
    hc_tick from = events->any ? events->through + 1 : 0;
    events->any = true;
    events->through = final;
    for (hc_tick t = hc_tick_max(from, hc_tick_back(final, HC_GAME_EVENTS_TICKS - 1)); t <= final;
         t++)
        events->listed[t % HC_GAME_EVENTS_TICKS / 64] &= ~(UINT64_C(1) << t % 64);
}

static void take_event(struct hc_cl_game_events *events, const struct hc_cl_predicted_event *event,
                       struct hc_client_stats *stats) {
    uint32_t place = find(events, event);
    bool predicted = place < events->count;
    if (predicted)
        remove_at(events, place);
    stats->game_events_confirmed += predicted;
    stats->game_events_late += !predicted;
    queue(events, predicted ? HC_CLIENT_GAME_EVENT_CONFIRMED : HC_CLIENT_GAME_EVENT_LATE, event,
          stats);
}

void hc_cl_game_events_take(struct hc_cl_game_events *events, const struct hc_cl_received *snapshot,
                            struct hc_client_stats *stats) {
    hc_tick end = snapshot->events_first + snapshot->event_ticks;
    move_on(events, snapshot->header.final);
    for (uint32_t i = 0; i < snapshot->event_count; i++) {
        const struct hc_cl_received_event *received = &snapshot->events[i];
        struct hc_cl_predicted_event event = {
            .tick = received->tick, .entity = received->entity, .event = received->event};
        if (!is_decided(events, event.tick))
            take_event(events, &event, stats);
    }
    for (hc_tick t = snapshot->events_first; t < end; t++)
        if (events->through - t < HC_GAME_EVENTS_TICKS)
            events->listed[t % HC_GAME_EVENTS_TICKS / 64] |= UINT64_C(1) << t % 64;
    cancel_decided(events, stats);
}

void hc_cl_game_events_begin(struct hc_cl_game_events *events, struct hc_client_stats *stats) {
    events->scanned = 0;
    events->any = true; // for now: everything predicted is decided
    events->through = HC_NO_TICK - 1;
    cancel_decided(events, stats);
    events->any = false;
}
