/// hindcastd: gives the host its socket, its clock and its signals.
#define _GNU_SOURCE

#include "common/programs/clock.h"
#include "common/programs/report.h"
#include "hindcast/arena.h"
#include "proto/name.h"
#include "server/daemon/commands.h"
#include "server/daemon/key_file.h"
#include "server/daemon/options.h"
#include "server/daemon/owner_file.h"
#include "server/daemon/refused_file.h"
#include "server/daemon/report.h"
#include "server/daemon/status.h"
#include "server/daemon/token_http.h"
#include "server/daemon/udp.h"
#include "server/daemon/wall_clock.h"

#include <event2/event.h>
#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCHES_PER_WAKE = 2048 / HC_SV_UDP_BATCH, ///< so that a flood cannot keep the ticks waiting
    HANDSHAKES_PART = 2, ///< of a tick's time handshakes may take one in so many
    CLOCK_US = 10000000, ///< how often the host is told the world's time
    DEV_PORTS = 16,      ///< tried, where any will do
    WHY_MAX = 4500,      ///< a path and more
    SEED_BITS = 53,      ///< of a random seed: every JSON reader keeps those
    SIGNALS = 5,         ///< that the daemon obeys
    FILE_SLOW_MS = 5000, ///< then the log says that a file cannot be read yet
};

struct daemon {
    struct hc_sv_options options;
    struct hc_sv_log log;
    FILE *text; ///< where people read: standard output, unless the JSON goes there
    struct hc_sv_udp *udp;
    struct hc_sv_host *host;
    struct event_base *base;
    struct event *readable[HC_SV_UDP_LANES], *timer;
    struct event *signals[SIGNALS];
    enum hc_sv_udp_lane next; ///< of HELLO and CONNECT, to be taken from
    struct hc_token_ring keys;
    struct hc_sv_token_http *admin;                 ///< NULL unless --dev
    struct hc_sv_owner_file_reader *keys_reader;    ///< NULL in --dev
    struct hc_sv_owner_file_reader *refused_reader; ///< NULL without --refused
    uint64_t clock_us; ///< when the host was told the world's time last
    bool stopping;
    hc_tick head; ///< newest tick that client_ticks counts
    uint64_t started_us;
    uint64_t armed_us; ///< the deadline that the timer waits for
    struct hc_sv_report report;
    struct hc_sv_status status;
};

/// Processor time of this thread, which is not that of whoever interrupts it.
static uint64_t work_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/// Physical memory of this process; 0 when /proc is not there.
static size_t resident_bytes(void) {
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/// Who it is, for a line of the log.
static void add_user(json_t *fields, const struct hc_sv_event *event) {
    char id[24], name[HC_NAME_ESCAPED_MAX];
    size_t size = hc_name_size(event->name);
    snprintf(id, sizeof(id), "%" PRIu64, event->client_id);
    json_object_set_new(fields, "user", json_string(id));
    if (size == 0)
        return;
    hc_name_escape(event->name, size, name, sizeof(name));
    json_object_set_new(fields, "name", json_string(name));
}

static void log_event(struct daemon *daemon, const struct hc_sv_event *event) {
    static const char *const names[] = {"joined", "left", "timeout", "lost", "resumed", "moved"};
    char address[HC_ADDRESS_TEXT_MAX];
    json_t *players = json_array();
    for (unsigned i = 0; i < event->player_count; i++)
        json_array_append_new(players, json_integer(event->players[i]));
    json_t *fields =
        json_pack("{s:s, s:I, s:o, s:i}", "address", hc_address_format(&event->address, address),
                  "cid", (json_int_t)event->cid, "players", players, "clients",
                  (int)hc_sv_host_clients(daemon->host));
    add_user(fields, event);
    if (event->kind == HC_SV_EVENT_LEFT)
        json_object_set_new(fields, "reason", json_string(hc_close_text(event->close)));
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, names[event->kind], fields);
}

/// What clients' games say to a server that has no use for it.
static void hear_all(struct daemon *daemon) {
    struct hc_sv_message heard;
    while (hc_sv_host_next_message(daemon->host, &heard) != NULL)
        if (daemon->log.level >= HC_SV_LOG_DEBUG) // clients make no work for a log that is not kept
            hc_sv_log_event(
                &daemon->log, HC_SV_LOG_DEBUG, "message",
                json_pack("{s:I, s:i}", "cid", (json_int_t)heard.cid, "bytes", (int)heard.size));
}

static void stop(struct daemon *daemon, const char *why, uint64_t now) {
    if (daemon->stopping)
        return;
    daemon->stopping = true;
    hc_sv_log_event(
        &daemon->log, HC_SV_LOG_INFO, "stopping",
        json_pack("{s:s, s:i}", "reason", why, "clients", (int)hc_sv_host_clients(daemon->host)));
    hc_sv_host_shutdown(daemon->host, now);
}

/// Counts the clients of the ticks that the host has just simulated; true: there were some.
static bool count_ticks(struct daemon *daemon) {
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(daemon->host));
    unsigned clients = hc_sv_host_clients(daemon->host);
    if (head == daemon->head)
        return false;
    daemon->report.client_ticks += (uint64_t)(head - daemon->head) * clients;
    if (clients > daemon->report.clients_most)
        daemon->report.clients_most = clients;
    daemon->head = head;
    return true;
}

static void send_all(struct daemon *daemon, uint64_t now) {
    struct hc_address to;
    size_t size;
    while ((size = hc_sv_host_send(daemon->host, &to, hc_sv_udp_room(daemon->udp), now)) > 0)
        hc_sv_udp_queue(daemon->udp, &to, size);
    hc_sv_udp_flush(daemon->udp);
}

/// A tick has passed: there is time for handshakes again.
static void renew_share(struct daemon *daemon) {
    hc_sv_time_budget_renew(&daemon->report.shaking);
    for (unsigned lane = HC_SV_UDP_DATA + 1; lane < HC_SV_UDP_LANES; lane++)
        if (daemon->readable[lane] != NULL)
            event_add(daemon->readable[lane], NULL);
}

/// A tick, or what was caught up, has worked for `work_us`.
static void note_work(struct daemon *daemon, uint64_t work_us) {
    struct hc_sv_report *report = &daemon->report;
    hc_histogram_record(&report->tick_us, work_us);
    report->ticks_worked_too_long += work_us > 1000000 / daemon->options.tick_rate;
    hc_sv_status_add_tick(&daemon->status, work_us);
}

/// Everything that is due at `now`, then the timer for what comes next.
static void turn(struct daemon *daemon, uint64_t now) {
    struct hc_sv_event event;
    hc_sv_host_advance(daemon->host, now);
    bool ticked = count_ticks(daemon);
    send_all(daemon, now);
    uint64_t end = hc_clock_us();
    if (ticked) {
        note_work(daemon, end - now);
        renew_share(daemon);
    }
    while (hc_sv_host_poll_event(daemon->host, &event))
        log_event(daemon, &event);
    hear_all(daemon);
    if (ticked) {
        hc_sv_status_log_denials(&daemon->status, &daemon->log, daemon->report.host, false, now);
        hc_sv_status_log(&daemon->status, &daemon->log, &daemon->report,
                         hc_sv_host_clients(daemon->host), now);
    }
    hc_sv_log_advance(&daemon->log);
    if (now - daemon->clock_us >= CLOCK_US) {
        daemon->clock_us = now;
        hc_sv_host_set_time(daemon->host, hc_sv_wall_clock_us(), now);
        daemon->report.udp = hc_sv_udp_stats(daemon->udp);
    }

    if (daemon->options.ticks != 0 && daemon->head >= daemon->options.ticks)
        stop(daemon, "--ticks", now);
    if (hc_sv_host_ended(daemon->host))
        stop(daemon, "a world has no more ticks", now);
    if (daemon->stopping && hc_sv_host_closed(daemon->host)) {
        event_base_loopbreak(daemon->base);
        return;
    }
    uint64_t deadline = hc_sv_host_deadline(daemon->host);
    if (deadline == daemon->armed_us && evtimer_pending(daemon->timer, NULL))
        return;
    // Always from the clock as it is now to an absolute deadline: no error adds up.
    daemon->armed_us = deadline;
    uint64_t wait = deadline > end ? deadline - end : 0;
    struct timeval timeout = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(daemon->timer, &timeout);
}

static void on_timer(evutil_socket_t descriptor, short what, void *context) {
    (void)descriptor;
    (void)what;
    turn(context, hc_clock_us());
}

/// Takes a batch from a lane; how many they were.
static unsigned receive_batch(struct daemon *daemon, enum hc_sv_udp_lane lane, uint64_t now) {
    unsigned count = hc_sv_udp_receive(daemon->udp, lane);
    for (unsigned i = 0; i < count; i++) {
        struct hc_address from;
        size_t size;
        const uint8_t *bytes = hc_sv_udp_received(daemon->udp, i, &from, &size);
        // What was refused is in the host's statistics.
        (void)hc_sv_host_receive(daemon->host, &from, bytes, size, now);
    }
    return count;
}

/// DATA until there is no more, or a tick is due: the rest waits until that is done, as much as the
/// receive buffer holds.
static void receive_data(struct daemon *daemon, uint64_t now) {
    uint64_t deadline = hc_sv_host_deadline(daemon->host);
    for (unsigned batch = 0; batch < BATCHES_PER_WAKE; batch++) {
        if (receive_batch(daemon, HC_SV_UDP_DATA, now) < HC_SV_UDP_BATCH)
            break;
        now = hc_clock_us();
        if (now >= deadline)
            break;
    }
}

/// HELLOs and CONNECTs by turns, so that neither keeps the other waiting, until there are no more,
/// a tick is due, or their share of the last one is spent: then they wait for the next one, as many
/// as the receive buffers hold.
static void receive_handshakes(struct daemon *daemon) {
    struct hc_sv_time_budget *share = &daemon->report.shaking;
    uint64_t now = hc_clock_us(), deadline = hc_sv_host_deadline(daemon->host);
    for (unsigned empty = 0; empty < 2 && hc_sv_time_budget_lasts(share);) {
        receive_data(daemon, now);
        uint64_t from = work_us();
        unsigned count = receive_batch(daemon, daemon->next, now);
        send_all(daemon, now);
        hc_sv_time_budget_take(share, work_us() - from);
        daemon->report.handshakes += count;
        empty = count < HC_SV_UDP_BATCH ? empty + 1 : 0;
        daemon->next = daemon->next == HC_SV_UDP_CONNECT ? HC_SV_UDP_HELLO : HC_SV_UDP_CONNECT;
        now = hc_clock_us();
        if (now >= deadline)
            break;
    }
    if (!hc_sv_time_budget_lasts(share)) {
        event_del(daemon->readable[HC_SV_UDP_CONNECT]);
        event_del(daemon->readable[HC_SV_UDP_HELLO]);
    }
}

static void on_data(evutil_socket_t descriptor, short what, void *context) {
    uint64_t now = hc_clock_us();
    (void)descriptor;
    (void)what;
    receive_data(context, now);
    turn(context, hc_clock_us());
}

static void on_handshake(evutil_socket_t descriptor, short what, void *context) {
    (void)descriptor;
    (void)what;
    receive_handshakes(context);
    turn(context, hc_clock_us());
}

/// The report of the run so far.
static json_t *make_report(struct daemon *daemon) {
    struct hc_sv_report *report = &daemon->report;
    report->ticks = daemon->head;
    report->duration_us = hc_clock_us() - daemon->started_us;
    report->cpu_us = hc_report_cpu_us();
    report->resident_bytes = resident_bytes();
    report->udp = hc_sv_udp_stats(daemon->udp);
    return hc_sv_report_json(report);
}

/// SIGTERM and SIGINT: ends in good order; at the second one, at once.
static void on_stop(evutil_socket_t signal_number, short what, void *context) {
    struct daemon *daemon = context;
    (void)what;
    if (daemon->stopping) {
        event_base_loopbreak(daemon->base);
        return;
    }
    uint64_t now = hc_clock_us();
    stop(daemon, signal_number == SIGTERM ? "SIGTERM" : "SIGINT", now);
    turn(daemon, now);
}

/// SIGUSR1 and SIGQUIT: writes the report of the run so far into the log, which waits for nobody:
/// as a table, or as one line of JSON.
static void on_report(evutil_socket_t signal_number, short what, void *context) {
    struct daemon *daemon = context;
    json_t *report = make_report(daemon);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)signal_number;
    (void)what;
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

/// Logs that a file cannot be used (`why`), or not be read yet. What it said before still counts.
static void log_unread(struct daemon *daemon, const char *event, const char *path,
                       const char *why) {
    if (why != NULL)
        hc_sv_log_event(&daemon->log, HC_SV_LOG_ERROR, event, json_pack("{s:s}", "why", why));
    else
        hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, event,
                        json_pack("{s:s, s:i}", "file", path, "waited_ms", (int)FILE_SLOW_MS));
}

/// The keys have been read again.
static void on_keys(void *context, enum hc_sv_owner_file_status status, const void *out,
                    const char *why) {
    struct daemon *daemon = context;
    const struct hc_token_ring *keys = out;
    if (status != HC_SV_OWNER_FILE_READ) {
        const char *event = status == HC_SV_OWNER_FILE_SLOW ? "keys-slow" : "keys-refused";
        log_unread(daemon, event, daemon->options.key_file, why);
        return;
    }
    hc_sv_host_set_keys(daemon->host, keys);
    hc_sv_log_event(
        &daemon->log, HC_SV_LOG_INFO, "keys-read",
        json_pack("{s:i, s:i}", "current", (int)keys->keys[0].id, "keys", (int)keys->count));
}

/// The refused users have been read again.
static void on_refused(void *context, enum hc_sv_owner_file_status status, const void *out,
                       const char *why) {
    struct daemon *daemon = context;
    const struct hc_sv_refused *refused = out;
    uint64_t now = hc_clock_us();
    if (status != HC_SV_OWNER_FILE_READ) {
        const char *event = status == HC_SV_OWNER_FILE_SLOW ? "refused-slow" : "refused-unreadable";
        log_unread(daemon, event, daemon->options.refused, why);
        return;
    }
    hc_sv_host_set_refused(daemon->host, refused, now);
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, "refused-read",
                    json_pack("{s:i, s:I}", "users", (int)refused->count, "not_before_s",
                              (json_int_t)refused->not_before_s));
    turn(daemon, now);
}

/// SIGHUP: the files are read again, beside the ticks.
static void on_hangup(evutil_socket_t signal_number, short what, void *context) {
    struct daemon *daemon = context;
    (void)signal_number;
    (void)what;
    if (daemon->keys_reader != NULL)
        hc_sv_owner_file_reader_start(daemon->keys_reader);
    if (daemon->refused_reader != NULL)
        hc_sv_owner_file_reader_start(daemon->refused_reader);
}

static const struct {
    int number;
    event_callback_fn callback;
} signals[SIGNALS] = {{SIGTERM, on_stop},
                      {SIGINT, on_stop},
                      {SIGHUP, on_hangup},
                      {SIGUSR1, on_report},
                      {SIGQUIT, on_report}};

/// Lets the signals wait that have a meaning here, or lets those through that have waited: none is
/// lost, or ends the daemon, while it is set up.
static void hold_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&set, signals[i].number);
    sigprocmask(how, &set, NULL);
}

static bool begin(struct event *event) {
    return event != NULL && event_add(event, NULL) == 0;
}

/// The event base; false: no memory or no descriptors.
static bool create_base(struct daemon *daemon) {
    struct event_config *config = event_config_new();
    if (config == NULL)
        return false;
    // Without these the timers are late by up to 3 ms, and early by what a callback takes.
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    daemon->base = event_base_new_with_config(config);
    event_config_free(config);
    return daemon->base != NULL;
}

/// The readers of the files that SIGHUP reads again; false: no memory or no descriptors.
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

/// Everything that wakes the daemon; false: no memory.
static bool watch(struct daemon *daemon) {
    for (enum hc_sv_udp_lane lane = 0; lane < HC_SV_UDP_LANES; lane++) {
        int descriptor = hc_sv_udp_descriptor(daemon->udp, lane);
        event_callback_fn callback = lane == HC_SV_UDP_DATA ? on_data : on_handshake;
        if (descriptor < 0)
            continue;
        daemon->readable[lane] =
            event_new(daemon->base, descriptor, EV_READ | EV_PERSIST, callback, daemon);
        if (!begin(daemon->readable[lane]))
            return false;
    }
    for (unsigned i = 0; i < SIGNALS; i++) {
        daemon->signals[i] =
            evsignal_new(daemon->base, signals[i].number, signals[i].callback, daemon);
        if (!begin(daemon->signals[i]))
            return false;
    }
    daemon->timer = evtimer_new(daemon->base, on_timer, daemon);
    return daemon->timer != NULL && open_readers(daemon);
}

/// The keys as the options want them.
static bool obtain_keys(struct daemon *daemon) {
    char why[WHY_MAX];
    if (daemon->options.dev)
        daemon->keys = hc_sv_key_file_random();
    else if (!hc_sv_key_file_read(daemon->options.key_file, &daemon->keys, why, sizeof(why)))
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->keys.count > 0;
}

/// The refused users as the options want them.
static bool obtain_refused(struct daemon *daemon) {
    static struct hc_sv_refused refused; // too much for a stack
    char why[WHY_MAX];
    const char *path = daemon->options.refused;
    if (path == NULL)
        return true;
    bool good = hc_sv_owner_file_read(&hc_sv_refused_file_kind, path, &refused, why, sizeof(why));
    if (good)
        hc_sv_host_set_refused(daemon->host, &refused, hc_clock_us());
    else
        fprintf(stderr, "hindcastd: %s\n", why);
    return good;
}

/// The port that issues tokens accepts no connection for a while.
static void on_accept_failed(void *context, const char *why) {
    struct daemon *daemon = context;
    hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "token-port-paused",
                    json_pack("{s:s}", "why", why));
}

/// The socket, and in --dev a port of the same number where tokens are issued; where any number
/// will do, one that both can have.
static bool open_ports(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    struct hc_sv_token_http_issuer issuer = {.key = daemon->keys.keys[0],
                                             .protocol_id = hc_datagram_protocol_id(&hc_arena),
                                             .audience = options->audience,
                                             .failed = on_accept_failed,
                                             .context = daemon};
    char why[256] = "";
    unsigned tries = options->dev && options->port == 0 ? DEV_PORTS : 1;
    for (unsigned i = 0; i < tries && daemon->udp == NULL; i++) {
        daemon->udp = hc_sv_udp_open(options->bind, options->port, why, sizeof(why));
        if (daemon->udp == NULL || !options->dev)
            break;
        daemon->admin = hc_sv_token_http_open(daemon->base, hc_sv_udp_address(daemon->udp).port,
                                              &issuer, why, sizeof(why));
        if (daemon->admin == NULL) {
            hc_sv_udp_close(daemon->udp);
            daemon->udp = NULL;
        }
    }
    sodium_memzero(&issuer, sizeof(issuer));
    if (daemon->udp == NULL)
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->udp != NULL;
}

/// The host as the options want it. Exits with 2 when they cannot be had together.
static struct hc_sv_host *create_host(struct daemon *daemon) {
    struct hc_sv_options *options = &daemon->options;
    struct hc_sv_host_config config = hc_sv_host_config_default();
    char why[256];
    if (!options->seed_given) {
        randombytes_buf(&options->seed, sizeof(options->seed));
        options->seed &= ((uint64_t)1 << SEED_BITS) - 1;
    }
    config.game = &hc_arena;
    config.clients = options->clients;
    config.tick_rate = options->tick_rate;
    config.history = options->history;
    config.late_margin = options->late_margin;
    config.force_rewind = options->force_rewind;
    config.snapshot_rate = options->snapshot_rate;
    config.client_rate = options->client_rate;
    config.seed = options->seed;
    config.keys = daemon->keys;
    config.audience = options->audience;
    config.unix_us = hc_sv_wall_clock_us();
    config.connects_per_address = options->connects_per_address;
    config.clients_per_address = options->clients_per_address;
    config.players_per_client = options->players_per_client;
    config.spectators = options->spectators;
    config.session_life_s = options->session_life_s;
    randombytes_buf(config.secret, sizeof(config.secret));
    if (hc_sv_host_config_check(&config, why, sizeof(why)) != NULL) {
        fprintf(stderr, "hindcastd: %s\n", why);
        exit(2);
    }
    struct hc_sv_host *host = hc_sv_host_create(&config, hc_clock_us());
    sodium_memzero(&config, sizeof(config));
    return host;
}

/// Warns that a flood of DATA displaces datagrams of players sooner than it should.
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

static void announce(struct daemon *daemon) {
    struct hc_address address = hc_sv_udp_address(daemon->udp);
    uint32_t granted = hc_sv_udp_receive_buffer(daemon->udp);
    char text[HC_ADDRESS_TEXT_MAX];
    fprintf(daemon->text, "listening on %s\n", hc_address_format(&address, text));
    fflush(daemon->text);
    hc_sv_log_event(
        &daemon->log, HC_SV_LOG_INFO, "started",
        json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:i, s:b}", "version", HC_VERSION,
                  "game", hc_arena.name, "tick_rate_hz", (int)daemon->options.tick_rate,
                  "max_clients", (int)daemon->options.clients, "history_ticks",
                  (int)daemon->options.history, "seed", (json_int_t)daemon->options.seed,
                  "memory_bytes", (json_int_t)hc_sv_host_stats(daemon->host)->memory_bytes,
                  "resident_bytes", (json_int_t)resident_bytes(), "receive_buffer_bytes_each",
                  (int)granted, "handshakes_apart",

                  hc_sv_udp_descriptor(daemon->udp, HC_SV_UDP_HELLO) >= 0));
    if (granted < HC_SV_UDP_RECEIVE_BUFFER)
        log_small_buffer(&daemon->log, granted);
    if (!daemon->options.dev && daemon->options.audience == 0)
        hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "default-audience",
                        json_pack("{s:s}", "why",
                                  "every server of this key without --audience accepts the same "
                                  "tokens and tickets, each once"));
}

/// Prints the final report and writes it where it is wanted. False: the run was not good, or the
/// report could not be written.
static bool report(struct daemon *daemon) {
    hc_sv_status_log_denials(&daemon->status, &daemon->log, daemon->report.host, true,
                             hc_clock_us());
    json_t *json = make_report(daemon);
    const char *path = daemon->options.json;
    hc_sv_report_print(json, daemon->text);
    fflush(daemon->text);
    bool good = hc_report_ok(json);
    if (path != NULL && !hc_report_write(json, path)) {
        fprintf(stderr, "hindcastd: --json '%s': cannot be written\n", path);
        good = false;
    }
    json_decref(json);
    return good;
}

/// Fills in the part of the report that is known at the start.
static void begin_report(struct daemon *daemon) {
    daemon->report.version = HC_VERSION;
    daemon->report.game = &hc_arena;
    daemon->report.seed = daemon->options.seed;
    daemon->report.tick_rate = daemon->options.tick_rate;
    daemon->report.host = hc_sv_host_stats(daemon->host);
    daemon->report.timeline = hc_timeline_stats(hc_sv_host_timeline(daemon->host));
}

static void free_event(struct event *event) {
    if (event != NULL)
        event_free(event);
}

static void clean_up(struct daemon *daemon) {
    for (unsigned lane = 0; lane < HC_SV_UDP_LANES; lane++)
        free_event(daemon->readable[lane]);
    free_event(daemon->timer);
    for (unsigned i = 0; i < SIGNALS; i++)
        free_event(daemon->signals[i]);
    hc_sv_token_http_close(daemon->admin);
    hc_sv_owner_file_reader_close(daemon->keys_reader);
    hc_sv_owner_file_reader_close(daemon->refused_reader);
    if (daemon->base != NULL)
        event_base_free(daemon->base);
    hc_sv_udp_close(daemon->udp);
    hc_sv_host_destroy(daemon->host);
    hc_sv_log_close(&daemon->log);
    sodium_memzero(&daemon->keys, sizeof(daemon->keys));
}

/// All that a server needs; false, and it is said why, when something cannot be had.
static bool set_up(struct daemon *daemon) {
    if (sodium_init() < 0) {
        fprintf(stderr, "hindcastd: the system gives no random numbers\n");
        return false;
    }
    if (daemon->options.json != NULL && !hc_report_can_write(daemon->options.json)) {
        fprintf(stderr, "hindcastd: --json '%s': cannot be written\n", daemon->options.json);
        return false;
    }
    if (!obtain_keys(daemon))
        return false;
    daemon->host = create_host(daemon);
    if (daemon->host == NULL) {
        fprintf(stderr, "hindcastd: not enough memory for --max-clients %u --history %" PRIu32 "\n",
                daemon->options.clients, daemon->options.history);
        return false;
    }
    if (!obtain_refused(daemon))
        return false;
    if (!create_base(daemon)) {
        fprintf(stderr, "hindcastd: no event loop can be had\n");
        return false;
    }
    if (!open_ports(daemon))
        return false;
    if (!watch(daemon)) {
        fprintf(stderr, "hindcastd: no event loop can be had\n");
        return false;
    }
    begin_report(daemon);
    return true;
}

int main(int argc, char **argv) {
    static struct daemon daemon; // the histograms are too much for a stack
    int status;
    argp_program_version = "hindcastd " HC_VERSION;
    if (hc_sv_commands_run(argc, argv, &status))
        return status;
    hc_sv_options_parse(&daemon.options, argc, argv);
    hc_sv_log_open(&daemon.log, daemon.options.level, daemon.options.format, STDERR_FILENO);
    bool json_out = daemon.options.json != NULL && strcmp(daemon.options.json, "-") == 0;
    daemon.text = json_out ? stderr : stdout;
    daemon.report.shaking.limit_us = 1000000U / HANDSHAKES_PART / daemon.options.tick_rate;
    daemon.next = HC_SV_UDP_CONNECT;
    daemon.status.every_us = daemon.options.status_every_us;
    hold_signals(SIG_BLOCK);
    bool good = set_up(&daemon);
    if (good) {
        signal(SIGPIPE, SIG_IGN); // whoever read the output may be gone before us
        announce(&daemon);
        hold_signals(SIG_UNBLOCK);
        daemon.started_us = hc_clock_us();
        hc_sv_host_start(daemon.host, daemon.started_us);
        // The first turn, too, is one of the loop: whatever ends it there is not lost.
        event_active(daemon.timer, EV_TIMEOUT, 0);
        event_base_dispatch(daemon.base);
        good = report(&daemon);
    }
    clean_up(&daemon);
    return good ? 0 : 1;
}
