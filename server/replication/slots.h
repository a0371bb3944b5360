/// Slots: all that a client was sent of a unit, and the pool of the slots of all clients.
///
/// A client takes slots for the units in its interest set, and for those that left it until nothing
/// of them is logged any more, however many units the world has. A quarter of the pool is promised:
/// each client has an equal share of it, which no other takes. Beyond its share a client comes to
/// see more units only while slots are left that nobody was promised.
#pragma once

#include "server/replication/sent_log.h"

#include <stddef.h>

#define HC_SV_NO_SLOT UINT32_MAX

/// The view that a client has of the unit in a slot, as the tick shown is looked at.
struct hc_sv_slot_shown {
    hc_sv_value_id value_id; ///< of a seen unit: its value at the tick shown
    uint16_t inputs;         ///< of a seen unit: ticks of inputs from the tick shown on, at most
    bool own;                ///< of a seen unit: the referee or an own player
};

/// The name of the player in a slot, as the client was sent it since the unit is seen.
struct hc_sv_slot_name {
    bool acked;      ///< the client acked it
    uint32_t number; ///< of the name that it acked or was sent; 0: none was sent since then
};

/// A unit that a client sees or may know. Each snapshot reads everything before the values of every
/// slot. Slots are not aligned to the lines of the cache, because snapshots take longer then.
///
/// Each part has one writer, after the pool has begun all of them:
///
///     next, unit   view.c
///     since, left  hc_sv_slot_see, hc_sv_slot_out_of_view and hc_sv_slot_hide, for interest; and
///                  hc_sv_slot_cut
///     shown        look.c
///     score        snapshot.c, by the functions of priority.h
///     items        sent_log.c
///     name         names.c
struct hc_sv_slot {
    uint32_t next; ///< the slot of the next unit, or the next free one; HC_SV_NO_SLOT: none
    hc_unit unit;
    hc_tick since; ///< a seen unit was in view at every tick from this one on; HC_NO_TICK: the unit
                   ///< is not in the client's interest set
    struct hc_sv_slot_shown shown;
    uint32_t score; ///< see priority.h
    struct hc_sv_items items;
    struct hc_sv_slot_name name;
    struct {
        hc_tick since, until;
    } left; ///< The unit was in view at the ticks [since, until) before it last left; equal: never.
};

_Static_assert(offsetof(struct hc_sv_slot, items.value_ids) <= 64,
               "no longer than a line of the cache");

/// The slots of all clients.
struct hc_sv_slots {
    struct hc_sv_slot *at;
    uint32_t count;    ///< slots in the pool
    uint32_t used;     ///< the first slot that was never used; none after it was
    uint32_t free;     ///< the first slot of the list of free ones
    uint32_t clients;  ///< clients at most
    uint32_t share;    ///< slots that each client is promised
    uint32_t left;     ///< slots in the pool that are not taken
    uint32_t promised; ///< slots left that are promised to clients with less than their share
};

/// Lays the pool of at most `clients` views out from `base` (NULL: only measures); returns the
/// bytes needed.
size_t hc_sv_slots_layout(struct hc_sv_slots *slots, uint32_t count, uint32_t clients,
                          uint8_t *base);

/// All slots are free.
void hc_sv_slots_clear(struct hc_sv_slots *slots);

/// Takes a slot for a client that has `held`; HC_SV_NO_SLOT: all that are left are promised to
/// others. Its next slot and its unit are not set.
uint32_t hc_sv_slots_take(struct hc_sv_slots *slots, uint32_t held);

/// Gives the slot with this number back, one of the `held` of a client.
void hc_sv_slots_give(struct hc_sv_slots *slots, uint32_t number, uint32_t held);

/// Whether the unit is in the client's interest set.
static inline bool hc_sv_slot_sees(const struct hc_sv_slot *slot) {
    return slot->since != HC_NO_TICK;
}

/// The unit comes into view, where it stays from the tick `since` on. Nobody has named its player
/// since then.
void hc_sv_slot_see(struct hc_sv_slot *slot, hc_tick since);

/// The unit was out of view at a tick before `since`, and counts as seen from `since` on. So no
/// value of an earlier tick is a baseline any more: a delta lists the inputs since its baseline,
/// and the client may not know what the player did out of its view. Looks at events and at
/// snapshots come in any order, so an earlier `since` than the present one changes nothing.
void hc_sv_slot_out_of_view(struct hc_sv_slot *slot, hc_tick since);

/// The unit leaves the client's interest set: it is out of view at `tick`.
void hc_sv_slot_hide(struct hc_sv_slot *slot, hc_tick tick);

/// The unit was out of view at `tick` and counts as in view before it only, in the time before it
/// left.
void hc_sv_slot_cut(struct hc_sv_slot *slot, hc_tick tick);

/// Whether the unit was in view at a tick, without a time out of view that began before the tick.
static inline bool hc_sv_slot_saw(const struct hc_sv_slot *slot, hc_tick tick) {
    return (hc_sv_slot_sees(slot) && (slot->shown.own || slot->since <= tick)) ||
           (slot->left.since <= tick && tick < slot->left.until);
}
