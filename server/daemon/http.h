/// A small HTTP server: libevent's, with bounded connections, headers, bodies and waits. Its owner
/// answers the requests.
///
/// One more connection than allowed ends another one without an unfinished answer: of the peer that
/// has most connections, preferably one that has sent nothing since it was read, the oldest. If no
/// connection can be accepted, the server pauses for a second.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct bufferevent;
struct event_base;
struct evhttp_request;
struct hc_sv_http;

enum {
    HC_SV_HTTP_CONNECTIONS = 64, ///< at once
    HC_SV_HTTP_BODY_MAX = 65536, ///< bytes of a request's body
};

struct hc_sv_http_config {
    unsigned methods; ///< evhttp_cmd_type, or-ed; others are answered with 501
    unsigned idle_s;  ///< a connection that neither sends nor takes anything ends after this
    void (*request)(struct evhttp_request *request, void *context);
    /// Whether an answer of the owner to this connection is unfinished; NULL: none ever is.
    bool (*answers)(void *context, const struct bufferevent *connection);
    /// Called when accepting fails, and not again before it succeeds; `why` is a sentence. May be
    /// NULL.
    void (*failed)(void *context, const char *why);
    void *context; ///< the argument of these
};

/// Makes a server without addresses. NULL: no memory.
struct hc_sv_http *hc_sv_http_open(struct event_base *base, const struct hc_sv_http_config *config);

/// Listens at one more address, of at most two. False: failed, see errno.
bool hc_sv_http_listen(struct hc_sv_http *http, const struct sockaddr *address, socklen_t size);

/// Listens at a socket that listens already, and takes it over. False: failed, see errno.
bool hc_sv_http_take(struct hc_sv_http *http, int descriptor);

/// Writes the address at which it listens first.
void hc_sv_http_address(const struct hc_sv_http *http, struct sockaddr_storage *address);

/// Bytes of answers that their readers have not taken yet.
size_t hc_sv_http_unsent(const struct hc_sv_http *http);

/// Closes it; NULL is allowed.
void hc_sv_http_close(struct hc_sv_http *http);
