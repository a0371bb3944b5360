/// The snapshots that a session was due: those that the server's rate gives from the first one that
/// acks the client. Before a server has received DATA of a client it sends HC_SILENT_MAX datagrams,
/// and then none.
#pragma once

#include "client/bots/counters.h"
#include "hindcast/client.h"

/// The start of a session's count. All zeros: it has not begun.
struct hc_cl_due {
    uint64_t from_us;   ///< when the first counted snapshot arrived; 0: not yet
    uint64_t snapshots; ///< snapshots received until then
    uint64_t lost;      ///< datagrams to the client that the simulated link had lost until then
};

/// Snapshots of sessions that have ended.
struct hc_cl_due_snapshots {
    HC_CL_DUE_COUNTERS(HC_COUNTER_MEMBER)
};

/// Begins the count if a snapshot has acked the client; to be called after each snapshot, until it
/// has begun. `lost`: datagrams to the client that the simulated link has lost so far.
void hc_cl_due_begin(struct hc_cl_due *due, const struct hc_client_stats *stats, uint64_t lost,
                     uint64_t now_us);

/// Adds the snapshots up to `now_us`, of which `rate` a second are due, to `sum`; nothing before
/// the count has begun.
void hc_cl_due_count(const struct hc_cl_due *due, const struct hc_client_stats *stats,
                     uint64_t lost, uint32_t rate, uint64_t now_us,
                     struct hc_cl_due_snapshots *sum);
