/// The tokens of bots: from a file, or from a `hindcastd --dev` on this machine, which issues them
/// to every program.
#pragma once

#include "client/bots/udp.h"
#include "proto/token.h"

#include <stdbool.h>

enum {
    HC_CL_TOKENS_NAME_MAX = 27,      ///< bytes of a requested name, without a number behind it
    HC_CL_TOKENS_REQUEST_SIZE = 320, ///< bytes of a request, at most
};

/// Reads `count` tokens from the lines of `path`, of which the first `first` are left out. False:
/// there are fewer, or a line is no token, and `why` is a sentence.
bool hc_cl_tokens_read(const char *path, uint32_t first, struct hc_credential *tokens,
                       uint32_t count, char *why, size_t why_size);

/// The tokens that are requested.
struct hc_cl_tokens_wish {
    uint32_t match;   ///< 0: any that has room
    const char *name; ///< of the users, with a number behind it if there are several; NULL: none
};

/// Writes the HTTP request for `count` tokens, and returns its length.
int hc_cl_tokens_write_request(const struct hc_cl_tokens_wish *wish, uint32_t count,
                               char out[static HC_CL_TOKENS_REQUEST_SIZE]);

/// Parses up to `count` tokens of an answer, a terminated text, and returns their number.
uint32_t hc_cl_tokens_parse(const char *answer, struct hc_credential *tokens, uint32_t count);

/// Requests `count` tokens from the server at `server`, which
/// must be on loopback, at the TCP port of the same number. Tries to connect for `patience_us`.
/// `name` is the server's name as the user wrote it. False: failed, and `why` is a sentence.
bool hc_cl_tokens_request(const struct hc_cl_udp_peer *server, const char *name,
                          const struct hc_cl_tokens_wish *wish, struct hc_credential *tokens,
                          uint32_t count, uint64_t patience_us, char *why, size_t why_size);
