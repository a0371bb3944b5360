/// Forced inputs of one client: slots of its players that the server closed before their inputs
/// came, as ranges, until the client has acked them.
#pragma once

#include "hindcast/game.h"
#include "proto/limits.h"

enum { HC_SV_FORCED_RANGES = HC_SNAPSHOT_FORCED_SENT }; ///< remembered for a client

struct hc_sv_forced_range {
    hc_player player;
    hc_tick first;
    uint32_t count;
    uint32_t sent_since; ///< every snapshot from this seq on carried the range as it is; 0: none
};

struct hc_sv_forced {
    struct hc_sv_forced_range ranges[HC_SV_FORCED_RANGES]; ///< oldest first
    unsigned count;
};

/// Adds `count` slots of `player` from `first` on. The slots of each player ascend. The oldest
/// range is forgotten when there are too many.
void hc_sv_forced_add(struct hc_sv_forced *forced, hc_player player, hc_tick first, uint32_t count);

/// The client acked the snapshot in the datagram `seq`: removes the ranges that it carried.
void hc_sv_forced_acked(struct hc_sv_forced *forced, uint32_t seq);
