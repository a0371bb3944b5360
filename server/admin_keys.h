/// Token keys in a file, and tokens made with them.
///
/// The file is text: a line for each key, the current one first, at most two, as the key's number
/// in [0, 255] and 64 hexadecimal digits; blank lines and those that begin with # are passed over.
/// It must be a regular file of this user or of root, which nobody else may read or write.
#pragma once

#include "proto/token.h"

#include <stdbool.h>

/// Reads `path`. False: it cannot be used, and `why` says why.
bool hc_sv_admin_keys_read(const char *path, struct hc_token_ring *ring, char *why,
                           size_t why_size);

/// Puts a new random key before the current one of `path`, which becomes the previous one, or makes
/// the file if there is none. Nobody ever sees half of it. False: it could not be done, and `why`
/// says why.
bool hc_sv_admin_keys_rotate(const char *path, char *why, size_t why_size);

/// One random key.
struct hc_token_ring hc_sv_admin_keys_random(void);

/// Issues a token as `token` says, but for its id, secret and nonce, which are random, as text with
/// its end.
void hc_sv_admin_keys_issue(const struct hc_token_key *key, uint64_t protocol_id,
                            const struct hc_token *token,
                            char text[static HC_CREDENTIAL_TEXT_SIZE + 1]);

/// Unix time in microseconds.
uint64_t hc_sv_admin_keys_now_us(void);
