/// Owns the game events that are predicted or wait to be shown, and the queue from which the game
/// reads.
#include "client/world/game_events.h"

// ---- The queue ----------------------------------------------------------------------------------

static void count(struct hc_client_stats *stats, enum hc_client_game_event_state state) {
    stats->game_events_predicted += state == HC_CLIENT_GAME_EVENT_PREDICTED;
    stats->game_events_late += state == HC_CLIENT_GAME_EVENT_LATE;
    stats->game_events_confirmed += state == HC_CLIENT_GAME_EVENT_CONFIRMED;
    stats->game_events_cancelled += state == HC_CLIENT_GAME_EVENT_CANCELLED;
}

/// Queues an event for the game and counts it; drops the oldest if too many are unread.
static void queue(struct hc_cl_game_events *events, enum hc_client_game_event_state state,
                  const struct hc_cl_kept_event *event, struct hc_client_stats *stats) {
    count(stats, state);
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

// ---- Delivery -----------------------------------------------------------------------------------

/// Whether an event is to be delivered: it is shown, or its kind does not wait for that.
static bool is_due(const struct hc_cl_game_events *events,
                   const struct hc_cl_interpolation *interpolation,
                   const struct hc_cl_kept_event *event) {
    const struct hc_game *game = interpolation->world->game;
    if (game->event_kinds[hc_game_event_kind(event->event)].at_once)
        return true;
    return event->tick <=
           hc_cl_interpolation_time_of(interpolation, &events->shown, event->entity).tick + 1;
}

/// Delivers an event that waits. True: it stays, to be listed.
static bool deliver(struct hc_cl_game_events *events, struct hc_cl_kept_event *event,
                    struct hc_client_stats *stats) {
    if (event->phase == HC_CL_EVENT_LATE) {
        queue(events, HC_CLIENT_GAME_EVENT_LATE, event, stats);
        return false;
    }
    queue(events, HC_CLIENT_GAME_EVENT_PREDICTED, event, stats);
    if (event->phase == HC_CL_EVENT_CONFIRMED) {
        queue(events, HC_CLIENT_GAME_EVENT_CONFIRMED, event, stats);
        return false;
    }
    event->phase = HC_CL_EVENT_DELIVERED;
    return true;
}

void hc_cl_game_events_show(struct hc_cl_game_events *events,
                            const struct hc_cl_interpolation *interpolation,
                            const struct hc_cl_interpolation_times *times,
                            struct hc_client_stats *stats) {
    bool moved = times->own.tick != events->shown.own.tick ||
                 times->others.tick != events->shown.others.tick;
    uint32_t kept = 0;
    events->shown = *times;
    for (uint32_t i = 0; moved && i < events->count; i++) {
        struct hc_cl_kept_event event = events->kept[i];
        if (event.phase == HC_CL_EVENT_DELIVERED || !is_due(events, interpolation, &event) ||
            deliver(events, &event, stats))
            events->kept[kept++] = event;
    }
    if (moved)
        events->count = kept;
}

// ---- Predicted events ---------------------------------------------------------------------------

/// The place of an event among those that are kept; their number: it is not among them.
static uint32_t find(const struct hc_cl_game_events *events, const struct hc_cl_kept_event *event) {
    for (uint32_t i = 0; i < events->count; i++)
        if (events->kept[i].tick == event->tick && events->kept[i].entity == event->entity &&
            events->kept[i].event == event->event)
            return i;
    return events->count;
}

static void remove_at(struct hc_cl_game_events *events, uint32_t place) {
    events->kept[place] = events->kept[--events->count];
}

/// Whether it is decided which events of a tick happened.
static bool is_decided(const struct hc_cl_game_events *events, hc_tick tick) {
    if (!events->any || tick > events->through)
        return false;
    return events->through - tick >= HC_GAME_EVENTS_TICKS ||
           (events->listed[tick % HC_GAME_EVENTS_TICKS / 64] >> tick % 64 & 1) != 0;
}

/// Cancels an event that is predicted. Only one that is delivered is told to the game.
static void cancel(struct hc_cl_game_events *events, const struct hc_cl_kept_event *event,
                   struct hc_client_stats *stats) {
    if (event->phase == HC_CL_EVENT_DELIVERED)
        queue(events, HC_CLIENT_GAME_EVENT_CANCELLED, event, stats);
}

static bool is_predicted(const struct hc_cl_kept_event *event) {
    return event->phase == HC_CL_EVENT_PREDICTED || event->phase == HC_CL_EVENT_EARLY ||
           event->phase == HC_CL_EVENT_DELIVERED;
}

/// Cancels the predicted events of decided ticks.
static void cancel_decided(struct hc_cl_game_events *events, struct hc_client_stats *stats) {
    for (uint32_t i = 0; i < events->count;) {
        const struct hc_cl_kept_event *event = &events->kept[i];
        if (!is_predicted(event) || !is_decided(events, event->tick)) {
            i++;
            continue;
        }
        cancel(events, event, stats);
        remove_at(events, i);
    }
}

/// Whether events of the kind come only once their tick is final.
static bool is_final_only(const struct hc_cl_interpolation *interpolation, hc_game_event event) {
    return interpolation->world->game->event_kinds[hc_game_event_kind(event)].final_only;
}

/// Whether an early list says which events of a tick are predicted.
static bool has_early(const struct hc_cl_game_events *events, hc_tick tick) {
    return events->early[tick % HC_GAME_EVENTS_TICKS].tick == tick;
}

/// Predicts an event unless it is predicted already.
static void predict(struct hc_cl_game_events *events,
                    const struct hc_cl_interpolation *interpolation, struct hc_cl_kept_event *event,
                    struct hc_client_stats *stats) {
    if (find(events, event) < events->count)
        return;
    if (events->count == HC_CL_EVENTS_KEPT)
        return; // it comes late
    if (is_due(events, interpolation, event))
        deliver(events, event, stats);
    events->kept[events->count++] = *event;
}

static void predict_tick(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                         const struct hc_cl_interpolation *interpolation, hc_tick tick,
                         struct hc_client_stats *stats) {
    uint32_t number, e = 0, entities = interpolation->world->entities;
    for (; (e = hc_timeline_next_emitter(timeline, tick, e)) < entities; e++) {
        const hc_game_event *emitted = hc_timeline_events(timeline, tick, (hc_entity)e, &number);
        for (uint32_t i = 0; i < number; i++) {
            if (is_final_only(interpolation, emitted[i]))
                continue;
            struct hc_cl_kept_event event = {.tick = tick,
                                             .entity = (hc_entity)e,
                                             .event = emitted[i],
                                             .phase = HC_CL_EVENT_PREDICTED};
            predict(events, interpolation, &event, stats);
        }
    }
}

/// Whether the timeline has an event at its tick.
static bool timeline_has(const struct hc_timeline *timeline, const struct hc_cl_kept_event *event) {
    uint32_t number;
    const hc_game_event *emitted =
        hc_timeline_events(timeline, event->tick, event->entity, &number);
    for (uint32_t i = 0; i < number; i++)
        if (emitted[i] == event->event)
            return true;
    return false;
}

/// Takes the events back that wait because the timeline predicted them at the tick, and that it has
/// there no longer.
static void take_back(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                      hc_tick tick) {
    for (uint32_t i = 0; i < events->count;) {
        const struct hc_cl_kept_event *event = &events->kept[i];
        if (event->tick == tick && event->phase == HC_CL_EVENT_PREDICTED &&
            !timeline_has(timeline, event))
            remove_at(events, i);
        else
            i++;
    }
}

void hc_cl_game_events_predict(struct hc_cl_game_events *events, const struct hc_timeline *timeline,
                               const struct hc_cl_interpolation *interpolation,
                               struct hc_client_stats *stats) {
    uint64_t scanned = events->scanned;
    if (interpolation->world->game->event_kind_count == 0 || !hc_timeline_started(timeline))
        return;
    hc_tick head = hc_timeline_head(timeline);
    for (hc_tick t = hc_timeline_oldest(timeline); t <= head; t++) {
        uint64_t changed = hc_timeline_events_changed(timeline, t);
        if (changed <= events->scanned)
            continue;
        scanned = changed > scanned ? changed : scanned;
        if (is_decided(events, t) || has_early(events, t))
            continue;
        take_back(events, timeline, t);
        predict_tick(events, timeline, interpolation, t, stats);
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

/// Takes an event that was not predicted: it waits to be shown, if there is a place.
static void take_late(struct hc_cl_game_events *events,
                      const struct hc_cl_interpolation *interpolation,
                      struct hc_cl_kept_event *event, struct hc_client_stats *stats) {
    event->phase = HC_CL_EVENT_LATE;
    if (events->count == HC_CL_EVENTS_KEPT || is_due(events, interpolation, event))
        deliver(events, event, stats);
    else
        events->kept[events->count++] = *event;
}

static void take_event(struct hc_cl_game_events *events,
                       const struct hc_cl_interpolation *interpolation,
                       struct hc_cl_kept_event *event, struct hc_client_stats *stats) {
    uint32_t place = find(events, event);
    if (place == events->count) {
        take_late(events, interpolation, event, stats);
    } else if (events->kept[place].phase == HC_CL_EVENT_DELIVERED) {
        queue(events, HC_CLIENT_GAME_EVENT_CONFIRMED, event, stats);
        remove_at(events, place);
    } else {
        events->kept[place].phase = HC_CL_EVENT_CONFIRMED;
    }
}

/// Takes the early list of a tick, unless it has a newer one: `first` is the place of its first
/// event in the snapshot. The events that wait are those in the list afterwards.
static void take_early(struct hc_cl_game_events *events, const struct hc_cl_received *snapshot,
                       const struct hc_cl_received_early *early, uint32_t first,
                       const struct hc_cl_interpolation *interpolation,
                       struct hc_client_stats *stats) {
    hc_tick tick = early->tick, as_of = snapshot->header.as_of;
    bool has = has_early(events, tick);
    if (is_decided(events, tick) ||
        (has && events->early[tick % HC_GAME_EVENTS_TICKS].as_of >= as_of))
        return;
    events->early[tick % HC_GAME_EVENTS_TICKS].tick = tick;
    events->early[tick % HC_GAME_EVENTS_TICKS].as_of = as_of;
    for (uint32_t i = 0; i < events->count; i++) // those that are not in the list stay so
        if (events->kept[i].tick == tick && events->kept[i].phase == HC_CL_EVENT_EARLY)
            events->kept[i].phase = HC_CL_EVENT_PREDICTED;
    for (uint32_t i = first; i < early->end; i++) {
        struct hc_cl_kept_event event = {.tick = tick,
                                         .entity = snapshot->events[i].entity,
                                         .event = snapshot->events[i].event,
                                         .phase = HC_CL_EVENT_EARLY};
        uint32_t place = find(events, &event);
        if (is_final_only(interpolation, event.event))
            continue;
        if (place == events->count)
            predict(events, interpolation, &event, stats);
        else if (events->kept[place].phase == HC_CL_EVENT_PREDICTED)
            events->kept[place].phase = HC_CL_EVENT_EARLY;
    }
    for (uint32_t i = 0; i < events->count;)
        if (events->kept[i].tick == tick && events->kept[i].phase == HC_CL_EVENT_PREDICTED)
            remove_at(events, i);
        else
            i++;
}

/// Takes the early lists of a snapshot.
static void take_all_early(struct hc_cl_game_events *events, const struct hc_cl_received *snapshot,
                           const struct hc_cl_interpolation *interpolation,
                           struct hc_client_stats *stats) {
    uint32_t first = snapshot->event_count;
    for (uint32_t i = 0; i < snapshot->early_count; first = snapshot->early[i++].end)
        take_early(events, snapshot, &snapshot->early[i], first, interpolation, stats);
}

void hc_cl_game_events_take(struct hc_cl_game_events *events, const struct hc_cl_received *snapshot,
                            const struct hc_cl_interpolation *interpolation,
                            struct hc_client_stats *stats) {
    hc_tick end = snapshot->events_first + snapshot->event_ticks;
    move_on(events, snapshot->header.final);
    for (uint32_t i = 0; i < snapshot->event_count; i++) {
        const struct hc_cl_received_event *received = &snapshot->events[i];
        struct hc_cl_kept_event event = {
            .tick = received->tick, .entity = received->entity, .event = received->event};
        if (!is_decided(events, event.tick))
            take_event(events, interpolation, &event, stats);
    }
    for (hc_tick t = snapshot->events_first; t < end; t++)
        if (events->through - t < HC_GAME_EVENTS_TICKS)
            events->listed[t % HC_GAME_EVENTS_TICKS / 64] |= UINT64_C(1) << t % 64;
    cancel_decided(events, stats);
    take_all_early(events, snapshot, interpolation, stats);
}

void hc_cl_game_events_begin(struct hc_cl_game_events *events, struct hc_client_stats *stats) {
    for (uint32_t i = 0; i < events->count; i++) {
        if (is_predicted(&events->kept[i]))
            cancel(events, &events->kept[i], stats);
        else
            deliver(events, &events->kept[i], stats);
    }
    events->count = 0;
    events->scanned = 0;
    events->any = false;
    for (unsigned i = 0; i < HC_GAME_EVENTS_TICKS; i++)
        events->early[i].tick = HC_NO_TICK;
    events->shown = (struct hc_cl_interpolation_times){.own = {.tick = 0}};
}
