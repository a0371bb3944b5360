/// The keys of a connection, and the sealing of its datagrams with them.
///
/// Calls belong in this order, on either side:
///   1. hc_seal_public of a secret that is drawn for this connection alone: the client before its
///      first CONNECT, the server before it builds ACCEPT;
///   2. hc_seal_exchange, then hc_seal_derive, once both nonces and the cid are known: the server
///      before it builds ACCEPT, the client when one arrives; then both erase their secret;
///   3. hc_seal_init with one's own direction's key;
///   4. server: hc_seal_accept, once; its bytes are kept and sent again as they are.
///      client: hc_seal_open_accept; if it refuses, the keys are forgotten and nothing happened;
///   5. hc_seal_data for each DATA sent; hc_seal_open_data for each received, between
///      hc_replay_check and hc_replay_accept.
///
/// All sealing is crypto_aead_chacha20poly1305_ietf (RFC 8439) with the nonce 8 zero bytes | seq 4,
/// little-endian; what stands before the sealed part is vouched for beside it.
///
///     ACCEPT  seq 0         clear: the first 76 bytes   key: s2c
///     DATA    its own seq   clear: the first 9 bytes    key: c2s or s2c
///
/// The exchange of ephemeral keys (X25519, RFC 7748) gives forward secrecy: whoever gets the token
/// key later, and with it every token's secret, cannot open what was recorded.
///
/// A key and a nonce must never seal twice. Keys are new for every connection, because nonces of
/// both sides are in them; within one, struct hc_sealer stops the program sooner than use a seq
/// again. Tests watch the calls of the cipher itself (tests/sim/spy.h), so that nothing here knows
/// of them.
#pragma once

#include "hindcast/status.h"
#include "proto/address.h"
#include "proto/datagram.h"
#include "proto/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_SEAL_KEY_SIZE = 32,
};

/// The keys of one connection: from the client to the server and back.
struct hc_seal_keys {
    uint8_t c2s[HC_SEAL_KEY_SIZE];
    uint8_t s2c[HC_SEAL_KEY_SIZE];
};

/// What one side seals with.
struct hc_sealer {
    uint8_t key[HC_SEAL_KEY_SIZE];
    uint64_t next; ///< every seq below was used or passed over
};

/// What the keys of a connection are made of. All of it but `secret` and `shared` is on the wire.
struct hc_seal_material {
    uint8_t secret[HC_TOKEN_SECRET_SIZE]; ///< of the token
    uint64_t protocol_id;
    uint8_t token[HC_TOKEN_SIZE]; ///< as CONNECT carries it: a client cannot read its token_id
    uint8_t client_nonce[HC_NONCE_SIZE], server_nonce[HC_NONCE_SIZE];
    uint32_t cid;
    uint8_t client_key[HC_EXCHANGE_KEY_SIZE], server_key[HC_EXCHANGE_KEY_SIZE];
    uint8_t shared[HC_EXCHANGE_KEY_SIZE]; ///< what hc_seal_exchange gives
};

/// The public ephemeral key of a secret: any 32 random bytes.
void hc_seal_public(const uint8_t secret[static HC_EXCHANGE_KEY_SIZE],
                    uint8_t out[static HC_EXCHANGE_KEY_SIZE]);

/// What both sides share by one's secret and the other's public key. HC_MALFORMED: that key is a
/// point of low order, which would give the same to everybody; then `out` holds zeros.
enum hc_status hc_seal_exchange(const uint8_t secret[static HC_EXCHANGE_KEY_SIZE],
                                const uint8_t key[static HC_EXCHANGE_KEY_SIZE],
                                uint8_t out[static HC_EXCHANGE_KEY_SIZE]);

/// c2s | s2c = BLAKE2b-512("HCAST01 keys" | protocol_id 8 | token 244 | client_nonce 16 |
/// server_nonce 16 | cid 4 | client_key 32 | server_key 32 | shared 32), keyed by the token's
/// secret.
void hc_seal_derive(const struct hc_seal_material *material, struct hc_seal_keys *out);

/// Begins to seal with `key`; once for each key.
void hc_seal_init(struct hc_sealer *sealer, const uint8_t key[static HC_SEAL_KEY_SIZE]);

/// Seals an ACCEPT of `size` bytes in place: the body, with the tag in its last 16 bytes. Before
/// any DATA, and once.
void hc_seal_accept(struct hc_sealer *sealer, uint8_t *datagram, size_t size);

/// Seals a DATA of `size` bytes in place: acks and body, with the tag in its last 16 bytes. The seq
/// is the one that stands in it, above every one sealed before.
void hc_seal_data(struct hc_sealer *sealer, uint8_t *datagram, size_t size);

/// Opens an ACCEPT of `size` bytes into `out`, which lies elsewhere: as it was before it was
/// sealed, but for the tag, which is not written. HC_TRUNCATED: a length that none can have.
/// HC_MALFORMED: not sealed with this key, or changed; then `out` holds nothing of it.
enum hc_status hc_seal_open_accept(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                   const uint8_t *datagram, size_t size,
                                   uint8_t out[static HC_DATAGRAM_MAX]);

/// Opens a DATA as hc_seal_open_accept does an ACCEPT. Whether its seq is new is not judged here.
enum hc_status hc_seal_open_data(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                 const uint8_t *datagram, size_t size,
                                 uint8_t out[static HC_DATAGRAM_MAX]);

/// The token of a RESET (RFC 9000, 10.3) for `cid`: what only a server that holds `key` can say of
/// a connection that it knows nothing of. The client is told it inside the sealed ACCEPT.
///
///     reset_key   = BLAKE2b-256("HCAST01 reset", keyed by the token key)
///     reset_token = BLAKE2b-128(cid 4 | audience 8 | ip 16 | port 2, keyed by reset_key)
///
/// Everything in it survives a restart, or comes with the DATA that is answered. `audience` is the
/// server's own, `address` the client's as the server sees it. Without them anybody could have the
/// token of a living connection from a server of the same fleet, or from this one after a restart,
/// by asking for that cid (RFC 9000, 21.11); without the port, anybody behind the same router. A
/// client whose address has changed is sent another token, or else times out.
///
/// Two keys may be in the ring, and the ACCEPT may have been made under either. The answer to a
/// DATA takes keys[seq % count]: two datagrams of the client in a row get the right one, none gets
/// two.
void hc_seal_reset_token(const struct hc_token_key *key, uint32_t cid, uint64_t audience,
                         const struct hc_address *address, uint8_t out[static HC_RESET_TOKEN_SIZE]);

/// Whether a RESET's token is the one that ACCEPT told. Takes the same time wherever they differ.
bool hc_seal_reset_equal(const uint8_t told[static HC_RESET_TOKEN_SIZE],
                         const uint8_t received[static HC_RESET_TOKEN_SIZE]);
