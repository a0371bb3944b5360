/// The ledger of one client: what it was sent of which unit, in which datagram, and what of that it
/// has acknowledged.
///
/// A baseline is a version that the client has acknowledged, never what was last sent. A datagram
/// that is neither acknowledged nor given up counts as held, so that a correction is not repeated
/// every tick of a round trip; it is given up once one sent HC_SV_SENT_LOG_REORDER or more later is
/// acknowledged. Should it be acknowledged after all, what it told counts again.
///
/// Snapshots are forgotten, oldest first, when they are too old or when the room for their entries
/// is needed. What was told in one is no baseline from then on, and if
/// nobody has acknowledged it by then, it is as good as lost. What the client is known to have been
/// told last of a unit outlives that. So does the newest one acknowledged, the base, with what it
/// told of the tick that it showed: the client keeps that until it hears of a newer base.
///
/// Calls belong in this order: hc_sv_sent_log_begin for a snapshot, one hc_sv_sent_log_put for each
/// value in it; anything else, at any time.
#pragma once

#include "proto/limits.h"
#include "server/replication/sent_values.h"

enum {
    /// Snapshots that are remembered, and heads: a baseline is less than that many older than the
    /// newest, unless the base told it.
    HC_SV_SENT_LOG_SNAPSHOTS = HC_SNAPSHOT_AGE_MAX,
    HC_SV_SENT_LOG_REORDER = HC_LOST_AFTER,
};

/// What a client is taken to hold of a unit.
struct hc_sv_sent_log_unit {
    hc_sv_value_id acked; ///< newest acknowledged value of a snapshot's own tick; 0: none
                          ///< remembered. A drop does not end it: the client keeps its baselines
    hc_tick acked_as_of;  ///< of the snapshot that told it; HC_NO_TICK: none
    hc_sv_value_id sent;  ///< newest sent, acknowledged or under way; 0: none or dropped
    hc_tick sent_as_of;   ///< of the snapshot that told that; HC_NO_TICK: none
    bool known;           ///< the client may know it: it was told, lost or not, and no drop since
                          ///< then is acknowledged or under way
    bool acked_dropped;   ///< the newest that was acknowledged is that it was dropped
};

struct hc_sv_sent_log;

/// Bytes for a world's units and `entries` of them in all snapshots remembered, which is rounded up
/// to a power of two.
size_t hc_sv_sent_log_memory(const struct hc_world *world, uint32_t entries);

/// Makes a ledger in `memory`, aligned for anything; `world` is borrowed.
struct hc_sv_sent_log *hc_sv_sent_log_init(const struct hc_world *world, uint32_t entries,
                                           void *memory);

/// Begins the snapshot of head `as_of` that goes out as the datagram `seq`, both greater than those
/// of the one before. Forgets what is too old for it, so it comes before any question for it.
void hc_sv_sent_log_begin(struct hc_sv_sent_log *sent_log, hc_tick as_of, uint32_t seq);

/// It tells `unit` at `tick`, `correction` if that is older than what it shows; of the tick that it
/// shows it tells a unit once. `version` 0: it is dropped, the client no longer knows it. False:
/// there is no room for more entries; then it must not be told.
bool hc_sv_sent_log_put(struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick,
                        hc_sv_value_id value_id, bool correction);

/// The client has acknowledged the datagram `seq`, whether that is a snapshot or not; in any order.
/// Returns whether it is one that is remembered.
bool hc_sv_sent_log_acked(struct hc_sv_sent_log *sent_log, uint32_t seq);

/// The client says that it cannot read what is sent to it: nothing counts as held any more. All
/// that was ever told may be known to it, drops or not.
void hc_sv_sent_log_forget(struct hc_sv_sent_log *sent_log);

/// What it is taken to hold of `unit`; valid, and changed in place by the calls above, as long as
/// the ledger is.
const struct hc_sv_sent_log_unit *hc_sv_sent_log_unit(const struct hc_sv_sent_log *sent_log,
                                                      hc_unit unit);

/// Head of the newest snapshot acknowledged, less than HC_SNAPSHOT_SPAN_MAX before the newest;
/// HC_NO_TICK: none.
hc_tick hc_sv_sent_log_base(const struct hc_sv_sent_log *sent_log);

/// The units of which the snapshot of head `as_of`, remembered or the base, told the tick that it
/// showed, in the order in which that was told, to `out`, which has room for `most`; returns how
/// many. Of a base that is not remembered they are in ascending order.
uint32_t hc_sv_sent_log_units(const struct hc_sv_sent_log *sent_log, hc_tick as_of, hc_unit *out,
                              uint32_t most);

/// The version of (unit, tick) that the client holds or is about to: the newest told, by a snapshot
/// of that tick or by a correction, in what is remembered and not given up; 0: none, or dropped.
/// `*acked_as_of` is the snapshot that told it if that is acknowledged, else HC_NO_TICK. About as
/// dear as a look into a hash table.
hc_sv_value_id hc_sv_sent_log_holds(const struct hc_sv_sent_log *sent_log, hc_unit unit,
                                    hc_tick tick, hc_tick *acked_as_of);

/// Whether anything that is remembered told (unit, tick), even if that was given up.
bool hc_sv_sent_log_has(const struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick);

/// What the client holds of the past tick `tick`, or is about to, is what the server has of it at
/// the newest head. That stands until something that was told of the tick is given up.
void hc_sv_sent_log_mark_equal(struct hc_sv_sent_log *sent_log, hc_tick tick);

/// The newest head at which that was so and still stands; HC_NO_TICK: none, or so many heads ago
/// that what was told is forgotten.
hc_tick hc_sv_sent_log_equal_at(const struct hc_sv_sent_log *sent_log, hc_tick tick);

/// Whether the unit's past ticks are compared from now on. When they begin to be, no tick that was
/// noted as equal stands; when they end, all stand.
void hc_sv_sent_log_compare(struct hc_sv_sent_log *sent_log, hc_unit unit, bool compared);

/// Nothing that was noted as equal stands.
void hc_sv_sent_log_clear_equal(struct hc_sv_sent_log *sent_log);
