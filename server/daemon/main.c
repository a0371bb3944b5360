/// Owns hindcastd's process: makes its workers, obeys signals, and writes the report.
#define _GNU_SOURCE

#include "common/elapsed.h"
#include "common/programs/backtrace.h"
#include "common/programs/clock.h"
#include "common/programs/crash.h"
#include "common/programs/loop.h"
#include "common/programs/report.h"
#include "common/programs/standard.h"
#include "hindcast/check.h"
#include "hindcast/server.h"
#include "server/daemon/commands.h"
#include "server/daemon/key_file.h"
#include "server/daemon/memory.h"
#include "server/daemon/options.h"
#include "server/daemon/owner_file.h"
#include "server/daemon/refused_file.h"
#include "server/daemon/report.h"
#include "server/daemon/token_http.h"
#include "server/daemon/udp.h"
#include "server/daemon/watchdog.h"
#include "server/daemon/worker.h"

#include <argp.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEV_PORTS = 16, ///< ports tried with --port 0 in --dev
    WHY_MAX = 4500, ///< bytes of a sentence with a path
    SEED_BITS = 53, ///< of a random seed: every JSON reader reads these exactly
    SIGNALS = 6,    ///< handled by the daemon
    SECOND_US = 1000000,
    FILE_SLOW_MS = 5000, ///< a slower reading of a file is logged
};

struct daemon {
    struct hc_sv_options options;
    struct hc_sv_match_setting setting;
    struct hc_sv_log log;
    FILE *text; ///< for people: standard output, or standard error if the JSON goes there
    struct event_base *base; ///< of worker 0, which runs in the main thread
    struct event *signals[SIGNALS];
    struct hc_token_ring keys;
    struct hc_sv_token_http *token_http;            ///< NULL unless --dev
    struct hc_sv_owner_file_reader *keys_reader;    ///< NULL in --dev
    struct hc_sv_owner_file_reader *refused_reader; ///< NULL without --refused
    pthread_mutex_t placement_lock;
    struct hc_sv_wall_clock wall_clock;
    struct hc_sv_worker *workers; ///< [options.workers]
    unsigned threads;             ///< workers whose threads run
    uint64_t began_cpu_us;        ///< processor time of the process when they began
    atomic_bool ends;
    atomic_uint open;
    bool stopping;
    struct hc_sv_status placed; ///< the log lines of the placement
    uint64_t placed_us;         ///< when they are due again
    struct hc_sv_report report;
    struct hc_server_stats stats;      ///< of all matches, for the report
    struct hc_timeline_stats timeline; ///< of all matches, for the report
};

/// A place in the code of the game.
static const void *game_place(const struct daemon *daemon) {
    return hc_place_of((void (*)(void))daemon->options.plugin.game->step);
}

/// The number of connected clients of all workers.
static unsigned clients_of(struct daemon *daemon) {
    unsigned clients = 0;
    for (unsigned i = 0; i < daemon->options.workers; i++)
        clients += hc_sv_worker_clients(&daemon->workers[i]);
    return clients;
}

/// Closes all connections; the clients come back if the daemon `restarts`.
static void stop(struct daemon *daemon, const char *why, bool restarts, uint64_t now) {
    if (daemon->stopping)
        return;
    daemon->stopping = true;
    json_t *fields = json_pack("{s:s, s:i}", "reason", why, "clients", (int)clients_of(daemon));
    if (restarts)
        json_object_set_new(fields, "restart_seconds",
                            json_integer((json_int_t)daemon->options.restart_s));
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, "stopping", fields);
    for (unsigned i = 0; i < daemon->options.workers; i++)
        hc_sv_worker_stop(&daemon->workers[i], restarts, now);
}

/// The users that the placement of several matches remembers.
static struct hc_server_remembered placed_users(struct daemon *daemon) {
    pthread_mutex_lock(&daemon->placement_lock);
    struct hc_server_remembered placed = hc_sv_placement_remembered(daemon->setting.placement);
    pthread_mutex_unlock(&daemon->placement_lock);
    return placed;
}

/// Logs once a second what is due about the placement.
static void log_placement(struct daemon *daemon, uint64_t now) {
    if (daemon->setting.placement == NULL || now < daemon->placed_us)
        return;
    struct hc_server_remembered placed = placed_users(daemon);
    daemon->placed_us = now + SECOND_US;
    hc_sv_status_log_remembered(&daemon->placed, &daemon->log, &placed);
}

/// Ends the run if --ticks or the world's last tick is reached. Several matches begin at different
/// times: for them --ticks counts the time.
static void after_turn(void *context, uint64_t now) {
    struct daemon *daemon = context;
    const struct hc_sv_match *first = &daemon->workers[0].matches[0];
    uint64_t ticks = first->counted_tick;
    if (!first->lasts)
        ticks = hc_since(daemon->setting.began_us, now) * daemon->options.tick_rate / 1000000;
    if (daemon->options.ticks != 0 && ticks >= daemon->options.ticks)
        stop(daemon, "--ticks", false, now);
    if (first->lasts && hc_server_ended(first->server))
        stop(daemon, "a world has no more ticks", false, now);
    log_placement(daemon, now);
}

/// The parts of the matches; NULL: there is one match.
static json_t *matches_of(json_t **parts, unsigned count) {
    json_t *matches = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(matches, parts[i]);
    return matches;
}

/// Makes the report of the run so far.
static json_t *make_report(struct daemon *daemon) {
    static const struct hc_sv_report none;
    static const struct hc_server_stats no_stats;
    static json_t *parts[HC_MATCH_MAX];
    const struct hc_sv_options *options = &daemon->options;
    struct hc_sv_report *report = &daemon->report;
    bool single = daemon->setting.placement == NULL;
    *report = none;
    report->version = HC_VERSION;
    report->seed = options->seed;
    report->tick_rate = options->tick_rate;
    report->desyncs = json_array();
    report->overflows = json_array();
    daemon->stats = no_stats;
    daemon->timeline = (struct hc_timeline_stats){.advances = 0};
    for (unsigned i = 0; i < options->workers; i++)
        hc_sv_worker_add_to_report(&daemon->workers[i], report, &daemon->stats, &daemon->timeline,
                                   single ? NULL : parts);
    report->host = &daemon->stats;
    report->timeline = &daemon->timeline;
    pthread_mutex_lock(&daemon->placement_lock);
    report->clients_most = single ? daemon->workers[0].matches[0].report.clients_most
                                  : hc_sv_placement_most(daemon->setting.placement);
    pthread_mutex_unlock(&daemon->placement_lock);
    report->duration_us = hc_since(daemon->setting.began_us, hc_clock_us());
    report->cpu_us = hc_since(daemon->began_cpu_us, hc_report_cpu_us());
    report->resident_bytes = hc_sv_memory_resident();
    report->workers = single ? 0 : options->workers;
    if (!single)
        report->placed = placed_users(daemon);
    report->matches = single ? NULL : matches_of(parts, options->matches);
    json_t *json = hc_sv_report_json(report);
    json_decref(report->matches);
    json_decref(report->desyncs);
    json_decref(report->overflows);
    return json;
}

/// SIGTERM and SIGINT: closes all connections and ends. SIGUSR2: the same, and the clients come
/// back. A second of these signals ends at once.
static void on_stop(evutil_socket_t signal_number, short events, void *context) {
    struct daemon *daemon = context;
    (void)events;
    if (daemon->stopping) {
        atomic_store(&daemon->ends, true);
        for (unsigned i = 0; i < daemon->options.workers; i++)
            hc_sv_worker_wake(&daemon->workers[i]);
        return;
    }
    bool restarts = signal_number == SIGUSR2;
    const char *why = signal_number == SIGTERM ? "SIGTERM" : "SIGINT";
    stop(daemon, restarts ? "SIGUSR2" : why, restarts, hc_clock_us());
}

/// SIGUSR1 and SIGQUIT: writes the report of the run so far into the log, as a table or as one line
/// of JSON. The log never waits for its reader, and limits how often.
static void on_report(evutil_socket_t signal_number, short events, void *context) {
    struct daemon *daemon = context;
    if (!hc_sv_log_takes_report(&daemon->log))
        return;
    json_t *report = make_report(daemon);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)signal_number;
    (void)events;
    if (file != NULL) {
        if (daemon->log.format == HC_SV_LOG_TEXT)
            hc_sv_report_print(report, file);
        else if (json_dumpf(report, file, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0)
            fputc('\n', file);
        fclose(file);
        hc_sv_log_text(&daemon->log, text, size);
    }
    free(text);
    json_decref(report);
}

/// Logs that a file cannot be used (`why`), or is slow (NULL). Its former contents stay in force.
static void log_unread(struct daemon *daemon, const char *event, const char *path,
                       const char *why) {
    if (why != NULL)
        hc_sv_log_event(&daemon->log, HC_SV_LOG_ERROR, event, json_pack("{s:s}", "why", why));
    else
        hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, event,
                        json_pack("{s:s, s:i}", "file", path, "waited_ms", (int)FILE_SLOW_MS));
}

/// A reading of the key file ended, or is slow.
static void on_keys(void *context, enum hc_sv_owner_file_status status, const void *out,
                    const char *why) {
    struct daemon *daemon = context;
    const struct hc_token_ring *keys = out;
    if (status != HC_SV_OWNER_FILE_READ) {
        const char *event = status == HC_SV_OWNER_FILE_SLOW ? "keys-slow" : "keys-refused";
        log_unread(daemon, event, daemon->options.key_file, why);
        return;
    }
    pthread_mutex_lock(&daemon->placement_lock);
    if (daemon->setting.placement != NULL)
        hc_sv_placement_set_keys(daemon->setting.placement, keys);
    pthread_mutex_unlock(&daemon->placement_lock);
    for (unsigned i = 0; i < daemon->options.workers; i++)
        hc_sv_worker_set_keys(&daemon->workers[i], keys);
    hc_sv_log_event(
        &daemon->log, HC_SV_LOG_INFO, "keys-read",
        json_pack("{s:i, s:i}", "current", (int)keys->keys[0].id, "keys", (int)keys->count));
}

/// Gives all matches the refused users, which the file's reader has sorted and bounded.
static void set_refused(struct daemon *daemon, const struct hc_sv_refused_file *refused,
                        uint64_t now) {
    for (unsigned i = 0; i < daemon->options.workers; i++)
        hc_sv_worker_set_refused(&daemon->workers[i], refused->client_ids, refused->count,
                                 refused->not_before_s, now);
}

/// A reading of the refused users ended, or is slow.
static void on_refused(void *context, enum hc_sv_owner_file_status status, const void *out,
                       const char *why) {
    struct daemon *daemon = context;
    const struct hc_sv_refused_file *refused = out;
    if (status != HC_SV_OWNER_FILE_READ) {
        const char *event = status == HC_SV_OWNER_FILE_SLOW ? "refused-slow" : "refused-unreadable";
        log_unread(daemon, event, daemon->options.refused, why);
        return;
    }
    set_refused(daemon, refused, hc_clock_us());
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, "refused-read",
                    json_pack("{s:i, s:I}", "users", (int)refused->count, "not_before_s",
                              (json_int_t)refused->not_before_s));
}

/// SIGHUP: reads the files again in threads, while ticks go on.
static void on_hangup(evutil_socket_t signal_number, short events, void *context) {
    struct daemon *daemon = context;
    (void)signal_number;
    (void)events;
    if (daemon->keys_reader != NULL)
        hc_sv_owner_file_reader_start(daemon->keys_reader);
    if (daemon->refused_reader != NULL)
        hc_sv_owner_file_reader_start(daemon->refused_reader);
}

static const struct {
    int number;
    event_callback_fn callback;
} signals[SIGNALS] = {{SIGTERM, on_stop},  {SIGINT, on_stop},    {SIGUSR2, on_stop},
                      {SIGHUP, on_hangup}, {SIGUSR1, on_report}, {SIGQUIT, on_report}};

/// Blocks or unblocks the handled signals. While the daemon sets up, no signal is lost or ends it.
static void mask_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&set, signals[i].number);
    pthread_sigmask(how, &set, NULL);
}

/// Opens the readers of the files that SIGHUP reads again; false: no memory or no descriptors.
static bool open_readers(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    if (!options->dev)
        daemon->keys_reader = hc_sv_owner_file_reader_open(
            daemon->base, &hc_sv_key_file_kind, options->key_file, FILE_SLOW_MS, on_keys, daemon);
    if (options->refused != NULL)
        daemon->refused_reader =
            hc_sv_owner_file_reader_open(daemon->base, &hc_sv_refused_file_kind, options->refused,
                                         FILE_SLOW_MS, on_refused, daemon);
    return (options->dev || daemon->keys_reader != NULL) &&
           (options->refused == NULL || daemon->refused_reader != NULL);
}

/// Registers the events of signals and files; false: no memory.
static bool watch(struct daemon *daemon) {
    for (unsigned i = 0; i < SIGNALS; i++) {
        struct event **event = &daemon->signals[i];
        *event = evsignal_new(daemon->base, signals[i].number, signals[i].callback, daemon);
        if (!hc_loop_add(*event))
            return false;
    }
    for (unsigned i = 0; i < daemon->options.workers; i++)
        if (!hc_sv_worker_watch(&daemon->workers[i]))
            return false;
    return open_readers(daemon);
}

/// Reads or makes the keys; false: failed, with a sentence on standard error.
static bool obtain_keys(struct daemon *daemon) {
    char why[WHY_MAX];
    if (daemon->options.dev)
        daemon->keys = hc_sv_key_file_random();
    else if (!hc_sv_key_file_read(daemon->options.key_file, &daemon->keys, why, sizeof(why)))
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->keys.count > 0;
}

/// Reads the refused users; false: failed, with a sentence on standard error.
static bool obtain_refused(struct daemon *daemon) {
    static struct hc_sv_refused_file refused; // too large for the stack
    char why[WHY_MAX];
    const char *path = daemon->options.refused;
    if (path == NULL)
        return true;
    bool good = hc_sv_owner_file_read(&hc_sv_refused_file_kind, path, &refused, why, sizeof(why));
    if (good)
        set_refused(daemon, &refused, hc_clock_us());
    else
        fprintf(stderr, "hindcastd: %s\n", why);
    return good;
}

/// The token port cannot accept connections, and pauses.
static void on_accept_failed(void *context, const char *why) {
    struct daemon *daemon = context;
    hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "token-port-paused",
                    json_pack("{s:s}", "why", why));
}

/// Opens the UDP port and, in --dev, the token port of the same number; with --port 0, a number
/// that is free for both.
static bool open_ports(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    struct hc_sv_udp *ports[HC_SV_WORKERS_MAX] = {NULL};
    struct hc_sv_token_http_issuer issuer = {
        .key = daemon->keys.keys[0],
        .protocol_id = hc_datagram_protocol_id(options->plugin.game, options->plugin.rule_hash),
        .audience = options->audience,
        .game = options->plugin.game,
        .wall_clock = &daemon->wall_clock,
        .matches = daemon->setting.placement == NULL ? 0 : options->matches,
        .failed = on_accept_failed,
        .context = daemon};
    char why[256] = "";
    unsigned tries = options->dev && options->port == 0 ? DEV_PORTS : 1;
    bool open = false;
    for (unsigned i = 0; i < tries && !open; i++) {
        open =
            hc_sv_udp_open(options->bind, options->port, options->workers, ports, why, sizeof(why));
        if (!open || !options->dev)
            break;
        daemon->token_http = hc_sv_token_http_open(daemon->base, hc_sv_udp_address(ports[0]).port,
                                                   &issuer, why, sizeof(why));
        open = daemon->token_http != NULL;
        for (unsigned w = 0; !open && w < options->workers; w++)
            hc_sv_udp_close(ports[w]);
    }
    sodium_memzero(&issuer, sizeof(issuer));
    if (!open)
        fprintf(stderr, "hindcastd: %s\n", why);
    for (unsigned w = 0; open && w < options->workers; w++)
        daemon->workers[w].udp = ports[w];
    return open;
}

/// Fills in what all matches read. Exits with 2 if the options exclude each other.
static void prepare_setting(struct daemon *daemon) {
    struct hc_sv_options *options = &daemon->options;
    char why[256];
    if (!options->given[HC_SV_SETTING_seed]) {
        randombytes_buf(&options->seed, sizeof(options->seed));
        options->seed &= ((uint64_t)1 << SEED_BITS) - 1;
    }
    daemon->setting.version = HC_VERSION;
    daemon->setting.options = options;
    daemon->setting.log = &daemon->log;
    daemon->setting.placement_lock = &daemon->placement_lock;
    daemon->setting.wall_clock = &daemon->wall_clock;
    hc_sv_wall_clock_open(&daemon->wall_clock);
    pthread_mutex_init(&daemon->placement_lock, NULL);
    daemon->setting.game = *options->plugin.game;
    daemon->setting.game.view = options->view;
    randombytes_buf(daemon->setting.cookie_secret, sizeof(daemon->setting.cookie_secret));
    if (hc_sv_match_check(&daemon->setting, &daemon->keys, why, sizeof(why)) == NULL)
        return;
    fprintf(stderr, "hindcastd: %s\n", why);
    exit(2);
}

/// Makes the placement of several matches; false: no memory.
static bool open_placement(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    struct hc_sv_placement_config config = {
        .matches = options->matches,
        .clients = options->clients,
        .players = options->clients - options->npcs,
        .spectators = options->spectators,
        .remembered_users = options->remembered_users,
        .protocol_id = hc_datagram_protocol_id(options->plugin.game, options->plugin.rule_hash),
        .audience = options->audience,
        .keys = daemon->keys};
    if (options->matches == 1)
        return true;
    memcpy(config.cookie_secret, daemon->setting.cookie_secret, sizeof(config.cookie_secret));
    randombytes_buf(&config.hash_seed, sizeof(config.hash_seed));
    daemon->setting.placement = hc_sv_placement_create(&config);
    sodium_memzero(&config, sizeof(config));
    return daemon->setting.placement != NULL;
}

/// Makes the workers and their matches; false: no memory.
static bool open_workers(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    daemon->workers = calloc(options->workers, sizeof(*daemon->workers));
    if (daemon->workers == NULL || !open_placement(daemon))
        return false;
    atomic_store(&daemon->open, options->workers);
    bool good = true;
    for (unsigned i = 0; i < options->workers; i++) {
        struct hc_sv_worker *worker = &daemon->workers[i];
        struct event_base *base = i == 0 ? daemon->base : hc_loop_create();
        worker->setting = &daemon->setting;
        worker->all = daemon->workers;
        worker->index = i;
        worker->ends = &daemon->ends;
        worker->open = &daemon->open;
        if (i == 0) {
            worker->after_turn = after_turn;
            worker->context = daemon;
        }
        good = good && base != NULL;
        good = hc_sv_worker_open(worker, base, &daemon->keys) && good;
    }
    return good;
}

/// Warns that a flood of DATA displaces players' datagrams sooner than with the whole buffer.
static void log_small_buffer(struct hc_sv_log *log, uint32_t granted) {
    char why[160];
    snprintf(why, sizeof(why),
             "a flood of datagrams displaces those of players sooner: set the sysctl "
             "net.core.rmem_max to %d or more, or give CAP_NET_ADMIN",
             HC_SV_UDP_RECEIVE_BUFFER);
    hc_sv_log_event(log, HC_SV_LOG_WARN, "small-receive-buffer",
                    json_pack("{s:I, s:I, s:s}", "granted_bytes", (json_int_t)granted,
                              "asked_bytes", (json_int_t)HC_SV_UDP_RECEIVE_BUFFER, "why", why));
}

/// Memory of all servers.
static size_t memory_of(const struct daemon *daemon) {
    size_t bytes = 0;
    for (unsigned i = 0; i < daemon->options.workers; i++)
        for (unsigned m = 0; m < daemon->workers[i].count; m++)
            bytes += hc_server_stats(daemon->workers[i].matches[m].server)->memory_bytes;
    return bytes;
}

/// Logs what the daemon serves, and where, with its settings. Numbers of 64 bits are strings: not
/// every JSON reader reads them exactly.
static void log_started(struct daemon *daemon, const char *address, uint16_t port,
                        uint32_t granted) {
    const struct hc_plugin *plugin = &daemon->options.plugin;
    char protocol_id[24];
    snprintf(protocol_id, sizeof(protocol_id), "0x%016" PRIx64,
             hc_datagram_protocol_id(plugin->game, plugin->rule_hash));
    json_t *fields = json_pack(
        "{s:s, s:i, s:s, s:i, s:s, s:i, s:s, s:I, s:I, s:i, s:b}", "version", HC_VERSION, "pid",
        (int)getpid(), "address", address, "port", (int)port, "game", plugin->game->name,
        "game_version", (int)plugin->game->version, "protocol_id", protocol_id, "memory_bytes",
        (json_int_t)memory_of(daemon), "resident_bytes", (json_int_t)hc_sv_memory_resident(),
        "receive_buffer_bytes_each", (int)granted, "handshakes_apart",
        hc_sv_udp_descriptor(daemon->workers[0].udp, HC_SV_UDP_HELLO) >= 0);
    json_t *settings = hc_settings_json(hc_sv_settings, HC_SV_SETTING_COUNT, &daemon->options);
    json_object_update_missing(fields, settings); // the port of --port 0 is another
    json_decref(settings);
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, "started", fields);
}

static void announce(struct daemon *daemon) {
    struct hc_address address = hc_sv_udp_address(daemon->workers[0].udp);
    uint32_t granted = hc_sv_udp_receive_buffer(daemon->workers[0].udp);
    char text[HC_ADDRESS_TEXT_MAX];
    fprintf(daemon->text, "listening on %s\n", hc_address_format(&address, text));
    fflush(daemon->text);
    log_started(daemon, text, address.port, granted);
    if (granted < HC_SV_UDP_RECEIVE_BUFFER)
        log_small_buffer(&daemon->log, granted);
    if (!daemon->options.dev && daemon->options.audience == 0)
        hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "default-audience",
                        json_pack("{s:s}", "why",
                                  "every server of this key without --audience accepts the same "
                                  "tokens and tickets, each once"));
}

/// Prints the final report and writes the JSON. False: writing failed, or the verdict, if it
/// decides the exit status, is NOT OK.
static bool report(struct daemon *daemon) {
    for (unsigned i = 0; i < daemon->options.workers; i++)
        for (unsigned m = 0; m < daemon->workers[i].count; m++)
            hc_sv_match_log_troubles(&daemon->workers[i].matches[m], true, hc_clock_us());
    json_t *json = make_report(daemon);
    const char *path = daemon->options.json;
    hc_sv_report_print(json, daemon->text);
    bool good = hc_report_ok(json) || !daemon->options.verdict;
    good = hc_standard_flush(daemon->text, "hindcastd") && good;
    good = (path == NULL || hc_report_write(json, "hindcastd", path)) && good;
    json_decref(json);
    return good;
}

static void clean_up(struct daemon *daemon) {
    for (unsigned i = 0; i < SIGNALS; i++)
        hc_loop_free_event(daemon->signals[i]);
    hc_sv_token_http_close(daemon->token_http);
    hc_sv_owner_file_reader_close(daemon->keys_reader);
    hc_sv_owner_file_reader_close(daemon->refused_reader);
    for (unsigned i = 0; daemon->workers != NULL && i < daemon->options.workers; i++) {
        struct event_base *base = daemon->workers[i].base;
        hc_sv_worker_close(&daemon->workers[i]);
        if (i > 0)
            hc_loop_free(base);
    }
    free(daemon->workers);
    hc_loop_free(daemon->base);
    hc_sv_placement_destroy(daemon->setting.placement);
    hc_sv_wall_clock_close(&daemon->wall_clock);
    hc_sv_log_close(&daemon->log);
    sodium_memzero(&daemon->keys, sizeof(daemon->keys));
}

/// Makes everything that the server needs; false: failed, with a sentence on standard error.
static bool set_up(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    if (sodium_init() < 0) {
        fprintf(stderr, "hindcastd: the system gives no random numbers\n");
        return false;
    }
    if (options->json != NULL && !hc_report_can_write("hindcastd", "json", options->json))
        return false;
    if (!obtain_keys(daemon))
        return false;
    prepare_setting(daemon);
    daemon->base = hc_loop_create();
    if (daemon->base == NULL) {
        fprintf(stderr, "hindcastd: no event loop can be had\n");
        return false;
    }
    if (!open_workers(daemon)) {
        fprintf(stderr,
                "hindcastd: not enough memory for %u matches of %u clients with %" PRIu32
                " ticks of history\n",
                options->matches, options->clients, options->history);
        return false;
    }
    if (!obtain_refused(daemon) || !open_ports(daemon))
        return false;
    if (!watch(daemon)) {
        fprintf(stderr, "hindcastd: no event loop can be had\n");
        return false;
    }
    return true;
}

static void *run_worker(void *context) {
    struct hc_sv_worker *worker = context;
    hc_crash_watch_thread();
    event_base_dispatch(worker->base);
    return NULL;
}

/// Runs all workers until they have ended, worker 0 in this thread; false: a thread cannot be had.
static bool run(struct daemon *daemon) {
    struct hc_sv_watch *watches[HC_SV_WORKERS_MAX] = {NULL};
    unsigned workers = daemon->options.workers;
    for (unsigned i = 0; i < workers; i++)
        watches[i] = &daemon->workers[i].watch;
    struct hc_sv_watchdog *watchdog =
        hc_sv_watchdog_start(&daemon->log, game_place(daemon), watches, workers);
    daemon->setting.began_us = hc_clock_us();
    daemon->began_cpu_us = hc_report_cpu_us();
    for (unsigned i = 0; i < workers; i++)
        hc_sv_worker_begin(&daemon->workers[i]);
    daemon->threads = 1;
    while (daemon->threads < workers &&
           pthread_create(&daemon->workers[daemon->threads].thread, NULL, run_worker,
                          &daemon->workers[daemon->threads]) == 0)
        daemon->threads++;
    bool good = daemon->threads == workers;
    if (!good)
        fprintf(stderr, "hindcastd: --workers '%u': only %u threads can be had\n", workers,
                daemon->threads);
    atomic_store(&daemon->ends, !good);
    for (unsigned i = 1; !good && i < daemon->threads; i++)
        hc_sv_worker_wake(&daemon->workers[i]);
    mask_signals(SIG_UNBLOCK); // of this thread alone: the others were made before
    if (good)
        event_base_dispatch(daemon->base);
    for (unsigned i = 1; i < daemon->threads; i++)
        pthread_join(daemon->workers[i].thread, NULL);
    hc_sv_watchdog_stop(watchdog);
    return good;
}

int main(int argc, char **argv) {
    static struct daemon daemon; // the histograms are too large for the stack
    int status;
    hc_standard_open();
    argp_program_version = "hindcastd " HC_VERSION_AND_COMMIT;
    if (hc_sv_commands_run(argc, argv, &status))
        return status;
    hc_sv_options_parse(&daemon.options, argc, argv);
    hc_sv_log_open(&daemon.log, daemon.options.level, daemon.options.format, STDERR_FILENO);
    hc_crash_watch("hindcastd", game_place(&daemon), daemon.options.format == HC_SV_LOG_JSON);
    bool json_out = daemon.options.json != NULL && strcmp(daemon.options.json, "-") == 0;
    daemon.text = json_out ? stderr : stdout;
    hc_sv_memory_map_blocks();
    mask_signals(SIG_BLOCK);
    bool good = set_up(&daemon);
    if (good) {
        signal(SIGPIPE, SIG_IGN); // the reader of the output may end before the daemon
        announce(&daemon);
        good = run(&daemon) && report(&daemon);
    }
    clean_up(&daemon);
    return good ? 0 : 1;
}
