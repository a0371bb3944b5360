/// The events of ticks, one after another.
#include "server/replication/event_ring.h"

#include "common/alloc.h"

size_t hc_sv_event_ring_layout(struct hc_sv_event_ring *ring, const struct hc_world *world,
                               uint32_t least, uint32_t each, uint8_t *base) {
    size_t used = 0;
    ring->world = world;
    ring->capacity = world->game->event_kind_count > 0 ? least : 0;
    while (ring->capacity > 0 && ring->capacity < least + each * (uint32_t)world->players)
        ring->capacity *= 2;
    ring->events = hc_carve(base, &used, ring->capacity * sizeof *ring->events);
    return used;
}

void hc_sv_event_ring_add(struct hc_sv_event_ring *ring, const struct hc_timeline *timeline,
                          hc_tick tick, bool final) {
    const struct hc_game_event_kind *kinds = ring->world->game->event_kinds;
    uint32_t e = 0, count;
    while (ring->capacity > 0 &&
           (e = hc_timeline_next_emitter(timeline, tick, e)) < ring->world->entities) {
        const hc_game_event *events = hc_timeline_events(timeline, tick, (hc_entity)e, &count);
        for (uint32_t i = 0; i < count; i++)
            if (final || !kinds[hc_game_event_kind(events[i])].final_only)
                *hc_sv_event_ring_at(ring, ring->end++) =
                    (struct hc_sv_event){.tick = tick,
                                         .entity = (hc_entity)e,
                                         .unit = hc_unit_of(ring->world, (hc_entity)e),
                                         .event = events[i]};
        e++;
    }
}
