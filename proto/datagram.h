/// Datagrams: their fixed layouts.
///
/// Little-endian. `magic` is the seven bytes "HCAST03"; offsets follow from the widths.
///
///     HELLO   01 1200  kind 1 | magic 7 | protocol_id 8 | client_nonce 16 | zeros 1168
///     COOKIE  02   44  kind | magic | client_nonce 16 | slot 4 | cookie 16
///     CONNECT 03 1200  kind | magic | protocol_id 8 | client_nonce 16 | slot 4 | cookie 16
///                      | token 244 | players 1 | continues 4 | client_key 32
///                      | extrapolations 1 | continue_proof 16 | zeros 834 | proof 16
///     ACCEPT  04 1200  kind | magic | client_nonce 16 | server_nonce 16 | cid 4 | server_key 32
///                      | body | tag 16
///     DENY    05   45  kind | magic | client_nonce 16 | reason 1 | retry_ms 4 | MAC 16
///     VERSION 06   32  kind | magic | protocol_id 8 | client_nonce 16
///     DATA    40 33..  kind | cid 4 | seq 4 | ack 4 | ack_bits 4 | body | tag 16
///     RESET   41   21  kind | cid 4 | reset_token 16
///
/// token.h makes and checks token, proof and MAC. seal.h makes and checks continue_proof, and seals
/// the body of ACCEPT, and DATA from `ack` on; the decoders here read them after they were opened.
/// The encoders write zeros for tags and proofs, the decoders skip them. A decoder checks the
/// length first, copies no body (`body` points into the datagram), and changes `*out` only when it
/// returns HC_OK, unless its comment says otherwise. It returns HC_TRUNCATED for a length that the
/// kind cannot have and HC_MALFORMED for any other fault.
#pragma once

#include "hindcast/connection.h"
#include "hindcast/credential.h"
#include "hindcast/game.h"
#include "hindcast/status.h"
#include "proto/limits.h"

#include <stddef.h>
#include <stdint.h>

#define HC_DATAGRAM_MAGIC "HCAST03"

enum hc_datagram_kind {
    HC_DATAGRAM_NONE = 0, ///< not a datagram of this protocol
    HC_DATAGRAM_HELLO = 0x01,
    HC_DATAGRAM_COOKIE = 0x02,
    HC_DATAGRAM_CONNECT = 0x03,
    HC_DATAGRAM_ACCEPT = 0x04,
    HC_DATAGRAM_DENY = 0x05,
    HC_DATAGRAM_VERSION = 0x06,
    HC_DATAGRAM_DATA = 0x40,
    HC_DATAGRAM_RESET = 0x41,
};

enum {
    HC_MAGIC_SIZE = 7,
    HC_NONCE_SIZE = 16,
    HC_COOKIE_SIZE = 16,
    HC_PROOF_SIZE = 16,
    HC_DATAGRAM_CONNECT_TOKEN_AT = 52,
    HC_TAG_SIZE = 16,
    HC_EXCHANGE_KEY_SIZE = 32, ///< of an ephemeral X25519 key
    HC_RESET_TOKEN_SIZE = 16,

    HC_CONNECT_CONTINUE_PROOF_AT = 334, ///< offset of continue_proof

    HC_ACCEPT_BODY_AT = 44 + HC_EXCHANGE_KEY_SIZE, ///< offset of the body of ACCEPT
    HC_DATA_CLEAR_SIZE = 9, ///< bytes of DATA that are authenticated but not sealed
    HC_DATA_ACKS_SIZE = 8,
    HC_DATA_BODY_AT = HC_DATA_CLEAR_SIZE + HC_DATA_ACKS_SIZE, ///< offset of the body of DATA
};

_Static_assert(HC_ACCEPT_BODY_AT + HC_ACCEPT_BODY_MAX + HC_TAG_SIZE == HC_DATAGRAM_ACCEPT_SIZE &&
                   HC_DATA_BODY_AT + HC_DATA_BODY_MAX + HC_TAG_SIZE == HC_DATAGRAM_MAX,
               "a body fills its datagram");

struct hc_hello {
    uint64_t protocol_id;
    uint8_t client_nonce[HC_NONCE_SIZE]; ///< random, new for each attempt to connect
};

struct hc_datagram_cookie {
    uint8_t client_nonce[HC_NONCE_SIZE]; ///< client_nonce of the HELLO
    uint32_t slot;                       ///< time slot of the cookie (cookie.h)
    uint8_t cookie[HC_COOKIE_SIZE];
};

/// The fields behind the token stand outside any body: the proof covers them, and they cost no
/// bytes because CONNECT is padded.
struct hc_connect {
    uint64_t protocol_id;
    uint8_t client_nonce[HC_NONCE_SIZE];
    uint32_t slot;                  ///< copied from COOKIE
    uint8_t cookie[HC_COOKIE_SIZE]; ///< copied from COOKIE
    uint8_t token[HC_TOKEN_SIZE];
    uint8_t players;    ///< local players wanted, [0, 4]; 0: a spectator
    uint32_t continues; ///< cid of this client's last connection, whose session it resumes, if
                        ///< continue_proof holds; 0: none, and continue_proof is zeros
    uint8_t client_key[HC_EXCHANGE_KEY_SIZE]; ///< ephemeral, public
    /// The extrapolations that the client computes: bit how - 1 for each enum hc_extrapolation but
    /// HC_EXTRAPOLATION_HOLD, which every client computes.
    uint8_t extrapolations;
};

struct hc_accept {
    uint8_t client_nonce[HC_NONCE_SIZE];
    uint8_t server_nonce[HC_NONCE_SIZE];
    uint32_t cid; ///< names the connection in every DATA of both directions; never 0
    uint8_t server_key[HC_EXCHANGE_KEY_SIZE]; ///< ephemeral, public
    const uint8_t *body;
    size_t body_size; ///< always HC_ACCEPT_BODY_MAX
};

struct hc_deny {
    uint8_t client_nonce[HC_NONCE_SIZE];
    enum hc_deny_reason reason;
    uint32_t retry_ms; ///< after which the client may try again; 0: never
};

struct hc_version {
    uint64_t protocol_id; ///< the server's
    uint8_t client_nonce[HC_NONCE_SIZE];
};

struct hc_reset {
    uint32_t cid; ///< of a DATA without a connection
    uint8_t token[HC_RESET_TOKEN_SIZE];
};

struct hc_data {
    uint32_t cid;
    uint32_t seq;      ///< of this datagram, at least 1
    uint32_t ack;      ///< newest seq received, 0: none yet
    uint32_t ack_bits; ///< bit i: seq ack - 1 - i was received too
    const uint8_t *body;
    size_t body_size; ///< in [0, HC_DATA_BODY_MAX]; 0 keeps the connection alive
};

/// The number that both ends must share: it binds the wire version, hc_game_hash(game) and
/// `rule_hash`, hc_game_rule_hash of the game.
uint64_t hc_datagram_protocol_id(const struct hc_game *game, uint64_t rule_hash);

/// Whether this version has that reason of a DENY. A later one may have others.
bool hc_datagram_is_deny_reason(unsigned reason);

/// The kind of a datagram by its first byte alone; HC_DATAGRAM_NONE: not of this protocol.
enum hc_datagram_kind hc_datagram_kind(const uint8_t *bytes, size_t size);

/// Writes all HC_DATAGRAM_HELLO_SIZE bytes and returns that size.
size_t hc_datagram_put_hello(const struct hc_hello *hello,
                             uint8_t out[static HC_DATAGRAM_HELLO_SIZE]);

/// HC_UNEXPECTED: a HELLO of another wire version; *out is filled, so that VERSION can answer it.
/// The caller checks the protocol_id. Read by the server.
enum hc_status hc_datagram_get_hello(const uint8_t *bytes, size_t size, struct hc_hello *out);

/// Writes all HC_DATAGRAM_COOKIE_SIZE bytes and returns that size.
size_t hc_datagram_put_cookie(const struct hc_datagram_cookie *cookie,
                              uint8_t out[static HC_DATAGRAM_COOKIE_SIZE]);

/// Read by the client.
enum hc_status hc_datagram_get_cookie(const uint8_t *bytes, size_t size,
                                      struct hc_datagram_cookie *out);

/// Writes all HC_DATAGRAM_CONNECT_SIZE bytes, zeros for both proofs, and returns that size.
size_t hc_datagram_put_connect(const struct hc_connect *connect,
                               uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]);

/// HC_INVALID: only `players` is wrong, above HC_OWN_PLAYERS_MAX; *out is filled, so that DENY can
/// answer it after the cookie was checked. Read by the server.
enum hc_status hc_datagram_get_connect(const uint8_t *bytes, size_t size, struct hc_connect *out);

/// Writes the datagram and returns its size; `body` may lie in `out` at HC_ACCEPT_BODY_AT.
size_t hc_datagram_put_accept(const struct hc_accept *accept, uint8_t out[static HC_DATAGRAM_MAX]);

/// Read by the client; `out->body` points into `bytes`.
enum hc_status hc_datagram_get_accept(const uint8_t *bytes, size_t size, struct hc_accept *out);

/// Writes all HC_DATAGRAM_DENY_SIZE bytes, zeros for the MAC, and returns that size.
size_t hc_datagram_put_deny(const struct hc_deny *deny, uint8_t out[static HC_DATAGRAM_DENY_SIZE]);

/// Read by the client.
enum hc_status hc_datagram_get_deny(const uint8_t *bytes, size_t size, struct hc_deny *out);

/// Writes all HC_DATAGRAM_VERSION_SIZE bytes and returns that size.
size_t hc_datagram_put_version(const struct hc_version *version,
                               uint8_t out[static HC_DATAGRAM_VERSION_SIZE]);

/// Read by the client; the last two digits of the magic may be any.
enum hc_status hc_datagram_get_version(const uint8_t *bytes, size_t size, struct hc_version *out);

/// Writes all HC_DATAGRAM_RESET_SIZE bytes and returns that size.
size_t hc_datagram_put_reset(const struct hc_reset *reset,
                             uint8_t out[static HC_DATAGRAM_RESET_SIZE]);

/// Read by the client.
enum hc_status hc_datagram_get_reset(const uint8_t *bytes, size_t size, struct hc_reset *out);

/// Writes the datagram and returns its size; `body` may lie in `out` at HC_DATA_BODY_AT.
size_t hc_datagram_put_data(const struct hc_data *data, uint8_t out[static HC_DATAGRAM_MAX]);

/// Reads the cid and the seq of a DATA that is still sealed.
enum hc_status hc_datagram_get_data_clear(const uint8_t *bytes, size_t size, uint32_t *cid,
                                          uint32_t *seq);

/// Read by both; `out->body` points into `bytes`. The caller checks the cid and the acks.
enum hc_status hc_datagram_get_data(const uint8_t *bytes, size_t size, struct hc_data *out);
