/// Chooses the match of a client whose token names none, when a daemon has several matches. A
/// ticket that names a match which the daemon does not have is placed too: it is of the same daemon
/// before a restart, with one world or more matches.
///
/// One object decides for all workers, so that such a token opens one session only: its match is
/// remembered until the token expires, and the match itself remembers that the token is used. A
/// client goes
///
///   1. with a token that was placed before, to the same match, see hc_sv_placement_finish;
///   2. to the match where its user has a session;
///   3. to the match with the most players that has room, of several to the first: so players meet;
///   4. otherwise to the first match, which denies it as full.
///
/// A match's answer speaks of the token, and changes nothing for others. A match has room by
/// its own sessions, and none while it is overloaded.
///
/// Calls belong in this order for each CONNECT: hc_sv_placement_named; hc_sv_placement_choose, if
/// it names no match; hc_sv_placement_give; hc_sv_placement_set_match, if the match's sessions have
/// changed; hc_sv_placement_finish. A state machine without I/O: one thread at a time may use it.
#pragma once

#include "hindcast/address.h"
#include "hindcast/server.h"
#include "proto/cookie.h"
#include "proto/token.h"

struct hc_sv_placement;

struct hc_sv_placement_config {
    unsigned matches;          ///< [2, HC_MATCH_MAX]
    unsigned clients, players; ///< of each match: clients that play at once, and their players
    unsigned spectators;       ///< of each match at once
    uint32_t remembered_users; ///< users whose used tokens are remembered, see hc_server_config
    uint64_t protocol_id, audience;
    uint8_t cookie_secret[HC_COOKIE_SECRET_SIZE]; ///< of all matches
    struct hc_token_ring keys;
    uint64_t hash_seed; ///< random, so that nobody can choose client_ids of one hash
};

/// A choice, until hc_sv_placement_finish.
struct hc_sv_placed {
    uint16_t match;             ///< 0: any, because every match gives the same answer
    enum hc_deny_reason denied; ///< the reason for which the match denies it; 0: the match decides
    bool first;                 ///< the token was not placed before, and holds room in the match
    bool again;                 ///< the token was placed before
    bool ticket;                ///< the token is a ticket
    bool admitted;              ///< the match has not denied it, see hc_sv_placement_give
    bool full; ///< the match has denied it for want of room, see hc_sv_placement_give
    uint8_t players;
    uint64_t client_id;
    uint8_t token_id[HC_TOKEN_ID_SIZE];
};

/// The match, [1, matches], that a DATA or a CONNECT names; 0: none, or one above `matches`.
uint16_t hc_sv_placement_named(unsigned matches, const uint8_t *bytes, size_t size);

/// NULL: no memory.
struct hc_sv_placement *hc_sv_placement_create(const struct hc_sv_placement_config *config);

/// Frees it; NULL is allowed.
void hc_sv_placement_destroy(struct hc_sv_placement *placement);

/// Opens tokens with these keys from now on.
void hc_sv_placement_set_keys(struct hc_sv_placement *placement, const struct hc_token_ring *keys);

/// Chooses the match of a CONNECT whose token names none that the daemon has.
void hc_sv_placement_choose(struct hc_sv_placement *placement, const struct hc_address *from,
                            const uint8_t *bytes, size_t size, uint64_t unix_us, uint64_t now_us,
                            struct hc_sv_placed *placed);

/// Gives a CONNECT to `server`, which is its match, and notes whether that admits it. The status is
/// the server's.
enum hc_status hc_sv_placement_give(struct hc_sv_placed *placed, struct hc_server *server,
                                    const struct hc_address *from, const uint8_t *bytes,
                                    size_t size, uint64_t now_us);

/// Ends a choice. A token that was placed for the first time and not admitted may be placed again.
/// So may one whose match has no room for it, when its user has no session: the match would deny a
/// used token for that, so the session that it opened there never began for its client.
void hc_sv_placement_finish(struct hc_sv_placement *placement, const struct hc_sv_placed *placed);

/// Sets a match's sessions, `count` of them, and whether it refuses joins because it is overloaded:
/// after either has changed.
void hc_sv_placement_set_match(struct hc_sv_placement *placement, uint16_t match,
                               const struct hc_server_session *sessions, uint32_t count,
                               bool refuses);

/// Lets a match refuse joins until hc_sv_placement_set_match says more.
void hc_sv_placement_refuse(struct hc_sv_placement *placement, uint16_t match);

/// The users whose used tokens are remembered.
struct hc_server_remembered hc_sv_placement_remembered(const struct hc_sv_placement *placement);

/// The most sessions at once so far, of all matches.
unsigned hc_sv_placement_most(const struct hc_sv_placement *placement);
