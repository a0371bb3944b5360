/// Snapshots: what one client is sent of the world at a head, as much as its bandwidth allows.
///
/// A snapshot is filled in the order of the wire: the header, forced inputs, joins and leaves, the
/// selected units with their values and inputs, then corrections. The referee and the client's own
/// units are in every snapshot: their bytes beyond the bandwidth are a debt.
#pragma once

#include "common/bytes.h"
#include "server/replication/client.h"
#include "server/replication/replicator.h"

/// Counts of a snapshot, and the work that it took.
struct hc_sv_snapshot_counts {
    bool rewound;                           ///< it shows a tick that the newest rewind recomputed
    uint32_t corrections;                   ///< units of past ticks
    uint32_t deltas_encoded, deltas_reused; ///< of units
    uint32_t extrapolation_steps;           ///< ticks that their extrapolations simulated
    uint32_t units_examined;                ///< for the selection, and of past ticks that changed
    uint32_t longest_unsent_ticks;          ///< since a unit in the client's view was last sent
};

/// The datagram that a snapshot goes out in.
struct hc_sv_snapshot_datagram {
    uint32_t seq;          ///< greater than that of any snapshot before
    uint32_t phase_us;     ///< since the head was due
    uint32_t ack_delay_us; ///< since the datagram that it acks as newest came
    hc_tick late_limit;    ///< own inputs before this tick are refused
};

/// T: the tick that a snapshot for the client shows now.
hc_tick hc_sv_snapshot_tick(const struct hc_sv_replicator *replicator,
                            const struct hc_sv_client *client);

/// Appends the client's SNAPSHOT to `body`, which has room for HC_DATA_BODY_MAX, spends its bytes,
/// and fills in `counts`. False: the bandwidth is too little now, and nothing has changed.
bool hc_sv_snapshot_send(struct hc_sv_replicator *replicator, struct hc_sv_client *client,
                         const struct hc_sv_snapshot_datagram *datagram, struct hc_writer *body,
                         struct hc_sv_snapshot_counts *counts, uint64_t now_us);
