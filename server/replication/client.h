/// One client as replication sees it: its players, what it was sent and has acked, what it may
/// know, and how much it may be sent.
///
/// Calls belong in this order: hc_sv_client_layout once; hc_sv_client_open for a new client;
/// hc_sv_client_connect for each of its connections; then any other.
#pragma once

#include "proto/datagram.h"
#include "server/replication/bandwidth.h"
#include "server/replication/forced.h"
#include "server/replication/interest.h"
#include "server/replication/pinned_values.h"
#include "server/replication/priority.h"
#include "server/replication/roster.h"

enum {
    /// Steps of extrapolation that a client may save up for each unit: after a move or a silence
    /// all its baselines are old.
    HC_SV_EXTRAPOLATION_SAVED_MAX = 128,
};

struct hc_sv_client {
    const struct hc_world *world;
    uint32_t sent_log_entries;
    struct hc_sv_sent_log *sent_log;
    struct hc_sv_pinned pinned;
    struct hc_sv_interest interest;
    struct hc_sv_priority priority;

    // The following outlives a connection.
    uint8_t own_count;
    hc_player own[HC_OWN_PLAYERS_MAX];
    uint32_t extrapolation_saved; ///< parts, see extrapolation_budget.h

    // A connection begins with all zeros, or with the value named.
    uint32_t cid;
    struct hc_sv_bandwidth bandwidth;
    uint32_t acked_snapshot; ///< seq of the newest acked datagram with a snapshot
    uint64_t rtt_min_us;     ///< the shortest round trip; begins with UINT64_MAX: none
    bool reported;           ///< the client has reported the following two
    hc_tick client_tick;     ///< its own tick
    uint32_t display_offset; ///< ticks
    bool moves;              ///< its newest report named a later tick than the one before
    hc_tick interest_at;     ///< head of the newest full look at its interest; HC_NO_TICK: none
    hc_tick newest_head;     ///< of the newest snapshot; HC_NO_TICK: none
    struct hc_sv_forced forced;
    struct hc_sv_roster_sent roster_sent;
};

/// Lays the arrays out from `base` (NULL: only measures); returns the bytes needed. `world` is
/// borrowed.
size_t hc_sv_client_layout(struct hc_sv_client *client, const struct hc_world *world,
                           uint8_t *base);

/// A new client without players.
void hc_sv_client_open(struct hc_sv_client *client);

/// A new connection of the client, which has received nothing on it; `rate` bytes/s is the most
/// that it is sent.
void hc_sv_client_connect(struct hc_sv_client *client, uint32_t cid, uint32_t rate,
                          uint64_t now_us);

/// The client acked the datagram `seq`, a snapshot or not.
void hc_sv_client_acked(struct hc_sv_client *client, uint32_t seq);

/// The client reports its tick and its display offset, unless it reported a later tick before.
void hc_sv_client_report(struct hc_sv_client *client, hc_tick client_tick, uint32_t display_offset);

/// The most parts of extrapolations that the client may save up.
uint32_t hc_sv_client_extrapolation_most(const struct hc_sv_client *client);

/// Whether the player is the client's own.
static inline bool hc_sv_client_owns(const struct hc_sv_client *client, hc_player player) {
    for (unsigned i = 0; i < client->own_count; i++)
        if (client->own[i] == player)
            return true;
    return false;
}

/// Whether the unit is the referee or an own player: sent before all others.
static inline bool hc_sv_client_owns_unit(const struct hc_sv_client *client, hc_unit unit) {
    hc_player player = hc_unit_player(client->world, unit);
    return unit == 0 || (player != HC_NO_PLAYER && hc_sv_client_owns(client, player));
}
