/// Cadence: the ticks at which a client is sent snapshots, by a period and a phase, and the ticks
/// whose snapshots are bases.
///
/// A cadence is one of ticks shown, not of heads. So clients at different distances are shown the
/// same ticks, at different heads, and need the same deltas.
///
/// Every snapshot of a client that is sent one in `every` shows a tick with the same remainder
/// modulo `every`. Bases that clients share are rarer still: those with that remainder modulo the
/// longest period of at most HC_SV_BASE_EVERY ticks that holds whole snapshots. Linear deltas grow
/// little with the age of a base, and more clients ack the same one.
#pragma once

#include "hindcast/tick.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_WHOLE_EVERY = 2, ///< ticks from a whole snapshot of a crowded view to the next
    HC_SV_BASE_EVERY = 8,  ///< ticks shown from one base that clients share to the next, at most
};

/// So many snapshots in each period of ticks: another one begins where
/// `(tick + phase) * snapshots / period` grows.
struct hc_sv_cadence {
    uint32_t snapshots; ///< in a period, 1 up to its length
    uint32_t period;    ///< ticks
    uint32_t phase;     ///< ticks by which the periods begin earlier
};

/// The number of the snapshot that shows `tick`, or of the last one before it.
static inline uint64_t hc_sv_cadence_number(const struct hc_sv_cadence *cadence, hc_tick tick) {
    return ((uint64_t)tick + cadence->phase) * cadence->snapshots / cadence->period;
}

/// Whether the snapshot of a head goes to a client: it would show `tick`, and the one before showed
/// `shown` (HC_NO_TICK: there was none). Call it at each head. Normally a snapshot goes when the
/// tick shown enters the next number. If that tick stalls or leaps, `*credit` decides: each head
/// earns `snapshots` of it, each snapshot costs `period`.
bool hc_sv_cadence_sends(const struct hc_sv_cadence *cadence, hc_tick shown, hc_tick tick,
                         int32_t *credit);

/// Whether clients that are sent one in `every` of the snapshots can share bases.
bool hc_sv_cadence_shares_bases(uint32_t every);

/// The cadence of the bases for a snapshot that shows `tick`. `whole` ticks lie between snapshots
/// that may be bases: HC_SV_WHOLE_EVERY in a crowded view, else 1. The client is sent one in
/// `every` snapshots; 0: it shares no bases.
struct hc_sv_cadence hc_sv_cadence_of_bases(hc_tick tick, uint32_t whole, uint32_t every);

/// Whether the snapshot that shows `tick` begins a period of a cadence of one snapshot.
static inline bool hc_sv_cadence_begins(const struct hc_sv_cadence *cadence, hc_tick tick) {
    return (tick + cadence->phase) % cadence->period == 0;
}

/// Whether a snapshot of a crowded view that shows `tick` is whole: it sends all units. The client
/// predicts the units that the others leave out from a tick of which it knows all.
static inline bool hc_sv_cadence_is_whole(hc_tick tick) {
    return tick % HC_SV_WHOLE_EVERY == 0;
}
