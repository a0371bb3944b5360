/// Owns the server of a match, and what the log and the report say about it.
#include "server/daemon/match.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/counters.h"
#include "common/programs/crash.h"
#include "common/programs/report.h"
#include "common/programs/thread.h"
#include "hindcast/check.h"
#include "server/daemon/event_line.h"
#include "server/daemon/here.h"
#include "server/daemon/wall_clock.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    EMPTY_US = 2000000,   ///< a match without clients gets another world after this: until then the
                          ///< last ones repeat their CLOSE
    JOIN_EACH_US = 10000, ///< between two checks of the maker of a world
    SEED_BITS = 53,       ///< of a seed: every JSON reader reads these exactly
    REMEMBERED_MIN = 512, ///< users whose used tokens a match remembers, at least
    FAREWELL_ROUNDS = 20, ///< farewells that each client of it is sent
    FAREWELL_EACH_US = 75000, ///< between two of them
    LOAD_SCALE = 256,         ///< hc_sv_match.load_scale of a match that has the worker for itself
};

// ---- The server ---------------------------------------------------------------------------------

/// Decides about a user without a session.
static enum hc_deny_reason admit(void *context, const struct hc_server_user *user,
                                 const struct hc_address *from) {
    atomic_bool *drains = context;
    (void)user;
    (void)from;
    return atomic_load_explicit(drains, memory_order_relaxed) ? HC_DENY_SHUTDOWN : 0;
}

/// The configuration of the server of a match. The only one has the port for itself, and takes
/// tickets of any match: of a daemon that had several before.
static struct hc_server_config config_of(const struct hc_sv_match_setting *setting,
                                         const struct hc_sv_play_settings *settings,
                                         uint16_t number, const struct hc_token_ring *keys) {
    const struct hc_sv_options *options = setting->options;
    bool shares_port = options->matches > 1;
    struct hc_server_config config = hc_server_config_default();
    config.game = &setting->game;
    config.rule_hash = options->plugin.rule_hash;
    hc_sv_options_configure(settings, number, &config);
    config.keys = *keys;
    config.admit = admit;
    config.admit_context = setting->drains;
    if (!shares_port)
        return config;
    config.match = number;
    config.matches = options->matches;
    config.cookie_secret = setting->cookie_secret;
    config.remembered_users /= options->matches;
    if (config.remembered_users < REMEMBERED_MIN)
        config.remembered_users = REMEMBERED_MIN;
    return config;
}

const char *hc_sv_match_check(const struct hc_sv_match_setting *setting,
                              const struct hc_token_ring *keys, char *why, size_t why_size) {
    struct hc_sv_play_settings settings = hc_sv_options_play(setting->options);
    struct hc_server_config config = config_of(setting, &settings, 1, keys);
    const char *found = hc_server_config_check(&config, why, why_size);
    sodium_memzero(&config, sizeof(config));
    return found;
}

/// The seed of the match's next world. By --seed S the worlds of all matches have S, S + 1 and so
/// on: first the first world of each match.
static uint64_t next_seed(const struct hc_sv_match *match) {
    const struct hc_sv_options *options = match->setting->options;
    uint64_t seed = options->seed, which = match->worlds * options->matches + match->number - 1u;
    if (!options->given[HC_SV_SETTING_seed] && which > 0)
        randombytes_buf(&seed, sizeof(seed));
    else
        seed += which;
    return seed & ((UINT64_C(1) << SEED_BITS) - 1);
}

/// A server of `config`, which is erased, for the match's world of `seed`; NULL: no memory.
static struct hc_server *create(const struct hc_sv_match *match, struct hc_server_config *config,
                                uint64_t seed) {
    config->seed = seed;
    struct hc_server *server = hc_server_create(
        config, hc_sv_wall_clock_bounded_us(match->setting->wall_clock), hc_clock_us());
    sodium_memzero(config, sizeof(*config));
    return server;
}

/// Makes `server` (NULL: it could not be created) the match's, with the world of `seed`. False: no
/// memory; then the match keeps its former one.
static bool use_server(struct hc_sv_match *match, struct hc_server *server, uint64_t seed) {
    struct hc_sv_npcs *npcs =
        server != NULL ? hc_sv_npcs_create(server, match->setting->options) : NULL;
    if (npcs == NULL) {
        hc_server_destroy(server);
        return false;
    }
    if (match->server != NULL)
        hc_server_follow(server, match->server);
    hc_sv_npcs_destroy(match->npcs);
    hc_server_destroy(match->server);
    match->npcs = npcs;
    match->server = server;
    hc_sv_match_trace_of(match)->server = NULL;
    match->seed = seed;
    match->worlds++;
    return true;
}

/// Sets the counts of the present world to none.
static void begin_report(struct hc_sv_match *match) {
    const struct hc_sv_options *options = match->setting->options;
    match->report.version = match->setting->version;
    match->report.seed = match->seed;
    match->report.tick_rate = options->tick_rate;
    match->report.host = hc_server_stats(match->server);
    match->report.timeline = hc_timeline_stats(hc_server_timeline(match->server));
}

bool hc_sv_match_open(struct hc_sv_match *match, const struct hc_sv_match_setting *setting,
                      uint16_t number, const struct hc_token_ring *keys) {
    match->setting = setting;
    match->number = number;
    match->lasts = setting->options->matches == 1;
    match->shown = match->lasts ? 0 : number;
    match->idle = !match->lasts;
    match->load_scale = LOAD_SCALE;
    match->settings = hc_sv_options_play(setting->options);
    match->status.every_us = match->settings.status_every_us;
    match->status.match = match->shown;
    hc_sv_faults_open(&match->faults);
    match->listed_most = setting->options->clients + setting->options->spectators;
    bool lists = setting->options->admin != NULL || setting->options->agones ||
                 setting->options->query_port != 0;
    if (lists)
        match->listed = calloc(match->listed_most, sizeof(*match->listed));
    if ((lists && match->listed == NULL) ||
        !hc_sv_farewells_open(&match->farewells, match->listed_most) ||
        !hc_sv_published_open(&match->counts, sizeof(struct hc_sv_match_counts)))
        return false;
    uint64_t seed = next_seed(match);
    struct hc_server_config config = config_of(setting, &match->settings, number, keys);
    if (!use_server(match, create(match, &config, seed), seed))
        return false;
    if (setting->options->admin != NULL || setting->options->trace != NULL) {
        match->rewinds = hc_rewind_log_create(hc_server_world(match->server), NULL);
        if (match->rewinds == NULL)
            return false;
    }
    begin_report(match);
    hc_sv_match_renew_deadline(match);
    return true;
}

/// Gives the server the settings in force.
static void reconfigure(struct hc_sv_match *match, uint64_t now_us) {
    struct hc_server_config config = hc_server_config_default();
    hc_sv_options_configure(&match->settings, match->number, &config);
    enum hc_status status = hc_server_reconfigure(match->server, &config, now_us);
    HC_ASSERT(status == HC_OK); // the ranges of the settings are narrower
}

void hc_sv_match_set(struct hc_sv_match *match, const struct hc_sv_play_settings *settings,
                     uint64_t now_us) {
    match->settings = *settings;
    match->status.every_us = settings->status_every_us;
    reconfigure(match, now_us);
}

void hc_sv_match_begin(struct hc_sv_match *match, uint64_t now_us) {
    if (match->idle)
        return;
    hc_server_start(match->server, now_us);
    hc_sv_match_renew_deadline(match);
}

bool hc_sv_match_join(struct hc_sv_match *match, uint64_t until_us) {
    while (match->makes && !atomic_load(&match->made)) {
        if (hc_clock_us() >= until_us)
            return false;
        hc_clock_sleep(JOIN_EACH_US);
    }
    if (match->makes)
        pthread_join(match->maker, NULL);
    match->makes = false;
    return true;
}

void hc_sv_match_close(struct hc_sv_match *match) {
    hc_server_destroy(match->next);
    hc_sv_npcs_destroy(match->npcs);
    match->npcs = NULL;
    hc_server_destroy(match->server);
    match->server = NULL;
    hc_sv_published_close(&match->counts);
    free(match->listed);
    hc_rewind_log_destroy(match->rewinds);
    hc_sv_farewells_close(&match->farewells);
    hc_sv_faults_close(&match->faults);
}

// ---- Events -------------------------------------------------------------------------------------

void hc_sv_match_log(struct hc_sv_match *match, enum hc_sv_log_level level, const char *event,
                     json_t *fields) {
    if (match->shown != 0)
        json_object_set_new(fields, "match", json_integer(match->shown));
    hc_sv_log_event(match->setting->log, level, event, fields);
}

void hc_sv_match_update_placement(struct hc_sv_match *match) {
    struct hc_server_session sessions[2 * HC_SERVER_MATCH_CLIENTS_MAX];
    const struct hc_sv_match_setting *setting = match->setting;
    match->refuses = match->report.host->overload.level >= HC_SERVER_OVERLOAD_REFUSE;
    if (setting->placement == NULL)
        return;
    uint32_t count = hc_server_sessions(match->server, sessions, 2 * HC_SERVER_MATCH_CLIENTS_MAX);
    pthread_mutex_lock(setting->placement_lock);
    hc_sv_placement_set_match(setting->placement, match->number, sessions, count, match->refuses);
    pthread_mutex_unlock(setting->placement_lock);
}

/// Logs an entry of the match's faults (NULL: none), which the report lists too.
static void log_fault(struct hc_sv_match *match, const char *event, const json_t *entry) {
    if (entry == NULL)
        return;
    json_t *fields = json_deep_copy(entry); // another thread may read the list
    json_object_set(fields, "why", json_object_get(fields, "text"));
    json_object_del(fields, "text");
    hc_sv_match_log(match, HC_SV_LOG_ERROR, event, fields);
}

/// Logs the values that steps wrote although they do not fit their fields.
static void log_overflows(struct hc_sv_match *match) {
    json_t *entry;
    while ((entry = hc_sv_faults_next_overflow(&match->faults, match->server)) != NULL)
        log_fault(match, "overflow", entry);
}

void hc_sv_match_log_events(struct hc_sv_match *match) {
    struct hc_server_event event;
    const char *name;
    bool any = false;
    while (hc_server_poll_event(match->server, &event)) {
        if (event.kind == HC_SERVER_EVENT_LEFT && event.close == HC_CLOSE_DESYNC)
            log_fault(match, "desync", hc_sv_faults_add_desync(&match->faults, &event));
        json_t *fields = hc_sv_event_line(match->server, &event, &name);
        hc_sv_match_log(match, HC_SV_LOG_INFO, name, fields);
        any = true;
    }
    if (!any)
        return;
    hc_sv_farewells_renew(&match->farewells, match->server);
    match->farewell_rounds = 0; // they are of other clients now
    atomic_store_explicit(&match->clients, hc_server_clients(match->server), memory_order_relaxed);
    match->idle = match->idle && match->report.host->joins == 0;
    atomic_store(&match->sessions, hc_server_sessions(match->server, NULL, 0));
    if (atomic_load(&match->sessions) > 0)
        match->empty_us = 0;
    else if (match->empty_us == 0)
        match->empty_us = hc_clock_us();
    hc_sv_match_update_placement(match);
}

void hc_sv_match_log_troubles(struct hc_sv_match *match, bool last, uint64_t now_us) {
    hc_sv_status_log_troubles(&match->status, match->setting->log, &match->report, last, now_us);
}

void hc_sv_match_drop_messages(struct hc_sv_match *match) {
    struct hc_server_message received;
    while (hc_server_next_message(match->server, &received) != NULL)
        // Below debug, a message must not cost an allocation.
        if (hc_sv_log_takes(match->setting->log, HC_SV_LOG_DEBUG))
            hc_sv_match_log(match, HC_SV_LOG_DEBUG, "message",
                            json_pack("{s:I, s:i}", "cid", (json_int_t)received.cid, "bytes",
                                      (int)received.size));
}

// ---- Calls into the rule of the game ------------------------------------------------------------

/// A call into the match, which may hang: everything that it uses is read before it begins.
struct call {
    struct hc_sv_watch *watch;
    struct hc_server *server;
    struct hc_sv_npcs *npcs;
};

/// Begins a call that runs functions of the game; `phase` is as in hc_sv_here.
static struct call enter(struct hc_sv_match *match, const char *phase, uint64_t now_us) {
    struct call call = {.watch = match->watch, .server = match->server, .npcs = match->npcs};
    hc_sv_here_begin(match->number, phase, call.server);
    hc_sv_watch_begin(call.watch, match->number, now_us);
    return call;
}

/// Ends it. If the call hung for so long that the worker got another thread, this one ends, and
/// uses neither the match nor anything else.
static void leave(const struct call *call) {
    hc_sv_here_end();
    if (hc_sv_watch_end(call->watch))
        return;
    atomic_store(&call->watch->left, true);
    pthread_exit(NULL);
}

// ---- Datagrams and ticks ------------------------------------------------------------------------

/// The newest time up to `now_us` at which the match may begin its first tick.
static uint64_t begin_us(const struct hc_sv_match *match, uint64_t now_us) {
    uint64_t rate = match->setting->options->tick_rate;
    uint64_t first_us = match->setting->began_us + match->phase_us;
    if (now_us <= first_us)
        return now_us;
    return first_us + hc_since(first_us, now_us) * rate / 1000000 * 1000000 / rate;
}

/// Notes that the match is given a datagram. A CONNECT sets the first tick of an idle one.
static void touch(struct hc_sv_match *match, const struct hc_sv_datagram *datagram) {
    if (match->idle && hc_datagram_kind(datagram->bytes, datagram->size) == HC_DATAGRAM_CONNECT)
        hc_server_start(match->server, begin_us(match, datagram->arrived_us));
    match->touched = true;
}

enum hc_status hc_sv_match_receive(struct hc_sv_match *match,
                                   const struct hc_sv_datagram *datagram) {
    touch(match, datagram);
    const struct call call = enter(match, "receive", hc_clock_us());
    enum hc_status status = hc_server_receive(call.server, &datagram->from, datagram->bytes,
                                              datagram->size, datagram->arrived_us);
    leave(&call);
    return status;
}

enum hc_status hc_sv_match_receive_placed(struct hc_sv_match *match,
                                          const struct hc_sv_datagram *datagram,
                                          struct hc_sv_placed *placed) {
    touch(match, datagram);
    const struct call call = enter(match, "receive", hc_clock_us());
    enum hc_status status =
        hc_sv_placement_give(placed, call.server, &datagram->from, datagram->bytes, datagram->size,
                             datagram->arrived_us);
    leave(&call);
    return status;
}

size_t hc_sv_match_send(struct hc_sv_match *match, struct hc_address *to,
                        uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    const struct call call = enter(match, "send", now_us);
    size_t size = hc_sv_match_trace_send(hc_sv_match_trace_of(match), call.server, to, out, now_us);
    leave(&call);
    return size;
}

void hc_sv_match_renew_deadline(struct hc_sv_match *match) {
    match->touched = false;
    match->deadline_us = match->idle ? UINT64_MAX : hc_server_deadline(match->server);
}

/// Counts the clients of the ticks that the server has just simulated; true: it simulated any.
static bool count_ticks(struct hc_sv_match *match) {
    hc_tick head = hc_timeline_head(hc_server_timeline(match->server));
    if (head == match->counted_tick)
        return false;
    unsigned clients = hc_server_clients(match->server);
    atomic_store_explicit(&match->clients, clients, memory_order_relaxed);
    match->report.work.client_ticks += (uint64_t)(head - match->counted_tick) * clients;
    if (clients > match->report.clients_most)
        match->report.clients_most = clients;
    match->counted_tick = head;
    return true;
}

void hc_sv_match_begin_turn(struct hc_sv_match *match, uint64_t late_us) {
    // The track may still be used by a call that hangs.
    if (match->rewinds == NULL || atomic_load(&match->left_worlds) > 0)
        return;
    hc_sv_tracing_track *track = &match->setting->tracing->matches[match->number - 1];
    hc_sv_match_trace_begin(hc_sv_match_trace_of(match), hc_sv_tracing_get(track), match->server,
                            match->rewinds, late_us);
}

bool hc_sv_match_advance(struct hc_sv_match *match, uint64_t now_us) {
    const struct call call = enter(match, "advance", now_us);
    hc_sv_npcs_think(call.npcs);
    hc_server_advance(call.server, now_us);
    leave(&call);
    return count_ticks(match);
}

void hc_sv_match_end_tick(struct hc_sv_match *match, uint64_t work_us, uint64_t now_us) {
    struct hc_sv_report *report = &match->report;
    struct hc_sv_log *log = match->setting->log;
    hc_histogram_record(&report->work.tick_us, work_us);
    report->work.worked_too_long += work_us > 1000000 / match->setting->options->tick_rate;
    hc_sv_status_add_tick(&match->status, work_us);
    log_overflows(match);
    hc_sv_match_log_troubles(match, false, now_us);
    hc_sv_status_log(&match->status, log, report, hc_server_clients(match->server), now_us);
    hc_sv_status_log_overload(&match->status, log, report->host);
    if (match->refuses != (report->host->overload.level >= HC_SERVER_OVERLOAD_REFUSE))
        hc_sv_match_update_placement(match);
    hc_sv_status_log_remembered(&match->status, log, &report->host->remembered);
}

void hc_sv_match_inspect(struct hc_sv_match *match, const struct hc_sv_probe_work *work,
                         uint64_t now_us) {
    struct hc_sv_probe_seat *seat = &match->inspected;
    // A call that hangs may still write to the log of rewinds.
    if (!hc_sv_probe_seat_is_taken(seat) || atomic_load(&match->left_worlds) > 0)
        return;
    hc_sv_probe_seat_renew(seat, match->server, match->worlds, match->rewinds);
    if (seat->held != NULL)
        hc_server_log_rewinds(match->server, match->rewinds);
    else if (hc_sv_match_trace_of(match)->server == NULL) // otherwise the trace reads the log
        hc_server_log_rewinds(match->server, NULL);
    if (seat->held != NULL)
        hc_sv_probe_note(seat->held, match->server, match->rewinds, work, now_us);
}

// ---- Worlds -------------------------------------------------------------------------------------

bool hc_sv_match_is_over(const struct hc_sv_match *match, uint64_t now_us) {
    if (match->lasts || match->idle)
        return false;
    if (hc_server_ended(match->server))
        return hc_server_closed(match->server);
    return hc_server_sessions(match->server, NULL, 0) == 0 && match->empty_us != 0 &&
           now_us >= match->empty_us + EMPTY_US;
}

static void *make_next(void *context) {
    struct hc_sv_match *match = context;
    hc_crash_watch_thread();
    match->maker_watch.thread = pthread_self();
    hc_sv_here_begin(match->number, "next-world", NULL);
    hc_sv_watch_begin(&match->maker_watch, match->number, hc_clock_us());
    match->next = create(match, &match->next_config, match->next_seed);
    hc_sv_watch_end(&match->maker_watch);
    hc_sv_here_end();
    atomic_store(&match->made, true);
    return NULL;
}

/// Begins the counts of the match's next world, which its log line tells.
static void begin_world(struct hc_sv_match *match) {
    match->counted_tick = 0;
    match->idle = !match->lasts;
    match->empty_us = 0;
    match->faults.seen = 0;
    match->status = (struct hc_sv_status){.every_us = match->status.every_us,
                                          .match = match->shown,
                                          .ticks.count = match->report.work.worked_too_long,
                                          .remembered = match->status.remembered};
    begin_report(match);
    hc_sv_match_update_placement(match);
    hc_sv_match_renew_deadline(match);
    hc_sv_match_log(match, HC_SV_LOG_INFO, "match-renewed",
                    json_pack("{s:I, s:I}", "worlds", (json_int_t)match->worlds, "seed",
                              (json_int_t)match->seed));
}

/// Gives the match, which is over, its next world.
static void renew(struct hc_sv_match *match, const struct hc_token_ring *keys, uint64_t now_us) {
    struct hc_server_stats past = match->past;
    struct hc_timeline_stats timeline = {0};
    hc_sv_report_add_ended(&past, hc_server_stats(match->server));
    hc_counters_add(&hc_counters_timeline, &timeline,
                    hc_timeline_stats(hc_server_timeline(match->server)));
    hc_sv_match_log_troubles(match, true, now_us);
    hc_sv_match_log_events(match); // the last ones end with the server
    if (!use_server(match, match->next, match->next_seed)) {
        hc_sv_match_log(match, HC_SV_LOG_ERROR, "match-not-renewed",
                        json_pack("{s:s}", "why", "no memory for another world"));
        return;
    }
    (void)hc_server_set_keys(match->server, keys); // they may have changed meanwhile
    reconfigure(match, now_us);
    match->past = past;
    hc_counters_add(&hc_counters_timeline, &match->past_timeline, &timeline);
    match->past_ticks += match->counted_tick;
    begin_world(match);
}

/// Has the next world made by a thread of its own.
static void make(struct hc_sv_match *match, const struct hc_token_ring *keys) {
    match->next_seed = next_seed(match);
    match->next_config = config_of(match->setting, &match->settings, match->number, keys);
    atomic_store(&match->made, false);
    match->makes = hc_thread_start(&match->maker, make_next, match);
}

/// Ends the thread that has made the next world; false: it must go on for now.
static bool end_maker(struct hc_sv_match *match) {
    if (!hc_sv_watchdog_leave(match->setting->watchdog, match->maker))
        return false;
    pthread_join(match->maker, NULL);
    match->makes = false;
    return true;
}

void hc_sv_match_renew(struct hc_sv_match *match, const struct hc_token_ring *keys,
                       uint64_t now_us) {
    bool over = hc_sv_match_is_over(match, now_us);
    if (match->makes && atomic_load(&match->made)) {
        if (!end_maker(match))
            return;
        if (over)
            renew(match, keys, now_us);
        else
            hc_server_destroy(match->next); // a client came meanwhile
        match->next = NULL;
        return;
    }
    if (!match->makes && over)
        make(match, keys);
}

// ---- Worlds that are left -----------------------------------------------------------------------

/// Logs that the match is stuck. `follows`: another world follows.
static void log_stuck(struct hc_sv_match *match, const struct hc_sv_match_counts *counts,
                      bool follows, uint64_t now_us) {
    uint32_t clients;
    (void)hc_sv_farewells_read(&match->farewells, &clients);
    const char *why = follows ? "the call does not return: the clients come back to another world"
                      : match->farewell_restarts
                          ? "the call does not return: the clients come back to another server"
                          : "the call does not return, and no other world follows";
    hc_sv_log_event(match->setting->log, HC_SV_LOG_ERROR, "match-stuck",
                    json_pack("{s:i, s:I, s:I, s:i, s:s}", "match", (int)match->number, "ticks",
                              (json_int_t)counts->ticks, "lasted_ms",
                              (json_int_t)(hc_since(match->stuck->since_us, now_us) / 1000),
                              "clients", (int)clients, "why", why));
}

void hc_sv_match_decide(struct hc_sv_match *match, enum hc_sv_stuck_fate fate) {
    atomic_store(&match->stuck->fate, (int)fate);
    match->stuck = NULL;
}

/// Leaves the world to the call that hangs; false: it has returned.
static bool leave_world(struct hc_sv_match *match, bool ends, bool restarts, uint64_t now_us) {
    struct hc_sv_stuck *stuck = match->stuck;
    bool process_ends = match->setting->options->stuck_policy == HC_SV_STUCK_POLICY_END;
    bool follows = !ends && !process_ends && atomic_load(&match->left_worlds) == 0;
    static const struct hc_server_stats none;
    struct hc_sv_match_counts counts;
    int waits = HC_SV_STUCK_WAITS;
    if (!atomic_compare_exchange_strong(&stuck->fate, &waits, HC_SV_STUCK_LEFT))
        return false;
    stuck->server = match->server; // the control thread reads them once the fate is decided
    stuck->npcs = match->npcs;
    match->server = NULL;
    match->npcs = NULL;
    match->traced = 1 - match->traced;
    *hc_sv_match_trace_of(match) = (struct hc_sv_match_trace){.track = NULL};
    match->is_left = true;
    atomic_fetch_add(&match->left_worlds, 1);
    match->farewell_restarts = restarts || follows || process_ends;
    match->farewell_rounds = FAREWELL_ROUNDS;
    match->farewell_us = now_us;
    // Of the server itself nothing may be read: what was published is up to a second older.
    hc_sv_published_read(&match->counts, &counts);
    log_stuck(match, &counts, follows, now_us);
    match->past = none;
    hc_sv_report_add_ended(&match->past, &counts.host);
    match->past_timeline = counts.timeline;
    match->past_ticks = counts.ticks;
    atomic_store(&match->clients, 0);
    atomic_store(&match->sessions, 0);
    if (!follows)
        hc_sv_match_decide(match, HC_SV_STUCK_CLOSED);
    return true;
}

/// Gives a match without a world the one that was made. None of the former one may be read, so it
/// begins as in a server that was started again. False: no memory.
static bool take_next(struct hc_sv_match *match) {
    match->server = match->next;
    match->next = NULL;
    if (match->server != NULL)
        match->npcs = hc_sv_npcs_create(match->server, match->setting->options);
    if (match->npcs != NULL)
        return true;
    hc_server_destroy(match->server);
    match->server = NULL;
    hc_sv_match_log(match, HC_SV_LOG_ERROR, "match-not-renewed",
                    json_pack("{s:s}", "why", "no memory for another world"));
    return false;
}

bool hc_sv_match_mend(struct hc_sv_match *match, const struct hc_token_ring *keys, bool ends,
                      bool restarts, uint64_t now_us) {
    if (match->stuck == NULL)
        return false;
    if (!match->is_left) {
        if (ends ||
            hc_since(match->stuck->since_us, now_us) >= match->setting->options->stuck_after_us)
            (void)leave_world(match, ends, restarts, now_us);
        return false;
    }
    if (ends) {
        hc_sv_match_decide(match, HC_SV_STUCK_CLOSED);
        return false;
    }
    if (!match->makes)
        make(match, keys);
    if (!match->makes || !atomic_load(&match->made) || !end_maker(match))
        return false;
    if (!take_next(match)) {
        hc_sv_match_decide(match, HC_SV_STUCK_CLOSED);
        return false;
    }
    match->seed = match->next_seed;
    match->worlds++;
    match->is_left = match->away = false;
    begin_world(match);
    hc_sv_match_begin(match, now_us);
    hc_sv_match_decide(match, HC_SV_STUCK_REPLACED);
    return true;
}

bool hc_sv_match_farewell_due(struct hc_sv_match *match, uint64_t now_us) {
    if (match->farewell_rounds == 0 || now_us < match->farewell_us)
        return false;
    match->farewell_rounds--;
    match->farewell_us = now_us + FAREWELL_EACH_US;
    return true;
}

// ---- Report -------------------------------------------------------------------------------------

#define OF_MATCH(name, kind, unit, key, ...)                                                       \
    HC_COUNTER_ROW(struct hc_sv_match_counts, name, kind, unit, key, __VA_ARGS__)

static const struct hc_counter of_match[] = {HC_DAEMON_MATCH_COUNTERS(OF_MATCH)};
const struct hc_counters hc_sv_match_counters = HC_COUNTERS_OF(of_match);

void hc_sv_match_publish(struct hc_sv_match *match, struct hc_sv_match_counts *scratch,
                         uint64_t now_us) {
    const struct hc_sv_report *own = &match->report;
    scratch->worlds = match->worlds;
    scratch->seed = match->seed;
    scratch->ticks = match->past_ticks + match->counted_tick;
    scratch->clients_now = hc_server_clients(match->server);
    scratch->clients_most = own->clients_most;
    scratch->work = own->work;
    scratch->host = match->past;
    hc_sv_report_add_stats(&scratch->host, own->host);
    scratch->timeline = match->past_timeline;
    hc_counters_add(&hc_counters_timeline, &scratch->timeline, own->timeline);
    hc_sv_published_write(&match->counts, scratch);
    match->published_us = now_us;
}

void hc_sv_match_list_clients(struct hc_sv_match *match, uint64_t now_us) {
    if (match->listed == NULL)
        return;
    uint32_t count =
        hc_server_list_clients(match->server, match->listed, match->listed_most, now_us);
    match->listed_count = count < match->listed_most ? count : match->listed_most;
    match->listed_tick = hc_timeline_head(hc_server_timeline(match->server));
}

void hc_sv_match_add_counts(const struct hc_sv_match_counts *counts, struct hc_sv_report *report,
                            struct hc_server_stats *stats, struct hc_timeline_stats *timeline) {
    hc_sv_report_add_stats(stats, &counts->host);
    hc_counters_add(&hc_counters_timeline, timeline, &counts->timeline);
    report->ticks += counts->ticks;
    hc_counters_add(&hc_counters_work, &report->work, &counts->work);
}

json_t *hc_sv_match_report(unsigned number, const struct hc_sv_match_counts *counts) {
    json_t *part = hc_counters_object(&hc_sv_match_counters, counts);
    json_object_set_new(part, "match", json_integer(number));
    return part;
}
