/// Tokens that are issued here, with the key file of a server that runs elsewhere, as a backend
/// does. hindcastd beside this program issues them (`hindcastd token`).
#pragma once

#include "proto/token.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_cl_key_tokens {
    const char *key_file;
    const char *game;  ///< path of the plugin; NULL: the arena
    uint64_t audience; ///< of the server
    uint32_t match;    ///< of the server's matches; 0: any that has room
    uint64_t life_s;   ///< until they expire; at most HC_CL_KEY_TOKENS_LIFE_MAX_S counts
};

enum { HC_CL_KEY_TOKENS_LIFE_MAX_S = 86400 };

/// Issues `count` tokens for as many random users. False: failed, and `why` is a sentence; what
/// hindcastd has to say is on standard error.
bool hc_cl_key_tokens_issue(const struct hc_cl_key_tokens *wish, struct hc_credential *tokens,
                            uint32_t count, char *why, size_t why_size);
