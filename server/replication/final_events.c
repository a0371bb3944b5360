/// The ring of final game events, and where each tick's lie in it.
#include "server/replication/final_events.h"

#include "common/alloc.h"

enum {
    CAPACITY_MIN = 16384, ///< events in the ring at least
    CAPACITY_EACH = 128,  ///< more events in the ring for each player
    DROPPED_TICKS = 64,   ///< ticks whose events are counted although they are listed no more
};

size_t hc_sv_final_events_layout(struct hc_sv_final_events *finals, const struct hc_world *world,
                                 uint8_t *base) {
    size_t used = 0;
    finals->world = world;
    finals->capacity = world->game->event_kind_count > 0 ? CAPACITY_MIN : 0;
    while (finals->capacity > 0 &&
           finals->capacity < CAPACITY_MIN + CAPACITY_EACH * (uint32_t)world->players)
        finals->capacity *= 2;
    finals->events = hc_carve(base, &used, finals->capacity * sizeof *finals->events);
    return used;
}

void hc_sv_final_events_add(struct hc_sv_final_events *finals, const struct hc_timeline *timeline) {
    hc_tick tick = ++finals->final;
    uint32_t e = 0, count;
    while (finals->capacity > 0 &&
           (e = hc_timeline_next_emitter(timeline, tick, e)) < finals->world->entities) {
        const hc_game_event *events = hc_timeline_events(timeline, tick, (hc_entity)e, &count);
        for (uint32_t i = 0; i < count; i++)
            *hc_sv_final_events_at(finals, finals->end++) =
                (struct hc_sv_final_event){.tick = tick,
                                           .entity = (hc_entity)e,
                                           .unit = hc_unit_of(finals->world, (hc_entity)e),
                                           .event = events[i]};
        e++;
    }
    finals->ends[tick % HC_GAME_EVENTS_TICKS] = finals->end;
    // The number of a tick's first event is the end of the tick before.
    finals->first =
        hc_tick_max(finals->first, hc_tick_back(tick, HC_GAME_EVENTS_TICKS - DROPPED_TICKS));
    while (finals->first <= tick &&
           hc_sv_final_events_first(finals, finals->first) < hc_sv_final_events_oldest(finals))
        finals->first++;
}

bool hc_sv_final_events_next(struct hc_sv_final_events *finals, struct hc_sv_final_event *event) {
    if (finals->unread < hc_sv_final_events_oldest(finals))
        finals->unread = hc_sv_final_events_oldest(finals);
    if (finals->unread == finals->end)
        return false;
    *event = *hc_sv_final_events_at(finals, finals->unread++);
    return true;
}
