/// The tokens of bots: from a file, or from a `hindcastd --dev` on this machine, which issues them
/// to every program.
#pragma once

#include "client/programs/token_ask.h"
#include "proto/token.h"

#include <stdbool.h>

/// Reads `count` tokens from the lines of `path`, of which the first `first` are left out. False:
/// there are fewer, or a line is no token, and `why` is a sentence.
bool hc_cl_tokens_read(const char *path, uint32_t first, struct hc_credential *tokens,
                       uint32_t count, char *why, size_t why_size);

/// The server that issued tokens, by the head of its answer.
struct hc_cl_tokens_issuer {
    uint64_t process;     ///< a random number of the server's process; 0: unknown
    uint64_t protocol_id; ///< of its game; 0: unknown
    char game[32];        ///< name and version of its game, such as "pong 3"; empty: unknown
};

/// Parses up to `count` tokens of an answer, a terminated text, and returns their number.
uint32_t hc_cl_tokens_parse(const char *answer, struct hc_credential *tokens, uint32_t count);

/// Parses the head of an answer, a terminated text.
struct hc_cl_tokens_issuer hc_cl_tokens_parse_issuer(const char *answer);

/// A server that issues tokens.
struct hc_cl_tokens_port {
    struct hc_cl_udp_peer server;         ///< on loopback; the TCP port has the same number
    const char *name;                     ///< of the server, as the user wrote it; borrowed
    const struct hc_cl_tokens_wish *wish; ///< borrowed
};

/// Requests `count` tokens. Tries to connect for `patience_us`. Writes the server's description to
/// `*issuer`. False: failed, and `why` is a sentence.
bool hc_cl_tokens_request(const struct hc_cl_tokens_port *port, struct hc_credential *tokens,
                          uint32_t count, uint64_t patience_us, struct hc_cl_tokens_issuer *issuer,
                          char *why, size_t why_size);
