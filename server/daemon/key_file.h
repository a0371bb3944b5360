/// Token keys in a file, and tokens made with them.
///
/// The file is text: a line for each key of a struct hc_token_ring, the used key first, at most
/// two, as the key's number in [0, 255] and 64 hexadecimal digits; blank lines and lines that begin
/// with # are skipped. It must be a regular file of this user or of root, and closed to all other
/// users.
#pragma once

#include "proto/token.h"
#include "server/daemon/owner_file.h"

#include <stdbool.h>

/// The file, whose reader fills in a struct hc_token_ring.
extern const struct hc_sv_owner_file_kind hc_sv_key_file_kind;

/// Reads `path` now. False: it cannot be used, and `why` says why.
bool hc_sv_key_file_read(const char *path, struct hc_token_ring *ring, char *why, size_t why_size);

/// Makes `path` with a random key if there is no such file, or else publishes a random key in it:
/// see hc_token_ring_publish. The file is replaced as a whole. `*ring` becomes what it holds now:
/// one key if the file was made. False: the file is unchanged, and `why` is a sentence.
bool hc_sv_key_file_publish(const char *path, struct hc_token_ring *ring, char *why,
                            size_t why_size);

/// Makes the published key of `path` the used one: see hc_token_ring_use. Otherwise like
/// hc_sv_key_file_publish.
bool hc_sv_key_file_use(const char *path, struct hc_token_ring *ring, char *why, size_t why_size);

/// One random key.
struct hc_token_ring hc_sv_key_file_random(void);

/// Issues a token as `token` says, but for its id, secret and nonce, which are random, as text with
/// its end.
void hc_sv_key_file_issue(const struct hc_token_key *key, uint64_t protocol_id,
                          const struct hc_token *token,
                          char text[static HC_CREDENTIAL_TEXT_SIZE + 1]);
