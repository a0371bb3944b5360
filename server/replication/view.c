/// The list of a client's slots.
#include "server/replication/view.h"

void hc_sv_view_open(struct hc_sv_view *view, struct hc_sv_slots *slots) {
    view->slots = slots;
    view->first = HC_SV_NO_SLOT;
    view->count = view->ahead_count = 0;
}

void hc_sv_view_close(struct hc_sv_view *view) {
    while (view->first != HC_SV_NO_SLOT)
        hc_sv_view_remove(view, &view->first);
}

struct hc_sv_slot *hc_sv_view_insert(struct hc_sv_view *view, uint32_t *at, hc_unit unit) {
    uint32_t number = hc_sv_slots_take(view->slots, view->count);
    if (number == HC_SV_NO_SLOT)
        return NULL;
    view->count++;
    struct hc_sv_slot *slot = &view->slots->at[number];
    slot->next = *at;
    slot->unit = unit;
    *at = number;
    return slot;
}

void hc_sv_view_remove(struct hc_sv_view *view, uint32_t *at) {
    uint32_t number = *at;
    *at = view->slots->at[number].next;
    hc_sv_slots_give(view->slots, number, view->count--);
}

const struct hc_sv_slot *hc_sv_view_find(const struct hc_sv_view *view, hc_unit unit) {
    const struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    while (slot != NULL && slot->unit < unit)
        slot = hc_sv_view_slot(view, slot->next);
    return slot != NULL && slot->unit == unit ? slot : NULL;
}
