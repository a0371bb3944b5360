/// Owns the connections of a small HTTP server: how many there are, and which one ends for another.
#include "server/daemon/http.h"

#include "common/programs/loop.h"
#include "hindcast/check.h"
#include "server/daemon/http_peer.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    HEADERS_MAX = 8192, ///< bytes
    OPEN_MAX = HC_SV_HTTP_CONNECTIONS,
    PLACES = 4 * OPEN_MAX, ///< including connections that are ending
    SWEEP_US = 50000,      ///< interval of the search for ended connections
    PAUSE_S = 1,           ///< pause after a failed accept
    BATCH = OPEN_MAX / 2,  ///< accepted before those that were accepted are read
    LISTENERS = 2,
    BACKLOG = 128,
    SERVERS = 2, ///< of a process
};

/// A connection. The place holds a reference, so that the end can be seen.
struct place {
    struct bufferevent *connection; ///< NULL: free
    struct hc_sv_http_peer peer;    ///< while one more connection ends another
    uint64_t number;                ///< lower is older
    bool ending;
};

struct hc_sv_http {
    struct hc_sv_http_config config;
    struct event_base *base;
    struct evhttp *server;
    struct evconnlistener *listeners[LISTENERS]; ///< NULL: none
    struct event *sweep, *resume;
    struct place places[PLACES];
    uint64_t accepted;
    unsigned batch; ///< accepted in this batch
    bool failed;    ///< the newest accept failed
};

/// The open servers. A listener passes its errors to libevent's context, not to this file's.
static struct hc_sv_http *opened[SERVERS];

// ---- Accepting ----------------------------------------------------------------------------------

/// Accepts nothing for so long; with 0 not before what has come is read.
static void pause_listening(struct hc_sv_http *http, unsigned seconds) {
    const struct timeval pause = {.tv_sec = seconds};
    for (unsigned i = 0; i < LISTENERS; i++)
        if (http->listeners[i] != NULL)
            evconnlistener_disable(http->listeners[i]);
    evtimer_add(http->resume, &pause);
}

static void on_resume(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_http *http = context;
    (void)descriptor;
    (void)events;
    for (unsigned i = 0; i < LISTENERS; i++)
        if (http->listeners[i] != NULL)
            evconnlistener_enable(http->listeners[i]);
}

/// The server that has the listener.
static struct hc_sv_http *owner_of(const struct evconnlistener *listener) {
    for (unsigned i = 0; i < SERVERS; i++)
        for (unsigned l = 0; opened[i] != NULL && l < LISTENERS; l++)
            if (opened[i]->listeners[l] == listener)
                return opened[i];
    return NULL;
}

/// An accept failed: no descriptors or no memory. Pauses, because retries would use a whole core.
static void on_accept_failed(struct evconnlistener *listener, void *context) {
    const char *why = strerror(errno);
    struct hc_sv_http *http = owner_of(listener);
    (void)context;
    HC_ASSERT(http != NULL);
    if (!http->failed && http->config.failed != NULL)
        http->config.failed(http->config.context, why);
    http->failed = true;
    pause_listening(http, PAUSE_S);
}

// ---- Connections --------------------------------------------------------------------------------

/// Whether the HTTP server has released a connection: it removes its callbacks then.
static bool has_ended(struct bufferevent *connection) {
    bufferevent_data_cb read, write;
    bufferevent_event_cb event;
    bufferevent_getcb(connection, &read, &write, &event, NULL);
    return read == NULL && write == NULL && event == NULL;
}

/// Frees the places of ended connections and returns the number of the others.
static unsigned sweep(struct hc_sv_http *http) {
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

static bool is_answered(const struct hc_sv_http *http, const struct bufferevent *connection) {
    return http->config.answers != NULL && http->config.answers(http->config.context, connection);
}

/// How many connections the peer of a connection has.
static unsigned count_of_peer(const struct hc_sv_http *http, const struct place *of) {
    unsigned count = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        const struct place *place = &http->places[i];
        count += place->connection != NULL && !place->ending &&
                 memcmp(&place->peer, &of->peer, sizeof(of->peer)) == 0;
    }
    return count;
}

/// Whether bytes of a connection have come that were not read yet.
static bool has_unread(const struct place *place) {
    int bytes = 0;
    return ioctl(bufferevent_getfd(place->connection), FIONREAD, &bytes) == 0 && bytes > 0;
}

/// Whether `one` should end before `other`: it is of the peer that has more connections; it has
/// sent nothing more; it is older.
static bool ends_before(const struct hc_sv_http *http, const struct place *one,
                        const struct place *other) {
    unsigned count = count_of_peer(http, one), others = count_of_peer(http, other);
    if (count != others)
        return count > others;
    bool unread = has_unread(one);
    return unread != has_unread(other) ? !unread : one->number < other->number;
}

/// Shuts down a connection without an unfinished answer. The HTTP server then closes it.
static void end_one(struct hc_sv_http *http) {
    struct place *ended = NULL;
    for (unsigned i = 0; i < PLACES; i++)
        if (http->places[i].connection != NULL)
            http->places[i].peer =
                hc_sv_http_peer_of(bufferevent_getfd(http->places[i].connection));
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &http->places[i];
        if (place->connection != NULL && !place->ending && !is_answered(http, place->connection) &&
            (ended == NULL || ends_before(http, place, ended)))
            ended = place;
    }
    if (ended == NULL)
        return;
    ended->ending = true;
    shutdown(bufferevent_getfd(ended->connection), SHUT_RDWR);
}

static void on_sweep(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_http *http = context;
    const struct timeval again = {.tv_usec = SWEEP_US};
    (void)descriptor;
    (void)events;
    if (sweep(http) > 0)
        evtimer_add(http->sweep, &again);
}

/// A connection was accepted. The HTTP server then sets its descriptor and callbacks.
static struct bufferevent *on_accepted(struct event_base *base, void *context) {
    struct hc_sv_http *http = context;
    const struct timeval again = {.tv_usec = SWEEP_US};
    struct bufferevent *connection = bufferevent_socket_new(base, -1, 0);
    unsigned ending = 0, place = PLACES, open = sweep(http);
    http->failed = false;
    for (unsigned i = 0; i < PLACES; i++) {
        ending += http->places[i].connection != NULL && http->places[i].ending;
        if (http->places[i].connection == NULL)
            place = i;
    }
    http->batch = (http->batch + 1) % BATCH;
    if (connection == NULL || place == PLACES) // not counted; no other follows for a while
        pause_listening(http, PAUSE_S);
    else if (http->batch == 0)
        pause_listening(http, 0);
    if (connection == NULL || place == PLACES)
        return connection;
    bufferevent_incref(connection);
    if (open - ending >= OPEN_MAX)
        end_one(http);
    http->places[place] = (struct place){.connection = connection, .number = ++http->accepted};
    if (!evtimer_pending(http->sweep, NULL))
        evtimer_add(http->sweep, &again);
    return connection;
}

size_t hc_sv_http_unsent(const struct hc_sv_http *http) {
    size_t bytes = 0;
    for (unsigned i = 0; i < PLACES; i++)
        if (http->places[i].connection != NULL)
            bytes += evbuffer_get_length(bufferevent_get_output(http->places[i].connection));
    return bytes;
}

// ---- The server ---------------------------------------------------------------------------------

static void on_request(struct evhttp_request *request, void *context) {
    const struct hc_sv_http *http = context;
    http->config.request(request, http->config.context);
}

/// Notes that the server is open.
static void note(struct hc_sv_http *http) {
    unsigned i = 0;
    while (i < SERVERS && opened[i] != NULL)
        i++;
    HC_ASSERT(i < SERVERS);
    opened[i] = http;
}

struct hc_sv_http *hc_sv_http_open(struct event_base *base,
                                   const struct hc_sv_http_config *config) {
    struct hc_sv_http *http = calloc(1, sizeof(*http));
    if (http == NULL)
        return NULL;
    note(http);
    http->config = *config;
    http->base = base;
    http->server = evhttp_new(base);
    http->sweep = evtimer_new(base, on_sweep, http);
    http->resume = evtimer_new(base, on_resume, http);
    if (http->server == NULL || http->sweep == NULL || http->resume == NULL) {
        hc_sv_http_close(http);
        return NULL;
    }
    evhttp_set_bevcb(http->server, on_accepted, http);
    evhttp_set_allowed_methods(http->server, (uint16_t)config->methods);
    evhttp_set_max_headers_size(http->server, HEADERS_MAX);
    evhttp_set_max_body_size(http->server, HC_SV_HTTP_BODY_MAX);
    evhttp_set_timeout(http->server, (int)config->idle_s);
    evhttp_set_gencb(http->server, on_request, http);
    return http;
}

/// Accepts the connections of `listener` (NULL: it could not be made); false: failed, see errno.
static bool add(struct hc_sv_http *http, struct evconnlistener *listener) {
    unsigned i = http->listeners[0] == NULL ? 0 : 1;
    HC_ASSERT(http->listeners[i] == NULL);
    if (listener == NULL)
        return false;
    if (evhttp_bind_listener(http->server, listener) == NULL) {
        evconnlistener_free(listener);
        errno = ENOMEM;
        return false;
    }
    http->listeners[i] = listener;
    evconnlistener_set_error_cb(listener, on_accept_failed);
    return true;
}

bool hc_sv_http_listen(struct hc_sv_http *http, const struct sockaddr *address, socklen_t size) {
    const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    return add(http,
               evconnlistener_new_bind(http->base, NULL, NULL, flags, BACKLOG, address, (int)size));
}

bool hc_sv_http_take(struct hc_sv_http *http, int descriptor) {
    return add(http,
               evconnlistener_new(http->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 0, descriptor));
}

void hc_sv_http_address(const struct hc_sv_http *http, struct sockaddr_storage *address) {
    socklen_t size = sizeof(*address);
    int failed =
        getsockname(evconnlistener_get_fd(http->listeners[0]), (struct sockaddr *)address, &size);
    HC_ASSERT(failed == 0);
}

void hc_sv_http_close(struct hc_sv_http *http) {
    if (http == NULL)
        return;
    for (unsigned i = 0; i < SERVERS; i++)
        if (opened[i] == http)
            opened[i] = NULL;
    if (http->server != NULL)
        evhttp_free(http->server);
    for (unsigned i = 0; i < PLACES; i++)
        if (http->places[i].connection != NULL)
            bufferevent_decref(http->places[i].connection);
    hc_loop_free_event(http->sweep);
    hc_loop_free_event(http->resume);
    free(http);
}
