/// Snapshots: what one client is sent of the world at a head, as much as its bandwidth allows.
///
/// A snapshot is filled in the order of the wire: the header, forced inputs, joins and leaves, the
/// selected units with their values and inputs, then corrections. The referee and the client's own
/// units are in every snapshot: their bytes beyond the bandwidth are a debt.
#pragma once

#include "common/bytes.h"
#include "hindcast/server.h"
#include "server/replication/client.h"
#include "server/replication/replicator.h"

/// The datagram that a snapshot goes out in.
struct hc_sv_snapshot_datagram {
    uint32_t seq;            ///< greater than that of any snapshot before
    uint32_t phase_us;       ///< since the head was due
    uint32_t ack_delay_us;   ///< since the datagram that it acks as newest came
    hc_tick refused_before;  ///< own inputs before this tick are refused
    bool has_margin;         ///< the snapshot reports the margin
    struct hc_margin margin; ///< of the client's inputs, with has_margin
    uint32_t room;           ///< of hc_sv_snapshot_room, not 0
    uint32_t every;          ///< ticks shown from one snapshot of the client to the next, as a rule
};

/// Bytes that a snapshot for the client may take now, in a body of at most `body_max` bytes; 0: the
/// bandwidth is too little for one.
uint32_t hc_sv_snapshot_room(struct hc_sv_client *client, uint32_t body_max, uint64_t now_us);

/// Writes the client's SNAPSHOT of the present head, which hc_sv_look has looked at, to `body`,
/// which is empty and as large as the connection allows; spends its bytes, and counts it and its
/// work in `stats`.
void hc_sv_snapshot_send(struct hc_sv_replicator *replicator, struct hc_sv_client *client,
                         const struct hc_sv_snapshot_datagram *datagram, struct hc_writer *body,
                         struct hc_server_stats *stats);
