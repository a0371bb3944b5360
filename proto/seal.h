/// Seals: the keys of a connection, and the sealing of its datagrams.
///
/// Calls belong in this order, on either side:
///   1. hc_seal_public of a secret that is drawn for this connection: the client before its first
///      CONNECT, the server before it builds ACCEPT;
///   2. hc_seal_exchange, then hc_seal_derive, when both nonces and the cid are known: the server
///      before it builds ACCEPT, the client when it receives one; then both erase their secret;
///   3. hc_seal_init with the key of the own direction;
///   4. server: hc_seal_accept, once; it stores the bytes and resends them unchanged.
///      client: hc_seal_open_accept; if it refuses, the client forgets the keys;
///   5. hc_seal_data for each DATA sent; hc_seal_open_data for each received, between
///      hc_received_check and hc_received_accept.
///
/// All sealing is crypto_aead_chacha20poly1305_ietf (RFC 8439) with the nonce 8 zero bytes | seq 4,
/// little-endian; the clear bytes before the sealed part are its AAD.
///
///     ACCEPT  seq 0         clear: the first 76 bytes   key: s2c
///     DATA    its own seq   clear: the first 9 bytes    key: c2s or s2c
///
/// The exchange of ephemeral keys (X25519, RFC 7748) gives forward secrecy: the token key, and with
/// it every token's secret, opens no recorded datagram.
///
/// A key must never seal two datagrams with one nonce. Each connection has new keys, because they
/// depend on nonces of both sides; within a connection, struct hc_sealer aborts when a seq repeats.
/// Tests observe the calls of the cipher itself (tests/sim/spy.h).
#pragma once

#include "hindcast/status.h"
#include "hindcast/address.h"
#include "proto/datagram.h"
#include "proto/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_SEAL_KEY_SIZE = 32,
};

/// The keys of one connection.
struct hc_seal_keys {
    uint8_t c2s[HC_SEAL_KEY_SIZE];       ///< of the client's datagrams
    uint8_t s2c[HC_SEAL_KEY_SIZE];       ///< of the server's
    uint8_t continues[HC_SEAL_KEY_SIZE]; ///< of the client's proof that it continues it
};

/// The key and the next seq of one direction.
struct hc_sealer {
    uint8_t key[HC_SEAL_KEY_SIZE];
    uint64_t next; ///< every lower seq was used or skipped
};

/// The material of a connection's keys. All of it but `secret` and `shared` is on the wire.
struct hc_seal_material {
    uint8_t secret[HC_TOKEN_SECRET_SIZE]; ///< of the token
    uint64_t protocol_id;
    uint8_t token[HC_TOKEN_SIZE]; ///< as CONNECT carries it: a client cannot read its token_id
    uint8_t client_nonce[HC_NONCE_SIZE], server_nonce[HC_NONCE_SIZE];
    uint32_t cid;
    uint8_t client_key[HC_EXCHANGE_KEY_SIZE], server_key[HC_EXCHANGE_KEY_SIZE];
    uint8_t shared[HC_EXCHANGE_KEY_SIZE]; ///< by hc_seal_exchange
};

/// The public ephemeral key of a secret, which is any 32 random bytes.
void hc_seal_public(const uint8_t secret[static HC_EXCHANGE_KEY_SIZE],
                    uint8_t out[static HC_EXCHANGE_KEY_SIZE]);

/// Computes the shared secret of both sides, from one's secret and the other's public key.
/// HC_MALFORMED: that key is a point of low order, which has the same result for everybody; `out`
/// gets zeros.
enum hc_status hc_seal_exchange(const uint8_t secret[static HC_EXCHANGE_KEY_SIZE],
                                const uint8_t key[static HC_EXCHANGE_KEY_SIZE],
                                uint8_t out[static HC_EXCHANGE_KEY_SIZE]);

/// Derives the keys of a connection:
///
///     c2s | s2c = BLAKE2b-512("HCAST03 keys" | protocol_id 8 | token 244 | client_nonce 16 |
///                             server_nonce 16 | cid 4 | client_key 32 | server_key 32 | shared 32,
///                             keyed by the token's secret)
///     continues = BLAKE2b-256("HCAST03 continues", keyed by c2s | s2c)
void hc_seal_derive(const struct hc_seal_material *material, struct hc_seal_keys *out);

/// Starts to seal with `key`; once for each key.
void hc_seal_init(struct hc_sealer *sealer, const uint8_t key[static HC_SEAL_KEY_SIZE]);

/// Seals the body of an ACCEPT of `size` bytes in place; its last 16 bytes become the tag. Once,
/// before any DATA.
void hc_seal_accept(struct hc_sealer *sealer, uint8_t *datagram, size_t size);

/// Seals acks and body of a DATA of `size` bytes in place; its last 16 bytes become the tag. Its
/// seq must be greater than every one sealed before.
void hc_seal_data(struct hc_sealer *sealer, uint8_t *datagram, size_t size);

/// Seals a farewell of `size` bytes in place, as hc_seal_data does. Its seq is HC_SEQ_FAREWELL or
/// above, and with each such seq the whole datagram must be the same for ever.
void hc_seal_farewell(const struct hc_sealer *sealer, uint8_t *datagram, size_t size);

/// Opens an ACCEPT of `size` bytes into `out`, another buffer, without the tag. HC_TRUNCATED: no
/// ACCEPT has this length. HC_MALFORMED: it was not sealed with this key, or was changed; `out`
/// then holds nothing of it.
enum hc_status hc_seal_open_accept(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                   const uint8_t *datagram, size_t size,
                                   uint8_t out[static HC_DATAGRAM_MAX]);

/// Opens a DATA as hc_seal_open_accept does an ACCEPT. The caller checks that its seq is new.
enum hc_status hc_seal_open_data(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                 const uint8_t *datagram, size_t size,
                                 uint8_t out[static HC_DATAGRAM_MAX]);

/// The token of a RESET (RFC 9000, 10.3) for `cid`: only a server with `key` can compute it, even
/// of an unknown connection. The sealed ACCEPT carries it to the client.
///
///     reset_key   = BLAKE2b-256("HCAST03 reset", keyed by the token key)
///     reset_token = BLAKE2b-128(cid 4 | audience 8 | ip 16 | port 2, keyed by reset_key)
///
/// Its inputs survive a restart, or are in the DATA that RESET answers. `audience` is the server's
/// own, `address` the client's as the server sees it. Without them anybody could get the token of a
/// live connection from another server of the fleet, or from this one after a restart, by sending a
/// DATA with its cid (RFC 9000, 21.11); without the port, anybody behind the same router. A client
/// whose address has changed gets a new token, or else times out.
///
/// The ring may hold two keys, and either may have made the token in ACCEPT. The answer to a DATA
/// uses keys[seq % count]: of two consecutive datagrams of the client one gets the right token.
void hc_seal_reset_token(const struct hc_token_key *key, uint32_t cid, uint64_t audience,
                         const struct hc_address *address, uint8_t out[static HC_RESET_TOKEN_SIZE]);

/// Writes the client's proof that it continues the connection of this key, into a CONNECT that
/// lacks nothing more than this and the token's proof. Client.
///
///     continue_proof = BLAKE2b-128(the first 334 bytes of CONNECT, keyed by `continues`)
///
/// Only the two ends of that connection know the key: not an observer who sees its cid, and not
/// another holder of the client's token.
void hc_seal_put_continue_proof(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]);

/// Whether a CONNECT proves that its client continues the connection of this key, in constant time.
bool hc_seal_continue_proof_holds(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                  const uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]);

/// Whether a RESET's token is the connection's own, in constant time.
bool hc_seal_reset_equal(const uint8_t own[static HC_RESET_TOKEN_SIZE],
                         const uint8_t received[static HC_RESET_TOKEN_SIZE]);
