/// Interest: the units that one client may know of, the view that holds them, and their order.
///
/// These are the units within the game's `view` of the client's own players, the own players and
/// the referee; a game may hide more. A unit leaves when it is a quarter of the view farther away,
/// so that it does not flicker at the border. A client without players may know of everything, as
/// may every client where the game has neither a view nor anything to hide. A client cannot show a
/// unit that the server never sent, however it is modified.
///
/// A unit is seen when one of its alive entities is within view of an own player that it is not
/// hidden from. A dead own player looks from its last place; one that was never alive does not
/// look. An unowned entity without a position is in every view. While nothing of a unit is alive
/// its state does not change: a client that saw it is sent its death and still knows it, no other
/// client learns of it, and the place where it comes back decides anew. So nothing leaks about a
/// player that joins, leaves or dies far away. A unit is seen as a whole: a client that sees a shot
/// is sent its player too.
///
/// hc_sv_interest_update looks for new units now and then, in an index of the tick's positions that
/// all clients share: its time depends on how many entities are near, not on the world's size.
/// Only a client that sees everything, and a game that hides units but has no view, take time
/// linear in the units. hc_sv_interest_narrow checks the seen units at every tick that is shown,
/// and hc_sv_interest_look_at at every other tick of a snapshot, by the states of that tick: a unit
/// that leaps out of view is not sent once more.
#pragma once

#include "common/grid.h"
#include "common/timeline.h"
#include "proto/datagram.h"
#include "server/replication/sent_log.h"

#include <stddef.h>

// ---- Views --------------------------------------------------------------------------------------
// A view has a slot for each unit that its client sees or may still know, with all that the client
// was sent of the unit.
//
// The slots of all clients lie in one pool; those of a client form a list in the order of their
// units. So a client takes memory and time for the units in its interest set, and for those that
// left it until nothing of them is logged any more, however many units the world has. A quarter of
// the pool is promised: each client has an equal share of it, which no other takes. Beyond its
// share a client comes to see more units only while slots are left that nobody was promised.

#define HC_SV_NO_SLOT UINT32_MAX

/// What a client sees of the unit in a slot, as the tick shown is looked at.
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
///     next, unit   the view
///     since        hc_sv_slot_see, hc_sv_slot_out_of_view and hc_sv_slot_hide, for interest
///     shown        look.c
///     score        snapshot.c, by the functions of Priority
///     items        sent_log.c
///     name         names.c
struct hc_sv_slot {
    uint32_t next; ///< the slot of the next unit, or the next free one; HC_SV_NO_SLOT: none
    hc_unit unit;
    hc_tick since; ///< a seen unit was in view at every tick from this one on; HC_NO_TICK: the unit
                   ///< is not in the client's interest set
    struct hc_sv_slot_shown shown;
    uint32_t score; ///< see Priority
    struct hc_sv_items items;
    struct hc_sv_slot_name name;
};

_Static_assert(offsetof(struct hc_sv_slot, items.value_ids) <= 64,
               "no longer than a line of the cache");

/// Whether the unit is in the client's interest set.
static inline bool hc_sv_slot_sees(const struct hc_sv_slot *slot) {
    return slot->since != HC_NO_TICK;
}

/// The unit comes into view, where it stays from the tick `since` on. Nobody has named its player
/// since then.
void hc_sv_slot_see(struct hc_sv_slot *slot, hc_tick since);

/// The unit was out of view at a tick before `since`, and counts as seen from `since` on. So no
/// value of an earlier tick is a baseline any more: a delta lists the inputs since its baseline,
/// and the client may not know what the player did out of its view.
void hc_sv_slot_out_of_view(struct hc_sv_slot *slot, hc_tick since);

/// The unit leaves the client's interest set.
void hc_sv_slot_hide(struct hc_sv_slot *slot);

/// The slots of all clients.
struct hc_sv_slots {
    struct hc_sv_slot *at;
    uint32_t count;    ///< in the pool
    uint32_t used;     ///< those from here on were never used
    uint32_t free;     ///< the first of a list
    uint32_t clients;  ///< at most
    uint32_t share;    ///< that each of them is promised
    uint32_t left;     ///< in the pool, not taken
    uint32_t promised; ///< of these, to clients that have not taken their share yet
};

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

/// Lays the pool of at most `clients` views out from `base` (NULL: only measures); returns the
/// bytes needed.
size_t hc_sv_slots_layout(struct hc_sv_slots *slots, uint32_t count, uint32_t clients,
                          uint8_t *base);

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

// ---- Interest -----------------------------------------------------------------------------------

enum { HC_SV_INDEX_TICKS = 16 }; ///< ticks whose indices are stored: clients are shown many

/// The alive entities with a position at one tick.
struct hc_sv_index_tick {
    hc_tick tick, head;         ///< as it was at this head; HC_NO_TICK: not in use
    struct hc_grid_shape shape; ///< with no more buckets than the entities need
    struct hc_grid grid;
    uint32_t everywhere_count;
    hc_unit *everywhere; ///< [unowned units] in every view: alive, unowned, without a position
};

/// The positions of the newest ticks of looks, for all clients.
struct hc_sv_index {
    const struct hc_world *world;
    struct hc_grid_shape shape;                       ///< with buckets for all entities
    uint32_t placed;                                  ///< entities in the grid that was filled last
    struct hc_sv_index_tick ticks[HC_SV_INDEX_TICKS]; ///< by tick
    uint32_t stamp;                                   ///< of the present look
    uint32_t *stamps; ///< [units] the newest look that came upon the unit
    hc_unit *found;   ///< [units] of the present look
};

/// An own player as it was last found alive.
struct hc_sv_interest_eye {
    hc_player player;            ///< HC_NO_PLAYER: it was never alive
    int64_t x, y;                ///< 0 without a position
    uint8_t state[HC_STATE_MAX]; ///< if the game hides units
};

struct hc_sv_interest {
    struct hc_sv_view view; ///< with the interest set
    const struct hc_world *world;
    hc_tick tick; ///< the newest checked tick; HC_NO_TICK: none
    struct hc_sv_interest_eye eyes[HC_OWN_PLAYERS_MAX]; ///< in the order of the own players
};

/// Lays the index out from `base` (NULL: only measures); returns the bytes needed. `world` is
/// borrowed.
size_t hc_sv_index_layout(struct hc_sv_index *index, const struct hc_world *world, uint8_t *base);

/// Forgets all ticks.
void hc_sv_index_clear(struct hc_sv_index *index);

/// An empty set, whose slots come from `slots`. `world` and `slots` are borrowed.
void hc_sv_interest_open(struct hc_sv_interest *interest, const struct hc_world *world,
                         struct hc_sv_slots *slots);

/// Looks for the units that a client with these players (at most HC_OWN_PLAYERS_MAX, always in the
/// same order) sees at `tick` in [oldest, head], the tick that is to be shown. Between two calls
/// the set gains no unit.
void hc_sv_interest_update(struct hc_sv_interest *interest, struct hc_sv_index *index,
                           const struct hc_timeline *timeline, hc_tick tick, const hc_player *own,
                           unsigned own_count);

/// Removes the units that are out of view at `tick`, in [oldest, head] and not before the newest
/// checked tick. A unit that was out of view at a tick between the two counts as seen since `tick`.
void hc_sv_interest_narrow(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count);

/// A view of one tick, from where the own players are at it or were last alive.
struct hc_sv_interest_look {
    const struct hc_world *world;
    const hc_player *own; ///< borrowed
    unsigned own_count, eye_count;
    struct hc_sv_interest_eye eyes[HC_OWN_PLAYERS_MAX]; ///< of the players that look
    bool everything;                                    ///< everything is in view
    bool by_distance; ///< no unit is hidden from a player that is near it
    const uint8_t *presence, *states;
};

/// Looks at `tick` in [oldest, head] with these players; `*look` is valid until the timeline
/// changes.
void hc_sv_interest_look_at(const struct hc_sv_interest *interest,
                            const struct hc_timeline *timeline, hc_tick tick, const hc_player *own,
                            unsigned own_count, struct hc_sv_interest_look *look);

/// Whether a seen unit is in view at the look's tick, the quarter included, or nothing of it is
/// alive there.
bool hc_sv_interest_in_view(const struct hc_sv_interest_look *look, hc_unit unit);

/// The distance at `tick` from the nearest own player's place at the last update to the unit's
/// nearest alive entity: the larger of |dx| and |dy|, wire units. 0: the unit is own or has no
/// position, or no player looks.
uint32_t hc_sv_interest_distance(const struct hc_sv_interest *interest,
                                 const struct hc_timeline *timeline, hc_tick tick, hc_unit unit);
