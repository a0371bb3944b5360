/// Tokens and tickets, and the proof in CONNECT and the MAC of DENY under their secret.
///
/// Little-endian. A token is 244 bytes. The holder of a token key makes it: the game's backend, or
/// the server itself. The player gets it with its secret over a safe channel.
///
///      0   1  version, 1
///      1   1  key_id: which token key seals it
///      2   1  bit 0 kind: 0 a token, 1 a ticket; bits 1 to 7 the low bits of the match
///      3   1  bits 0 to 3 rights: 0 to 2 the most local players, 3 whether it may watch;
///             bits 4 to 6 the high bits of the match
///      4   4  expire_s: invalid from this second on, Unix time
///      8   4  issued_s: Unix time
///     12  24  nonce: random, never used twice with one key
///     36 192  sealed: token_id 16 | client_id 8 | secret 32 | audience 8 | name 32 | user_data 96
///    228  16  tag
///
/// Sealed by crypto_aead_xchacha20poly1305_ietf with the token key and the nonce; its AAD is
/// "HINDCAST-TOKEN-1" | protocol_id 8 | the token's first 12 bytes. The model is netcode 1.02; the
/// audience replaces its list of addresses.
///
///     proof = BLAKE2b-128(the first 1184 bytes of CONNECT, keyed by the token's secret)
///     MAC   = BLAKE2b-128(the first 29 bytes of DENY, keyed by the token's secret)
///
/// **When a DENY has a MAC.** The client has the secret; the server has it after it has opened the
/// token. But only a valid proof shows that the sender of a CONNECT knows the secret. The server
/// must not answer a copied token with a MAC under the owner's secret: the thief could choose the
/// nonce, and the owner would accept that DENY. So a DENY has a MAC only after a valid proof.
/// Otherwise it has zeros and is a hint that anybody may have sent: the client tries on, and
/// reports the reason when it gives up.
#pragma once

#include "hindcast/credential.h"
#include "hindcast/status.h"
#include "proto/datagram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_TOKEN_VERSION = 1,
    HC_TOKEN_NONCE_SIZE = 24,
    HC_TOKEN_ID_SIZE = 16,
};

enum hc_token_kind {
    HC_TOKEN_CONNECT = 0, ///< issued by the backend
    HC_TOKEN_RESUME = 1,  ///< a ticket, issued by the server to a connected client
};

/// The contents of a token.
struct hc_token {
    enum hc_token_kind kind;
    uint8_t players;   ///< the most local players that it admits, [0, HC_OWN_PLAYERS_MAX]
    bool watch;        ///< the token admits a spectator; spectators see everything
    uint16_t match;    ///< of the server's matches, [1, HC_MATCH_MAX]; 0: any with room
    uint64_t expire_s; ///< Unix time; invalid from then on
    uint64_t issued_s; ///< Unix time; both are at most UINT32_MAX on the wire
    uint8_t token_id[HC_TOKEN_ID_SIZE];         ///< unique; identifies a used token
    uint64_t client_id;                         ///< the backend's number of the user
    uint8_t secret[HC_TOKEN_SECRET_SIZE];       ///< random; shared by the client and the server
    uint64_t audience;                          ///< the server or fleet that accepts it
    uint8_t name[HC_TOKEN_NAME_SIZE];           ///< padded with zeros; see hc_name_check
    uint8_t user_data[HC_TOKEN_USER_DATA_SIZE]; ///< of the backend, for the game; never read here
};

/// Publishes `key` as the second key, in place of the former one, under the used id + 1 (mod 256).
/// An empty ring takes it as its used key, with id 0. HC_UNEXPECTED: the published key is not used
/// yet; nothing is changed.
enum hc_status hc_token_ring_publish(struct hc_token_ring *ring,
                                     const uint8_t key[static HC_TOKEN_KEY_SIZE]);

/// Makes the published key the used one; the used key becomes the former one. HC_UNEXPECTED: no key
/// is published; nothing is changed, so that a second call does not go back.
enum hc_status hc_token_ring_use(struct hc_token_ring *ring);

/// Seals `token` for the servers of `protocol_id`. `nonce` must be random and new: two tokens of
/// one key and nonce would reveal both.
void hc_token_seal(const struct hc_token_key *key, uint64_t protocol_id,
                   const struct hc_token *token, const uint8_t nonce[static HC_TOKEN_NONCE_SIZE],
                   uint8_t out[static HC_TOKEN_SIZE]);

/// Opens a token that came to the server of `audience` and `protocol_id` at `now_s`, Unix time.
/// Checked in this order: HC_MALFORMED for another version or unknown rights,
/// HC_UNEXPECTED for a key that is not in the ring, HC_MALFORMED when not sealed by that key for
/// this protocol_id, HC_TOO_OLD when expired, HC_INVALID for another audience. `*out` is written
/// with HC_OK and, for a DENY under the token's secret, with HC_TOO_OLD and HC_INVALID. Only
/// hc_token_check_proof shows that the sender of a token is its owner.
enum hc_status hc_token_open(const struct hc_token_ring *ring, uint64_t protocol_id,
                             uint64_t audience, uint64_t now_s,
                             const uint8_t bytes[static HC_TOKEN_SIZE], struct hc_token *out);

/// The match that a token names, by its clear bytes: anybody may have written them. For steering.
uint16_t hc_token_match(const uint8_t bytes[static HC_TOKEN_SIZE]);

/// The number of a ticket, by its token_id: its first 8 bytes. Of two tickets of a client_id the
/// newer one has the greater number.
uint64_t hc_token_number(const uint8_t token_id[static HC_TOKEN_ID_SIZE]);

/// The start of a ticket's session, Unix time, by its token_id: its last 8 bytes.
uint64_t hc_token_begun_s(const uint8_t token_id[static HC_TOKEN_ID_SIZE]);

/// Writes the token_id of a ticket.
void hc_token_put_ticket_id(uint8_t token_id[static HC_TOKEN_ID_SIZE], uint64_t number,
                            uint64_t begun_s);

/// Writes the proof into the last 16 bytes of an otherwise complete CONNECT. Client.
void hc_token_put_proof(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                        uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]);

/// HC_MALFORMED: the sender of this CONNECT does not know the secret of its token, or the CONNECT
/// was changed. The comparison takes constant time. Server.
enum hc_status hc_token_check_proof(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                                    const uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]);

/// Writes the MAC into the last 16 bytes of a DENY, only after a valid proof. Server.
void hc_token_put_deny_mac(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                           uint8_t deny[static HC_DATAGRAM_DENY_SIZE]);

/// HC_OK: the server denies. HC_UNEXPECTED: the MAC is zero: it is only a hint. HC_MALFORMED: it is
/// forged or damaged. The comparison takes constant time. Client.
enum hc_status hc_token_check_deny_mac(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                                       const uint8_t deny[static HC_DATAGRAM_DENY_SIZE]);
