/// Finds the places of a user's client and of its ended connections, and those of the clients of an
/// address.
///
/// Anybody with a token can ask for these searches as often as it likes, and a peer has 38 kB. So
/// they read little memory: a hash or a tag of each peer and of each ended connection. The caller
/// reads only the places that match, which are counted.
///
/// Calls: hc_sv_search_layout; hc_sv_search_user, hc_sv_search_address and hc_sv_search_ended for
/// each connection and each change of an address; any query.
#pragma once

#include "hindcast/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_SV_ENDED_EACH = 32, ///< ended connections remembered for each place: more than one
                           ///< client_id has in 20 s
};

struct hc_sv_search {
    uint64_t seed;      ///< random, so that nobody can choose what matches
    uint32_t places;    ///< for clients
    uint64_t *prefixes; ///< [places] hash of the prefix of the peer's address
    uint64_t *users;    ///< [places] client_id of its newest connection, xor the seed; 0: none
    uint16_t *ended;    ///< [places][HC_SV_ENDED_EACH] tag of the user of the ended connection
    uint64_t matches;   ///< places that the queries returned
};

/// Lays out the memory for `places` from `base`, which is zeroed (NULL: only measures). Returns the
/// bytes needed.
size_t hc_sv_search_layout(struct hc_sv_search *search, uint32_t places, uint8_t *base);

/// The newest connection in `place` is of `client_id`.
void hc_sv_search_user(struct hc_sv_search *search, unsigned place, uint64_t client_id);

/// The client in `place` has this address.
void hc_sv_search_address(struct hc_sv_search *search, unsigned place,
                          const struct hc_address *address);

/// The ended connection `index` of `place`, below HC_SV_ENDED_EACH, is of `client_id`.
void hc_sv_search_ended(struct hc_sv_search *search, unsigned place, unsigned index,
                        uint64_t client_id);

/// The first place from `from` on whose newest connection may be of `client_id`; `places`: none is.
unsigned hc_sv_search_next_user(struct hc_sv_search *search, unsigned from, uint64_t client_id);

/// The hash of an address for hc_sv_search_next_address.
uint64_t hc_sv_search_hash(const struct hc_sv_search *search, const struct hc_address *address);

/// The first place from `from` on whose client's address may have this hash; `places`: none does.
unsigned hc_sv_search_next_address(struct hc_sv_search *search, unsigned from, uint64_t hash);

/// The first place from `from` on with ended connections that may be of `client_id`; `places`: none
/// is.
unsigned hc_sv_search_next_ended(struct hc_sv_search *search, unsigned from, uint64_t client_id);
