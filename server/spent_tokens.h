/// Remembers the used tokens of each client_id, because a token opens one session only.
///
/// Each client_id has one entry of constant size, so no client takes room from another. An entry
/// holds
///
///   - the number of the newest used ticket, which voids all tickets up to that number;
///   - the HC_SPENT_TOKENS used tokens that were issued last. Another one replaces the token that
///     was issued first, and voids all tokens of this client_id that were issued by then;
///   - how often the client connected: once a second, HC_CONNECTS_AT_ONCE times at once.
///
/// An entry goes when all of it has expired. Afterwards a client_id without an entry cannot use a
/// token or ticket that expires as early as the removed ones, so a clock that is set back admits no
/// used token again.
///
/// When all entries are needed, the one goes whose newest used token was issued first; those of
/// clients that have a session stay. From then on a client_id without an entry cannot use a token
/// or ticket that was issued as early. So a new user is denied only if as many others as there are
/// entries have used newer tokens.
#pragma once

#include "hindcast/connection.h"
#include "hindcast/server.h"
#include "proto/limits.h"
#include "proto/token.h"

#include <stdbool.h>

/// The record of one client_id. Orders are issued_s + 1 of a token, at most UINT32_MAX; 0: none.
struct hc_sv_spent_client {
    uint64_t client_id;
    uint64_t ticket;        ///< number of the newest used ticket; 0: none
    uint64_t ticket_before; ///< number of the ticket used before that
    uint64_t connects_us;   ///< when all connects would have come at the allowed rate
    uint32_t expire_s;      ///< Unix time when the last of its tokens expires
    uint32_t newest;        ///< the greatest order of its used tokens and tickets
    uint32_t void_to;       ///< tokens of this order or less are void
    uint32_t void_s;        ///< tokens and tickets that expire by this Unix time are void
    uint32_t outdated_to;   ///< tokens and tickets of this order or less are outdated
    uint32_t next;         ///< index + 1 of the next entry with the same hash, or the next free one
    uint32_t place;        ///< in hc_sv_spent.heap; HC_SV_SPENT_STAYS: it has a session, and stays
    uint16_t ticket_match; ///< of the newest used ticket, see hc_sv_spent_match
    struct hc_sv_spent_token {
        uint8_t token_id[HC_TOKEN_ID_SIZE];
        uint32_t order;
        uint16_t match; ///< see hc_sv_spent_match
    } tokens[HC_SPENT_TOKENS];
};

_Static_assert(sizeof(struct hc_sv_spent_client) == 160, "SECURITY.md gives the size of an entry");

#define HC_SV_SPENT_STAYS UINT32_MAX

struct hc_sv_spent {
    struct hc_sv_spent_client *clients; ///< [capacity], the first `touched` in use or free
    uint32_t *heads;                    ///< [buckets] index + 1 of the first entry with a hash
    uint32_t *heap; ///< [capacity] indices of the entries that may go: a binary heap by `newest`
    uint32_t heap_count;
    uint32_t capacity, buckets, touched;
    uint32_t free;   ///< index + 1 of the first free entry; 0: none
    uint32_t cursor; ///< the entry that is looked at next, whether it has expired
    struct hc_server_remembered counts;
    uint64_t seed;        ///< random, so that nobody can choose client_ids of one hash
    uint32_t void_s;      ///< the void_s of client_ids without an entry
    uint32_t outdated_to; ///< the outdated_to of client_ids without an entry
};

/// Lays out the memory for `capacity` client_ids from `base`, which is zeroed (NULL: only
/// measures). Returns the bytes needed.
size_t hc_sv_spent_layout(struct hc_sv_spent *spent, uint32_t capacity, uint8_t *base);

/// Makes `spent`, which is unused, remember the used tokens of `from`. Both have one capacity. No
/// client has a session.
void hc_sv_spent_copy(struct hc_sv_spent *spent, const struct hc_sv_spent *from);

/// Returns 0 if an authenticated token may open a session. Otherwise returns HC_DENY_USED,
/// HC_DENY_OUTDATED, HC_DENY_RATE (its client_id connects too often) or HC_DENY_FULL (all entries
/// are of clients with a session). `own`: the token has opened the client's present session. Counts
/// nothing.
enum hc_deny_reason hc_sv_spent_check(const struct hc_sv_spent *spent, const struct hc_token *token,
                                      bool own, uint64_t now_us);

/// The match of a used token, or of its client_id's newest used ticket: the caller sets it. Valid
/// until the next call. 0: not set; NULL: the token is not remembered.
uint16_t *hc_sv_spent_match(struct hc_sv_spent *spent, const struct hc_token *token);

/// Marks a token as used at `now_s`, Unix time, and counts a connect. Call hc_sv_spent_check at the
/// same time first. Returns false if its client_id has no room.
bool hc_sv_spent_use(struct hc_sv_spent *spent, const struct hc_token *token, uint64_t now_s,
                     uint64_t now_us);

/// The session of `client_id` begins: its entry stays.
void hc_sv_spent_begin(struct hc_sv_spent *spent, uint64_t client_id);

/// It ends: the entry may go.
void hc_sv_spent_end(struct hc_sv_spent *spent, uint64_t client_id);

/// Makes the token, or the newest used ticket, of `client_id` unused again.
void hc_sv_spent_forget(struct hc_sv_spent *spent, uint64_t client_id,
                        const uint8_t token_id[static HC_TOKEN_ID_SIZE], bool ticket);

/// Voids the tickets of `client_id` up to the number `ticket`, and its tokens that were issued by
/// `issued_s` (0: none), for as long as tickets of `now_s` are valid. It has an entry.
void hc_sv_spent_void(struct hc_sv_spent *spent, uint64_t client_id, uint64_t ticket,
                      uint64_t issued_s, uint64_t now_s);

/// The number of the newest used ticket of `client_id`; 0: none.
uint64_t hc_sv_spent_ticket(const struct hc_sv_spent *spent, uint64_t client_id);
