/// The events of the ticks that are not final yet, read from the timeline once for each change.
#include "server/replication/open_events.h"

enum {
    CAPACITY_MIN = 4096, ///< events in the ring at least
    CAPACITY_EACH = 64,  ///< more events in the ring for each player
};

size_t hc_sv_open_events_layout(struct hc_sv_open_events *open, const struct hc_world *world,
                                uint8_t *base) {
    return hc_sv_event_ring_layout(&open->ring, world, CAPACITY_MIN, CAPACITY_EACH, base);
}

const struct hc_sv_open_tick *hc_sv_open_events_at(struct hc_sv_open_events *open,
                                                   const struct hc_timeline *timeline,
                                                   hc_tick tick) {
    struct hc_sv_open_tick *at = &open->ticks[tick % HC_GAME_EVENTS_TICKS];
    uint64_t version = hc_timeline_events_changed(timeline, tick);
    if (at->tick == tick && at->version == version &&
        at->first >= hc_sv_event_ring_oldest(&open->ring))
        return at;
    at->tick = tick;
    at->version = version;
    at->first = open->ring.end;
    hc_sv_event_ring_add(&open->ring, timeline, tick, false);
    at->end = open->ring.end;
    if (at->first < hc_sv_event_ring_oldest(&open->ring)) // more than the ring holds
        at->first = at->end;
    return at;
}
