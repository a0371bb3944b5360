/// The port that issues tokens in `--dev`: HTTP on loopback, for programs only.
///
///     POST /token?count=N&match=M&name=S
///
/// The answer is N tokens for N users, one on each line (default 1), of match M (default 0: of
/// none), named S, or S 1 to S N if there are several (default: without a name). Its head describes
/// the server, so that clients learn that another process or another game is there now:
///
///     Hindcast-Process: 5f0c6e1c8ad24b13         a random number of the process
///     Hindcast-Protocol-Id: 0x0d1f0be5a2c7f0e4   of its game
///     Hindcast-Game: pong 3                      name and version of its game
///
/// The port issues tokens in slices and bounds its connections (server/daemon/http.h), so that no
/// signal or report waits long.
///
/// The port refuses requests of browsers: requests with an Origin, or for another host than this
/// one (a web page may give its own name this address).
#pragma once

#include "hindcast/game.h"
#include "proto/token.h"

#include <stdbool.h>

struct event_base;
struct hc_sv_token_http;
struct hc_sv_wall_clock;

enum {
    HC_SV_TOKEN_HTTP_SLICE = 32, ///< tokens in one turn of the loop
};

/// The key of the tokens, and what they are for.
struct hc_sv_token_http_issuer {
    struct hc_token_key key;
    uint64_t protocol_id, audience;
    const struct hc_game *game; ///< borrowed
    struct hc_sv_wall_clock *wall_clock;
    unsigned matches; ///< of several, which `match` names; 0: there is one
    /// Called when accepting fails, and not again before it succeeds; `why` is a sentence. May be
    /// NULL.
    void (*failed)(void *context, const char *why);
    void *context;
};

/// Listens at TCP `port` on 127.0.0.1, and on ::1 if the system has IPv6. A process may have one
/// such port. NULL: failed, and `why` is a sentence.
struct hc_sv_token_http *hc_sv_token_http_open(struct event_base *base, uint16_t port,
                                               const struct hc_sv_token_http_issuer *issuer,
                                               char *why, size_t why_size);

/// Closes it; NULL is allowed.
void hc_sv_token_http_close(struct hc_sv_token_http *http);
