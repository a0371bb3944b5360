/// The sent log of one client: which values each datagram carried, and which of them it acked.
///
/// A baseline is a value that the client has acked, never the one that was sent last. A datagram
/// that is neither acked nor lost counts as held, so that a correction is not repeated at every
/// tick of a round trip. It is lost once a datagram sent HC_LOST_AFTER or more later is
/// acked. If it is acked after all, its values count again.
///
/// The log evicts snapshots, oldest first, when they are too old or when it needs room for new
/// entries. An evicted snapshot is no longer a baseline; one that was not acked by then counts as
/// lost. The newest state that each unit was acked or sent in outlives eviction. So does the newest
/// acked snapshot, the base, with the values of the tick that it showed: the client stores them
/// until it receives a snapshot that names a newer base.
///
/// Calls belong in this order: hc_sv_sent_log_begin for a snapshot, one hc_sv_sent_log_put for each
/// value in it; anything else, at any time.
#pragma once

#include "proto/limits.h"
#include "server/replication/sent_values.h"

/// The values of a unit that a client is taken to hold.
struct hc_sv_sent_log_unit {
    hc_sv_value_id acked; ///< the newest acked value of a snapshot's own tick; 0: none in the log.
                          ///< A drop does not end it: the client keeps its baselines
    hc_tick acked_as_of;  ///< of the snapshot that carried it; HC_NO_TICK: none
    hc_sv_value_id sent;  ///< the newest sent and not lost; 0: none or dropped
    hc_tick sent_as_of;   ///< of the snapshot that carried it; HC_NO_TICK: none
    bool known; ///< the client may know the unit: a value of it was sent, lost or not, and
                ///< no drop since then is acked or under way
};

struct hc_sv_sent_log;

/// Bytes for a world's units and `entries` values in all logged snapshots, which is rounded up to a
/// power of two.
size_t hc_sv_sent_log_memory(const struct hc_world *world, uint32_t entries);

/// An empty log in `memory`, aligned for anything; `world` is borrowed.
struct hc_sv_sent_log *hc_sv_sent_log_init(const struct hc_world *world, uint32_t entries,
                                           void *memory);

/// Begins the snapshot of head `as_of` in the datagram `seq`; both are greater than those of the
/// snapshot before. It evicts what is too old, so it comes before any query for this snapshot.
void hc_sv_sent_log_begin(struct hc_sv_sent_log *sent_log, hc_tick as_of, uint32_t seq);

/// The snapshot carries the value of `unit` at `tick`; `correction`: that tick is older than the
/// one that it shows. It carries one value of a unit at the tick that it shows. `value_id` 0: it
/// drops the unit. False: there is no room for more entries, so the snapshot must not carry it.
bool hc_sv_sent_log_put(struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick,
                        hc_sv_value_id value_id, bool correction);

/// The client acked the datagram `seq`, a snapshot or not; in any order. Returns whether a logged
/// snapshot went out in it.
bool hc_sv_sent_log_acked(struct hc_sv_sent_log *sent_log, uint32_t seq);

/// The values of `unit` that the client is taken to hold; the calls above change them in place.
const struct hc_sv_sent_log_unit *hc_sv_sent_log_unit(const struct hc_sv_sent_log *sent_log,
                                                      hc_unit unit);

/// The head of the newest acked snapshot, less than HC_SNAPSHOT_SPAN_MAX before the newest head;
/// HC_NO_TICK: none.
hc_tick hc_sv_sent_log_base(const struct hc_sv_sent_log *sent_log);

/// The units whose values the snapshot of head `as_of`, logged or the base, carried of the tick
/// that it showed, to `out`, which has room for `most`; returns how many. They stand in the order
/// in which they were put; those of an evicted base ascend.
uint32_t hc_sv_sent_log_units(const struct hc_sv_sent_log *sent_log, hc_tick as_of, hc_unit *out,
                              uint32_t most);

/// The value of (unit, tick) that the client holds or is about to: the newest in a logged snapshot
/// that is not lost, as a value of the tick shown or as a correction; 0: none, or dropped.
/// `*acked_as_of` is the head of the snapshot that carried it if that is acked, else HC_NO_TICK.
/// Costs about a lookup in a hash table.
hc_sv_value_id hc_sv_sent_log_holds(const struct hc_sv_sent_log *sent_log, hc_unit unit,
                                    hc_tick tick, hc_tick *acked_as_of);

/// Whether any logged snapshot carried (unit, tick), lost or not.
bool hc_sv_sent_log_has(const struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick);

/// Notes that the client holds the values of the past tick `tick` as the server has them at the
/// newest head, or is about to. The note stands until a snapshot that carried the tick is lost.
void hc_sv_sent_log_mark_equal(struct hc_sv_sent_log *sent_log, hc_tick tick);

/// The newest head at which the tick was noted as equal, if the note stands; HC_NO_TICK: it does
/// not, or the log has evicted the values of that tick.
hc_tick hc_sv_sent_log_equal_at(const struct hc_sv_sent_log *sent_log, hc_tick tick);

/// Whether corrections compare the unit's past ticks from now on. Every note of an equal tick ends
/// when a unit begins to be compared.
void hc_sv_sent_log_compare(struct hc_sv_sent_log *sent_log, hc_unit unit, bool compared);
