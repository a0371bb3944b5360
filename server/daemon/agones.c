/// Owns the decisions of a server in a fleet: which request to the sidecar is next, and when.
#define _GNU_SOURCE // sigpending

#include "server/daemon/agones.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "server/daemon/agones_lane.h"
#include "server/daemon/agones_object.h"
#include "server/daemon/agones_seats.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORT_DEFAULT = 9358,
    LOOK_US = 50000,         ///< interval of the looks at what is due
    ANSWER_US = 5000000,     ///< a request waits so long for its answer
    QUIET_US = 30000000,     ///< a stream without a line is opened again
    RETRY_FIRST_US = 100000, ///< after a first failure; it doubles
    RETRY_MOST_US = 5000000, ///< at most
    TROUBLE = 3,             ///< failures in a row that are logged
    SESSIONS_US = 1000000,   ///< interval of the lists of sessions
    AGAIN_US = 5000000,      ///< a state that was asked for, and has not come, is asked for again
    PORT_WAIT_US = 60000000, ///< --agones-port waits so long
    TERM_WAIT_US = 15000000, ///< from the end of a drain to the end without SIGTERM
    HEALTH_US_OF_S = 400000, ///< time between two requests, for each second of the period
    WHY_MAX = 256,
};

/// The calls of the sidecar, in the order of their urgency.
#define CALLS_OF_SIDECAR(X)                                                                        \
    X(HEALTH, POST, "/health")                                                                     \
    X(WATCH, GET, "/watch/gameserver")                                                             \
    X(SHUTDOWN, POST, "/shutdown")                                                                 \
    X(READ_OBJECT, GET, "/gameserver")                                                             \
    X(READY, POST, "/ready")                                                                       \
    X(ALLOCATE, POST, "/allocate")                                                                 \
    X(READ_ROOMS, GET, "/v1beta1/counters/rooms")                                                  \
    X(SIZE_ROOMS, PATCH, "/v1beta1/counters/rooms")                                                \
    X(CHANGE_ROOMS, PATCH, "/v1beta1/counters/rooms")                                              \
    X(READ_PLAYERS, GET, "/v1beta1/lists/players")                                                 \
    X(SIZE_PLAYERS, PATCH, "/v1beta1/lists/players")                                               \
    X(REMOVE_PLAYER, POST, "/v1beta1/lists/players:removeValue")                                   \
    X(ADD_PLAYER, POST, "/v1beta1/lists/players:addValue")

enum call {
#define CALL_ENUM(id, method, path) id,
    CALLS_OF_SIDECAR(CALL_ENUM) CALLS
};

static const struct {
    enum evhttp_cmd_type method;
    const char *path;
} calls[CALLS] = {
#define CALL_ROW(id, method, path) [id] = {EVHTTP_REQ_##method, path},
    CALLS_OF_SIDECAR(CALL_ROW)};

/// A connection, and when it may be used next.
struct line {
    struct hc_sv_agones_lane lane;
    enum call call;    ///< the newest request
    unsigned failures; ///< in a row
    unsigned events;   ///< lines of the newest request
    uint64_t next_us;  ///< when the next request may go
    uint64_t since_us; ///< when the request began, or its newest line came
};

/// A list or a counter, which is read before it is changed, and again after each doubt.
struct shared {
    bool reads;        ///< the next call reads it
    bool known;        ///< its newest reading is still right
    unsigned failures; ///< of its calls, since one succeeded
    uint64_t next_us;  ///< when it may be read next
};

struct hc_sv_agones {
    struct hc_sv_control *control;
    const struct hc_sv_options *options;
    struct event *look;
    struct line health, watch, other;
    bool silent;         ///< the log says that the sidecar does not answer
    bool refused[CALLS]; ///< the log says that the sidecar refuses this call

    // The gameserver.
    bool known; ///< the object was read
    struct hc_sv_agones_object object;
    const char *port_name; ///< NULL: the port is not asked for
    uint16_t port;         ///< 0: not known yet
    bool awaits;           ///< the port is awaited, and the control thread does nothing else yet
    bool asked_ready;      ///< /ready was answered once
    uint64_t asked_us;     ///< when a state was asked for; 0: it came, or none was

    // The sessions.
    bool serves;          ///< all workers have published, and the first tick ran
    uint64_t sessions_us; ///< when the workers were asked for their sessions
    unsigned sessions;
    int64_t used;      ///< matches with sessions
    uint64_t empty_us; ///< when the last session ended or the newest allocation came
    struct hc_sv_agones_players players;
    struct hc_sv_agones_rooms rooms;
    struct shared list, counter; ///< of `players` and `rooms`
    json_t *change;              ///< the body of the newest change

    // The end.
    uint64_t drained_us; ///< when the drain ended; 0: it has not
    bool shut_down;      ///< /shutdown was answered
};

// ---- The log ------------------------------------------------------------------------------------

static void log_line(struct hc_sv_agones *agones, enum hc_sv_log_level level, const char *event,
                     json_t *fields) {
    hc_sv_log_event(agones->control->log, level, event, fields);
}

/// A request had no answer: logs the first of them that lasts.
static void note_silence(struct hc_sv_agones *agones, const struct line *line, const char *why) {
    if (agones->silent || line->failures < TROUBLE)
        return;
    agones->silent = true;
    log_line(agones, HC_SV_LOG_WARN, "agones-silent",
             json_pack("{s:s, s:i, s:s}", "call", calls[line->call].path, "port",
                       (int)line->lane.port, "why", why));
}

/// A request has succeeded: logs that all lines have answers again.
static void note_answer(struct hc_sv_agones *agones, struct line *line) {
    line->failures = 0;
    agones->refused[line->call] = false;
    if (!agones->silent || agones->health.failures > 0 || agones->watch.failures > 0 ||
        agones->other.failures > 0)
        return;
    agones->silent = false;
    log_line(agones, HC_SV_LOG_INFO, "agones-answers", NULL);
}

/// The sidecar refuses a call, or its answer cannot be used: logs it once until the call succeeds.
static void note_refusal(struct hc_sv_agones *agones, enum call call, int status, const char *why) {
    if (agones->refused[call])
        return;
    agones->refused[call] = true;
    log_line(agones, HC_SV_LOG_WARN, "agones-refused",
             json_pack("{s:s, s:i, s:s}", "call", calls[call].path, "status", status, "why", why));
}

// ---- The gameserver -----------------------------------------------------------------------------

/// Takes the newest object, which may be the same as before.
static void take_object(struct hc_sv_agones *agones, const struct hc_sv_agones_object *object) {
    struct hc_sv_agones_object *now = &agones->object;
    bool changed = !agones->known || strcmp(now->word, object->word) != 0;
    bool allocated = object->state == HC_SV_AGONES_ALLOCATED &&
                     (changed || strcmp(now->allocated, object->allocated) != 0);
    agones->known = true;
    *now = *object;
    if (changed) {
        agones->asked_us = 0;
        log_line(agones,
                 object->state == HC_SV_AGONES_ENDING && agones->drained_us == 0 ? HC_SV_LOG_WARN
                                                                                 : HC_SV_LOG_INFO,
                 "agones-state", json_pack("{s:s}", "state", object->word));
    }
    if (!allocated)
        return;
    agones->empty_us = hc_clock_us();
    agones->list.reads = agones->counter.reads = true; // the allocator may have promised some
    log_line(agones, HC_SV_LOG_INFO, "agones-allocated",
             json_pack("{s:s}", "at", object->allocated));
}

/// Takes an object from an answer; `root` NULL: it is no JSON. False: it is none.
static bool take_json(struct hc_sv_agones *agones, const json_t *root) {
    struct hc_sv_agones_object object;
    if (!hc_sv_agones_object_read(root, &object))
        return false;
    if (agones->port_name != NULL)
        agones->port = hc_sv_agones_object_port(root, agones->port_name);
    take_object(agones, &object);
    return true;
}

// ---- Sessions -----------------------------------------------------------------------------------

static void count_sessions(struct hc_sv_agones *agones) {
    unsigned before = agones->sessions;
    agones->sessions = 0;
    agones->used = 0;
    for (unsigned number = 1; number <= agones->options->matches; number++) {
        struct hc_sv_match *match = hc_sv_worker_match(agones->control->workers, number);
        unsigned sessions = atomic_load_explicit(&match->sessions, memory_order_relaxed);
        agones->sessions += sessions;
        agones->used += sessions > 0;
    }
    if (agones->sessions == 0 && before > 0)
        agones->empty_us = hc_clock_us();
}

/// The workers have published: lists the sessions. While a worker hangs they are as before.
static void on_published(void *context) {
    struct hc_sv_agones *agones = context;
    const struct hc_sv_control *control = agones->control;
    unsigned workers = agones->options->workers;
    for (unsigned i = 0; i < workers; i++)
        if (!hc_sv_control_has_published(control, i))
            return;
    hc_sv_agones_players_clear(&agones->players);
    for (unsigned number = 1; number <= agones->options->matches; number++) {
        const struct hc_sv_match *match = hc_sv_worker_match(control->workers, number);
        if (hc_sv_control_match_hangs(control, number))
            continue;
        for (uint32_t i = 0; i < match->listed_count; i++)
            if (match->listed[i].session.player_count > 0) // others watch
                hc_sv_agones_players_want(&agones->players, match->listed[i].session.client_id);
        agones->serves |= !match->lasts || match->listed_tick > 0;
    }
}

/// Whether promises of allocators have lapsed, and so an allocated server without sessions is
/// empty.
static bool has_lapsed(const struct hc_sv_agones *agones, uint64_t now) {
    return hc_since(agones->empty_us, now) >= agones->options->agones_empty_after_us;
}

// ---- The next request ---------------------------------------------------------------------------

static bool drains(const struct hc_sv_agones *agones) {
    return agones->control->stopping || atomic_load(&agones->control->drains);
}

/// The values that the list of players may have.
static int64_t players_most(const struct hc_sv_agones *agones) {
    const struct hc_sv_options *options = agones->options;
    int64_t most = (int64_t)options->matches * (options->clients - options->npcs);
    return most < HC_SV_AGONES_PLAYERS_MAX ? most : HC_SV_AGONES_PLAYERS_MAX;
}

/// The change of the counter: to the rooms in use, or to all while nobody may join, so that no
/// allocator chooses this server.
static int64_t rooms_change(const struct hc_sv_agones *agones, uint64_t now) {
    if (drains(agones))
        return agones->rooms.capacity - agones->rooms.count;
    return hc_sv_agones_rooms_change(&agones->rooms, agones->used, has_lapsed(agones, now));
}

/// Notes the rooms in use while the counter is right: one that ends is taken out of it.
static void note_rooms(struct hc_sv_agones *agones, uint64_t now) {
    if (agones->counter.known && rooms_change(agones, now) == 0)
        agones->rooms.used = agones->used;
}

/// Whether a state may be asked for: none was, or it has not come for a while.
static bool may_ask(const struct hc_sv_agones *agones, uint64_t now) {
    return agones->asked_us == 0 || hc_since(agones->asked_us, now) >= AGAIN_US;
}

/// Whether an allocated server has been empty for so long that it is done.
static bool is_empty(const struct hc_sv_agones *agones, enum hc_sv_agones_empty then,
                     uint64_t now) {
    return agones->object.state == HC_SV_AGONES_ALLOCATED && agones->sessions == 0 &&
           has_lapsed(agones, now) && agones->options->agones_empty == then;
}

static bool wants_ready(const struct hc_sv_agones *agones, uint64_t now) {
    enum hc_sv_agones_state state = agones->object.state;
    if (!agones->known || !agones->serves || drains(agones) || !may_ask(agones, now) ||
        !hc_sv_control_is_healthy(agones->control))
        return false;
    // Without a cluster the sidecar begins as Ready.
    return state == HC_SV_AGONES_BEFORE || (state == HC_SV_AGONES_READY && !agones->asked_ready) ||
           is_empty(agones, HC_SV_AGONES_EMPTY_READY, now);
}

static bool wants_allocate(const struct hc_sv_agones *agones, uint64_t now) {
    enum hc_sv_agones_state state = agones->object.state;
    return agones->sessions > 0 && may_ask(agones, now) &&
           (state == HC_SV_AGONES_READY || state == HC_SV_AGONES_RESERVED);
}

/// Whether a value of the list is to be added, or removed.
static bool wants_player(const struct hc_sv_agones *agones, bool adds, uint64_t now) {
    bool next_adds;
    return agones->list.known &&
           hc_sv_agones_players_next(&agones->players, has_lapsed(agones, now), &next_adds) !=
               NULL &&
           next_adds == adds;
}

static bool may_read(const struct hc_sv_agones *agones, const struct shared *shared, uint64_t now) {
    return agones->known && shared->reads && now >= shared->next_us;
}

/// Whether a call of the line `other` is due.
static bool is_due(const struct hc_sv_agones *agones, enum call call, uint64_t now) {
    switch (call) {
    case READ_OBJECT:
        return !agones->known || (agones->port_name != NULL && agones->port == 0);
    case SHUTDOWN:
        return agones->drained_us != 0 && !agones->shut_down;
    case READY:
        return wants_ready(agones, now);
    case ALLOCATE:
        return wants_allocate(agones, now);
    case READ_ROOMS:
        return may_read(agones, &agones->counter, now);
    case SIZE_ROOMS:
        return agones->counter.known && agones->rooms.capacity != agones->options->matches;
    case CHANGE_ROOMS:
        return agones->counter.known && rooms_change(agones, now) != 0;
    case READ_PLAYERS:
        return may_read(agones, &agones->list, now);
    case SIZE_PLAYERS:
        return agones->list.known && agones->players.capacity != players_most(agones);
    case REMOVE_PLAYER:
        return wants_player(agones, false, now);
    case ADD_PLAYER:
        return wants_player(agones, true, now);
    default:
        return false;
    }
}

/// A number as the sidecar takes it.
static json_t *number(int64_t value) {
    return json_sprintf("%" PRId64, value);
}

/// The body of a request; NULL: it has none, or no memory. POST without one is an error there.
static json_t *body_of(const struct hc_sv_agones *agones, enum call call, uint64_t now) {
    bool adds;
    switch (call) {
    case SIZE_ROOMS:
        return json_pack("{s:o}", "capacity", number(agones->options->matches));
    case CHANGE_ROOMS:
        return json_pack("{s:o}", "countDiff", number(rooms_change(agones, now)));
    case SIZE_PLAYERS:
        return json_pack("{s:o}", "capacity", number(players_most(agones)));
    case REMOVE_PLAYER:
    case ADD_PLAYER:
        return json_pack(
            "{s:s}", "value",
            hc_sv_agones_players_next(&agones->players, has_lapsed(agones, now), &adds));
    default:
        return calls[call].method == EVHTTP_REQ_POST ? json_object() : NULL;
    }
}

// ---- Answers ------------------------------------------------------------------------------------

static void wait_after(struct line *line, uint64_t now) {
    uint64_t wait_us = RETRY_FIRST_US;
    line->failures++;
    for (unsigned i = 1; i < line->failures && wait_us < RETRY_MOST_US; i++)
        wait_us *= 2;
    line->next_us = now + (wait_us < RETRY_MOST_US ? wait_us : RETRY_MOST_US);
}

/// The list or the counter of a call; NULL: it is of neither.
static struct shared *shared_of(struct hc_sv_agones *agones, enum call call) {
    if (call == READ_ROOMS || call == SIZE_ROOMS || call == CHANGE_ROOMS)
        return &agones->counter;
    return call >= READ_PLAYERS ? &agones->list : NULL;
}

/// A call has failed: `status` 0: without an answer.
static void take_failure(struct hc_sv_agones *agones, struct line *line, int status,
                         const char *why) {
    uint64_t now = hc_clock_us();
    struct shared *shared = shared_of(agones, line->call);
    if (shared != NULL) {
        shared->reads = true;
        shared->known = false;
        // A gameserver that has none never gets one; and it must not delay the others.
        shared->next_us = now + (shared->failures++ > 0 ? QUIET_US : SESSIONS_US);
    }
    if (shared == NULL || status == 0)
        wait_after(line, now);
    if (status == 0)
        note_silence(agones, line, why);
    else
        note_refusal(agones, line->call, status, why);
}

/// The sentence of an error that the sidecar gives.
static void explain(const struct hc_sv_agones_answer *answer, char why[WHY_MAX]) {
    json_t *root = json_loadb(answer->body, answer->size, 0, NULL);
    const char *message = json_string_value(json_object_get(root, "message"));
    hc_sv_agones_copy(message != NULL ? message : "it gives no reason", why, WHY_MAX);
    json_decref(root);
}

/// Takes what a successful call has read or changed. False: its answer cannot be used.
static bool take_answer(struct hc_sv_agones *agones, enum call call, const json_t *root,
                        uint64_t now) {
    const char *value = json_string_value(json_object_get(agones->change, "value"));
    switch (call) {
    case READ_OBJECT:
        if (agones->awaits) // it may get its ports later
            agones->other.next_us = now + SESSIONS_US;
        return take_json(agones, root);
    case READ_ROOMS:
        agones->counter.known = hc_sv_agones_rooms_read(&agones->rooms, root);
        agones->counter.reads = !agones->counter.known;
        return agones->counter.known;
    case READ_PLAYERS:
        agones->list.known = hc_sv_agones_players_read(&agones->players, root);
        agones->list.reads = !agones->list.known;
        return agones->list.known;
    case SIZE_ROOMS:
    case CHANGE_ROOMS:
        agones->rooms.used = agones->used;
        agones->counter = (struct shared){.reads = true, .next_us = now + SESSIONS_US};
        return true;
    case SIZE_PLAYERS:
        agones->list = (struct shared){.reads = true, .next_us = now + SESSIONS_US};
        return true;
    case REMOVE_PLAYER:
    case ADD_PLAYER:
        hc_sv_agones_players_change(&agones->players, value, call == ADD_PLAYER);
        return true;
    case READY:
        agones->asked_ready = true;
        agones->asked_us = now;
        return true;
    case ALLOCATE:
        agones->asked_us = now;
        return true;
    case SHUTDOWN:
        agones->shut_down = true;
        log_line(agones, HC_SV_LOG_INFO, "agones-shutdown", NULL);
        return true;
    default:
        return true;
    }
}

/// A call has succeeded.
static void take_success(struct hc_sv_agones *agones, struct line *line) {
    struct shared *shared = shared_of(agones, line->call);
    if (shared != NULL)
        shared->failures = 0;
    note_answer(agones, line);
}

/// An answer of the lines `health` and `other`.
static void on_answer(struct hc_sv_agones *agones, struct line *line,
                      const struct hc_sv_agones_answer *answer) {
    char why[WHY_MAX];
    bool reads = calls[line->call].method == EVHTTP_REQ_GET;
    if (answer->status == 0) {
        take_failure(agones, line, 0, answer->why);
        return;
    }
    if (answer->status != HTTP_OK) {
        explain(answer, why);
        take_failure(agones, line, answer->status, why);
        return;
    }
    json_t *root = reads ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    if (take_answer(agones, line->call, root, hc_clock_us()))
        take_success(agones, line);
    else
        take_failure(agones, line, answer->status, "the answer is not as documented");
    json_decref(root);
    event_active(agones->look, EV_TIMEOUT, 0);
}

static void on_health_answer(void *context, const struct hc_sv_agones_answer *answer) {
    struct hc_sv_agones *agones = context;
    on_answer(agones, &agones->health, answer);
}

static void on_other_answer(void *context, const struct hc_sv_agones_answer *answer) {
    struct hc_sv_agones *agones = context;
    on_answer(agones, &agones->other, answer);
}

/// The stream of changes has ended, or was never one.
static void on_watch_end(void *context, const struct hc_sv_agones_answer *answer) {
    struct hc_sv_agones *agones = context;
    struct line *line = &agones->watch;
    if (line->events > 0) // it is opened again, and begins with the newest object
        line->next_us = hc_clock_us() + SESSIONS_US;
    else
        take_failure(agones, line, answer->status,
                     answer->status == 0 ? answer->why : "the stream has no event");
}

/// An event of the stream, which may be one that came before.
static bool on_watch_event(void *context, const char *text, size_t size) {
    struct hc_sv_agones *agones = context;
    struct line *line = &agones->watch;
    json_t *root = json_loadb(text, size, 0, NULL);
    bool good = take_json(agones, json_object_get(root, "result"));
    json_decref(root);
    if (!good)
        return false;
    line->events++;
    line->since_us = hc_clock_us();
    note_answer(agones, line);
    return true;
}

// ---- Requests -----------------------------------------------------------------------------------

static void ask(struct hc_sv_agones *agones, struct line *line, enum call call, uint64_t now) {
    json_t *body = body_of(agones, call, now);
    char *text = body == NULL ? NULL : json_dumps(body, JSON_COMPACT);
    line->call = call;
    line->events = 0;
    line->since_us = now;
    if (line == &agones->other) {
        json_decref(agones->change);
        agones->change = json_incref(body);
    }
    hc_sv_agones_lane_ask(&line->lane, &(struct hc_sv_agones_request){.method = calls[call].method,
                                                                      .path = calls[call].path,
                                                                      .body = text});
    free(text);
    json_decref(body);
}

/// Ends a request that takes too long, or a stream that cannot be used.
static void cut_overdue(struct hc_sv_agones *agones, struct line *line, uint64_t now) {
    uint64_t waited_us = hc_since(line->since_us, now);
    if (!hc_sv_agones_lane_is_busy(&line->lane))
        return;
    if (line->lane.refuses) {
        hc_sv_agones_lane_cut(&line->lane);
        take_failure(agones, line, HTTP_OK, "a line of the stream is no gameserver");
    } else if (line->events > 0 && waited_us >= QUIET_US) {
        hc_sv_agones_lane_cut(&line->lane); // it is opened again, in case that it is dead
    } else if (line->events == 0 && waited_us >= ANSWER_US) {
        hc_sv_agones_lane_cut(&line->lane);
        take_failure(agones, line, 0, "no answer in 5 s");
    }
}

/// Whether a request may be sent.
static bool is_free(const struct line *line, uint64_t now) {
    return !hc_sv_agones_lane_is_busy(&line->lane) && now >= line->next_us;
}

/// Tells the sidecar that the server is alive, while it is.
static void ping(struct hc_sv_agones *agones, uint64_t now) {
    struct line *line = &agones->health;
    uint64_t period_s =
        agones->known ? agones->object.health_period_s : HC_SV_AGONES_HEALTH_PERIOD_S;
    if (!is_free(line, now) || agones->object.health_is_off ||
        !hc_sv_control_is_healthy(agones->control))
        return;
    ask(agones, line, HEALTH, now);
    line->next_us = now + period_s * HEALTH_US_OF_S;
}

/// Opens the stream of changes. Everything that is shared is read again with it.
static void follow(struct hc_sv_agones *agones, uint64_t now) {
    if (!agones->known || !is_free(&agones->watch, now))
        return;
    agones->list.reads = agones->counter.reads = true;
    ask(agones, &agones->watch, WATCH, now);
}

/// Sends the most urgent of the other requests.
static void ask_next(struct hc_sv_agones *agones, uint64_t now) {
    if (!is_free(&agones->other, now))
        return;
    for (unsigned call = SHUTDOWN; call < CALLS; call++) {
        if (!is_due(agones, call, now))
            continue;
        ask(agones, &agones->other, call, now);
        return;
    }
}

/// Ends a server that is empty, or was drained and shut down and got no SIGTERM.
static void end_if_due(struct hc_sv_agones *agones, uint64_t now) {
    if (!drains(agones) && is_empty(agones, HC_SV_AGONES_EMPTY_SHUTDOWN, now))
        hc_sv_control_drain(agones->control, 0);
    if (agones->drained_us != 0 && hc_since(agones->drained_us, now) >= TERM_WAIT_US)
        hc_sv_control_stop(agones->control, "drained", false);
}

/// Asks the workers for their sessions when there may be some to list.
static void ask_workers(struct hc_sv_agones *agones, uint64_t now) {
    if (hc_since(agones->sessions_us, now) < SESSIONS_US)
        return;
    agones->sessions_us = now;
    hc_sv_control_ask(agones->control);
}

static void on_look(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_agones *agones = context;
    uint64_t now = hc_clock_us();
    (void)descriptor;
    (void)events;
    cut_overdue(agones, &agones->health, now);
    cut_overdue(agones, &agones->watch, now);
    cut_overdue(agones, &agones->other, now);
    if (agones->awaits) {
        ask_next(agones, now);
    } else {
        count_sessions(agones);
        note_rooms(agones, now);
        ask_workers(agones, now);
        ping(agones, now);
        follow(agones, now);
        ask_next(agones, now);
        end_if_due(agones, now);
    }
    hc_loop_arm(agones->look, now + LOOK_US, now);
}

// ---- The port -----------------------------------------------------------------------------------

/// Whether a signal that ends the daemon waits.
static bool is_ended(void) {
    sigset_t waiting;
    return sigpending(&waiting) == 0 &&
           (sigismember(&waiting, SIGTERM) == 1 || sigismember(&waiting, SIGINT) == 1);
}

/// Waits for the port. False: failed, and `why` is a sentence.
static bool await_port(struct hc_sv_agones *agones, char *why, size_t why_size) {
    uint64_t until_us = hc_clock_us() + PORT_WAIT_US;
    const char *name = agones->port_name;
    agones->awaits = true;
    while (agones->port == 0 && hc_clock_us() < until_us && !is_ended())
        event_base_loop(agones->control->base, EVLOOP_ONCE);
    agones->awaits = false;
    if (agones->port != 0)
        return true;
    if (is_ended())
        snprintf(why, why_size, "--agones-port '%s': a signal came before the port was known",
                 name);
    else if (agones->known)
        snprintf(why, why_size, "--agones-port '%s': the gameserver has no port of this name",
                 name);
    else
        snprintf(why, why_size, "--agones-port '%s': no answer of the sidecar in 60 s", name);
    return false;
}

// ---- Lifecycle ----------------------------------------------------------------------------------

/// The port of the sidecar; 0: AGONES_SDK_HTTP_PORT is none, and `why` is a sentence.
static uint16_t sidecar_port(char *why, size_t why_size) {
    const char *text = getenv("AGONES_SDK_HTTP_PORT");
    if (text == NULL || *text == '\0')
        return PORT_DEFAULT;
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && port >= 1 && port <= UINT16_MAX)
        return (uint16_t)port;
    snprintf(why, why_size,
             "AGONES_SDK_HTTP_PORT '%s': must be a whole number in [1, 65535] for --agones", text);
    return 0;
}

/// The drain has ended: nobody plays any more, or the time is up.
static void on_drained(void *context) {
    struct hc_sv_agones *agones = context;
    agones->drained_us = hc_clock_us();
    event_active(agones->look, EV_TIMEOUT, 0);
}

/// Makes the three lines and the timer; false: no memory.
static bool open_lines(struct hc_sv_agones *agones, uint16_t port) {
    struct event_base *base = agones->control->base;
    const struct hc_sv_agones_lane_reader health = {.answered = on_health_answer,
                                                    .context = agones},
                                          other = {.answered = on_other_answer, .context = agones},
                                          watch = {.answered = on_watch_end,
                                                   .line = on_watch_event,
                                                   .context = agones};
    agones->look = evtimer_new(base, on_look, agones);
    return agones->look != NULL && hc_sv_agones_players_open(&agones->players) &&
           hc_sv_agones_lane_open(&agones->health.lane, base, port, &health) &&
           hc_sv_agones_lane_open(&agones->watch.lane, base, port, &watch) &&
           hc_sv_agones_lane_open(&agones->other.lane, base, port, &other);
}

struct hc_sv_agones *hc_sv_agones_open(struct hc_sv_control *control, uint16_t *port, char *why,
                                       size_t why_size) {
    why[0] = '\0';
    if (!control->options->agones)
        return NULL;
    uint16_t sidecar = sidecar_port(why, why_size);
    if (sidecar == 0)
        return NULL;
    struct hc_sv_agones *agones = calloc(1, sizeof(*agones));
    snprintf(why, why_size, "--agones: no memory");
    if (agones == NULL)
        return NULL;
    agones->control = control;
    agones->options = control->options;
    agones->port_name = control->options->agones_port;
    agones->empty_us = hc_clock_us();
    if (open_lines(agones, sidecar)) {
        uint64_t now = hc_clock_us();
        control->fleet =
            (struct hc_sv_control_reader){.published = on_published, .context = agones};
        control->drained = on_drained;
        hc_loop_arm(agones->look, now, now);
        if (agones->port_name == NULL)
            return agones;
        if (await_port(agones, why, why_size)) {
            *port = agones->port;
            return agones;
        }
    }
    hc_sv_agones_close(agones);
    return NULL;
}

void hc_sv_agones_close(struct hc_sv_agones *agones) {
    if (agones == NULL)
        return;
    hc_sv_agones_lane_close(&agones->health.lane);
    hc_sv_agones_lane_close(&agones->watch.lane);
    hc_sv_agones_lane_close(&agones->other.lane);
    hc_loop_free_event(agones->look);
    hc_sv_agones_players_close(&agones->players);
    json_decref(agones->change);
    free(agones);
}
