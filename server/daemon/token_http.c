/// Owns the token port: its connections, the check of requests, and the time that it takes of the
/// loop.
#define _GNU_SOURCE // strcasecmp

#include "server/daemon/token_http.h"

#include "common/decimal.h"
#include "hindcast/check.h"
#include "proto/name.h"
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
#include <stdarg.h>
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
    NAME_LONGEST = HC_NAME_MAX - 5, ///< bytes, without " 4096"
    LIFE_S = 3600,                  ///< many bots may start slowly

    SLICE = HC_SV_TOKEN_HTTP_SLICE, ///< tokens in one turn of the loop, for all requests
    TURN_US = 2000,                 ///< from one such turn to the next at least
    UNSENT_MAX = 65536,             ///< bytes of an answer that its reader may leave unread
    OPEN_MAX = HC_SV_TOKEN_HTTP_CONNECTIONS, ///< connections; another one ends the oldest
                                             ///< without a request
    PLACES = 4 * OPEN_MAX,                   ///< including connections that are ending
    SWEEP_US = 50000,                        ///< interval of the search for ended connections
    PAUSE_S = 1,                             ///< pause after a failed accept
    LISTENERS = 2,
};

/// A connection. The place holds a reference, so that the end can be seen.
struct place {
    struct bufferevent *connection; ///< NULL: free
    uint64_t number;                ///< lower is older
    bool ending;
};

/// An unfinished answer.
struct answer {
    struct evhttp_request *request; ///< NULL: none
    uint64_t left;                  ///< tokens
    uint16_t match;                 ///< match that the tokens name
    unsigned count;                 ///< tokens of the answer, in all
    char name[NAME_LONGEST + 1];    ///< of their users; of several with a number behind it
};

struct hc_sv_token_http {
    struct evhttp *server;
    struct hc_sv_token_http_issuer issuer;
    uint64_t process;                            ///< a random number
    struct evconnlistener *listeners[LISTENERS]; ///< NULL: none
    struct event *sweep, *turn, *resume;
    struct place places[PLACES];
    uint64_t accepted;
    struct answer answers[PLACES];
    unsigned next_answer; ///< gets tokens first in the next turn
    bool failed;          ///< the newest accept failed
};

/// The open port. A listener passes its errors to the HTTP server's context, not to this file's.
static struct hc_sv_token_http *opened;

// ---- Connections --------------------------------------------------------------------------------

static void pause_listening(struct hc_sv_token_http *http) {
    const struct timeval pause = {.tv_sec = PAUSE_S};
    for (unsigned i = 0; i < LISTENERS; i++)
        if (http->listeners[i] != NULL)
            evconnlistener_disable(http->listeners[i]);
    evtimer_add(http->resume, &pause);
}

static void on_resume(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_token_http *http = context;
    (void)descriptor;
    (void)events;
    for (unsigned i = 0; i < LISTENERS; i++)
        if (http->listeners[i] != NULL)
            evconnlistener_enable(http->listeners[i]);
}

/// An accept failed: no descriptors or no memory. Pauses, because retries would use a whole core.
static void on_accept_failed(struct evconnlistener *listener, void *context) {
    struct hc_sv_token_http *http = opened;
    const char *why = evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR());
    (void)listener;
    (void)context;
    if (!http->failed && http->issuer.failed != NULL)
        http->issuer.failed(http->issuer.context, why);
    http->failed = true;
    pause_listening(http);
}

/// Whether the HTTP server has released a connection: it removes its callbacks then.
static bool has_ended(struct bufferevent *connection) {
    bufferevent_data_cb read, write;
    bufferevent_event_cb event;
    bufferevent_getcb(connection, &read, &write, &event, NULL);
    return read == NULL && write == NULL && event == NULL;
}

/// Frees the places of ended connections and returns the number of the others.
static unsigned sweep(struct hc_sv_token_http *http) {
    unsigned open = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &http->places[i];
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

static bool is_answered(const struct hc_sv_token_http *http, const struct bufferevent *connection) {
    for (unsigned i = 0; i < PLACES; i++)
        if (http->answers[i].request != NULL &&
            evhttp_connection_get_bufferevent(
                evhttp_request_get_connection(http->answers[i].request)) == connection)
            return true;
    return false;
}

/// Shuts down the oldest connection without an unfinished answer. The HTTP server then closes it.
static void end_oldest(struct hc_sv_token_http *http) {
    struct place *oldest = NULL;
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &http->places[i];
        if (place->connection != NULL && !place->ending &&
            (oldest == NULL || place->number < oldest->number) &&
            !is_answered(http, place->connection))
            oldest = place;
    }
    if (oldest == NULL)
        return;
    oldest->ending = true;
    shutdown(bufferevent_getfd(oldest->connection), SHUT_RDWR);
}

static void on_sweep(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_token_http *http = context;
    const struct timeval again = {.tv_usec = SWEEP_US};
    (void)descriptor;
    (void)events;
    if (sweep(http) > 0)
        evtimer_add(http->sweep, &again);
}

/// A connection was accepted. The HTTP server then sets its descriptor and callbacks.
static struct bufferevent *on_accepted(struct event_base *base, void *context) {
    struct hc_sv_token_http *http = context;
    const struct timeval again = {.tv_usec = SWEEP_US};
    struct bufferevent *connection = bufferevent_socket_new(base, -1, 0);
    unsigned ending = 0, place = PLACES, open = sweep(http);
    http->failed = false;
    for (unsigned i = 0; i < PLACES; i++) {
        ending += http->places[i].connection != NULL && http->places[i].ending;
        if (http->places[i].connection == NULL)
            place = i;
    }
    if (connection == NULL || place == PLACES) // not counted; no other follows for a while
        pause_listening(http);
    if (connection == NULL || place == PLACES)
        return connection;
    bufferevent_incref(connection);
    if (open - ending >= OPEN_MAX)
        end_oldest(http);
    http->places[place] = (struct place){.connection = connection, .number = ++http->accepted};
    if (!evtimer_pending(http->sweep, NULL))
        evtimer_add(http->sweep, &again);
    return connection;
}

// ---- Requests -----------------------------------------------------------------------------------

/// Whether the request names this host.
static bool is_for_us(struct evhttp_request *request) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "[::1]"};
    const char *host = evhttp_request_get_host(request);
    for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(host, names[i]) == 0)
            return true;
    return false;
}

/// Takes the name of the users. False: it cannot be shown, or is too long.
static bool take_name(const char *text, struct answer *answer) {
    size_t size = strlen(text);
    if (size > NAME_LONGEST || hc_name_check((const uint8_t *)text, size) != HC_OK)
        return false;
    memcpy(answer->name, text, size);
    return true;
}

/// Reads what is requested into `answer`; false: it is malformed, or too much.
static bool read_query(struct evhttp_request *request, unsigned matches, struct answer *answer) {
    const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
    struct evkeyvalq values = {0};
    uint64_t count = 1, match = 0;
    if (query != NULL && evhttp_parse_query_str(query, &values) != 0)
        return false;
    const char *text = evhttp_find_header(&values, "count");
    bool good = text == NULL || hc_decimal_parse(text, 0, &count) == HC_OK;
    text = evhttp_find_header(&values, "match");
    good = good && (text == NULL || hc_decimal_parse(text, 0, &match) == HC_OK);
    text = evhttp_find_header(&values, "name");
    good = good && (text == NULL || take_name(text, answer));
    evhttp_clear_headers(&values);
    answer->left = count;
    answer->count = (unsigned)count;
    answer->match = (uint16_t)match;
    return good && count > 0 && count <= COUNT_MAX && match <= matches;
}

/// Issues the next token of an answer.
static void issue(const struct hc_sv_token_http *http, const struct answer *answer,
                  struct evbuffer *out) {
    char text[HC_CREDENTIAL_TEXT_SIZE + 1], name[HC_NAME_MAX + 1] = "";
    uint64_t now_s = hc_sv_wall_clock_bounded_us(http->issuer.wall_clock) / 1000000;
    struct hc_token token = {.expire_s = now_s + LIFE_S,
                             .issued_s = now_s,
                             .players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .match = answer->match,
                             .audience = http->issuer.audience};
    if (answer->name[0] != '\0' && answer->count > 1)
        snprintf(name, sizeof(name), "%s %u", answer->name,
                 answer->count - (unsigned)answer->left + 1);
    else
        snprintf(name, sizeof(name), "%s", answer->name);
    memcpy(token.name, name, strlen(name));
    randombytes_buf(&token.client_id, sizeof(token.client_id));
    hc_sv_key_file_issue(&http->issuer.key, http->issuer.protocol_id, &token, text);
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

/// Adds at most `most` tokens to an answer, unless its reader is slow, and returns their number.
static unsigned add_tokens(const struct hc_sv_token_http *http, struct answer *answer,
                           unsigned most) {
    struct bufferevent *connection =
        evhttp_connection_get_bufferevent(evhttp_request_get_connection(answer->request));
    struct evbuffer *out = evbuffer_new();
    unsigned added = 0;
    if (out != NULL && evbuffer_get_length(bufferevent_get_output(connection)) < UNSENT_MAX)
        for (; added < most && answer->left > 0; added++, answer->left--)
            issue(http, answer, out);
    if (added > 0)
        evhttp_send_reply_chunk(answer->request, out);
    if (out != NULL)
        evbuffer_free(out);
    return added;
}

/// Issues a slice of tokens, beginning with `next_answer`. The next slice follows after TURN_US.
static void on_turn(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_token_http *http = context;
    const struct timeval again = {.tv_usec = TURN_US};
    unsigned left = SLICE, first = http->next_answer;
    bool any = false;
    (void)descriptor;
    (void)events;
    for (unsigned i = 0; i < PLACES && left > 0; i++) {
        unsigned place = (first + i) % PLACES;
        struct answer *answer = &http->answers[place];
        if (answer->request == NULL)
            continue;
        any = true;
        left -= add_tokens(http, answer, left);
        http->next_answer = (place + 1) % PLACES;
        if (answer->request != NULL && answer->left == 0)
            end_answer(answer);
    }
    if (any)
        evtimer_add(http->turn, &again);
}

/// Adds a line to the head of an answer.
__attribute__((format(printf, 3, 4))) static void
add_header(struct evhttp_request *request, const char *name, const char *format, ...) {
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    evhttp_add_header(evhttp_request_get_output_headers(request), name, text);
}

/// Begins an answer. Its length is known, so it is not chunked.
static void begin_answer(struct hc_sv_token_http *http, struct evhttp_request *request,
                         const struct answer *answer) {
    const struct hc_sv_token_http_issuer *issuer = &http->issuer;
    unsigned place = 0;
    while (place < PLACES && http->answers[place].request != NULL)
        place++;
    if (place == PLACES) {
        evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
        return;
    }
    http->answers[place] = *answer;
    http->answers[place].request = request;
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone,
                                  &http->answers[place]);
    add_header(request, "Content-Type", "text/plain");
    add_header(request, "Content-Length", "%" PRIu64, answer->left * (HC_CREDENTIAL_TEXT_SIZE + 1));
    add_header(request, "Hindcast-Process", "%016" PRIx64, http->process);
    add_header(request, "Hindcast-Protocol-Id", "0x%016" PRIx64, issuer->protocol_id);
    add_header(request, "Hindcast-Game", "%s %" PRIu32, issuer->game->name, issuer->game->version);
    evhttp_send_reply_start(request, HTTP_OK, NULL);
    if (!evtimer_pending(http->turn, NULL))
        on_turn(-1, EV_TIMEOUT, http);
}

static void on_token(struct evhttp_request *request, void *context) {
    struct hc_sv_token_http *http = context;
    struct answer answer = {.request = NULL};
    const char *origin = evhttp_find_header(evhttp_request_get_input_headers(request), "Origin");
    if (!is_for_us(request) || origin != NULL)
        evhttp_send_error(request, 403, NULL);
    else if (!read_query(request, http->issuer.matches, &answer))
        evhttp_send_error(request, HTTP_BADREQUEST, NULL);
    else
        begin_answer(http, request, &answer);
}

// ---- The port -----------------------------------------------------------------------------------

/// Listens at an address; false: failed.
static bool listen_at(struct hc_sv_token_http *http, unsigned listener, const char *address,
                      uint16_t port) {
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(http->server, address, port);
    if (bound == NULL)
        return false;
    http->listeners[listener] = evhttp_bound_socket_get_listener(bound);
    evconnlistener_set_error_cb(http->listeners[listener], on_accept_failed);
    return true;
}

/// Makes the HTTP server and its timers; false: no memory.
static bool create(struct hc_sv_token_http *http, struct event_base *base) {
    http->server = evhttp_new(base);
    http->sweep = evtimer_new(base, on_sweep, http);
    http->turn = evtimer_new(base, on_turn, http);
    http->resume = evtimer_new(base, on_resume, http);
    return http->server != NULL && http->sweep != NULL && http->turn != NULL &&
           http->resume != NULL;
}

struct hc_sv_token_http *hc_sv_token_http_open(struct event_base *base, uint16_t port,
                                               const struct hc_sv_token_http_issuer *issuer,
                                               char *why, size_t why_size) {
    struct hc_sv_token_http *http = calloc(1, sizeof(*http));
    snprintf(why, why_size, "no memory for the token port");
    if (http == NULL)
        return NULL;
    HC_ASSERT(opened == NULL);
    opened = http;
    http->issuer = *issuer;
    randombytes_buf(&http->process, sizeof(http->process));
    if (!create(http, base)) {
        hc_sv_token_http_close(http);
        return NULL;
    }
    evhttp_set_bevcb(http->server, on_accepted, http);
    evhttp_set_allowed_methods(http->server, EVHTTP_REQ_POST);
    evhttp_set_max_headers_size(http->server, HEADERS_MAX);
    evhttp_set_max_body_size(http->server, BODY_MAX);
    evhttp_set_timeout(http->server, IDLE_S);
    evhttp_set_cb(http->server, "/token", on_token, http);
    if (!listen_at(http, 0, "127.0.0.1", port)) {
        snprintf(why, why_size, "--dev: TCP port %u of 127.0.0.1, for tokens: %s", port,
                 strerror(errno));
        hc_sv_token_http_close(http);
        return NULL;
    }
    (void)listen_at(http, 1, "::1", port); // fails without IPv6
    return http;
}

void hc_sv_token_http_close(struct hc_sv_token_http *http) {
    if (http == NULL)
        return;
    opened = NULL;
    if (http->server != NULL)
        evhttp_free(http->server);
    for (unsigned i = 0; i < PLACES; i++)
        if (http->places[i].connection != NULL)
            bufferevent_decref(http->places[i].connection);
    struct event *timers[] = {http->sweep, http->turn, http->resume};
    for (unsigned i = 0; i < 3; i++)
        if (timers[i] != NULL)
            event_free(timers[i]);
    sodium_memzero(http, sizeof(*http));
    free(http);
}
