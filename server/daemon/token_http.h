/// The port that issues tokens in `--dev`: HTTP on loopback, and for programs only.
///
///     POST /token?count=N     N tokens, one a line (default 1), each of another user
///
/// Tokens are issued in slices, and connections are few, so that no tick waits for long. Where none
/// can be accepted the port waits for a second.
///
/// Whatever a browser sends is refused: a request with an Origin, or for another host than this one
/// (so that no page of a stranger's can have its own name lead here).
#pragma once

#include "proto/token.h"

#include <stdbool.h>

struct event_base;
struct hc_sv_token_http;

enum {
    HC_SV_TOKEN_HTTP_SLICE = 32, ///< tokens, in one turn of the loop
    HC_SV_TOKEN_HTTP_CONNECTIONS =
        64, ///< at once: another one ends the oldest that has no answer due
};

/// What tokens are issued for.
struct hc_sv_token_http_issuer {
    struct hc_token_key key;
    uint64_t protocol_id, audience;
    /// No connection can be accepted, and `why`: once until one can be again. NULL: nobody asks.
    void (*failed)(void *context, const char *why);
    void *context;
};

/// Of a process one port may be open. Listens on 127.0.0.1, and ::1 where there is one, at TCP
/// `port`. NULL: it cannot be had, and `why` says why.
struct hc_sv_token_http *hc_sv_token_http_open(struct event_base *base, uint16_t port,
                                               const struct hc_sv_token_http_issuer *issuer,
                                               char *why, size_t why_size);

/// Closes it; NULL is allowed.
void hc_sv_token_http_close(struct hc_sv_token_http *admin);
