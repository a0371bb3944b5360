/// The pool of slots, and the parts of a slot as they begin.
#include "server/replication/slots.h"

#include "common/alloc.h"
#include "hindcast/check.h"

enum { PROMISED = 4 }; ///< 1 / this of the pool is promised

size_t hc_sv_slots_layout(struct hc_sv_slots *slots, uint32_t count, uint32_t clients,
                          uint8_t *base) {
    size_t used = 0;
    slots->count = count;
    slots->clients = clients;
    slots->share = count / PROMISED / clients;
    slots->at = hc_carve(base, &used, count * sizeof *slots->at);
    return used;
}

void hc_sv_slots_clear(struct hc_sv_slots *slots) {
    slots->used = 0;
    slots->free = HC_SV_NO_SLOT;
    slots->left = slots->count;
    slots->promised = slots->share * slots->clients;
}

uint32_t hc_sv_slots_take(struct hc_sv_slots *slots, uint32_t held) {
    bool of_share = held < slots->share;
    if (!of_share && slots->left == slots->promised)
        return HC_SV_NO_SLOT;
    HC_ASSERT(slots->left > 0 && (!of_share || slots->promised > 0));
    slots->promised -= of_share;
    slots->left--;
    // The one that was given back last is the likeliest to be in the processor's cache.
    uint32_t number = slots->free;
    if (number == HC_SV_NO_SLOT)
        number = slots->used++;
    else
        slots->free = slots->at[number].next;
    struct hc_sv_slot *slot = &slots->at[number];
    slot->since = HC_NO_TICK;
    slot->shown.own = false;
    slot->score = 0;
    slot->left.since = slot->left.until = 0;
    hc_sv_items_begin(&slot->items);
    return number;
}

void hc_sv_slots_give(struct hc_sv_slots *slots, uint32_t number, uint32_t held) {
    HC_ASSERT(held > 0);
    slots->at[number].next = slots->free;
    slots->free = number;
    slots->left++;
    slots->promised += held - 1 < slots->share;
}

void hc_sv_slot_see(struct hc_sv_slot *slot, hc_tick since) {
    HC_ASSERT(since != HC_NO_TICK);
    slot->since = since;
    slot->name.acked = false;
    slot->name.number = 0;
}

void hc_sv_slot_out_of_view(struct hc_sv_slot *slot, hc_tick since) {
    HC_ASSERT(hc_sv_slot_sees(slot) && since != HC_NO_TICK);
    slot->since = hc_tick_max(slot->since, since);
}

void hc_sv_slot_hide(struct hc_sv_slot *slot, hc_tick tick) {
    slot->left.since = slot->since;
    slot->left.until = hc_tick_max(slot->since, tick);
    slot->since = HC_NO_TICK;
}

void hc_sv_slot_cut(struct hc_sv_slot *slot, hc_tick tick) {
    slot->left.until = hc_tick_min(slot->left.until, hc_tick_max(slot->left.since, tick));
}
