/// Owns the token port: the check of requests, and the time that it takes of the loop.
#include "server/daemon/token_http.h"

#include "common/decimal.h"
#include "common/programs/loop.h"
#include "proto/name.h"
#include "server/daemon/http.h"
#include "server/daemon/http_request.h"
#include "server/daemon/key_file.h"
#include "server/daemon/wall_clock.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_S = 5,
    COUNT_MAX = 4096,
    NAME_LONGEST = HC_NAME_MAX - 5, ///< bytes, without " 4096"
    LIFE_S = 3600,                  ///< many bots may start slowly

    SLICE = HC_SV_TOKEN_HTTP_SLICE,       ///< tokens in one turn of the loop, for all requests
    TURN_US = 2000,                       ///< from one such turn to the next at least
    UNSENT_MAX = 65536,                   ///< bytes of an answer that its reader may leave unread
    ANSWERS = 4 * HC_SV_HTTP_CONNECTIONS, ///< unfinished, also to connections that are ending
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
    struct hc_sv_http *server;
    struct hc_sv_token_http_issuer issuer;
    uint64_t process; ///< a random number
    struct event *turn;
    struct answer answers[ANSWERS];
    unsigned next_answer; ///< gets tokens first in the next turn
};

// ---- Connections --------------------------------------------------------------------------------

/// Whether an answer to this connection is unfinished.
static bool answers(void *context, const struct bufferevent *connection) {
    const struct hc_sv_token_http *http = context;
    for (unsigned i = 0; i < ANSWERS; i++)
        if (http->answers[i].request != NULL &&
            evhttp_connection_get_bufferevent(
                evhttp_request_get_connection(http->answers[i].request)) == connection)
            return true;
    return false;
}

static void on_accept_failed(void *context, const char *why) {
    const struct hc_sv_token_http *http = context;
    if (http->issuer.failed != NULL)
        http->issuer.failed(http->issuer.context, why);
}

// ---- Requests -----------------------------------------------------------------------------------

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
    for (unsigned i = 0; i < ANSWERS && left > 0; i++) {
        unsigned place = (first + i) % ANSWERS;
        struct answer *answer = &http->answers[place];
        if (answer->request == NULL)
            continue;
        any = true;
        left -= add_tokens(http, answer, left);
        http->next_answer = (place + 1) % ANSWERS;
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
    while (place < ANSWERS && http->answers[place].request != NULL)
        place++;
    if (place == ANSWERS) {
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
    if (!hc_sv_http_is_for_us(request) || origin != NULL)
        evhttp_send_error(request, 403, NULL);
    else if (!read_query(request, http->issuer.matches, &answer))
        evhttp_send_error(request, HTTP_BADREQUEST, NULL);
    else
        begin_answer(http, request, &answer);
}

// ---- The port -----------------------------------------------------------------------------------

/// Any path but this one is not found.
static void on_request(struct evhttp_request *request, void *context) {
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    if (path != NULL && strcmp(path, "/token") == 0)
        on_token(request, context);
    else
        evhttp_send_error(request, HTTP_NOTFOUND, NULL);
}

/// Listens at `port` of loopback; false: failed, see errno.
static bool listen_at(struct hc_sv_token_http *http, uint16_t port) {
    const struct sockaddr_in ipv4 = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 ipv6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
    if (!hc_sv_http_listen(http->server, (const struct sockaddr *)&ipv4, sizeof(ipv4)))
        return false;
    (void)hc_sv_http_listen(http->server, (const struct sockaddr *)&ipv6,
                            sizeof(ipv6)); // fails without IPv6
    return true;
}

struct hc_sv_token_http *hc_sv_token_http_open(struct event_base *base, uint16_t port,
                                               const struct hc_sv_token_http_issuer *issuer,
                                               char *why, size_t why_size) {
    struct hc_sv_token_http *http = calloc(1, sizeof(*http));
    snprintf(why, why_size, "no memory for the token port");
    if (http == NULL)
        return NULL;
    const struct hc_sv_http_config config = {.methods = EVHTTP_REQ_POST,
                                             .idle_s = IDLE_S,
                                             .request = on_request,
                                             .answers = answers,
                                             .failed = on_accept_failed,
                                             .context = http};
    http->issuer = *issuer;
    randombytes_buf(&http->process, sizeof(http->process));
    http->server = hc_sv_http_open(base, &config);
    http->turn = evtimer_new(base, on_turn, http);
    if (http->server == NULL || http->turn == NULL) {
        hc_sv_token_http_close(http);
        return NULL;
    }
    if (!listen_at(http, port)) {
        snprintf(why, why_size, "--dev: TCP port %u of 127.0.0.1, for tokens: %s", port,
                 strerror(errno));
        hc_sv_token_http_close(http);
        return NULL;
    }
    return http;
}

void hc_sv_token_http_close(struct hc_sv_token_http *http) {
    if (http == NULL)
        return;
    hc_sv_http_close(http->server);
    hc_loop_free_event(http->turn);
    sodium_memzero(http, sizeof(*http));
    free(http);
}
