/// Remembers the used tokens of each client_id, because a token opens one session only.
///
/// Each client_id has one entry of constant size, so no client takes room from another. An entry
/// holds
///
///   - the number of the newest used ticket, which voids all tickets up to that number;
///   - the HC_SPENT_TOKENS used tokens that were issued last. Another one replaces the token that
///   was
///     issued first, and voids all tokens of this client_id that were issued by then;
///   - how often the client connected: once a second, HC_CONNECTS_AT_ONCE times at once.
///
/// An expired entry is removed when its room is needed. Afterwards a client_id without an entry
/// cannot use a token or ticket that expires as early as the removed ones, so a clock that is set
/// back admits no used token again. Without room, only client_ids without an entry are refused.
#pragma once

#include "hindcast/connection.h"
#include "proto/limits.h"
#include "proto/token.h"

#include <stdbool.h>

/// The record of one client_id.
struct hc_sv_spent_client {
    uint64_t client_id;
    uint64_t expire_s;      ///< Unix time when the last of its tokens expires
    uint64_t ticket;        ///< number of the newest used ticket; 0: none
    uint64_t ticket_before; ///< number of the ticket used before that
    uint16_t ticket_match;  ///< of the newest used ticket, see hc_sv_spent_match
    uint64_t void_to;       ///< tokens of this order or less are void
    uint64_t void_s;        ///< tokens and tickets that expire by this Unix time are void
    uint64_t connects_us;   ///< when all connects would have come at the allowed rate
    uint32_t next;          ///< index + 1 of the next entry with the same hash; 0: none
    struct hc_sv_spent_token {
        uint8_t token_id[HC_TOKEN_ID_SIZE];
        uint64_t order; ///< issued_s + 1; 0: no token
        uint16_t match; ///< see hc_sv_spent_match
    } tokens[HC_SPENT_TOKENS];
};

struct hc_sv_spent {
    struct hc_sv_spent_client *clients; ///< [capacity], the first `count` in use
    uint32_t *heads;                    ///< [buckets] index + 1 of the first entry with a hash
    uint32_t capacity, buckets, count;
    uint64_t seed;     ///< random, so that nobody can choose client_ids of one hash
    uint64_t void_s;   ///< the void_s of client_ids without an entry
    uint64_t swept_us; ///< when expired entries were last removed
};

/// Lays out the memory for `capacity` client_ids from `base`, which is zeroed (NULL: only
/// measures). Returns the bytes needed.
size_t hc_sv_spent_layout(struct hc_sv_spent *spent, uint32_t capacity, uint8_t *base);

/// Makes `spent`, which is unused, remember the used tokens of `from`. Both have one capacity.
void hc_sv_spent_copy(struct hc_sv_spent *spent, const struct hc_sv_spent *from);

/// Returns 0 if an authenticated token may open a session at `now_s`, Unix time. Otherwise returns
/// HC_DENY_USED, HC_DENY_RATE (its client_id connects too often) or HC_DENY_FULL (its client_id has
/// no room). `own`: the token has opened the client's present session. Counts nothing.
enum hc_deny_reason hc_sv_spent_check(struct hc_sv_spent *spent, const struct hc_token *token,
                                      bool own, uint64_t now_s, uint64_t now_us);

/// The match of a used token, or of its client_id's newest used ticket: the caller sets it. Valid
/// until the next call. 0: not set; NULL: the token is not remembered.
uint16_t *hc_sv_spent_match(struct hc_sv_spent *spent, const struct hc_token *token);

/// Marks a token as used, and counts a connect. Call hc_sv_spent_check at the same time first.
/// Returns false if its client_id has no room.
bool hc_sv_spent_use(struct hc_sv_spent *spent, const struct hc_token *token, uint64_t now_s,
                     uint64_t now_us);

/// Makes the token, or the newest used ticket, of `client_id` unused again.
void hc_sv_spent_forget(struct hc_sv_spent *spent, uint64_t client_id,
                        const uint8_t token_id[static HC_TOKEN_ID_SIZE], bool ticket);

/// The number of the newest used ticket of `client_id`; 0: none.
uint64_t hc_sv_spent_ticket(const struct hc_sv_spent *spent, uint64_t client_id);
