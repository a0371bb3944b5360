/// A view: the slots of one client, a list in the order of their units.
///
/// It has a slot for each unit that its client sees or may still know. So a client takes memory and
/// time for these alone.
#pragma once

#include "server/replication/slots.h"

enum { HC_SV_AHEAD = 64 }; ///< slots that are loaded before a snapshot reads them

struct hc_sv_view {
    struct hc_sv_slots *slots; ///< borrowed
    uint32_t first;            ///< of the list; HC_SV_NO_SLOT: none
    uint32_t count;            ///< of its slots
    /// The first slots of the list and their units, as the newest snapshot found them. Others may
    /// have them by now: hints for what to load, and no more.
    struct {
        uint32_t number;
        hc_unit unit;
    } ahead[HC_SV_AHEAD];
    uint32_t ahead_count;
};

/// Begins to load the slot `i` of the view's first ones into the processor's cache, as far as the
/// next snapshot reads it, with its values at two places of the sent log: of the newest acked
/// snapshot, and of the next one. Returns the slot's unit.
static inline hc_unit hc_sv_view_prefetch(const struct hc_sv_view *view, uint32_t i, unsigned acked,
                                          unsigned next) {
    const struct hc_sv_slot *slot = &view->slots->at[view->ahead[i].number];
    __builtin_prefetch(slot);
    __builtin_prefetch(&slot->items.value_ids[acked]);
    __builtin_prefetch(&slot->items.value_ids[next], 1);
    return view->ahead[i].unit;
}

/// An empty view.
void hc_sv_view_open(struct hc_sv_view *view, struct hc_sv_slots *slots);

/// Gives all slots back.
void hc_sv_view_close(struct hc_sv_view *view);

/// The slot with this number; NULL: HC_SV_NO_SLOT.
static inline struct hc_sv_slot *hc_sv_view_slot(const struct hc_sv_view *view, uint32_t number) {
    return number == HC_SV_NO_SLOT ? NULL : &view->slots->at[number];
}

/// Adds `unit` after the slot whose `next` is `*at`, in its order; returns its slot, NULL: no slot
/// is left that other clients were not promised.
struct hc_sv_slot *hc_sv_view_insert(struct hc_sv_view *view, uint32_t *at, hc_unit unit);

/// Removes the slot with the number `*at`; `*at` becomes the next.
void hc_sv_view_remove(struct hc_sv_view *view, uint32_t *at);

/// The slot of `unit`; NULL: there is none. Walks the list.
const struct hc_sv_slot *hc_sv_view_find(const struct hc_sv_view *view, hc_unit unit);

/// Whether the client may know of `unit`. Walks the list.
static inline bool hc_sv_view_sees(const struct hc_sv_view *view, hc_unit unit) {
    const struct hc_sv_slot *slot = hc_sv_view_find(view, unit);
    return slot != NULL && hc_sv_slot_sees(slot);
}
