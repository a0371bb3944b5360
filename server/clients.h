/// Owns the clients of a world: a place with a peer for each, the player slots, the connections
/// that have ended, and the search for all of them.
///
/// A place is taken from a peer's first connection until the tick after it has become free. The
/// work of a tick depends on the taken places, not on all.
///
/// Calls belong in this order: hc_sv_clients_init; for each connection hc_sv_clients_connected, and
/// hc_sv_clients_ended when it ends before its session, or with it; hc_sv_clients_renew once per
/// tick; hc_sv_clients_free. What happens within a session is hc_sv_peer's (server/peer.h).
#pragma once

#include "hindcast/server.h"
#include "server/peer.h"
#include "server/players.h"
#include "server/search.h"

enum {
    HC_SV_PLACES_MAX = 2 * HC_SERVER_CLIENTS_MAX, ///< places for players' clients and spectators
    HC_SV_MATCH_PLACES_MAX = 2 * HC_SERVER_MATCH_CLIENTS_MAX, ///< places in one of several matches
    HC_SV_CID_INDEX_BITS = 13,  ///< lowest bits of a cid: the peer's place; the rest is random, but
                                ///< not the cid of a connection that ended recently
    HC_SV_MATCH_INDEX_BITS = 9, ///< lowest bits of a cid of several matches; the match comes above
};

_Static_assert(HC_SV_PLACES_MAX <= 1 << HC_SV_CID_INDEX_BITS, "a cid must hold every peer's index");
_Static_assert(HC_SV_MATCH_PLACES_MAX <= 1 << HC_SV_MATCH_INDEX_BITS &&
                   HC_MATCH_MAX < 1 << (32 - HC_SERVER_CID_MATCH_AT),
               "a cid must hold every match and its peers' indices");

/// A connection that has ended. Its datagrams may still arrive: its CONNECT must not be admitted
/// again, and its cid must not name another connection.
struct hc_sv_ended {
    uint32_t cid;
    uint64_t client_id; ///< because an eavesdropper can reuse the nonce
    uint8_t client_nonce[HC_NONCE_SIZE];
    bool never_received; ///< timed out without any DATA: its client may have no ACCEPT, and retries
    bool left;           ///< the client sent CLOSE, and may repeat it
    uint64_t until_us;   ///< when all cookies of the client have expired
};

struct hc_sv_clients_config {
    struct hc_sv_replicator *replicator; ///< borrowed; it has been initialised for as many clients
    uint32_t players;                    ///< player slots of the world
    uint16_t places;                     ///< for clients that play, and for spectators
    uint16_t per_address;                ///< most clients of one address; 0: any number
    uint32_t match;                      ///< the server's number among the matches of a port, or 0
    uint64_t seed;                       ///< random, of the search
    const struct hc_allocator *allocator;
};

struct hc_sv_clients {
    struct hc_sv_clients_config config;
    struct hc_sv_peer *peers;              ///< [places]
    uint8_t *peer_memory;                  ///< what they point to
    uint64_t taken[HC_SV_PLACES_MAX / 64]; ///< bit i: peer i is not free, or became it since the
                                           ///< newest tick
    struct hc_sv_players players;
    struct hc_sv_ended *ended; ///< [places][HC_SV_ENDED_EACH], a ring for each peer
    struct hc_sv_search search;
    uint8_t *search_memory;
    size_t memory_bytes; ///< of all of these
};

/// Obtains all memory; false: it is short. hc_sv_clients_free in any case.
bool hc_sv_clients_init(struct hc_sv_clients *clients, const struct hc_sv_clients_config *config);

/// Gives the memory back, and leaves no keys in it. All zeros are allowed.
void hc_sv_clients_free(struct hc_sv_clients *clients);

// ---- Places -------------------------------------------------------------------------------------

/// The peer's place, in [0, places).
static inline unsigned hc_sv_clients_place(const struct hc_sv_clients *clients,
                                           const struct hc_sv_peer *peer) {
    return (unsigned)(peer - clients->peers);
}

/// The peer in the first taken place from `place` on; NULL: there is none.
struct hc_sv_peer *hc_sv_clients_from(const struct hc_sv_clients *clients, unsigned place);

/// The peer in the first taken place after that of `peer` (NULL: of all); NULL: there is none.
struct hc_sv_peer *hc_sv_clients_next(const struct hc_sv_clients *clients,
                                      const struct hc_sv_peer *peer);

/// A free peer for a new client, or else the closing one that has the fewest CLOSEs left. NULL:
/// there is none.
struct hc_sv_peer *hc_sv_clients_find_free(const struct hc_sv_clients *clients);

/// Begins a tick: gives up the places of peers that became free since the tick before, and begins
/// to count forged datagrams anew.
void hc_sv_clients_renew(struct hc_sv_clients *clients);

// ---- Connections --------------------------------------------------------------------------------

/// A cid for the peer's next connection, out of random bits, if no connection of the place has or
/// had it lately; 0: one did, or it is not valid.
uint32_t hc_sv_clients_cid(const struct hc_sv_clients *clients, const struct hc_sv_peer *peer,
                           uint32_t random, uint64_t now_us);

/// The peer has a new connection of `client_id` from `address`: its place is taken.
void hc_sv_clients_connected(struct hc_sv_clients *clients, struct hc_sv_peer *peer,
                             uint64_t client_id, const struct hc_address *address);

/// Sets the address of a peer.
void hc_sv_clients_move(struct hc_sv_clients *clients, struct hc_sv_peer *peer,
                        const struct hc_address *address);

/// Remembers the peer's connection, which ends now. `never_received`: without any DATA; `left`: by
/// a CLOSE of its client.
void hc_sv_clients_ended(struct hc_sv_clients *clients, struct hc_sv_peer *peer,
                         bool never_received, bool left, uint64_t now_us);

// ---- Queries ------------------------------------------------------------------------------------

/// The peer whose newest connection has this cid; NULL: none.
struct hc_sv_peer *hc_sv_clients_of_cid(const struct hc_sv_clients *clients, uint32_t cid);

/// The connected or lingering client with this client_id; NULL: none.
struct hc_sv_peer *hc_sv_clients_of_user(struct hc_sv_clients *clients, uint64_t client_id);

/// The connection with this cid that ended lately; NULL: none.
const struct hc_sv_ended *hc_sv_clients_find_ended(const struct hc_sv_clients *clients,
                                                   uint32_t cid, uint64_t now_us);

/// Whether the client's attempt with this nonce made a connection that ended lately.
bool hc_sv_clients_has_ended(struct hc_sv_clients *clients, uint64_t client_id,
                             const uint8_t nonce[static HC_NONCE_SIZE], uint64_t now_us);

/// Whether the address or its prefix has as many clients as allowed, not counting `except`.
bool hc_sv_clients_address_is_full(struct hc_sv_clients *clients, const struct hc_address *address,
                                   const struct hc_sv_peer *except);

/// Whether the peer owns `player`, which has joined and is not leaving.
static inline bool hc_sv_clients_plays(const struct hc_sv_clients *clients,
                                       const struct hc_sv_peer *peer, hc_player player) {
    return hc_sv_players_plays(&clients->players, hc_sv_clients_place(clients, peer), player);
}

/// Whether `count` player slots are free, or can be at the next tick, or for 0 a place of
/// `spectators`. A client that is `known`, or NULL, gives back its slots when it wants another
/// number of them. Each client that plays has a slot, so a peer is free for a client that has room.
bool hc_sv_clients_have_room(const struct hc_sv_clients *clients, const struct hc_sv_peer *known,
                             unsigned count, unsigned spectators);

/// The number of connected clients.
unsigned hc_sv_clients_connected_count(const struct hc_sv_clients *clients);

/// Whether every peer is free.
bool hc_sv_clients_are_gone(const struct hc_sv_clients *clients);

/// The number of sessions. Writes up to `most` of them to `out`, which may be NULL if `most` is 0.
uint32_t hc_sv_clients_sessions(const struct hc_sv_clients *clients, struct hc_server_session *out,
                                uint32_t most);

/// As hc_server_farewells.
uint32_t hc_sv_clients_farewells(struct hc_sv_clients *clients, struct hc_server_farewell *out,
                                 uint32_t most);

/// As hc_sv_clients_sessions, with what is known of each session at `now_us`.
uint32_t hc_sv_clients_list(const struct hc_sv_clients *clients, struct hc_server_client *out,
                            uint32_t most, uint64_t now_us);
