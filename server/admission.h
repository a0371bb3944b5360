/// Owns the rules by which clients are admitted: cookies, tokens and which of them are spent,
/// refused users, and the limits of addresses.
///
/// A verdict on a CONNECT has no effect but on the limits that it counts for. The caller carries it
/// out, and reports what it did: an attempt without a connection takes no token.
///
/// Calls belong in this order: hc_sv_admission_init; hc_sv_admission_put_cookie for each HELLO;
/// hc_sv_admission_judge for each CONNECT, and after an admitted one hc_sv_admission_use and
/// hc_sv_admission_set_user; hc_sv_admission_begin and hc_sv_admission_end for each session;
/// hc_sv_admission_free.
#pragma once

#include "common/unix_time.h"
#include "hindcast/server.h"
#include "proto/cookie.h"
#include "proto/datagram.h"
#include "proto/ratchet.h"
#include "proto/token.h"
#include "server/address_limit.h"
#include "server/clients.h"
#include "server/refused_clients.h"
#include "server/spent_tokens.h"

struct hc_sv_admission {
    const struct hc_server_config *config; ///< the server's; borrowed
    struct hc_ratchet *ratchet;            ///< draws tickets and tokens; borrowed
    uint64_t protocol_id;
    struct hc_token_ring keys; ///< of the tokens that are accepted; tickets are of the first
    struct hc_cookie_jar jar;
    struct hc_unix_time unix_time;
    struct hc_sv_spent spent;
    uint8_t *spent_memory;
    struct hc_sv_refused refused;
    struct hc_sv_address_limit connects;
    struct hc_sv_address_limit resets;
    uint64_t resets_us;  ///< the end of all RESETs so far at the allowed rate
    bool is_closed;      ///< the server shuts down
    uint32_t restart_ms; ///< while it is closed: until the server is back; 0: never
};

/// A CONNECT, and what else its verdict depends on.
struct hc_sv_asked {
    const struct hc_address *from;
    const uint8_t *bytes; ///< [size] of the datagram
    size_t size;
    enum hc_deny_reason denied; ///< the program denies it for this reason; 0: it does not
    bool is_overloaded;         ///< the server takes no new clients, because of its load
    bool has_no_events;         ///< the program has no room for the events of a new session
    uint64_t now_us;
};

/// A client's attempt to connect, as far as it has been read. It holds keys.
struct hc_sv_attempt {
    struct hc_connect connect;
    struct hc_token token;
    bool proven;                   ///< the client knows the token's secret
    struct hc_sv_peer *known;      ///< the session of its user; NULL: it has none
    struct hc_sv_former continues; ///< the connection that it proves to continue; cid 0: none
};

enum hc_sv_verdict_kind {
    HC_SV_VERDICT_ADMITTED,    ///< the client gets a connection
    HC_SV_VERDICT_AGAIN,       ///< the client has a connection, and gets its ACCEPT again
    HC_SV_VERDICT_DENIED,      ///< the answer is DENY
    HC_SV_VERDICT_OTHER_BUILD, ///< the answer is VERSION
    HC_SV_VERDICT_DROPPED,     ///< there is no answer
};

struct hc_sv_verdict {
    enum hc_sv_verdict_kind kind;
    enum hc_status status;      ///< HC_OK; the cause of a dropped attempt
    enum hc_deny_reason reason; ///< of a denied attempt
    uint32_t retry_ms;          ///< until a denied client may try again; 0: it should not
    bool by_overload;           ///< the server's load is the reason to deny
    bool by_proof;              ///< the client does not know the token's secret
};

/// Bytes that hc_sv_admission_init obtains. `places`: for clients.
size_t hc_sv_admission_memory(const struct hc_server_config *config, unsigned places);

/// Obtains all memory; false: it is short. hc_sv_admission_free in any case. Draws a cookie secret,
/// which that of the configuration replaces, and a seed from the ratchet. The keys are copied.
bool hc_sv_admission_init(struct hc_sv_admission *admission, const struct hc_server_config *config,
                          uint64_t protocol_id, unsigned places, struct hc_ratchet *ratchet);

/// Gives the memory back. All zeros are allowed.
void hc_sv_admission_free(struct hc_sv_admission *admission);

/// Makes `admission`, which is unused, remember the used tokens and the refused users of `before`.
void hc_sv_admission_follow(struct hc_sv_admission *admission,
                            const struct hc_sv_admission *before);

// ---- Rules that change --------------------------------------------------------------------------

/// As hc_server_set_time.
void hc_sv_admission_set_time(struct hc_sv_admission *admission, uint64_t unix_us, uint64_t now_us);

/// Accepts tokens of these keys, one or two, from now on.
void hc_sv_admission_set_keys(struct hc_sv_admission *admission, const struct hc_token_ring *keys);

/// As hc_server_set_refused, without the sessions.
enum hc_status hc_sv_admission_set_refused(struct hc_sv_admission *admission,
                                           const uint64_t *client_ids, uint32_t count,
                                           uint64_t not_before_s);

/// Admits nobody any more; the server is back after `restart_ms`, 0: never.
void hc_sv_admission_close(struct hc_sv_admission *admission, uint32_t restart_ms);

// ---- Attempts -----------------------------------------------------------------------------------

/// Writes the cookie that answers a HELLO.
void hc_sv_admission_put_cookie(struct hc_sv_admission *admission, const struct hc_address *from,
                                const uint8_t client_nonce[static HC_NONCE_SIZE],
                                struct hc_datagram_cookie *cookie, uint64_t now_us);

/// Reads a CONNECT to `*attempt`, and decides about it. The limits of its user and its address
/// count it as far as it depends on them.
struct hc_sv_verdict hc_sv_admission_judge(struct hc_sv_admission *admission,
                                           struct hc_sv_clients *clients,
                                           const struct hc_sv_asked *asked,
                                           struct hc_sv_attempt *attempt);

/// Marks the token of an admitted attempt as used.
void hc_sv_admission_use(struct hc_sv_admission *admission, const struct hc_token *token,
                         uint64_t now_us);

/// Copies the user from the token of a new connection.
void hc_sv_admission_set_user(const struct hc_sv_admission *admission, struct hc_sv_user *user,
                              const struct hc_token *token, uint64_t now_us);

/// Whether a RESET may be sent to an address now; counts it if so. RESETs over an address's own
/// limit do not count for the limit of all addresses.
bool hc_sv_admission_takes_reset(struct hc_sv_admission *admission, const struct hc_address *to,
                                 uint64_t now_us);

// ---- Sessions -----------------------------------------------------------------------------------

/// The session of a client begins: its used tokens are not forgotten.
void hc_sv_admission_begin(struct hc_sv_admission *admission, uint64_t client_id);

/// The session of a user ends. `never_received`: without any DATA, so its token is unused again.
/// Some reasons void its token and tickets.
void hc_sv_admission_end(struct hc_sv_admission *admission, const struct hc_sv_user *user,
                         enum hc_close_reason reason, bool never_received, uint64_t now_us);

/// Why the session of a user must end by the refused users; 0: it need not.
enum hc_close_reason hc_sv_admission_refuses(const struct hc_sv_admission *admission,
                                             const struct hc_sv_user *user);

// ---- Tokens -------------------------------------------------------------------------------------

/// Makes the next ticket of a user, with the rights of the token by which it connected, for its
/// connection `cid` from `address`.
void hc_sv_admission_make_ticket(const struct hc_sv_admission *admission, struct hc_sv_user *user,
                                 uint32_t cid, const struct hc_address *address,
                                 struct hc_ticket *ticket, uint64_t now_us);

/// As hc_server_issue.
enum hc_status hc_sv_admission_issue(const struct hc_sv_admission *admission,
                                     const struct hc_server_user *user, uint32_t life_s,
                                     struct hc_credential *credential, uint64_t now_us);

/// Writes the token of a RESET of the connection `cid` from `address`; `key` counts the keys, and
/// may be any number.
void hc_sv_admission_reset_token(const struct hc_sv_admission *admission, uint32_t key,
                                 uint32_t cid, const struct hc_address *address,
                                 uint8_t token[static HC_RESET_TOKEN_SIZE]);

/// Whether a name is empty or can be shown.
bool hc_sv_admission_takes_name(const uint8_t name[static HC_NAME_MAX]);
