/// The handshake: HELLO, COOKIE, CONNECT and ACCEPT, and the refusals DENY and VERSION.
///
/// Calls belong in this order:
///   1. hc_cl_handshake_init;
///   2. hc_cl_handshake_begin for each attempt to connect;
///   3. hc_cl_handshake_receive for each datagram that is not DATA, hc_cl_handshake_advance at the
///      deadline, hc_cl_handshake_send until it returns 0, until an answer ends the attempt or the
///      caller gives up by hc_cl_handshake_end; back to 2.
#pragma once

#include "hindcast/client.h"
#include "proto/body.h"
#include "proto/connection.h"
#include "proto/ratchet.h"

/// An attempt to connect. It has its own nonce, so that answers to an earlier one do not count.
struct hc_cl_attempt {
    bool active; ///< The attempt goes on.
    bool again;  ///< There was a connection before.
    uint8_t nonce[HC_NONCE_SIZE];
    uint8_t secret[HC_EXCHANGE_KEY_SIZE]; ///< The ephemeral secret key; zeros after its use.
    uint8_t key[HC_EXCHANGE_KEY_SIZE];    ///< The ephemeral public key.
    bool has_cookie;                      ///< CONNECT is being sent, else HELLO.
    struct hc_datagram_cookie cookies[HC_COOKIES]; ///< CONNECT is sent with one after another.
    uint32_t cookie_count;                         ///< The number of stored cookies.
    uint32_t cookies_came;                         ///< The number of cookies received since HELLO.
    uint32_t cookie_turn;                          ///< The next CONNECT carries this cookie.
    uint64_t cookie_us;                            ///< The first cookie came at this time.
    bool answered;                                 ///< A COOKIE came.
    uint32_t requests;     ///< The requests sent since the last change between HELLO and CONNECT.
    uint64_t sent_us;      ///< The last request was sent at this time, if any was.
    uint64_t next_us;      ///< The next request is due at this time.
    bool due;              ///< A request is to be sent.
    uint64_t rtt_us;       ///< The shortest exchange took so long; UINT64_MAX before the first.
    bool version_received; ///< A VERSION came, and no COOKIE.
    uint64_t version_us;   ///< The VERSION came at this time.
    uint64_t version_id;   ///< The protocol_id in the VERSION.
    bool hinted;           ///< A DENY came that did not end the attempt.
    struct hc_deny hint;   ///< The newest such DENY.
    bool proven;           ///< The server sent `hint`; else anybody may have sent it.
    uint64_t denied_us;    ///< Such DENYs add this to the time of a first connection.
};

/// Only handshake.c writes to it.
struct hc_cl_handshake {
    const struct hc_client_config *config; ///< borrowed
    uint64_t protocol_id;
    struct hc_ratchet ratchet; ///< The ratchet draws nonces, ephemeral keys and waits.
    struct hc_credential
        credential; ///< The client connects with the configured one, or a ticket's.
    struct hc_cl_attempt attempt;
};

/// The meaning of a datagram.
enum hc_cl_answer_kind {
    HC_CL_ANSWER_NONE,   ///< The attempt goes on.
    HC_CL_ANSWER_ACCEPT, ///< The server accepts: the attempt ends.
    HC_CL_ANSWER_DENY,   ///< The server denies: the caller ends the attempt.
};

/// The answer of the server to an attempt.
struct hc_cl_answer {
    enum hc_cl_answer_kind kind;
    struct hc_deny deny; ///< of HC_CL_ANSWER_DENY

    // Of HC_CL_ANSWER_ACCEPT.
    uint32_t cid;
    struct hc_seal_keys keys; ///< The caller erases them.
    struct hc_welcome welcome;
};

/// Sets the configuration, which is borrowed and has its entropy and rule hash, and the credential.
void hc_cl_handshake_init(struct hc_cl_handshake *handshake, const struct hc_client_config *config,
                          uint64_t now_us);

/// Begins an attempt at `begin_us`, which is `now_us` or later. `again`: there was a connection.
void hc_cl_handshake_begin(struct hc_cl_handshake *handshake, bool again, uint64_t begin_us,
                           uint64_t now_us);

/// Ends the attempt, if one goes on, and erases its secret.
void hc_cl_handshake_end(struct hc_cl_handshake *handshake);

/// Connects with the credential of a TICKET from now on.
void hc_cl_handshake_renew(struct hc_cl_handshake *handshake,
                           const struct hc_credential *credential);

/// Receives a COOKIE, ACCEPT, DENY or VERSION. HC_OK or the reason of the refusal; then nothing
/// changed. `body` is memory for an ACCEPT.
enum hc_status hc_cl_handshake_receive(struct hc_cl_handshake *handshake, struct hc_body *body,
                                       const uint8_t *bytes, size_t size, uint64_t now_us,
                                       struct hc_cl_answer *answer);

/// Makes HELLO or CONNECT due. False: the server is of another build, and the caller ends the
/// attempt.
bool hc_cl_handshake_advance(struct hc_cl_handshake *handshake, uint64_t now_us);

/// When hc_cl_handshake_advance has something to do next.
uint64_t hc_cl_handshake_deadline(const struct hc_cl_handshake *handshake);

/// Writes HELLO or CONNECT if due and returns its size, else 0. `before` is the connection before,
/// which CONNECT continues; its cid is 0 if there was none.
size_t hc_cl_handshake_send(struct hc_cl_handshake *handshake, const struct hc_connection *before,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);
