/// The used tokens of each client_id: a token opens one session.
///
/// One entry of constant size holds all that is remembered of a client_id, so that nobody takes
/// room from another:
///
///   - the number of the newest ticket that was used: it voids all tickets up to that number;
///   - the HC_SPENT_TOKENS used tokens that were issued last. One more replaces the one that was
///     issued first, and voids all tokens of this client_id that were issued by then;
///   - how often it connected: once a second, HC_CONNECTS_AT_ONCE times at once.
///
/// An entry is forgotten when all of it has expired, and only to make room. From then on no token
/// or ticket that expires so early is accepted from any client_id without an entry: where the clock
/// is stepped back, nothing that was used is admitted again. When there is no room, a client_id
/// without an entry is refused, and nobody else.
#pragma once

#include "hindcast/connection.h"
#include "proto/limits.h"
#include "proto/token.h"

#include <stdbool.h>

/// The record of one client_id.
struct hc_sv_spent_client {
    uint64_t client_id;
    uint64_t expire_s;      ///< Unix time from which on none of it is needed
    uint64_t ticket;        ///< number of the newest ticket that was used; 0: none
    uint64_t ticket_before; ///< of the one used before that
    uint64_t void_to;       ///< tokens of this order or less are void
    uint64_t void_s;        ///< what expires by then is void
    uint64_t connects_us;   ///< by when all connects would have come at the rate allowed
    uint32_t next;          ///< place + 1 of the next entry with the same hash; 0: none
    struct hc_sv_spent_token {
        uint8_t token_id[HC_TOKEN_ID_SIZE];
        uint64_t order; ///< issued_s + 1; 0: there is no token
    } tokens[HC_SPENT_TOKENS];
};

struct hc_sv_spent {
    struct hc_sv_spent_client *clients; ///< [capacity], the first `count` in use
    uint32_t *heads;                    ///< [buckets] place + 1 of the first entry with a hash
    uint32_t capacity, buckets, count;
    uint64_t seed;     ///< random: nobody can choose client_ids of one hash
    uint64_t void_s;   ///< what expires by then is void, of client_ids without an entry
    uint64_t swept_us; ///< when expired entries were last removed
};

/// Bytes for `capacity` client_ids, laid out from `base` (NULL: only measures), zeroed.
size_t hc_sv_spent_layout(struct hc_sv_spent *spent, uint32_t capacity, uint8_t *base);

/// Whether an authenticated token may open a session at `now_s`, Unix time: 0, or else
/// HC_DENY_USED, HC_DENY_RATE (its client_id connects too often) or HC_DENY_FULL (there is no room
/// for its client_id). `own`: the token has opened the client's present session. Nothing is
/// counted.
enum hc_deny_reason hc_sv_spent_check(struct hc_sv_spent *spent, const struct hc_token *token,
                                      bool own, uint64_t now_s, uint64_t now_us);

/// Counts a token that hc_sv_spent_check has let pass at the same time. False: there is no room.
bool hc_sv_spent_use(struct hc_sv_spent *spent, const struct hc_token *token, uint64_t now_s,
                     uint64_t now_us);

/// Makes the token or the ticket that was used last by `client_id` as good as new.
void hc_sv_spent_forget(struct hc_sv_spent *spent, uint64_t client_id,
                        const uint8_t token_id[static HC_TOKEN_ID_SIZE], bool ticket);

/// The number of the newest ticket that `client_id` has used; 0: none.
uint64_t hc_sv_spent_ticket(const struct hc_sv_spent *spent, uint64_t client_id);
