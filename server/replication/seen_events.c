/// The events of a tick that a client sees.
#include "server/replication/seen_events.h"

#include "proto/game_events.h"

void hc_sv_seen_events_find(const struct hc_sv_event_ring *ring, uint64_t first, uint64_t end,
                            const struct hc_sv_view *view, hc_tick tick,
                            struct hc_sv_seen_events *seen) {
    const struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    uint64_t number = first;
    seen->count = 0;
    while (number < end && slot != NULL && seen->count < seen->room) {
        hc_unit unit = hc_sv_event_ring_at(ring, number)->unit;
        if (slot->unit < unit) {
            slot = hc_sv_view_slot(view, slot->next);
            continue;
        }
        if (slot->unit == unit && hc_sv_slot_saw(slot, tick)) {
            seen->own[seen->count] = hc_sv_slot_sees(slot) && slot->shown.own;
            seen->events[seen->count++] = *hc_sv_event_ring_at(ring, number);
        }
        number++;
    }
}

uint32_t hc_sv_seen_events_cut(const struct hc_world *world, struct hc_sv_seen_events *seen) {
    bool keeps[HC_SV_LISTING_EVENTS];
    uint32_t bits = 0, kept = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < seen->count; i++) {
            uint32_t more = hc_game_events_bits(world, hc_game_event_kind(seen->events[i].event));
            if (seen->own[i] != (pass == 0))
                continue;
            keeps[i] = bits + more <= HC_SV_LISTING_BITS;
            bits += keeps[i] ? more : 0;
        }
    for (uint32_t i = 0; i < seen->count; i++)
        if (keeps[i])
            seen->events[kept++] = seen->events[i];
    return kept;
}
