/// Finds a user's peer and ended connections, and counts the clients of an address.
///
/// Anybody with a token can ask for these searches as often as it likes, and a peer has 38 kB. So
/// they read little memory: a hash or a tag of each peer and of each ended connection, and only
/// those that match from the host, which are counted.
///
/// Calls: hc_sv_search_connected and hc_sv_search_ended for each connection, hc_sv_search_move for
/// each change of an address; any query.
#pragma once

#include "hindcast/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hc_sv_host;
struct hc_sv_peer;

struct hc_sv_search {
    uint64_t seed;      ///< random, so that nobody can choose what matches
    uint64_t *prefixes; ///< [clients] hash of the prefix of the peer's address
    uint64_t *users;    ///< [clients] client_id of its newest connection, xor the seed; 0: none
    uint16_t *ended;    ///< [clients][HC_SV_ENDED_EACH] tag of the user of the ended connection
    uint64_t matches;   ///< peers and rings of ended connections that were read from the host
};

/// Lays out the memory for `clients` from `base`, which is zeroed (NULL: only measures). Returns
/// the bytes needed.
size_t hc_sv_search_layout(struct hc_sv_search *search, uint32_t clients, uint8_t *base);

/// A peer has a new connection of `client_id` from `address`.
void hc_sv_search_connected(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t client_id,
                            const struct hc_address *address);

/// Sets the address of a peer.
void hc_sv_search_move(struct hc_sv_host *host, struct hc_sv_peer *peer,
                       const struct hc_address *address);

/// The ended connection at the index `place` of the host's is of `client_id`.
void hc_sv_search_ended(struct hc_sv_host *host, size_t place, uint64_t client_id);

/// The connected or lingering client with this client_id; NULL: none.
struct hc_sv_peer *hc_sv_search_client(struct hc_sv_host *host, uint64_t client_id);

/// Whether the client's attempt with this nonce made a connection that ended lately.
bool hc_sv_search_has_ended(struct hc_sv_host *host, uint64_t client_id, const uint8_t *nonce,
                            uint64_t now_us);

/// Whether the address or its prefix has as many clients as allowed, not counting `except`.
bool hc_sv_search_address_is_full(struct hc_sv_host *host, const struct hc_address *address,
                                  const struct hc_sv_peer *except);
