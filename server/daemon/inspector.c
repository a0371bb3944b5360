/// Owns the readers of the inspector's events, and the probes of the matches that they look at.
#include "server/daemon/inspector.h"

#include "common/decimal.h"
#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "hindcast/check.h"
#include "server/daemon/http_request.h"
#include "server/daemon/inspector_files.h"
#include "server/daemon/inspector_text.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    READERS = HC_SV_INSPECTOR_READERS,
    EVERY_US = 100000,   ///< interval of the events
    UNSENT_MAX = 65536,  ///< bytes that a reader may leave unread before it misses frames
    KERNEL_MAX = 65536,  ///< bytes of that which the kernel holds besides, about
    SLOW_US = 3000000,   ///< a reader that has left so much unread for so long is closed
    SILENT_US = 1000000, ///< a match without a tick for so long is told to be silent
    WRITE_S = 10,        ///< a connection that takes nothing for so long ends
    QUIET_TURNS = 20,    ///< turns without a reader after which the timer stops
};

static const char path_events[] = "/inspector/events";

/// A match that somebody looks at, or did and that has not given its probe back yet.
struct target {
    struct target *next;
    unsigned match;
    unsigned readers; ///< 0: the probe is withdrawn
    struct hc_sv_probe *probe;
    unsigned sights[HC_SV_PROBE_SIGHTS]; ///< readers of each sight
    uint64_t frames;                     ///< sent so far
    uint64_t worlds;                     ///< of the newest frame
    uint64_t fresh_us;                   ///< when the newest frame came
    uint64_t reported_us;                ///< when readers were last told that none comes
};

struct reader {
    struct evhttp_request *request; ///< NULL: none
    struct target *target;
    unsigned sight;   ///< HC_SV_PROBE_SIGHTS: of no client
    uint32_t cid;     ///< of the client of the sight
    uint64_t worlds;  ///< world that it was told of; 0: of none
    uint64_t slow_us; ///< since when it leaves too much unread; 0: it does not
};

struct hc_sv_inspector {
    struct hc_sv_control *control;
    struct hc_world world; ///< with the numbers of all matches
    struct event *turn;
    unsigned quiet_turns; ///< turns without a reader
    struct target *target;
    struct reader readers[READERS];
    struct hc_sv_json_text hello, frame, sight;
};

static struct bufferevent *connection_of(const struct reader *reader) {
    return evhttp_connection_get_bufferevent(evhttp_request_get_connection(reader->request));
}

bool hc_sv_inspector_sends(const struct hc_sv_inspector *inspector,
                           const struct bufferevent *connection) {
    for (unsigned i = 0; i < READERS; i++)
        if (inspector->readers[i].request != NULL &&
            connection_of(&inspector->readers[i]) == connection)
            return true;
    return false;
}

// ---- Matches ------------------------------------------------------------------------------------

static struct hc_sv_match *match_of(const struct hc_sv_inspector *inspector,
                                    const struct target *target) {
    return hc_sv_worker_match(inspector->control->workers, target->match);
}

/// Frees the probes that matches have given back.
static void collect(struct hc_sv_inspector *inspector) {
    struct target *target;
    for (struct target **at = &inspector->target; (target = *at) != NULL;) {
        if (target->readers > 0 || !hc_sv_probe_has_left(target->probe)) {
            at = &target->next;
            continue;
        }
        *at = target->next;
        free(target->probe);
        free(target);
    }
}

/// Begins to look at a match, or finds that somebody does; NULL: no memory.
static struct target *look_at(struct hc_sv_inspector *inspector, unsigned match) {
    struct target *target = inspector->target;
    while (target != NULL && (target->match != match || target->readers == 0))
        target = target->next;
    if (target != NULL)
        return target;
    target = calloc(1, sizeof(*target));
    struct hc_sv_probe *probe = hc_sv_probe_create();
    if (target == NULL || probe == NULL) {
        free(target);
        free(probe);
        return NULL;
    }
    *target = (struct target){
        .next = inspector->target, .match = match, .probe = probe, .fresh_us = hc_clock_us()};
    inspector->target = target;
    hc_sv_probe_offer(&match_of(inspector, target)->inspected, probe);
    return target;
}

/// Ends one look at a match.
static void look_away(struct hc_sv_inspector *inspector, struct target *target, unsigned sight) {
    if (sight < HC_SV_PROBE_SIGHTS && --target->sights[sight] == 0)
        atomic_store(&target->probe->watched[sight], 0);
    if (--target->readers > 0)
        return;
    if (hc_sv_probe_withdraw(&match_of(inspector, target)->inspected, target->probe))
        atomic_store(&target->probe->left, true);
    collect(inspector);
}

/// Takes the sight of a client; false: too many clients are watched.
static bool take_sight(struct target *target, uint32_t cid, unsigned *sight) {
    unsigned free_one = HC_SV_PROBE_SIGHTS;
    *sight = HC_SV_PROBE_SIGHTS;
    for (unsigned i = 0; i < HC_SV_PROBE_SIGHTS; i++) {
        if (target->sights[i] == 0)
            free_one = i;
        else if (atomic_load(&target->probe->watched[i]) == cid)
            *sight = i;
    }
    if (*sight == HC_SV_PROBE_SIGHTS)
        *sight = free_one;
    if (*sight == HC_SV_PROBE_SIGHTS)
        return false;
    target->sights[*sight]++;
    atomic_store(&target->probe->watched[*sight], cid);
    return true;
}

// ---- Events -------------------------------------------------------------------------------------

/// Adds an event to what a reader is sent.
static void add_event(struct evbuffer *out, const char *name, const struct hc_sv_json_text *text) {
    if (text->failed || text->size == 0)
        return;
    evbuffer_add_printf(out, "event: %s\ndata: ", name);
    evbuffer_add(out, text->bytes, text->size);
    evbuffer_add(out, "\n\n", 2);
}

/// Whether a reader can be sent more. One that leaves too much unread misses it, and is closed
/// after a while.
static bool takes_more(struct hc_sv_inspector *inspector, struct reader *reader, uint64_t now) {
    struct bufferevent *connection = connection_of(reader);
    const struct linger at_once = {.l_onoff = 1};
    if (evbuffer_get_length(bufferevent_get_output(connection)) <= UNSENT_MAX) {
        reader->slow_us = 0;
        return true;
    }
    if (reader->slow_us == 0)
        reader->slow_us = now;
    if (hc_since(reader->slow_us, now) < SLOW_US)
        return false;
    hc_sv_log_event(inspector->control->log, HC_SV_LOG_INFO, "inspector-closed",
                    json_pack("{s:s}", "why", "a reader left its events unread"));
    reader->slow_us = UINT64_MAX; // hc_since is 0 from now on
    // The HTTP server closes it then, and the kernel drops what is unread.
    (void)setsockopt(bufferevent_getfd(connection), SOL_SOCKET, SO_LINGER, &at_once,
                     sizeof(at_once));
    shutdown(bufferevent_getfd(connection), SHUT_RDWR);
    return false;
}

/// Sends a reader the frame, which all readers of the match are sent, and its own sight.
static void send_frame(struct hc_sv_inspector *inspector, struct reader *reader,
                       const struct hc_sv_probe_frame *frame, uint64_t now) {
    const struct target *target = reader->target;
    struct evbuffer *out = takes_more(inspector, reader, now) ? evbuffer_new() : NULL;
    if (out == NULL)
        return;
    if (reader->worlds != frame->history.worlds) {
        hc_sv_json_text_clear(&inspector->hello);
        hc_sv_inspector_text_hello(&inspector->hello, inspector->control->setting,
                                   &inspector->world, target->match, frame->history.worlds);
        add_event(out, "hello", &inspector->hello);
        reader->worlds = frame->history.worlds;
    }
    add_event(out, "frame", &inspector->frame);
    if (reader->sight < HC_SV_PROBE_SIGHTS && frame->sights[reader->sight].cid == reader->cid) {
        hc_sv_json_text_clear(&inspector->sight);
        hc_sv_inspector_text_sight(&inspector->sight, &inspector->world,
                                   &frame->sights[reader->sight], target->frames);
        add_event(out, "sight", &inspector->sight);
    }
    evhttp_send_reply_chunk(reader->request, out);
    evbuffer_free(out);
}

/// Tells the readers of a match that its ticks do not come, once a second.
static void send_silence(struct hc_sv_inspector *inspector, struct target *target, uint64_t now) {
    const struct hc_sv_match *match = match_of(inspector, target);
    uint64_t silent_us = hc_since(target->fresh_us, now);
    if (silent_us < SILENT_US || hc_since(target->reported_us, now) < SILENT_US)
        return;
    target->reported_us = now;
    const char *why = "the match has no ticks";
    if (hc_sv_control_match_hangs(inspector->control, target->match))
        why = "a call into the match hangs";
    else if (atomic_load(&match->sessions) == 0)
        why = "nobody plays, and the match waits for its first client";
    for (unsigned i = 0; i < READERS; i++) {
        struct reader *reader = &inspector->readers[i];
        struct evbuffer *out = NULL;
        if (reader->request != NULL && reader->target == target &&
            takes_more(inspector, reader, now))
            out = evbuffer_new();
        if (out == NULL)
            continue;
        evbuffer_add_printf(out, "event: silence\ndata: {\"silent_ms\":%llu,\"why\":\"%s\"}\n\n",
                            (unsigned long long)silent_us / 1000, why);
        evhttp_send_reply_chunk(reader->request, out);
        evbuffer_free(out);
    }
}

/// Takes the frame of a match, if there is one, and sends it.
static void send_match(struct hc_sv_inspector *inspector, struct target *target, uint64_t now) {
    const struct hc_sv_probe_frame *frame = hc_sv_probe_take(target->probe);
    if (frame == NULL) {
        send_silence(inspector, target, now);
        return;
    }
    target->frames++;
    target->fresh_us = now;
    target->worlds = frame->history.worlds;
    hc_sv_json_text_clear(&inspector->frame);
    hc_sv_inspector_text_frame(&inspector->frame, &inspector->world, frame, target->frames);
    for (unsigned i = 0; i < READERS; i++)
        if (inspector->readers[i].request != NULL && inspector->readers[i].target == target)
            send_frame(inspector, &inspector->readers[i], frame, now);
    hc_sv_probe_return(target->probe);
}

static void on_turn(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_inspector *inspector = context;
    uint64_t now = hc_clock_us();
    bool any = false;
    (void)descriptor;
    (void)events;
    for (struct target *target = inspector->target; target != NULL; target = target->next) {
        any = any || target->readers > 0;
        if (target->readers > 0)
            send_match(inspector, target, now);
    }
    collect(inspector);
    inspector->quiet_turns = any ? 0 : inspector->quiet_turns + 1;
    if (inspector->quiet_turns < QUIET_TURNS)
        hc_loop_arm(inspector->turn, now + EVERY_US, now);
}

// ---- Readers ------------------------------------------------------------------------------------

/// The connection of a reader has ended.
static void on_gone(struct evhttp_connection *connection, void *context) {
    struct hc_sv_inspector *inspector = context;
    for (unsigned i = 0; i < READERS; i++) {
        struct reader *reader = &inspector->readers[i];
        struct evhttp_request *request = reader->request;
        if (request == NULL)
            continue;
        struct evhttp_connection *own = evhttp_request_get_connection(request);
        if (own != NULL && own != connection)
            continue;
        look_away(inspector, reader->target, reader->sight);
        *reader = (struct reader){.request = NULL};
        if (own == NULL) // the connection has let go of the request, which nobody else frees
            evhttp_request_free(request);
    }
}

/// Reads the number of a query's key; true: it is in [0, most], or not there.
static bool read_number(const struct evkeyvalq *query, const char *key, uint64_t most,
                        uint64_t *number) {
    const char *text = evhttp_find_header(query, key);
    return text == NULL || (hc_decimal_parse(text, 0, number) == HC_OK && *number <= most);
}

/// Reads which match and client a reader looks at; false: they cannot be.
static bool read_query(const struct hc_sv_inspector *inspector, struct evhttp_request *request,
                       uint64_t *match, uint64_t *cid) {
    const char *text = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
    struct evkeyvalq query = {0};
    if (text != NULL && evhttp_parse_query_str(text, &query) != 0)
        return false;
    bool good = read_number(&query, "match", inspector->control->options->matches, match) &&
                read_number(&query, "client", UINT32_MAX, cid);
    evhttp_clear_headers(&query);
    return good && *match > 0;
}

/// Begins the events of a reader that is at its place.
static void begin_events(struct hc_sv_inspector *inspector, struct reader *reader) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(reader->request);
    const struct timeval never_written = {.tv_sec = WRITE_S};
    const int kernel_max = KERNEL_MAX;
    struct evbuffer *out = evbuffer_new();
    evhttp_connection_set_closecb(evhttp_request_get_connection(reader->request), on_gone,
                                  inspector);
    evhttp_add_header(headers, "Content-Type", "text/event-stream");
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    bufferevent_set_timeouts(connection_of(reader), NULL, &never_written);
    (void)setsockopt(bufferevent_getfd(connection_of(reader)), SOL_SOCKET, SO_SNDBUF, &kernel_max,
                     sizeof(kernel_max)); // otherwise it holds megabytes for a slow reader
    evhttp_send_reply_start(reader->request, HTTP_OK, NULL);
    if (out != NULL) {
        evbuffer_add_printf(out, "retry: 2000\n\n");
        evhttp_send_reply_chunk(reader->request, out);
        evbuffer_free(out);
    }
    inspector->quiet_turns = 0;
    if (!evtimer_pending(inspector->turn, NULL))
        hc_loop_arm(inspector->turn, 0, hc_clock_us());
}

static void on_events(struct hc_sv_inspector *inspector, struct evhttp_request *request) {
    uint64_t match = 1, cid = 0;
    unsigned place = 0, sight = HC_SV_PROBE_SIGHTS;
    if (evhttp_request_get_command(request) != EVHTTP_REQ_GET) {
        hc_sv_http_reply(request, HTTP_BADMETHOD, "the method must be GET");
        return;
    }
    if (!hc_sv_http_is_of_own_page(request)) {
        hc_sv_http_reply(request, 403, "no other web page may look");
        return;
    }
    if (!read_query(inspector, request, &match, &cid)) {
        hc_sv_http_reply(request, HTTP_BADREQUEST,
                         "match must be the number of a match, and client a cid of /status");
        return;
    }
    while (place < READERS && inspector->readers[place].request != NULL)
        place++;
    struct target *target = place < READERS ? look_at(inspector, (unsigned)match) : NULL;
    if (target == NULL) {
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "too many readers look already");
        return;
    }
    target->readers++;
    if (cid != 0 && !take_sight(target, (uint32_t)cid, &sight)) {
        look_away(inspector, target, sight);
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "too many clients of the match are watched");
        return;
    }
    inspector->readers[place] =
        (struct reader){.request = request, .target = target, .sight = sight, .cid = (uint32_t)cid};
    begin_events(inspector, &inspector->readers[place]);
}

// ---- Files --------------------------------------------------------------------------------------

static const char *path_of(struct evhttp_request *request) {
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    if (path == NULL || strcmp(path, "/inspector") == 0)
        return "/";
    return path;
}

static const struct hc_sv_inspector_file *file_of(const char *path) {
    for (size_t i = 0; i < hc_sv_inspector_file_count; i++)
        if (strcmp(hc_sv_inspector_files[i].path, path) == 0)
            return &hc_sv_inspector_files[i];
    return NULL;
}

static void on_file(struct evhttp_request *request, const struct hc_sv_inspector_file *file) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Security-Policy",
                      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
                      "'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'");
    evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
    hc_sv_http_reply_bytes(request, HTTP_OK, file->type, (const char *)file->bytes, file->size);
}

// ---- Requests -----------------------------------------------------------------------------------

bool hc_sv_inspector_is_asked(struct evhttp_request *request) {
    const char *path = path_of(request);
    return strcmp(path, path_events) == 0 || file_of(path) != NULL;
}

void hc_sv_inspector_answer(struct hc_sv_inspector *inspector, struct evhttp_request *request) {
    const struct hc_sv_inspector_file *file = file_of(path_of(request));
    if (file != NULL)
        on_file(request, file);
    else
        on_events(inspector, request);
}

// ---- Lifecycle ----------------------------------------------------------------------------------

struct hc_sv_inspector *hc_sv_inspector_open(struct hc_sv_control *control) {
    const struct hc_sv_options *options = control->options;
    struct hc_sv_inspector *inspector = calloc(1, sizeof(*inspector));
    if (inspector == NULL)
        return NULL;
    inspector->control = control;
    inspector->turn = evtimer_new(control->base, on_turn, inspector);
    if (inspector->turn != NULL &&
        hc_world_init(&inspector->world, &control->setting->game, (uint16_t)options->clients,
                      (uint16_t)options->tick_rate, 0, NULL) == HC_OK)
        return inspector;
    hc_sv_inspector_close(inspector);
    return NULL;
}

void hc_sv_inspector_close(struct hc_sv_inspector *inspector) {
    struct target *target;
    if (inspector == NULL)
        return;
    while ((target = inspector->target) != NULL) {
        inspector->target = target->next;
        free(target->probe);
        free(target);
    }
    hc_loop_free_event(inspector->turn);
    hc_world_free(&inspector->world);
    hc_sv_json_text_free(&inspector->hello);
    hc_sv_json_text_free(&inspector->frame);
    hc_sv_json_text_free(&inspector->sight);
    free(inspector);
}
