/// Owns the admin face: who may ask, the routes, and the answers that wait for the workers.
#define _GNU_SOURCE // open_memstream, SOCK_CLOEXEC

#include "server/daemon/admin.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "server/daemon/activation.h"
#include "server/daemon/admin_address.h"
#include "server/daemon/admin_commands.h"
#include "server/daemon/admin_notice.h"
#include "server/daemon/admin_password.h"
#include "server/daemon/ban_file.h"
#include "server/daemon/http.h"
#include "server/daemon/http_request.h"
#include "server/daemon/inspector.h"
#include "server/daemon/key_file.h"
#include "server/daemon/metrics.h"
#include "server/daemon/overview.h"
#include "server/daemon/password_limit.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    IDLE_S = 10,
    WAITING_MAX = 4 * HC_SV_HTTP_CONNECTIONS, ///< requests, also of connections that are ending
    FRESH_US = 100000,                        ///< an answer is given again for so long
    UNSENT_MAX = 1 << 24, ///< bytes of answers that all readers together may leave unread
    SLOW_MS = 5000,       ///< a slower change of a file is logged
    ADDRESS_MAX = 160,
    WHY_MAX = 160,
};

/// A request that waits for the workers or for a file.
struct waiting {
    struct evhttp_request *request; ///< NULL: its connection has ended
    bool used;
    enum hc_sv_admin_command_id id;
    uint64_t value;
    uint16_t match;           ///< where a user is told something; 0: wherever it plays
    struct hc_notice *notice; ///< that a user is told; owned, else NULL
    bool runs;                ///< of a ban: the file is being changed
};

/// A text that was made, and when.
struct text {
    char *bytes; ///< NULL: none
    size_t size;
    uint64_t made_us;
};

struct hc_sv_admin {
    struct hc_sv_control *control;
    struct hc_sv_http *http;
    struct hc_sv_inspector *inspector;
    struct hc_sv_admin_address address;
    bool has_password;
    struct hc_sv_admin_password password;
    struct hc_sv_password_limit wrong; ///< wrong passwords
    struct waiting waiting[WAITING_MAX];
    struct hc_sv_ban_order bans;   ///< the change of the file that runs
    struct hc_sv_background *file; ///< what changes it
    bool changes;                  ///< the file is being changed
    unsigned alone;                ///< changes that follow are tried one by one
    struct event *due;             ///< kicks ask the workers for their clients
    struct text metrics, status;
    struct hc_sv_match_counts *counts; ///< [matches] memory for the metrics
    /// Of the request that is being answered, in the order of its command.
    struct hc_sv_http_parameter given[HC_SV_ADMIN_PARAMETERS];
    struct hc_sv_admin_parameter parameters[HC_SV_ADMIN_PARAMETERS]; ///< of that command
    bool made_socket; ///< the file of the Unix socket is this one's
    struct stat socket;
};

// ---- Answers ------------------------------------------------------------------------------------

static bool is_fresh(const struct text *text) {
    return text->bytes != NULL && hc_since(text->made_us, hc_clock_us()) < FRESH_US;
}

/// Takes over a new text.
static void renew(struct text *text, struct text made) {
    free(text->bytes);
    *text = made;
    text->made_us = hc_clock_us();
}

static void reply_text(struct evhttp_request *request, const char *type, const struct text *text) {
    if (text->bytes == NULL)
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "no memory");
    else
        hc_sv_http_reply_bytes(request, HTTP_OK, type, text->bytes, text->size);
}

// ---- Metrics ------------------------------------------------------------------------------------

static void make_metrics(struct hc_sv_admin *admin) {
    struct hc_sv_control *control = admin->control;
    const struct hc_sv_options *options = control->options;
    const struct hc_sv_report *sums = hc_sv_control_sums(control);
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    for (unsigned number = 1; number <= options->matches; number++)
        hc_sv_published_read(&hc_sv_worker_match(control->workers, number)->counts,
                             &admin->counts[number - 1]);
    const struct hc_sv_metrics metrics = {
        .version = control->setting->version,
        .tick_rate = options->tick_rate,
        .matches = options->matches,
        .counts = admin->counts,
        .process = &sums->process,
        .doors = &sums->doors,
        .lanes = sums->sorted ? &sums->lanes : NULL,
        .placed = control->setting->placement != NULL ? &sums->placed : NULL,
        .hanging = hc_sv_control_hanging(control),
        .ready = hc_sv_control_is_ready(control)};
    if (out == NULL)
        return;
    hc_sv_metrics_write(&metrics, out);
    if (fclose(out) == 0)
        renew(&admin->metrics, (struct text){.bytes = bytes, .size = size});
    else
        free(bytes);
}

static void on_metrics(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    (void)none;
    if (!is_fresh(&admin->metrics))
        make_metrics(admin);
    reply_text(request, "text/plain; version=0.0.4; charset=utf-8", &admin->metrics);
}

// ---- Health -------------------------------------------------------------------------------------

static void on_health(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    (void)none;
    if (hc_sv_control_is_healthy(admin->control))
        hc_sv_http_reply(request, HTTP_OK, "ok");
    else
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "a tick loop hangs");
}

static void on_ready(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    (void)none;
    if (hc_sv_control_is_ready(admin->control))
        hc_sv_http_reply(request, HTTP_OK, "ready");
    else if (admin->control->stopping || atomic_load(&admin->control->drains))
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "the server ends");
    else
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL,
                         "each match hangs, or is overloaded and refuses joins");
}

// ---- Waiting ------------------------------------------------------------------------------------

static const char type_json[] = "application/json";

/// The connection of a request that waits has ended. Its order is carried out all the same.
static void on_gone(struct evhttp_connection *connection, void *context) {
    struct waiting *waiting = context;
    (void)connection;
    waiting->request = NULL;
}

/// Whether a request of this connection waits, or is sent events.
static bool waits(void *context, const struct bufferevent *connection) {
    const struct hc_sv_admin *admin = context;
    if (hc_sv_inspector_sends(admin->inspector, connection))
        return true;
    for (unsigned i = 0; i < WAITING_MAX; i++)
        if (admin->waiting[i].request != NULL &&
            evhttp_connection_get_bufferevent(
                evhttp_request_get_connection(admin->waiting[i].request)) == connection)
            return true;
    return false;
}

/// Lets a request wait. NULL: too many do, and it is answered.
static struct waiting *begin_waiting(struct hc_sv_admin *admin, struct evhttp_request *request,
                                     enum hc_sv_admin_command_id id, uint64_t value) {
    unsigned i = 0;
    while (i < WAITING_MAX && admin->waiting[i].used)
        i++;
    if (i == WAITING_MAX) {
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "too many requests wait");
        return NULL;
    }
    admin->waiting[i] =
        (struct waiting){.request = request, .used = true, .id = id, .value = value};
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone,
                                  &admin->waiting[i]);
    return &admin->waiting[i];
}

/// Frees the place of a request; returns the request, or NULL.
static struct evhttp_request *end_waiting(struct waiting *waiting) {
    struct evhttp_request *request = waiting->request;
    if (request != NULL)
        evhttp_connection_set_closecb(evhttp_request_get_connection(request), NULL, NULL);
    free(waiting->notice);
    *waiting = (struct waiting){.used = false};
    return request;
}

/// Answers a request that waited with a line.
static void reply_late(struct waiting *waiting, int code, const char *line) {
    struct evhttp_request *request = end_waiting(waiting);
    if (request != NULL)
        hc_sv_http_reply(request, code, line);
}

// ---- The status, and kicks ----------------------------------------------------------------------

static void make_status(struct hc_sv_admin *admin) {
    json_t *json = hc_sv_overview_json(admin->control);
    char *bytes = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(json);
    if (bytes != NULL)
        renew(&admin->status, (struct text){.bytes = bytes, .size = strlen(bytes)});
}

/// Gives the order that waits, about a client of a match; false: the mailbox has no room.
static bool order(const struct waiting *waiting, struct hc_sv_mailbox *box, uint16_t match,
                  uint32_t cid) {
    if (waiting->notice == NULL)
        return hc_sv_mailbox_kick(box, &(struct hc_sv_kick){.match = match, .cid = cid});
    const struct hc_sv_announcement announcement = {
        .match = match, .cid = cid, .notice = *waiting->notice};
    return hc_sv_mailbox_announce(box, &announcement);
}

/// Gives the order that waits for the clients of a user. Returns how many it has; `*full`: a
/// mailbox has no room; `*unknown`: the clients of some match are not known.
static unsigned order_all(struct hc_sv_admin *admin, const struct waiting *waiting, bool *full,
                          bool *unknown) {
    const struct hc_sv_control *control = admin->control;
    unsigned found = 0;
    *full = *unknown = false;
    for (unsigned number = 1; number <= control->options->matches; number++) {
        if (waiting->match != 0 && waiting->match != number)
            continue;
        const struct hc_sv_match *match = hc_sv_worker_match(control->workers, number);
        unsigned worker = hc_sv_worker_of(number, control->options->workers);
        if (!hc_sv_control_has_published(control, worker) ||
            hc_sv_control_match_hangs(control, number)) {
            *unknown = true;
            continue;
        }
        for (uint32_t i = 0; i < match->listed_count; i++) {
            const struct hc_server_session *session = &match->listed[i].session;
            if (session->client_id != waiting->value)
                continue;
            found++;
            *full |=
                !order(waiting, &control->workers[worker].mailbox, (uint16_t)number, session->cid);
        }
    }
    return found;
}

static void answer_order(struct hc_sv_admin *admin, struct waiting *waiting) {
    bool full, unknown, announces = waiting->notice != NULL;
    unsigned found = order_all(admin, waiting, &full, &unknown);
    if (found == 0 && unknown)
        reply_late(waiting, HTTP_SERVUNAVAIL, "a match does not answer, and no other has the user");
    else if (found == 0)
        reply_late(waiting, HTTP_NOTFOUND, "no such user plays");
    else if (full)
        reply_late(waiting, HTTP_SERVUNAVAIL,
                   announces ? "too many notices wait" : "too many kicks wait");
    else
        reply_late(waiting, HTTP_OK, announces ? "said" : "kicked");
}

/// The workers have published their clients.
static void on_published(void *context) {
    struct hc_sv_admin *admin = context;
    evtimer_del(admin->due);
    make_status(admin);
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        struct waiting *waiting = &admin->waiting[i];
        if (waiting->used && (waiting->id == HC_SV_ADMIN_KICK || waiting->id == HC_SV_ADMIN_SAY))
            answer_order(admin, waiting);
        if (!waiting->used || waiting->id != HC_SV_ADMIN_STATUS)
            continue;
        struct evhttp_request *request = end_waiting(waiting);
        if (request != NULL)
            reply_text(request, type_json, &admin->status);
    }
}

static void on_status(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    (void)none;
    if (is_fresh(&admin->status))
        reply_text(request, type_json, &admin->status);
    else if (begin_waiting(admin, request, HC_SV_ADMIN_STATUS, 0) != NULL)
        hc_sv_control_ask(admin->control);
}

static void on_due(evutil_socket_t descriptor, short events, void *context) {
    const struct hc_sv_admin *admin = context;
    (void)descriptor;
    (void)events;
    hc_sv_control_ask(admin->control);
}

/// Lets the workers list their clients for an order about a user, which needs a list that is newer
/// than the request: once in FRESH_US, however many orders come.
static void ask_for_clients(struct hc_sv_admin *admin) {
    const struct timeval wait = hc_clock_span(FRESH_US);
    if (!is_fresh(&admin->status))
        hc_sv_control_ask(admin->control);
    else if (!evtimer_pending(admin->due, NULL))
        evtimer_add(admin->due, &wait);
}

static void on_kick(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t user) {
    if (begin_waiting(admin, request, HC_SV_ADMIN_KICK, user) != NULL)
        ask_for_clients(admin);
}

// ---- Notices ------------------------------------------------------------------------------------

/// Tells a user something, once it is known where it plays.
static void say_to(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t user,
                   uint16_t match, const struct hc_notice *notice) {
    struct hc_notice *copy = malloc(sizeof(*copy));
    struct waiting *waiting = NULL;
    if (copy == NULL)
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "no memory");
    else
        waiting = begin_waiting(admin, request, HC_SV_ADMIN_SAY, user);
    if (waiting == NULL) {
        free(copy);
        return;
    }
    *copy = *notice;
    waiting->notice = copy;
    waiting->match = match;
    ask_for_clients(admin);
}

static void on_say(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    const struct hc_sv_http_parameter *text = &admin->given[0], *match = &admin->given[1],
                                      *user = &admin->given[2];
    struct hc_notice notice = {.kind = HC_NOTICE_OPERATOR};
    char why[WHY_MAX];
    (void)none;
    if (!hc_sv_admin_notice_make(&notice, 0, "", text->text, why, sizeof(why))) {
        hc_sv_http_reply(request, HTTP_BADREQUEST, why);
        return;
    }
    if (match->given && (match->number < 1 || match->number > admin->control->options->matches)) {
        hc_sv_http_reply(request, HTTP_NOTFOUND, "there is no such match");
        return;
    }
    json_t *fields = json_pack("{s:s}", "text", notice.text);
    if (match->given)
        json_object_set_new(fields, "match", json_integer((json_int_t)match->number));
    if (user->given)
        json_object_set_new(fields, "user", json_integer((json_int_t)user->number));
    hc_sv_log_event(admin->control->log, HC_SV_LOG_INFO, "notice", fields);
    if (user->given)
        say_to(admin, request, user->number, (uint16_t)match->number, &notice);
    else if (hc_sv_control_announce(admin->control, (unsigned)match->number, &notice))
        hc_sv_http_reply(request, HTTP_OK, "said");
    else
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "too many notices wait");
}

// ---- Bans ---------------------------------------------------------------------------------------

static bool is_ban(const struct waiting *waiting) {
    return waiting->used && (waiting->id == HC_SV_ADMIN_BAN || waiting->id == HC_SV_ADMIN_UNBAN);
}

static const char no_file[] = "the server has no --refused FILE";

/// Changes the file of refused users as the requests say that wait, unless it is being changed.
static void change_file(struct hc_sv_admin *admin) {
    struct hc_sv_ban_order *bans = &admin->bans;
    const char *path = admin->control->options->refused; // a reload may have taken it away
    unsigned most = admin->alone > 0 ? 1 : HC_SV_BANS_MAX;
    admin->alone -= admin->alone > 0;
    bans->count = 0;
    for (unsigned i = 0; i < WAITING_MAX && bans->count < most; i++) {
        struct waiting *waiting = &admin->waiting[i];
        if (!is_ban(waiting))
            continue;
        if (path == NULL) {
            reply_late(waiting, 409, no_file);
            continue;
        }
        waiting->runs = true;
        bans->bans[bans->count++] = (struct hc_sv_ban){.client_id = waiting->value,
                                                       .lifted = waiting->id == HC_SV_ADMIN_UNBAN};
    }
    snprintf(bans->path, sizeof(bans->path), "%s", path != NULL ? path : "");
    admin->changes = bans->count > 0;
    if (admin->changes)
        hc_sv_background_start(admin->file);
}

/// The file was changed, or could not be, or that takes long. Of several changes that failed
/// together each is tried alone.
static void on_changed(void *context, enum hc_sv_background_status status, const void *out,
                       const char *why) {
    struct hc_sv_admin *admin = context;
    bool good = status == HC_SV_BACKGROUND_DONE;
    (void)out;
    if (status == HC_SV_BACKGROUND_SLOW) {
        hc_sv_log_event(admin->control->log, HC_SV_LOG_WARN, "refused-slow",
                        json_pack("{s:s}", "file", admin->bans.path));
        return;
    }
    bool again = !good && admin->bans.count > 1;
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        struct waiting *waiting = &admin->waiting[i];
        if (is_ban(waiting) && waiting->runs && !again)
            reply_late(waiting, good ? 202 : HTTP_INTERNAL,
                       good ? "written; refused-read in the log says when it is in force" : why);
        waiting->runs = false;
    }
    if (again)
        admin->alone = admin->bans.count;
    else if (good)
        hc_sv_reload_read_refused(&admin->control->reload);
    else
        hc_sv_log_event(admin->control->log, HC_SV_LOG_ERROR, "ban-failed",
                        json_pack("{s:s}", "why", why));
    change_file(admin);
}

/// Lets a ban wait for the change of the file.
static void begin_ban(struct hc_sv_admin *admin, struct evhttp_request *request,
                      enum hc_sv_admin_command_id id, uint64_t user) {
    if (admin->control->options->refused == NULL)
        hc_sv_http_reply(request, 409, no_file);
    else if (begin_waiting(admin, request, id, user) != NULL && !admin->changes)
        change_file(admin);
}

static void on_ban(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t user) {
    begin_ban(admin, request, HC_SV_ADMIN_BAN, user);
}

static void on_unban(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t user) {
    begin_ban(admin, request, HC_SV_ADMIN_UNBAN, user);
}

// ---- Other orders -------------------------------------------------------------------------------

static void on_reload(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    (void)none;
    hc_sv_control_reload(admin->control);
    hc_sv_http_reply(request, 202, "the log says what has changed");
}

static void on_rate(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t hz) {
    if (hc_sv_reload_set_snapshot_rate(&admin->control->reload, hz))
        hc_sv_http_reply(request, HTTP_OK, "done");
    else
        hc_sv_http_reply(request, HTTP_BADREQUEST, "hz must be at most --tick-rate");
}

static void on_drain(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t seconds) {
    struct hc_notice notice = {.kind = HC_NOTICE_ENDING};
    char why[WHY_MAX];
    if (!hc_sv_admin_notice_make(&notice, seconds, admin->given[1].text, admin->given[2].text, why,
                                 sizeof(why))) {
        hc_sv_http_reply(request, HTTP_BADREQUEST, why);
        return;
    }
    hc_sv_control_drain_to(admin->control, &notice);
    hc_sv_http_reply(request, 202, "nobody is admitted, and the server ends once nobody plays");
}

static void on_trace(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    struct hc_sv_tracing *tracing = admin->control->setting->tracing;
    const char *file = admin->given[0].text;
    (void)none;
    if (strcmp(file, "off") == 0) {
        hc_sv_tracing_end(tracing);
        hc_sv_http_reply(request, 202, "trace-ended in the log says when the file is complete");
    } else if (file[0] != '/') {
        hc_sv_http_reply(request, HTTP_BADREQUEST, "file must be an absolute path, or off");
    } else if (!hc_sv_tracing_begin(tracing, file)) {
        hc_sv_http_reply(request, HTTP_SERVUNAVAIL, "no memory or no thread for a trace");
    } else {
        hc_sv_http_reply(request, 202, "the log says trace-begun, or trace-failed");
    }
}

/// The answer of a restart is written.
static void on_written(struct evhttp_request *request, void *context) {
    const struct hc_sv_admin *admin = context;
    (void)request;
    hc_sv_control_stop(admin->control, "admin", true);
}

/// The connection of a restart has ended, perhaps before its answer was written.
static void on_ended(struct evhttp_connection *connection, void *context) {
    (void)connection;
    on_written(NULL, context);
}

/// An idle server ends at once, so it is told to once the answer is written.
static void on_restart(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t none) {
    (void)none;
    evhttp_request_set_on_complete_cb(request, on_written, admin);
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_ended, admin);
    hc_sv_http_reply(request, 202, "the server ends, and its clients come back");
}

// ---- Routes -------------------------------------------------------------------------------------

typedef void answer(struct hc_sv_admin *admin, struct evhttp_request *request, uint64_t value);

static answer *const answers[HC_SV_ADMIN_COMMAND_COUNT] = {
    [HC_SV_ADMIN_STATUS] = on_status,      [HC_SV_ADMIN_METRICS] = on_metrics,
    [HC_SV_ADMIN_HEALTHZ] = on_health,     [HC_SV_ADMIN_READYZ] = on_ready,
    [HC_SV_ADMIN_KICK] = on_kick,          [HC_SV_ADMIN_BAN] = on_ban,
    [HC_SV_ADMIN_UNBAN] = on_unban,        [HC_SV_ADMIN_RELOAD] = on_reload,
    [HC_SV_ADMIN_SNAPSHOT_RATE] = on_rate, [HC_SV_ADMIN_DRAIN] = on_drain,
    [HC_SV_ADMIN_RESTART] = on_restart,    [HC_SV_ADMIN_SAY] = on_say,
    [HC_SV_ADMIN_TRACE] = on_trace,
};

/// The command of the path; HC_SV_ADMIN_COMMAND_COUNT: there is none.
static enum hc_sv_admin_command_id command_of(struct evhttp_request *request) {
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    return path != NULL && path[0] == '/' ? hc_sv_admin_command_of(path + 1)
                                          : HC_SV_ADMIN_COMMAND_COUNT;
}

/// Whether an orchestrator asks: its probes have no password, and readers who leave answers unread
/// hide no health.
static bool is_probe(enum hc_sv_admin_command_id id) {
    return id == HC_SV_ADMIN_HEALTHZ || id == HC_SV_ADMIN_READYZ;
}

/// Notes a wrong password.
static void note_wrong_password(struct hc_sv_admin *admin, const struct hc_sv_http_peer *from,
                                struct evhttp_connection *connection) {
    char *address = NULL;
    uint16_t port;
    hc_sv_password_limit_count(&admin->wrong, from, hc_clock_us());
    evhttp_connection_get_peer(connection, &address, &port);
    hc_sv_log_event(admin->control->log, HC_SV_LOG_WARN, "admin-denied",
                    json_pack("{s:s*}", "address", address));
}

/// The status for a request that needs a password and has none, or a wrong one; 0: it may go on.
/// An address that gave too many wrong ones is not listened to.
static int check_password(struct hc_sv_admin *admin, struct evhttp_request *request,
                          enum hc_sv_admin_command_id id, const char **why) {
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    const char *given =
        evhttp_find_header(evhttp_request_get_input_headers(request), "Authorization");
    struct hc_sv_http_peer from =
        hc_sv_http_peer_of(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)));
    if (!admin->has_password || is_probe(id))
        return 0;
    *why = "too many wrong passwords came from this address: wait a second";
    if (given != NULL && hc_sv_password_limit_is_reached(&admin->wrong, &from, hc_clock_us())) {
        evhttp_add_header(headers, "Retry-After", "1");
        return 429;
    }
    if (hc_sv_admin_password_matches(&admin->password, given))
        return 0;
    if (given != NULL)
        note_wrong_password(admin, &from, connection);
    *why = "the name admin and the password are needed";
    evhttp_add_header(headers, "WWW-Authenticate", "Basic realm=\"hindcastd\"");
    return 401;
}

/// The status of a request that is refused, and the reason; 0: it is not.
static int find_fault(struct hc_sv_admin *admin, struct evhttp_request *request,
                      enum hc_sv_admin_command_id id, const char **why) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    bool posts = evhttp_request_get_command(request) == EVHTTP_REQ_POST;
    *why = "Host must be localhost or the address of this server";
    if (!hc_sv_http_is_for_us(request))
        return 403;
    int denied = check_password(admin, request, id, why);
    if (denied != 0)
        return denied;
    *why = "no such path";
    bool is_command = id != HC_SV_ADMIN_COMMAND_COUNT;
    if (!is_command && !hc_sv_inspector_is_asked(request))
        return HTTP_NOTFOUND;
    bool changes = is_command && hc_sv_admin_commands[id].changes;
    *why = changes ? "the method must be POST" : "the method must be GET";
    if (posts != changes) {
        evhttp_add_header(headers, "Allow", posts ? "GET, HEAD" : "POST");
        return HTTP_BADMETHOD;
    }
    *why = "no other web page may order anything";
    if (posts && !hc_sv_http_is_of_own_page(request))
        return 403;
    *why = "too many answers are unread";
    return !is_probe(id) && hc_sv_http_unsent(admin->http) > UNSENT_MAX ? HTTP_SERVUNAVAIL : 0;
}

/// Reads the parameters of a command from the request; false: it is answered.
static bool read_parameters(struct hc_sv_admin *admin, struct evhttp_request *request,
                            const struct hc_sv_admin_command *command) {
    const struct hc_sv_http_parameters given = {
        .count = hc_sv_admin_parameters(command, admin->parameters), .list = admin->given};
    char why[WHY_MAX];
    for (unsigned i = 0; i < HC_SV_ADMIN_PARAMETERS; i++)
        admin->given[i] = (struct hc_sv_http_parameter){.name = admin->parameters[i].name,
                                                        .is_text = admin->parameters[i].is_text,
                                                        .optional = admin->parameters[i].optional};
    if (given.count == 0 || hc_sv_http_read(request, &given, why, sizeof(why)))
        return true;
    hc_sv_http_reply(request, HTTP_BADREQUEST, why);
    return false;
}

static void on_request(struct evhttp_request *request, void *context) {
    struct hc_sv_admin *admin = context;
    enum hc_sv_admin_command_id id = command_of(request);
    const char *why;
    int code = find_fault(admin, request, id, &why);
    if (code != 0) {
        hc_sv_http_reply(request, code, why);
        return;
    }
    if (id == HC_SV_ADMIN_COMMAND_COUNT) {
        hc_sv_inspector_answer(admin->inspector, request);
        return;
    }
    struct hc_trace_track *track = hc_sv_tracing_get(&admin->control->setting->tracing->control);
    hc_trace_span span = hc_trace_begin(track, "request");
    hc_trace_text(track, span, "command", hc_sv_admin_commands[id].name);
    if (read_parameters(admin, request, &hc_sv_admin_commands[id]))
        answers[id](admin, request, admin->given[0].number);
    hc_trace_end(track, span);
}

// ---- Lifecycle ----------------------------------------------------------------------------------

static void on_accept_failed(void *context, const char *why) {
    const struct hc_sv_admin *admin = context;
    hc_sv_log_event(admin->control->log, HC_SV_LOG_WARN, "admin-paused",
                    json_pack("{s:s}", "why", why));
}

/// Removes the file of a Unix socket that nobody listens at any more.
static void remove_stale(const struct hc_sv_admin_address *address) {
    struct stat found;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (lstat(address->path, &found) == 0 && S_ISSOCK(found.st_mode) && descriptor >= 0 &&
        connect(descriptor, (const struct sockaddr *)&address->address, address->size) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->path);
    if (descriptor >= 0)
        close(descriptor);
}

/// Listens at the address, or at the service manager's socket of it; false: failed, see errno. Only
/// this user may use a Unix socket, from its creation on.
static bool listen_at(struct hc_sv_admin *admin) {
    const struct hc_sv_admin_address *address = &admin->address;
    const struct hc_sv_activation *activation = admin->control->options->activation;
    if (activation != NULL && activation->admin >= 0)
        return hc_sv_http_take(admin->http, activation->admin);
    if (address->path == NULL)
        return hc_sv_http_listen(admin->http, (const struct sockaddr *)&address->address,
                                 address->size);
    remove_stale(address);
    mode_t before = umask(0177);
    bool good =
        hc_sv_http_listen(admin->http, (const struct sockaddr *)&address->address, address->size);
    int error = errno;
    umask(before);
    admin->made_socket = good && lstat(address->path, &admin->socket) == 0;
    errno = error;
    return good;
}

/// Logs the address, with the port that port 0 got.
static void log_address(struct hc_sv_admin *admin) {
    struct hc_sv_admin_address *address = &admin->address;
    char text[ADDRESS_MAX];
    if (address->path == NULL)
        hc_sv_http_address(admin->http, &address->address);
    hc_sv_admin_address_format(address, text, sizeof(text));
    hc_sv_log_event(admin->control->log, HC_SV_LOG_INFO, "admin-open",
                    json_pack("{s:s, s:b}", "at", text, "password", (int)admin->has_password));
}

/// Reads the password; false: `why` is a sentence.
static bool read_password(struct hc_sv_admin *admin, const char *name, char *why, size_t why_size) {
    struct hc_sv_admin_credentials credentials;
    if (!hc_sv_admin_credentials_read(name, &credentials, why, why_size))
        return false;
    admin->password = hc_sv_admin_password_of(&credentials);
    return true;
}

/// Opens the face; false: `why` is a sentence.
static bool open_face(struct hc_sv_admin *admin, char *why, size_t why_size) {
    const struct hc_sv_options *options = admin->control->options;
    const struct hc_sv_http_config config = {.methods =
                                                 EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST,
                                             .idle_s = IDLE_S,
                                             .request = on_request,
                                             .answers = waits,
                                             .failed = on_accept_failed,
                                             .context = admin};
    admin->has_password = options->admin_password_file != NULL;
    if (admin->has_password && !read_password(admin, options->admin_password_file, why, why_size))
        return false;
    hc_sv_password_limit_init(&admin->wrong);
    const struct hc_sv_background_work change = {.run = hc_sv_ban_file_run,
                                                 .order = &admin->bans,
                                                 .order_size = sizeof(admin->bans),
                                                 .out_size = sizeof(unsigned)};
    admin->counts = calloc(options->matches, sizeof(*admin->counts));
    admin->file = hc_sv_background_open(admin->control->base, &change, SLOW_MS, on_changed, admin);
    admin->http = hc_sv_http_open(admin->control->base, &config);
    admin->due = evtimer_new(admin->control->base, on_due, admin);
    admin->inspector = hc_sv_inspector_open(admin->control);
    snprintf(why, why_size, "--admin '%s': no memory", options->admin);
    if (admin->counts == NULL || admin->file == NULL || admin->http == NULL || admin->due == NULL ||
        admin->inspector == NULL || !hc_sv_admin_address_parse(options->admin, &admin->address))
        return false;
    if (!listen_at(admin)) {
        snprintf(why, why_size, "--admin '%s': %s", options->admin, strerror(errno));
        return false;
    }
    hc_sv_control_add_reader(admin->control, on_published, admin);
    log_address(admin);
    return true;
}

struct hc_sv_admin *hc_sv_admin_open(struct hc_sv_control *control, char *why, size_t why_size) {
    why[0] = '\0';
    if (control->options->admin == NULL)
        return NULL;
    struct hc_sv_admin *admin = calloc(1, sizeof(*admin));
    snprintf(why, why_size, "--admin '%s': no memory", control->options->admin);
    if (admin == NULL)
        return NULL;
    admin->control = control;
    if (open_face(admin, why, why_size))
        return admin;
    hc_sv_admin_close(admin);
    return NULL;
}

void hc_sv_admin_close(struct hc_sv_admin *admin) {
    struct stat found;
    if (admin == NULL)
        return;
    hc_sv_http_close(admin->http);
    hc_sv_inspector_close(admin->inspector);
    hc_sv_background_close(admin->file);
    hc_loop_free_event(admin->due);
    if (admin->made_socket && lstat(admin->address.path, &found) == 0 &&
        found.st_ino == admin->socket.st_ino && found.st_dev == admin->socket.st_dev)
        unlink(admin->address.path);
    for (unsigned i = 0; i < WAITING_MAX; i++)
        free(admin->waiting[i].notice);
    free(admin->metrics.bytes);
    free(admin->status.bytes);
    free(admin->counts);
    sodium_memzero(admin, sizeof(*admin));
    free(admin);
}
