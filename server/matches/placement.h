/// Chooses the match of a client whose token names none, when a daemon has several matches. A
/// ticket that names a match which the daemon does not have is placed too: it is of the same daemon
/// before a restart, with one world or more matches.
///
/// One object decides for all workers, so that such a token opens one session only: its match is
/// remembered until the token expires, and the match itself remembers that the token is used. A
/// client goes
///
///   1. with a token that was placed before, to the same match;
///   2. to a match where its user has a session;
///   3. to the match with the most players that has room, of several to the first: so players meet;
///   4. otherwise to the first match, which denies it as full.
///
/// A state machine without I/O: one thread at a time may use it.
#pragma once

#include "hindcast/address.h"
#include "hindcast/server.h"
#include "proto/cookie.h"
#include "proto/token.h"

struct hc_sv_placement;

struct hc_sv_placement_config {
    unsigned matches;          ///< [2, HC_MATCH_MAX]
    unsigned clients, players; ///< of each match: clients at once, and their players at once
    uint64_t protocol_id, audience;
    uint8_t cookie_secret[HC_COOKIE_SECRET_SIZE]; ///< of all matches
    struct hc_token_ring keys;
    uint64_t hash_seed; ///< random, so that nobody can choose client_ids of one hash
};

/// A choice, until hc_sv_placement_end.
struct hc_sv_placed {
    uint16_t match;
    bool first;  ///< the token was not placed before, and holds room in the match
    bool ticket; ///< it is a ticket
    uint8_t players;
    uint64_t client_id;
    uint8_t token_id[HC_TOKEN_ID_SIZE];
};

/// NULL: no memory.
struct hc_sv_placement *hc_sv_placement_create(const struct hc_sv_placement_config *config);

/// Frees it; NULL is allowed.
void hc_sv_placement_destroy(struct hc_sv_placement *placement);

/// Opens tokens with these keys from now on.
void hc_sv_placement_set_keys(struct hc_sv_placement *placement, const struct hc_token_ring *keys);

/// Chooses the match of a CONNECT whose token names none that the daemon has. HC_OK: `*placed`
/// holds it; the caller passes it to hc_sv_placement_end after the match has answered. HC_FULL: the
/// user connects too often, or has used too many tokens: drop the CONNECT. Any other status: the
/// CONNECT holds no valid token of its sender, and every match gives the same answer.
enum hc_status hc_sv_placement_choose(struct hc_sv_placement *placement,
                                      const struct hc_address *from, const uint8_t *bytes,
                                      size_t size, uint64_t unix_us, uint64_t now_us,
                                      struct hc_sv_placed *placed);

/// Ends a choice. `denied`: the match did not admit the client. If the token was placed for the
/// first time, it may be placed again, and the match is avoided for a while.
void hc_sv_placement_end(struct hc_sv_placement *placement, const struct hc_sv_placed *placed,
                         bool denied, uint64_t now_us);

/// Sets the sessions of a match, after some have begun or ended: `count` of them.
void hc_sv_placement_set_sessions(struct hc_sv_placement *placement, uint16_t match,
                                  const struct hc_server_session *sessions, uint32_t count);

/// The most sessions at once so far, of all matches.
unsigned hc_sv_placement_most(const struct hc_sv_placement *placement);
