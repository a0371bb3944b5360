/// Where bots have their tokens from: a file, or a `hindcastd --dev` on this machine, which issues
/// them to whoever asks.
#pragma once

#include "client/bots/udp.h"
#include "proto/token.h"

#include <stdbool.h>

/// Reads `count` tokens from the lines of `path`. False: there are fewer, or something else, and
/// `why` says why.
bool hc_cl_tokens_read(const char *path, struct hc_credential *tokens, uint32_t count, char *why,
                       size_t why_size);

/// Asks the server at `server`, which must be on loopback, for `count` tokens, at TCP by the number
/// of its UDP port; again and again until somebody answers, for `patience_us`. `name` is the
/// server's as the user wrote it. False: none were had, and `why` says why.
bool hc_cl_tokens_request(const struct hc_cl_udp_peer *server, const char *name,
                          struct hc_credential *tokens, uint32_t count, uint64_t patience_us,
                          char *why, size_t why_size);
