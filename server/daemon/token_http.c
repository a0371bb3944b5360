/// Owns the port that issues tokens: what is asked, who may ask, and how much of the loop it takes.
#define _GNU_SOURCE // strcasecmp

#include "server/daemon/token_http.h"

#include "common/decimal.h"
#include "hindcast/check.h"
#include "server/daemon/key_file.h"
#include "server/daemon/wall_clock.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    HEADERS_MAX = 8192, ///< bytes
    BODY_MAX = 65536,
    IDLE_S = 5,
    COUNT_MAX = 4096,
    LIFE_S = 3600, ///< bots may take a while to start

    SLICE = HC_SV_TOKEN_HTTP_SLICE, ///< tokens that are issued in one turn of the loop, for all
                                    ///< requests
    TURN_US = 2000,                 ///< from one such turn to the next
    UNSENT_MAX = 65536,             ///< bytes of an answer that may wait for its reader
    OPEN_MAX = HC_SV_TOKEN_HTTP_CONNECTIONS, ///< connections: another one ends the oldest without a
                                             ///< request
    PLACES = 4 * OPEN_MAX,                   ///< with those that are ending
    SWEEP_US = 50000, ///< from one look for connections that have ended to the next
    PAUSE_S = 1,      ///< without accepting, after that has failed
    LISTENERS = 2,
};

/// A connection, of which a reference is held so that its end can be seen.
struct place {
    struct bufferevent *connection; ///< NULL: free
    uint64_t number;                ///< the lower, the older
    bool ending;
};

/// An answer that is not complete.
struct answer {
    struct evhttp_request *request; ///< NULL: none
    uint64_t left;                  ///< tokens
};

struct hc_sv_token_http {
    struct evhttp *http;
    struct hc_sv_token_http_issuer issuer;
    struct evconnlistener *listeners[LISTENERS]; ///< NULL: none
    struct event *sweep, *turn, *resume;
    struct place places[PLACES];
    uint64_t accepted;
    struct answer answers[PLACES];
    unsigned next_answer; ///< that is given tokens first in the next turn
    bool failed;          ///< the newest try to accept has, and nothing was accepted since
};

/// The port that is open: a listener hands its errors to the HTTP server's context, not to ours.
static struct hc_sv_token_http *opened;

// ---- Connections --------------------------------------------------------------------------------

static void pause_listening(struct hc_sv_token_http *admin) {
    const struct timeval pause = {.tv_sec = PAUSE_S};
    for (unsigned i = 0; i < LISTENERS; i++)
        if (admin->listeners[i] != NULL)
            evconnlistener_disable(admin->listeners[i]);
    evtimer_add(admin->resume, &pause);
}

static void on_resume(evutil_socket_t descriptor, short what, void *context) {
    struct hc_sv_token_http *admin = context;
    (void)descriptor;
    (void)what;
    for (unsigned i = 0; i < LISTENERS; i++)
        if (admin->listeners[i] != NULL)
            evconnlistener_enable(admin->listeners[i]);
}

/// No connection can be accepted: no descriptors, or no memory. Trying on would take a whole core.
static void on_accept_failed(struct evconnlistener *listener, void *context) {
    struct hc_sv_token_http *admin = opened;
    const char *why = evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR());
    (void)listener;
    (void)context;
    if (!admin->failed && admin->issuer.failed != NULL)
        admin->issuer.failed(admin->issuer.context, why);
    admin->failed = true;
    pause_listening(admin);
}

/// Whether the HTTP server has let go of a connection: it takes its callbacks off then.
static bool has_ended(struct bufferevent *connection) {
    bufferevent_data_cb read, write;
    bufferevent_event_cb event;
    bufferevent_getcb(connection, &read, &write, &event, NULL);
    return read == NULL && write == NULL && event == NULL;
}

/// Frees the places of connections that have ended; how many are left.
static unsigned sweep(struct hc_sv_token_http *admin) {
    unsigned open = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &admin->places[i];
        if (place->connection == NULL)
            continue;
        if (has_ended(place->connection)) {
            bufferevent_decref(place->connection);
            *place = (struct place){.connection = NULL};
            continue;
        }
        open++;
    }
    return open;
}

static bool is_answered(const struct hc_sv_token_http *admin,
                        const struct bufferevent *connection) {
    for (unsigned i = 0; i < PLACES; i++)
        if (admin->answers[i].request != NULL &&
            evhttp_connection_get_bufferevent(
                evhttp_request_get_connection(admin->answers[i].request)) == connection)
            return true;
    return false;
}

/// Ends the oldest connection that is not being answered: the HTTP server reads its end next.
static void end_oldest(struct hc_sv_token_http *admin) {
    struct place *oldest = NULL;
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &admin->places[i];
        if (place->connection != NULL && !place->ending &&
            (oldest == NULL || place->number < oldest->number) &&
            !is_answered(admin, place->connection))
            oldest = place;
    }
    if (oldest == NULL)
        return;
    oldest->ending = true;
    shutdown(bufferevent_getfd(oldest->connection), SHUT_RDWR);
}

static void on_sweep(evutil_socket_t descriptor, short what, void *context) {
    struct hc_sv_token_http *admin = context;
    const struct timeval again = {.tv_usec = SWEEP_US};
    (void)descriptor;
    (void)what;
    if (sweep(admin) > 0)
        evtimer_add(admin->sweep, &again);
}

/// A connection is accepted; the HTTP server gives it its descriptor and callbacks next.
static struct bufferevent *on_accepted(struct event_base *base, void *context) {
    struct hc_sv_token_http *admin = context;
    const struct timeval again = {.tv_usec = SWEEP_US};
    struct bufferevent *connection = bufferevent_socket_new(base, -1, 0);
    unsigned ending = 0, place = PLACES, open = sweep(admin);
    admin->failed = false;
    for (unsigned i = 0; i < PLACES; i++) {
        ending += admin->places[i].connection != NULL && admin->places[i].ending;
        if (admin->places[i].connection == NULL)
            place = i;
    }
    if (connection == NULL || place == PLACES) // it is not counted, and the last for a while
        pause_listening(admin);
    if (connection == NULL || place == PLACES)
        return connection;
    bufferevent_incref(connection);
    if (open - ending >= OPEN_MAX)
        end_oldest(admin);
    admin->places[place] = (struct place){.connection = connection, .number = ++admin->accepted};
    if (!evtimer_pending(admin->sweep, NULL))
        evtimer_add(admin->sweep, &again);
    return connection;
}

// ---- Requests -----------------------------------------------------------------------------------

/// Whether the request means this host by its own names.
static bool is_for_us(struct evhttp_request *request) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "[::1]"};
    const char *host = evhttp_request_get_host(request);
    for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(host, names[i]) == 0)
            return true;
    return false;
}

/// How many are wanted; 0: that is no number of tokens.
static uint64_t count_of(struct evhttp_request *request) {
    const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
    struct evkeyvalq values = {0};
    uint64_t count = 1;
    if (query == NULL)
        return 1;
    if (evhttp_parse_query_str(query, &values) != 0)
        return 0;
    const char *text = evhttp_find_header(&values, "count");
    if (text != NULL && (hc_decimal_parse(text, 0, &count) != HC_OK || count > COUNT_MAX))
        count = 0;
    evhttp_clear_headers(&values);
    return count;
}

static void issue(const struct hc_sv_token_http *admin, struct evbuffer *out) {
    char text[HC_CREDENTIAL_TEXT_SIZE + 1];
    struct hc_token token = {.expire_s = hc_sv_wall_clock_us() / 1000000 + LIFE_S,
                             .issued_s = hc_sv_wall_clock_us() / 1000000,
                             .players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .audience = admin->issuer.audience};
    randombytes_buf(&token.client_id, sizeof(token.client_id));
    hc_sv_key_file_issue(&admin->issuer.key, admin->issuer.protocol_id, &token, text);
    evbuffer_add_printf(out, "%s\n", text);
    sodium_memzero(text, sizeof(text));
}

/// The connection of an answer has ended.
static void on_gone(struct evhttp_connection *connection, void *context) {
    struct answer *answer = context;
    (void)connection;
    *answer = (struct answer){.request = NULL};
}

static void end_answer(struct answer *answer) {
    struct evhttp_request *request = answer->request;
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), NULL, NULL);
    *answer = (struct answer){.request = NULL};
    evhttp_send_reply_end(request);
}

/// Adds at most `most` tokens to an answer whose reader keeps up; how many.
static unsigned add_tokens(const struct hc_sv_token_http *admin, struct answer *answer,
                           unsigned most) {
    struct bufferevent *connection =
        evhttp_connection_get_bufferevent(evhttp_request_get_connection(answer->request));
    struct evbuffer *out = evbuffer_new();
    unsigned added = 0;
    if (out != NULL && evbuffer_get_length(bufferevent_get_output(connection)) < UNSENT_MAX)
        for (; added < most && answer->left > 0; added++, answer->left--)
            issue(admin, out);
    if (added > 0)
        evhttp_send_reply_chunk(answer->request, out);
    if (out != NULL)
        evbuffer_free(out);
    return added;
}

/// Issues a slice of tokens, first to the answer that is next; another one follows no sooner than
/// after TURN_US.
static void on_turn(evutil_socket_t descriptor, short what, void *context) {
    struct hc_sv_token_http *admin = context;
    const struct timeval again = {.tv_usec = TURN_US};
    unsigned left = SLICE, first = admin->next_answer;
    bool any = false;
    (void)descriptor;
    (void)what;
    for (unsigned i = 0; i < PLACES && left > 0; i++) {
        unsigned place = (first + i) % PLACES;
        struct answer *answer = &admin->answers[place];
        if (answer->request == NULL)
            continue;
        any = true;
        left -= add_tokens(admin, answer, left);
        admin->next_answer = (place + 1) % PLACES;
        if (answer->request != NULL && answer->left == 0)
            end_answer(answer);
    }
    if (any)
        evtimer_add(admin->turn, &again);
}

/// Begins to answer; its length is known, so it need not be chunked.
static void begin_answer(struct hc_sv_token_http *admin, struct evhttp_request *request,
                         uint64_t count) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    char length[24];
    unsigned place = 0;
    while (place < PLACES && admin->answers[place].request != NULL)
        place++;
    if (place == PLACES) {
        evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
        return;
    }
    admin->answers[place] = (struct answer){.request = request, .left = count};
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone,
                                  &admin->answers[place]);
    snprintf(length, sizeof(length), "%" PRIu64, count * (HC_CREDENTIAL_TEXT_SIZE + 1));
    evhttp_add_header(headers, "Content-Type", "text/plain");
    evhttp_add_header(headers, "Content-Length", length);
    evhttp_send_reply_start(request, HTTP_OK, NULL);
    if (!evtimer_pending(admin->turn, NULL))
        on_turn(-1, EV_TIMEOUT, admin);
}

static void on_token(struct evhttp_request *request, void *context) {
    uint64_t count = count_of(request);
    const char *origin = evhttp_find_header(evhttp_request_get_input_headers(request), "Origin");
    if (!is_for_us(request) || origin != NULL)
        evhttp_send_error(request, 403, NULL);
    else if (count == 0)
        evhttp_send_error(request, HTTP_BADREQUEST, NULL);
    else
        begin_answer(context, request, count);
}

// ---- The port -----------------------------------------------------------------------------------

/// Listens at an address; false: it cannot be had.
static bool listen_at(struct hc_sv_token_http *admin, unsigned listener, const char *address,
                      uint16_t port) {
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(admin->http, address, port);
    if (bound == NULL)
        return false;
    admin->listeners[listener] = evhttp_bound_socket_get_listener(bound);
    evconnlistener_set_error_cb(admin->listeners[listener], on_accept_failed);
    return true;
}

/// The HTTP server and its timers; false: no memory.
static bool create(struct hc_sv_token_http *admin, struct event_base *base) {
    admin->http = evhttp_new(base);
    admin->sweep = evtimer_new(base, on_sweep, admin);
    admin->turn = evtimer_new(base, on_turn, admin);
    admin->resume = evtimer_new(base, on_resume, admin);
    return admin->http != NULL && admin->sweep != NULL && admin->turn != NULL &&
           admin->resume != NULL;
}

struct hc_sv_token_http *hc_sv_token_http_open(struct event_base *base, uint16_t port,
                                               const struct hc_sv_token_http_issuer *issuer,
                                               char *why, size_t why_size) {
    struct hc_sv_token_http *admin = calloc(1, sizeof(*admin));
    snprintf(why, why_size, "no memory for the port that issues tokens");
    if (admin == NULL)
        return NULL;
    HC_ASSERT(opened == NULL);
    opened = admin;
    admin->issuer = *issuer;
    if (!create(admin, base)) {
        hc_sv_token_http_close(admin);
        return NULL;
    }
    evhttp_set_bevcb(admin->http, on_accepted, admin);
    evhttp_set_allowed_methods(admin->http, EVHTTP_REQ_POST);
    evhttp_set_max_headers_size(admin->http, HEADERS_MAX);
    evhttp_set_max_body_size(admin->http, BODY_MAX);
    evhttp_set_timeout(admin->http, IDLE_S);
    evhttp_set_cb(admin->http, "/token", on_token, admin);
    if (!listen_at(admin, 0, "127.0.0.1", port)) {
        snprintf(why, why_size, "--dev: TCP port %u of 127.0.0.1, for tokens: %s", port,
                 strerror(errno));
        hc_sv_token_http_close(admin);
        return NULL;
    }
    (void)listen_at(admin, 1, "::1", port); // where there is IPv6
    return admin;
}

void hc_sv_token_http_close(struct hc_sv_token_http *admin) {
    if (admin == NULL)
        return;
    opened = NULL;
    if (admin->http != NULL)
        evhttp_free(admin->http);
    for (unsigned i = 0; i < PLACES; i++)
        if (admin->places[i].connection != NULL)
            bufferevent_decref(admin->places[i].connection);
    struct event *timers[] = {admin->sweep, admin->turn, admin->resume};
    for (unsigned i = 0; i < 3; i++)
        if (timers[i] != NULL)
            event_free(timers[i]);
    sodium_memzero(admin, sizeof(*admin));
    free(admin);
}
