/// One client as replication sees it: its players, what it was sent and has acked, what it may
/// know, and how much it may be sent.
///
/// Calls belong in this order: hc_sv_client_layout once; hc_sv_client_open for a new client;
/// hc_sv_client_connect for each of its connections; then any other, and hc_sv_client_close when
/// the connection has ended.
#pragma once

#include "proto/compare.h"
#include "proto/datagram.h"
#include "server/replication/bandwidth.h"
#include "server/replication/early.h"
#include "server/replication/listing.h"
#include "server/replication/interest.h"
#include "server/replication/lists.h"
#include "server/replication/sent_log.h"

enum {
    /// Steps of extrapolation that a client may save up for each unit: after a move or a silence
    /// all its baselines are old.
    HC_SV_EXTRAPOLATION_SAVED_MAX = 128,
};

struct hc_sv_replicator;

struct hc_sv_client {
    struct hc_sv_replicator *replicator; ///< borrowed
    const struct hc_world *world;
    struct hc_sv_lists *lists;

    // The following outlives a connection.
    uint8_t own_count;
    hc_player own[HC_OWN_PLAYERS_MAX];
    uint32_t extrapolation_saved; ///< parts, see extrapolation_budget.h

    // A connection begins anew.
    uint32_t cid;
    uint8_t extrapolations; ///< extrapolations that the client computes, as in CONNECT
    struct hc_sv_bandwidth bandwidth;
    struct hc_sv_sent_log sent_log;
    struct hc_sv_interest interest;
    struct hc_sv_early early;
    struct hc_sv_listing listing;
    uint32_t round_trip;       ///< the shortest, ticks; UINT32_MAX: none yet
    bool reported;             ///< the client has reported the following two
    hc_tick client_tick;       ///< tick that the client predicts
    uint32_t display_offset;   ///< ticks
    bool moves;                ///< the newest report named a later tick than the one before
    hc_tick viewed_at;         ///< head of the newest look; HC_NO_TICK: none
    hc_tick shown;             ///< the tick shown, at that head
    hc_sv_value_id referee_id; ///< the referee's value there
    hc_tick interest_at;       ///< head of the newest full look at its interest; HC_NO_TICK: none
    hc_tick newest_head;       ///< of the newest snapshot; HC_NO_TICK: none
    hc_tick compared_at;       ///< head at which corrections began to compare the newest unit
    hc_tick pinned;            ///< the base whose values are pinned; HC_NO_TICK: none
};

/// Lays the client's memory out from `base` (NULL: only measures); returns the bytes needed.
/// `replicator` is borrowed, and has its memory.
size_t hc_sv_client_layout(struct hc_sv_client *client, struct hc_sv_replicator *replicator,
                           uint8_t *base);

/// A new client without players.
void hc_sv_client_open(struct hc_sv_client *client);

/// A new connection of the client, which has received nothing on it and computes these
/// `extrapolations`; `rate` bytes/s is the most that it is sent.
void hc_sv_client_connect(struct hc_sv_client *client, uint32_t cid, uint8_t extrapolations,
                          uint32_t rate, uint64_t now_us);

/// The connection has ended: gives back what it took of the memory of all clients.
void hc_sv_client_close(struct hc_sv_client *client);

/// Begins to load the client's own memory into the processor's cache, as far as the next snapshot
/// reads it. Between two ticks other clients have taken its place there.
void hc_sv_client_prefetch(const struct hc_sv_client *client);

/// The same for what the client points to, once its own memory is loaded.
void hc_sv_client_prefetch_pointed(const struct hc_sv_client *client);

/// The client acked the datagram `seq`, a snapshot or not.
void hc_sv_client_acked(struct hc_sv_client *client, uint32_t seq);

/// The datagram `seq`, a snapshot or not, is lost unless the client acked it. It may be acked
/// after all.
void hc_sv_client_lost(struct hc_sv_client *client, uint32_t seq);

/// The first value in the snapshot of a COMPARE whose hash is not the client's: as it was sent,
/// whatever a rewind has rewritten since. Writes its unit; the value is borrowed until the next
/// tick. NULL: none differs, or the server no longer has it.
const struct hc_unit_value *hc_sv_client_compare(const struct hc_sv_client *client,
                                                 const struct hc_compare *compare, hc_unit *unit);

/// The client reports its tick and its display offset, unless it reported a later tick before.
void hc_sv_client_report(struct hc_sv_client *client, hc_tick client_tick, uint32_t display_offset);

/// The most parts of extrapolations that the client may save up.
uint32_t hc_sv_client_extrapolation_most(const struct hc_sv_client *client);

/// Whether the client computes an extrapolation; each client holds values.
static inline bool hc_sv_client_computes(const struct hc_sv_client *client,
                                         enum hc_extrapolation how) {
    return how == HC_EXTRAPOLATION_HOLD || (client->extrapolations >> (how - 1) & 1) != 0;
}

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
