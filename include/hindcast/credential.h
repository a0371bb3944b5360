/// Credentials: what a client is handed to connect with. The game's backend issues them.
#pragma once

#include "hindcast/api.h"
#include "hindcast/status.h"

#include <stddef.h>
#include <stdint.h>

HC_C_BEGIN

enum {
    HC_TOKEN_SIZE = 244,
    HC_TOKEN_SECRET_SIZE = 32,

    /// Characters of a credential as text, 4 for every 3 bytes; no end counted.
    HC_CREDENTIAL_TEXT_SIZE = (HC_TOKEN_SIZE + HC_TOKEN_SECRET_SIZE) / 3 * 4,
};

/// A token and its secret, with which a client connects. Anybody who reads it can connect in the
/// client's place.
struct hc_credential {
    uint8_t token[HC_TOKEN_SIZE];         ///< goes to the server as it is
    uint8_t secret[HC_TOKEN_SECRET_SIZE]; ///< never leaves the client
};

/// Reads the text of a credential, as `hindcastd token` prints it: `size` characters of base64url,
/// which one line feed, or carriage return and line feed, may follow. HC_TRUNCATED: too short.
/// HC_MALFORMED: too long, or a character that cannot be. `*out` is written only with HC_OK; only a
/// server can judge whether the token is valid.
HC_API enum hc_status hc_token_read_credential(const char *text, size_t size,
                                               struct hc_credential *out);

/// When the credential's token expires, Unix time in seconds: anybody can read it.
HC_API uint64_t hc_token_expire_s(const struct hc_credential *credential);

HC_C_END
