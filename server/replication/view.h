/// The view of one client: the units that it sees or may still know, a slot for each, with all that
/// it was sent of the unit.
///
/// The slots of all clients lie in one pool; those of a client form a list in the order of their
/// units. So a client takes memory and time for the units in its interest set, and for those that
/// left it until nothing of them is logged any more, however many units the world has. While the
/// pool is empty no client comes to see more units.
///
/// A unit's items are its values of the ticks shown, and drops: see sent_log.h. A drop does not end
/// the acked value: the client keeps its baselines.
#pragma once

#include "server/replication/sent_log.h"

#define HC_SV_NO_SLOT UINT32_MAX

/// A unit that a client sees or may know.
struct hc_sv_slot {
    uint32_t next; ///< the slot of the next unit, or the next free one; HC_SV_NO_SLOT: none
    hc_unit unit;
    bool sees;                  ///< the unit is in the client's interest set
    bool compared;              ///< corrections compare its past ticks
    bool valued;                ///< a value was ever sent
    bool pinned;                ///< a value of it is pinned, see replicator.h
    hc_tick compared_at;        ///< the head at which they began to
    hc_tick since;              ///< of a seen unit: it was in view at every tick from this one on
    uint32_t score;             ///< see Priority
    uint32_t corrected;         ///< number of the newest correction, see sent_log.h
    hc_sv_places values, drops; ///< logged snapshots that carried a value of their tick, or a drop
    hc_tick valued_as_of;       ///< of the newest snapshot that ever carried a value
    hc_sv_value_id evicted;     ///< the newest acked item that the log has evicted; 0: a drop
    hc_tick evicted_as_of;      ///< its head; HC_NO_TICK: none
    hc_sv_value_id value_ids[HC_SV_PLACES]; ///< by place, of `values`
};

/// The slots of all clients.
struct hc_sv_slots {
    struct hc_sv_slot *at;
    uint32_t count; ///< in the pool
    uint32_t used;  ///< those from here on were never used
    uint32_t free;  ///< the first of a list
};

struct hc_sv_view {
    struct hc_sv_slots *slots; ///< borrowed
    uint32_t first;            ///< of the list; HC_SV_NO_SLOT: none
};

/// A value that a client has acked.
struct hc_sv_acked {
    hc_sv_value_id value_id; ///< 0: none
    hc_tick as_of, tick;     ///< head of the snapshot that carried it, and the tick it showed
};

/// Lays the pool out from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_slots_layout(struct hc_sv_slots *slots, uint32_t count, uint8_t *base);

/// All slots are free.
void hc_sv_slots_clear(struct hc_sv_slots *slots);

/// An empty view.
void hc_sv_view_open(struct hc_sv_view *view, struct hc_sv_slots *slots);

/// Gives all slots back.
void hc_sv_view_close(struct hc_sv_view *view);

/// The slot with this number; NULL: HC_SV_NO_SLOT.
static inline struct hc_sv_slot *hc_sv_view_slot(const struct hc_sv_view *view, uint32_t number) {
    return number == HC_SV_NO_SLOT ? NULL : &view->slots->at[number];
}

/// Adds `unit` after the slot whose `next` is `*at`, in its order; returns its slot, NULL: the pool
/// is empty.
struct hc_sv_slot *hc_sv_view_insert(struct hc_sv_view *view, uint32_t *at, hc_unit unit);

/// Removes the slot with the number `*at`; `*at` becomes the next.
void hc_sv_view_remove(struct hc_sv_view *view, uint32_t *at);

/// The slot of `unit`; NULL: there is none. Walks the list.
const struct hc_sv_slot *hc_sv_view_find(const struct hc_sv_view *view, hc_unit unit);

/// Whether the client may know of `unit`. Walks the list.
static inline bool hc_sv_view_sees(const struct hc_sv_view *view, hc_unit unit) {
    const struct hc_sv_slot *slot = hc_sv_view_find(view, unit);
    return slot != NULL && slot->sees;
}

// ---- Items --------------------------------------------------------------------------------------

/// The log has evicted the places `gone`.
void hc_sv_slot_evict(struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                      hc_sv_places gone);

/// The newest snapshot carries this value of the unit, of the tick that it shows; 0: it drops it.
void hc_sv_slot_put(struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                    hc_sv_value_id value_id);

/// The newest acked value of a snapshot's own tick, unless it is neither logged nor in the base.
struct hc_sv_acked hc_sv_slot_acked(const struct hc_sv_slot *slot,
                                    const struct hc_sv_sent_log *sent_log);

/// Whether the client may know the unit: a value of it was sent, lost or not, and no drop since
/// then is acked or under way.
bool hc_sv_slot_known(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log);

/// The head of the newest snapshot with an item of the unit that is not lost; HC_NO_TICK: none, or
/// that item is a drop.
hc_tick hc_sv_slot_sent(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log);

/// The unit's value of `tick` that the client holds or is about to: the newest that is not lost, of
/// the tick shown (`showing`, see hc_sv_sent_log_showing) or as a correction.
struct hc_sv_held hc_sv_slot_held(const struct hc_sv_slot *slot,
                                  const struct hc_sv_sent_log *sent_log, hc_tick tick,
                                  hc_sv_places showing);

/// Whether any logged snapshot carried the unit at `tick`, lost or not.
bool hc_sv_slot_has(const struct hc_sv_slot *slot, const struct hc_sv_sent_log *sent_log,
                    hc_tick tick, hc_sv_places showing);

// ---- Priority -----------------------------------------------------------------------------------
// When not all units fit, those with the highest scores go first. A slot's score grows while its
// unit is not sent, faster if the unit has changed and if it is near. A unit that does not fit is
// skipped, and only a unit that was sent falls back to 0. So no unit starves: a unit that waits
// overtakes all others in the end.
//
// Let n candidates be not own, and let every order send at least the first m of them. Then a
// candidate is sent within HC_SV_PRIORITY_SPREAD * (floor((n - 1) / m) + 1) orders in a row that
// it is in; if it has changed in all of them, within a HC_SV_PRIORITY_CHANGED-th of that. Proof,
// for S the spread: let it wait t orders. A unit that is sent ahead of it begins at 0 again, and
// grows at most S times as fast. If that happens in one of the last t / S orders, too few remain in
// which it could overtake the candidate. So each of the n - 1 others is sent ahead of it at most
// once there, m each time, and m * floor(t / S) <= n - 1.

enum {
    HC_SV_PRIORITY_NEAR = 4,    ///< a unit at distance 0 grows so many times as fast as at the end
                                ///< of the view
    HC_SV_PRIORITY_CHANGED = 4, ///< a changed unit grows so many times as fast
    HC_SV_PRIORITY_SPREAD = HC_SV_PRIORITY_NEAR * HC_SV_PRIORITY_CHANGED,
};

/// Lets the score of a candidate grow, once for each order. `changed`: the client's value of the
/// unit is out of date; `distance` to the nearest own player and the game's `view` are in wire
/// units. Without a view all are equally near.
void hc_sv_slot_grow(struct hc_sv_slot *slot, bool changed, uint32_t distance, uint32_t view);

/// The key that orders a candidate: first `own` ones (the client's own, or the referee), then the
/// highest scores, then the lowest numbers.
uint64_t hc_sv_slot_key(const struct hc_sv_slot *slot, bool own, uint32_t number);

/// Orders the keys of candidates, the first to send first. A Shell sort, because qsort may
/// allocate.
void hc_sv_view_order(uint64_t *keys, uint32_t count);

/// The number of the candidate with this key.
static inline uint32_t hc_sv_view_number(uint64_t key) {
    return UINT32_MAX - (uint32_t)key;
}
