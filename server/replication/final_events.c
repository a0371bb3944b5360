/// The ring of final game events, and where each tick's lie in it.
#include "server/replication/final_events.h"

enum {
    CAPACITY_MIN = 16384, ///< events in the ring at least
    CAPACITY_EACH = 128,  ///< more events in the ring for each player
    DROPPED_TICKS = 64,   ///< ticks whose events are counted although they are listed no more
};

size_t hc_sv_final_events_layout(struct hc_sv_final_events *finals, const struct hc_world *world,
                                 uint8_t *base) {
    return hc_sv_event_ring_layout(&finals->ring, world, CAPACITY_MIN, CAPACITY_EACH, base);
}

void hc_sv_final_events_add(struct hc_sv_final_events *finals, const struct hc_timeline *timeline) {
    hc_tick tick = ++finals->final;
    hc_sv_event_ring_add(&finals->ring, timeline, tick, true);
    finals->ends[tick % HC_GAME_EVENTS_TICKS] = finals->ring.end;
    // The number of a tick's first event is the end of the tick before.
    finals->first =
        hc_tick_max(finals->first, hc_tick_back(tick, HC_GAME_EVENTS_TICKS - DROPPED_TICKS));
    while (finals->first <= tick &&
           hc_sv_final_events_first(finals, finals->first) < hc_sv_event_ring_oldest(&finals->ring))
        finals->first++;
}

bool hc_sv_final_events_next(struct hc_sv_final_events *finals, struct hc_sv_event *event) {
    uint64_t oldest = hc_sv_event_ring_oldest(&finals->ring);
    if (finals->unread < oldest)
        finals->unread = oldest;
    if (finals->unread == finals->ring.end)
        return false;
    *event = *hc_sv_event_ring_at(&finals->ring, finals->unread++);
    return true;
}
