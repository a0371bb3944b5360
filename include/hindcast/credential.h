/// Credentials: the token and the secret with which a client connects, from the game's backend, and
/// the keys that seal tokens.
#pragma once

#include "hindcast/api.h"
#include "hindcast/status.h"

#include <stddef.h>
#include <stdint.h>

HC_C_BEGIN

enum {
    HC_MATCH_MAX = 1023,          ///< the greatest number of a match in a token
    HC_TOKEN_SIZE = 244,          ///< bytes
    HC_TOKEN_SECRET_SIZE = 32,    ///< bytes
    HC_TOKEN_KEY_SIZE = 32,       ///< bytes
    HC_TOKEN_NAME_SIZE = 32,      ///< bytes of a user's name, UTF-8, padded with zeros
    HC_TOKEN_USER_DATA_SIZE = 96, ///< bytes of the backend, for the game

    /// Characters of a credential as text, 4 for every 3 bytes, without a terminating zero.
    HC_CREDENTIAL_TEXT_SIZE = (HC_TOKEN_SIZE + HC_TOKEN_SECRET_SIZE) / 3 * 4,
};

/// A token and its secret. Anybody with both can connect in the client's place.
struct hc_credential {
    uint8_t token[HC_TOKEN_SIZE];         ///< the client sends it to the server unchanged
    uint8_t secret[HC_TOKEN_SECRET_SIZE]; ///< never leaves the client
};

/// A key that seals tokens.
struct hc_token_key {
    uint8_t id; ///< names the key inside tokens
    uint8_t key[HC_TOKEN_KEY_SIZE];
};

/// The keys whose tokens a server accepts. The first one is used: it issues tokens, tickets and
/// reset tokens. The second one is only accepted: the published key, whose id is the used id + 1
/// (mod 256), or else the former one. All zeros holds none; copy and clear it freely.
///
/// A rotation takes two steps, so that no token is issued before every server accepts its key:
///   1. a key is published, and every server is given the ring (`hindcastd key`);
///   2. it is used, and every issuer and server is given the ring (`hindcastd key --use`).
struct hc_token_ring {
    struct hc_token_key keys[2]; ///< the used key, then the published or former one
    uint32_t count;              ///< how many there are, in [0, 2]
};

/// Reads a credential from `size` characters of base64url, as `hindcastd token` prints it. One line
/// feed, or carriage return and line feed, may follow. HC_TRUNCATED: too short. HC_MALFORMED: too
/// long, or another character. `*out` is written only with HC_OK. Only the server checks the token.
HC_API enum hc_status hc_token_read_credential(const char *text, size_t size,
                                               struct hc_credential *out);

/// Writes `credential` as text: one word of base64url without padding (RFC 4648, 5), token before
/// secret, and a terminating zero. It has no checksum, because the token is sealed and the secret
/// proven.
HC_API void hc_token_write_credential(const struct hc_credential *credential,
                                      char text[HC_AT_LEAST(HC_CREDENTIAL_TEXT_SIZE + 1)]);

/// The time at which the credential's token expires, in seconds of Unix time. It is not secret.
HC_API uint64_t hc_token_expire_s(const struct hc_credential *credential);

HC_C_END
