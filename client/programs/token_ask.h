/// A request for tokens to the port of a `hindcastd --dev`, over HTTP. It never blocks.
///
///   1. hc_cl_token_ask_begin;
///   2. hc_cl_token_ask_turn, again and again, until it no longer returns HC_CL_TOKEN_ASK_WAITS;
///   3. hc_cl_tokens_parse and hc_cl_tokens_parse_issuer, if there is an answer;
///   4. hc_cl_token_ask_end, or 1 for another request.
#pragma once

#include "client/programs/sockets.h"

#include <stdbool.h>
#include <stdint.h>

/// The tokens that are requested.
struct hc_cl_tokens_wish {
    uint32_t match;   ///< 0: any that has room
    const char *name; ///< of the users, with a number behind it if there are several; NULL: none
};

enum {
    HC_CL_TOKENS_NAME_MAX = 27,       ///< bytes of a requested name, without a number behind it
    HC_CL_TOKEN_ASK_COUNT_MAX = 4096, ///< tokens of one request
};

enum hc_cl_token_ask_state {
    HC_CL_TOKEN_ASK_WAITS,     ///< for the port
    HC_CL_TOKEN_ASK_ANSWERED,  ///< the answer is whole
    HC_CL_TOKEN_ASK_UNREACHED, ///< no program listens at the port, see `cause`
    HC_CL_TOKEN_ASK_FAILED,    ///< the answer took too long, or there is no memory
};

/// A request. All zeros: none.
struct hc_cl_token_ask {
    int descriptor;
    int cause; ///< the error of UNREACHED
    uint64_t begun_us;
    const struct hc_cl_tokens_wish *wish;
    uint32_t count;
    bool sent;
    size_t size, length; ///< bytes of `answer`: its room, and those that have come
    char *answer;        ///< a terminated text; NULL: there is no request
};

/// Begins a request for `count` tokens, at most HC_CL_TOKEN_ASK_COUNT_MAX, to the TCP port of the
/// server's number, after an earlier one has ended. `server` is on loopback; `wish` is borrowed.
void hc_cl_token_ask_begin(struct hc_cl_token_ask *ask, const struct hc_cl_udp_peer *server,
                           const struct hc_cl_tokens_wish *wish, uint32_t count, uint64_t now_us);

/// Whether a request has begun, and not ended.
bool hc_cl_token_ask_is_active(const struct hc_cl_token_ask *ask);

/// Sends the request and reads of the answer as far as possible now.
enum hc_cl_token_ask_state hc_cl_token_ask_turn(struct hc_cl_token_ask *ask, uint64_t now_us);

/// Ends it, and frees the answer; without a request it does nothing.
void hc_cl_token_ask_end(struct hc_cl_token_ask *ask);
