/// The pool of slots, the list of each client, what the sent log makes of a unit's items, and
/// scores.
#include "server/replication/view.h"

#include "common/alloc.h"
#include "hindcast/check.h"

enum { NEAR_STEPS = 4 }; ///< steps of nearness between the slowest growth and twice that

/// Gaps of the Shell sort (Ciura 2001), continued by 2.25 for up to 2^16 units.
static const uint32_t gaps[] = {46187, 20528, 9124, 4055, 1802, 701, 301, 132, 57, 23, 10, 4, 1};

size_t hc_sv_slots_layout(struct hc_sv_slots *slots, uint32_t count, uint8_t *base) {
    size_t used = 0;
    slots->count = count;
    slots->at = hc_carve(base, &used, count * sizeof *slots->at);
    return used;
}

void hc_sv_slots_clear(struct hc_sv_slots *slots) {
    slots->used = 0;
    slots->free = HC_SV_NO_SLOT;
}

void hc_sv_view_open(struct hc_sv_view *view, struct hc_sv_slots *slots) {
    *view = (struct hc_sv_view){.slots = slots, .first = HC_SV_NO_SLOT};
}

void hc_sv_view_close(struct hc_sv_view *view) {
    while (view->first != HC_SV_NO_SLOT)
        hc_sv_view_remove(view, &view->first);
}

/// Takes a slot out of the pool, the one that was given back last first: it is the likeliest to be
/// in the processor's cache.
static uint32_t take(struct hc_sv_slots *slots) {
    uint32_t number = slots->free;
    if (number != HC_SV_NO_SLOT)
        slots->free = slots->at[number].next;
    else if (slots->used < slots->count)
        number = slots->used++;
    return number;
}

struct hc_sv_slot *hc_sv_view_insert(struct hc_sv_view *view, uint32_t *at, hc_unit unit) {
    uint32_t number = take(view->slots);
    if (number == HC_SV_NO_SLOT)
        return NULL;
    struct hc_sv_slot *slot = &view->slots->at[number];
    slot->next = *at;
    slot->unit = unit;
    slot->sees = slot->compared = slot->valued = slot->pinned = false;
    slot->compared_at = 0;
    slot->since = 0;
    slot->score = 0;
    slot->corrected = 0;
    slot->values = slot->drops = 0;
    slot->valued_as_of = HC_NO_TICK;
    slot->evicted = 0;
    slot->evicted_as_of = HC_NO_TICK;
    *at = number;
    return slot;
}

void hc_sv_view_remove(struct hc_sv_view *view, uint32_t *at) {
    uint32_t number = *at;
    struct hc_sv_slot *slot = &view->slots->at[number];
    *at = slot->next;
    slot->next = view->slots->free;
    view->slots->free = number;
}

const struct hc_sv_slot *hc_sv_view_find(const struct hc_sv_view *view, hc_unit unit) {
    const struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    while (slot != NULL && slot->unit < unit)
        slot = hc_sv_view_slot(view, slot->next);
    return slot != NULL && slot->unit == unit ? slot : NULL;
}

// ---- Items --------------------------------------------------------------------------------------

void hc_sv_slot_evict(struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                      hc_sv_places gone) {
    hc_sv_places acked = (slot->values | slot->drops) & gone & sent_log->acked;
    if (acked != 0) {
        unsigned place = hc_sv_sent_log_newest(sent_log, acked);
        slot->evicted = (slot->values >> place & 1) != 0 ? slot->value_ids[place] : 0;
        slot->evicted_as_of = sent_log->as_of[place];
    }
    slot->values &= ~gone;
    slot->drops &= ~gone;
}

void hc_sv_slot_put(struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                    hc_sv_value_id value_id) {
    hc_sv_places place = UINT64_C(1) << sent_log->newest;
    HC_ASSERT(((slot->values | slot->drops) & place) == 0); // one item of a unit in a snapshot
    if (value_id == 0) {
        slot->drops |= place;
        return;
    }
    slot->values |= place;
    slot->value_ids[sent_log->newest] = value_id;
    slot->valued = true;
    slot->valued_as_of = sent_log->as_of[sent_log->newest];
}

struct hc_sv_acked hc_sv_slot_acked(const struct hc_sv_slot *slot,
                                    const struct hc_sv_sent_log *sent_log) {
    hc_sv_places acked = slot->values & sent_log->acked;
    if (acked != 0) {
        unsigned place = hc_sv_sent_log_newest(sent_log, acked);
        return (struct hc_sv_acked){.value_id = slot->value_ids[place],
                                    .as_of = sent_log->as_of[place],
                                    .tick = sent_log->tick[place]};
    }
    bool in_base = slot->evicted != 0 && slot->evicted_as_of == sent_log->base;
    return (struct hc_sv_acked){.value_id = in_base ? slot->evicted : 0,
                                .as_of = in_base ? sent_log->base : HC_NO_TICK,
                                .tick = in_base ? sent_log->base_tick : HC_NO_TICK};
}

/// The newest item that is not lost; false: there is none, or it is a drop. `*as_of` is its head,
/// HC_NO_TICK without one.
static bool newest_sent(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                        hc_tick *as_of) {
    hc_sv_places sent = (slot->values | slot->drops) & ~sent_log->lost;
    *as_of = slot->evicted_as_of;
    if (sent == 0)
        return slot->evicted != 0;
    unsigned place = hc_sv_sent_log_newest(sent_log, sent);
    *as_of = sent_log->as_of[place];
    return (slot->values >> place & 1) != 0;
}

bool hc_sv_slot_known(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log) {
    hc_tick as_of;
    bool has_value = newest_sent(slot, sent_log, &as_of);
    return slot->valued && (has_value || as_of == HC_NO_TICK || as_of < slot->valued_as_of);
}

hc_tick hc_sv_slot_sent(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log) {
    hc_tick as_of;
    return newest_sent(slot, sent_log, &as_of) ? as_of : HC_NO_TICK;
}

struct hc_sv_held hc_sv_slot_held(const struct hc_sv_slot *slot,
                                  const struct hc_sv_sent_log *sent_log, hc_tick tick,
                                  hc_sv_places showing) {
    struct hc_sv_held held = {.value_id = 0, .as_of = HC_NO_TICK};
    hc_sv_places items = (slot->values | slot->drops) & showing & ~sent_log->lost;
    const struct hc_sv_logged_correction *correction =
        hc_sv_sent_log_corrected(sent_log, slot->unit, tick, slot->corrected, sent_log->lost);
    if (correction != NULL)
        items |= UINT64_C(1) << correction->place;
    if (items == 0)
        return held;
    unsigned place = hc_sv_sent_log_newest(sent_log, items);
    if (correction != NULL && correction->place == place)
        held.value_id = correction->value_id;
    else if ((slot->values >> place & 1) != 0)
        held.value_id = slot->value_ids[place];
    if (held.value_id != 0 && (sent_log->acked >> place & 1) != 0)
        held.as_of = sent_log->as_of[place];
    return held;
}

bool hc_sv_slot_has(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                    hc_tick tick, hc_sv_places showing) {
    return ((slot->values | slot->drops) & showing) != 0 ||
           hc_sv_sent_log_corrected(sent_log, slot->unit, tick, slot->corrected, 0) != NULL;
}

// ---- Priority -----------------------------------------------------------------------------------

void hc_sv_slot_grow(struct hc_sv_slot *slot, bool changed, uint32_t distance, uint32_t view) {
    uint32_t steps = NEAR_STEPS, most = UINT32_MAX - 1; // own ones are above all
    if (distance < view)
        steps += (uint32_t)((uint64_t)(view - distance) * ((HC_SV_PRIORITY_NEAR - 1) * NEAR_STEPS) /
                            view);
    if (changed)
        steps *= HC_SV_PRIORITY_CHANGED;
    slot->score = slot->score < most - steps ? slot->score + steps : most;
}

uint64_t hc_sv_slot_key(const struct hc_sv_slot *slot, bool own, uint32_t number) {
    return (uint64_t)(own ? UINT32_MAX : slot->score) << 32 | (UINT32_MAX - number);
}

void hc_sv_view_order(uint64_t *keys, uint32_t count) {
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (uint32_t i = gaps[g], gap = gaps[g], at; i < count; i++) {
            uint64_t key = keys[i];
            for (at = i; at >= gap && key > keys[at - gap]; at -= gap)
                keys[at] = keys[at - gap];
            keys[at] = key;
        }
}
