/// The sent log of one client: which of its datagrams with a snapshot it acked, and which are lost.
///
/// A logged snapshot has one of 64 places, and the log is three words: the places in use, those
/// that are acked, and those that are lost. Whatever a snapshot carries is an item: a unit's value
/// or drop, a correction, a forced range, a join or a leave. An item is the set of the places of
/// the snapshots that carried it, so one ack or one loss settles all items of a datagram at once.
///
/// A snapshot that is neither acked nor lost counts as received, so that nothing is repeated at
/// every tick of a round trip. If a lost one is acked after all, its items count again. A snapshot
/// leaves the log when it is HC_SNAPSHOT_AGE_MAX heads old; if it is not acked by then it is lost.
/// The newest acked snapshot, the base, outlives that: the client stores its values until it
/// receives a snapshot that names a newer base.
///
/// Calls belong in this order: hc_sv_sent_log_evict; the items give up the evicted places;
/// hc_sv_sent_log_begin; the items of the snapshot. Acks and losses come at any time between.
#pragma once

#include "common/unit.h"
#include "proto/limits.h"
#include "server/replication/cadence.h"

#include <stdbool.h>

enum {
    HC_SV_PLACES = HC_SNAPSHOT_AGE_MAX, ///< snapshots in the log, at most: heads differ
    HC_SV_BASE_AGE = 16,      ///< heads from the newest acked snapshot back to such a base
    HC_SV_CORRECTIONS = 4096, ///< of logged snapshots; a client is sent no more at once
};

_Static_assert(HC_SNAPSHOT_AGE_MAX == 64, "a set of places is a word");

typedef uint64_t hc_sv_places;   ///< a set of places, bit p for place p
typedef uint32_t hc_sv_value_id; ///< of a stored value (deltas.h); 0: none

/// A correction: an item for itself, because few units have any. Corrections are numbered from 1 on
/// for each client.
struct hc_sv_logged_correction {
    hc_sv_value_id value_id;
    uint16_t older; ///< how many numbers before it is the unit's next older one; 0: none
    uint8_t tick;   ///< low bits of the tick: logged ticks lie less than 256 apart
    uint8_t place;
};

struct hc_sv_sent_log {
    hc_sv_places logged, acked, lost; ///< the latter two within the first
    unsigned newest;                  ///< place of the newest snapshot
    hc_tick base;                     ///< head of the base; HC_NO_TICK: none
    hc_tick base_tick;                ///< the tick that the base showed, if any
    hc_tick as_of[HC_SV_PLACES];      ///< by place: head of the snapshot
    hc_tick tick[HC_SV_PLACES];       ///< by place: tick shown of the snapshot
    uint32_t seq[HC_SV_PLACES];
    uint64_t first_correction[HC_SV_PLACES]; ///< number of the snapshot's first correction
    struct {
        hc_tick tick; ///< HC_NO_TICK: none
        hc_tick head;
    } equal[HC_SV_PLACES]; ///< by tick % HC_SV_PLACES, see hc_sv_sent_log_mark_equal
    uint64_t first, end;   ///< numbers of the logged corrections, [first, end)
    struct hc_sv_logged_correction *corrections; ///< [HC_SV_CORRECTIONS] ring by number
};

/// Lays the ring out from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_sent_log_layout(struct hc_sv_sent_log *sent_log, uint8_t *base);

/// Empties the log.
void hc_sv_sent_log_clear(struct hc_sv_sent_log *sent_log);

/// Begins to load what the next snapshot reads of the log into the processor's cache.
void hc_sv_sent_log_prefetch(const struct hc_sv_sent_log *sent_log);

/// Removes the snapshots that are too old at the head `as_of`. Returns their places; whether each
/// was acked, and of which head it was, stays readable until hc_sv_sent_log_begin.
hc_sv_places hc_sv_sent_log_evict(struct hc_sv_sent_log *sent_log, hc_tick as_of);

/// Begins the snapshot of head `as_of` that shows `tick`, in the datagram `seq`; head and seq are
/// greater than those of the snapshot before. Returns its place.
unsigned hc_sv_sent_log_begin(struct hc_sv_sent_log *sent_log, hc_tick as_of, hc_tick tick,
                              uint32_t seq);

/// The place of the newest acked snapshot; without one, of the newest.
unsigned hc_sv_sent_log_acked_place(const struct hc_sv_sent_log *sent_log);

/// The place of the logged snapshot of head `as_of`; HC_SV_PLACES: it is not logged.
unsigned hc_sv_sent_log_place(const struct hc_sv_sent_log *sent_log, hc_tick as_of);

/// The client acked the datagram `seq`; false: no logged snapshot went out in it.
bool hc_sv_sent_log_acked(struct hc_sv_sent_log *sent_log, uint32_t seq);

/// The datagram `seq` is taken for lost.
void hc_sv_sent_log_lost(struct hc_sv_sent_log *sent_log, uint32_t seq);

/// The head of the next snapshot's base; HC_NO_TICK: no snapshot is acked. The base is the newest
/// acked snapshot whose tick begins a period of `bases`, unless the newest of all is much newer:
/// then that one. If each client took its newest acked snapshot, clients at different distances
/// would need different deltas. `*usable` are the acked snapshots that are no newer than the base.
hc_tick hc_sv_sent_log_next_base(const struct hc_sv_sent_log *sent_log,
                                 const struct hc_sv_cadence *bases, hc_sv_places *usable);

/// The logged snapshots that showed `tick`.
hc_sv_places hc_sv_sent_log_showing(const struct hc_sv_sent_log *sent_log, hc_tick tick);

// ---- Corrections --------------------------------------------------------------------------------

/// How many more corrections the log has room for.
static inline uint32_t hc_sv_sent_log_room(const struct hc_sv_sent_log *sent_log) {
    return HC_SV_CORRECTIONS - (uint32_t)(sent_log->end - sent_log->first);
}

/// The newest snapshot carries this value of a unit at a past tick, less than 128 ticks before its
/// head. `newest` is the number of the unit's newest correction, 0: none, which the returned number
/// follows; there must be room.
uint64_t hc_sv_sent_log_correct(struct hc_sv_sent_log *sent_log, hc_tick tick,
                                hc_sv_value_id value_id, uint64_t newest);

/// Notes that the client holds the values of the past tick `tick` as the server has them at the
/// newest head, or is about to. The note stands until a snapshot that carried the tick is lost.
void hc_sv_sent_log_mark_equal(struct hc_sv_sent_log *sent_log, hc_tick tick);

/// The newest head at which the tick was noted as equal, if the note stands; HC_NO_TICK: it does
/// not, or the log has evicted the values of that tick.
hc_tick hc_sv_sent_log_equal_at(const struct hc_sv_sent_log *sent_log, hc_tick tick);

// ---- Items --------------------------------------------------------------------------------------
// The items of a unit lie in its slot of the client's view: its values of the ticks shown, its
// drops and its corrections. A drop does not end the acked value: the client keeps its baselines.

struct hc_sv_items {
    hc_sv_places values, drops; ///< logged snapshots that carried a value of their tick, or a drop
    uint64_t corrected;         ///< number of the newest correction; 0: none
    hc_tick compared_at; ///< corrections compare the unit's past ticks since this head; HC_NO_TICK:
                         ///< they do not
    hc_tick valued_as_of;   ///< of the newest snapshot with a value, lost or not; HC_NO_TICK: none
    hc_sv_value_id evicted; ///< the newest acked item that the log has evicted; 0: a drop
    hc_tick evicted_as_of;  ///< head of that item's snapshot; HC_NO_TICK: none
    hc_sv_value_id value_ids[HC_SV_PLACES]; ///< by place, of `values`
};

/// The state of a unit's values and drops. Heads are HC_NO_TICK where there is none.
struct hc_sv_item_state {
    hc_sv_value_id acked; ///< the newest acked value that is still logged or belongs to the base
                          ///< (corrections do not count); 0: none
    hc_tick acked_as_of;  ///< the head of its snapshot
    hc_tick sent_as_of;   ///< the head of the newest snapshot with an item that is not lost, unless
                          ///< that item is a drop
    bool known; ///< the client may know the unit: a value of it was sent, lost or not, and
                ///< no drop since then is acked or under way
};

/// A value of one tick that the client holds, or is about to.
struct hc_sv_held {
    hc_sv_value_id value_id; ///< 0: none, or a drop
    hc_tick as_of;           ///< head of the acked snapshot that carried it; HC_NO_TICK: not acked
    bool sent;               ///< a logged snapshot carried the unit at the tick, lost or not
};

/// No snapshot has carried the unit.
void hc_sv_items_begin(struct hc_sv_items *items);

/// The log has evicted the places `gone`.
void hc_sv_items_evict(struct hc_sv_items *items, const struct hc_sv_sent_log *sent_log,
                       hc_sv_places gone);

/// The newest snapshot carries this value of the unit, of the tick that it shows; 0: it drops it.
void hc_sv_items_put(struct hc_sv_items *items, const struct hc_sv_sent_log *sent_log,
                     hc_sv_value_id value_id);

/// The newest snapshot carries this value of the unit at a past tick; the log must have room.
void hc_sv_items_correct(struct hc_sv_items *items, struct hc_sv_sent_log *sent_log, hc_tick tick,
                         hc_sv_value_id value_id);

/// Whether corrections compare the unit from the head `as_of` on. Returns true if they did not
/// before: then no earlier note of an equal tick (hc_sv_sent_log_mark_equal) holds for it.
bool hc_sv_items_compare(struct hc_sv_items *items, bool compared, hc_tick as_of);

/// The newest value of the unit in a snapshot that does not count as lost, or the one that the log
/// has evicted; 0: none, or a drop is newer.
hc_sv_value_id hc_sv_items_sent(const struct hc_sv_items *items,
                                const struct hc_sv_sent_log *sent_log);

/// The state of the unit's values and drops.
/// Only values in the acked snapshots `usable` count as acked.
struct hc_sv_item_state hc_sv_items_state(const struct hc_sv_items *items,
                                          const struct hc_sv_sent_log *sent_log,
                                          hc_sv_places usable);

/// The unit's value of `tick` that the client holds or is about to: the newest that is not lost, of
/// the tick shown (`showing`, see hc_sv_sent_log_showing) or as a correction.
struct hc_sv_held hc_sv_items_held(const struct hc_sv_items *items,
                                   const struct hc_sv_sent_log *sent_log, hc_tick tick,
                                   hc_sv_places showing);
