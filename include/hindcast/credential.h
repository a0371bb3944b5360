/// Credentials: the token and the secret with which a client connects, from the game's backend.
#pragma once

#include "hindcast/api.h"
#include "hindcast/status.h"

#include <stddef.h>
#include <stdint.h>

HC_C_BEGIN

enum {
    HC_TOKEN_SIZE = 244,       ///< bytes
    HC_TOKEN_SECRET_SIZE = 32, ///< bytes

    /// Characters of a credential as text, 4 for every 3 bytes, without a terminating zero.
    HC_CREDENTIAL_TEXT_SIZE = (HC_TOKEN_SIZE + HC_TOKEN_SECRET_SIZE) / 3 * 4,
};

/// A token and its secret. Anybody with both can connect in the client's place.
struct hc_credential {
    uint8_t token[HC_TOKEN_SIZE];         ///< the client sends it to the server unchanged
    uint8_t secret[HC_TOKEN_SECRET_SIZE]; ///< never leaves the client
};

/// Reads a credential from `size` characters of base64url, as `hindcastd token` prints it. One line
/// feed, or carriage return and line feed, may follow. HC_TRUNCATED: too short. HC_MALFORMED: too
/// long, or another character. `*out` is written only with HC_OK. Only the server checks the token.
HC_API enum hc_status hc_token_read_credential(const char *text, size_t size,
                                               struct hc_credential *out);

/// The time at which the credential's token expires, in seconds of Unix time. It is not secret.
HC_API uint64_t hc_token_expire_s(const struct hc_credential *credential);

HC_C_END
