/// The file of token keys, and the issue of tokens with a key.
///
/// The file is text: one line for each key of a struct hc_token_ring, at most two, the used key
/// first: the key's number in [0, 255] and 64 hexadecimal digits. Blank lines and lines that begin
/// with # are skipped. It must belong to this user or to root, and no other user may have any
/// permission on it, except that a group may read a file of root. It is a regular file, or a pipe,
/// which is read to its end, once.
#pragma once

#include "proto/token.h"
#include "server/daemon/owner_file.h"

#include <stdbool.h>

/// The kind of this file; its parser fills in a struct hc_token_ring.
extern const struct hc_sv_owner_file_kind hc_sv_key_file_kind;

/// Reads `path` now. False: the file cannot be used, and `why` is a sentence.
bool hc_sv_key_file_read(const char *path, struct hc_token_ring *ring, char *why, size_t why_size);

/// Makes `path` with a random key if the file does not exist; otherwise publishes a random key in
/// it (hc_token_ring_publish). Replaces the file as a whole, and sets `*ring` to its new contents:
/// one key if the file was made. False: the file is unchanged, and `why` is a sentence.
bool hc_sv_key_file_publish(const char *path, struct hc_token_ring *ring, char *why,
                            size_t why_size);

/// Makes the published key of `path` the used one (hc_token_ring_use). Otherwise like
/// hc_sv_key_file_publish.
bool hc_sv_key_file_use(const char *path, struct hc_token_ring *ring, char *why, size_t why_size);

/// A ring of one random key.
struct hc_token_ring hc_sv_key_file_random(void);

/// Issues `token` with a random id, secret and nonce, and writes the credential as text with its
/// terminator.
void hc_sv_key_file_issue(const struct hc_token_key *key, uint64_t protocol_id,
                          const struct hc_token *token,
                          char text[static HC_CREDENTIAL_TEXT_SIZE + 1]);
