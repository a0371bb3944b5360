/// Owns hindcastd's event loop: gives the host datagrams and the time, and obeys signals.
#define _GNU_SOURCE

#include "common/programs/clock.h"
#include "common/programs/report.h"
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
    RECEIVE_FRACTION = 2,         ///< datagrams may delay a tick by 1 / this of it
    HANDSHAKE_FRACTION = 2,       ///< handshakes may take 1 / this of each tick
    DRAIN_EVERY_US = 1000,        ///< the shortest interval at which the DATA lane is read
    DRAIN_CAPACITY = 8,           ///< and it is read before 1 / this of the receive buffer is full
    SEND_WAIT_US = 500,           ///< a datagram waits so long for others of its batch
    SET_TIME_EVERY_US = 10000000, ///< interval at which the host is given the wall clock
    DEV_PORTS = 16,               ///< ports tried with --port 0 in --dev
    WHY_MAX = 4500,               ///< bytes of a sentence with a path
    SEED_BITS = 53,               ///< of a random seed: every JSON reader reads these exactly
    SIGNALS = 5,                  ///< handled by the daemon
    FILE_SLOW_MS = 5000,          ///< a slower reading of a file is logged
};

struct daemon {
    struct hc_sv_options options;
    struct hc_game game; ///< of the options, with their view
    struct hc_sv_log log;
    FILE *text; ///< for people: standard output, or standard error if the JSON goes there
    struct hc_sv_udp *udp;
    struct hc_sv_host *host;
    struct event_base *base;
    struct event *readable[HC_SV_UDP_LANES]; ///< none of DATA, which is read by time
    struct event *timer;
    struct event *signals[SIGNALS];
    enum hc_sv_udp_lane next_lane; ///< HELLO or CONNECT, read next
    struct hc_token_ring keys;
    struct hc_sv_token_http *token_http;            ///< NULL unless --dev
    struct hc_sv_owner_file_reader *keys_reader;    ///< NULL in --dev
    struct hc_sv_owner_file_reader *refused_reader; ///< NULL without --refused
    uint64_t time_set_us;                           ///< when the host was last given the wall clock
    bool stopping;
    hc_tick counted_tick; ///< newest tick in report.client_ticks
    uint64_t started_us;
    uint64_t armed_us;                      ///< deadline of the timer
    uint64_t drain_us;                      ///< when the DATA lane is read next, beside every tick
    uint32_t drained;                       ///< its datagrams since the last tick
    uint32_t drain_size;                    ///< the datagrams that one reading should find, at most
    uint64_t drain_every_us;                ///< the interval that follows from them
    uint64_t advance_us, send_us, other_us; ///< time worked since the last tick
    struct hc_sv_report report;
    struct hc_sv_status status;
};

/// Processor time of this thread: unlike elapsed time, without preemption by other processes.
static uint64_t thread_cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/// Physical memory of this process; 0 without /proc.
static size_t resident_bytes(void) {
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/// Adds the client's user to the fields of a log line.
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
    static const char *const names[] = {"joined", "left",        "timeout",
                                        "lost",   "reconnected", "moved"};
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

/// Receives and drops the messages of the clients: a plugin has no rule for them.
static void drop_messages(struct daemon *daemon) {
    struct hc_sv_message received;
    while (hc_sv_host_next_message(daemon->host, &received) != NULL)
        if (daemon->log.level >= HC_SV_LOG_DEBUG) // below, a message must not cost an allocation
            hc_sv_log_event(&daemon->log, HC_SV_LOG_DEBUG, "message",
                            json_pack("{s:I, s:i}", "cid", (json_int_t)received.cid, "bytes",
                                      (int)received.size));
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

/// Counts the clients of the ticks that the host has just simulated; true: it simulated any.
static bool count_ticks(struct daemon *daemon) {
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(daemon->host));
    unsigned clients = hc_sv_host_clients(daemon->host);
    if (head == daemon->counted_tick)
        return false;
    daemon->report.client_ticks += (uint64_t)(head - daemon->counted_tick) * clients;
    if (clients > daemon->report.clients_most)
        daemon->report.clients_most = clients;
    daemon->counted_tick = head;
    return true;
}

/// Sends all datagrams that are due, each batch as soon as its first one has waited SEND_WAIT_US:
/// nobody waits until the snapshots of all clients are made. Returns the time.
static uint64_t send_all(struct daemon *daemon, uint64_t now) {
    struct hc_address to;
    uint64_t flushed_us = now;
    size_t size;
    while ((size = hc_sv_host_send(daemon->host, &to, hc_sv_udp_room(daemon->udp), now)) > 0) {
        hc_sv_udp_queue(daemon->udp, &to, size);
        now = hc_clock_us();
        if (now - flushed_us < SEND_WAIT_US)
            continue;
        hc_sv_udp_flush(daemon->udp);
        flushed_us = now;
    }
    hc_sv_udp_flush(daemon->udp);
    return hc_clock_us();
}

/// Starts the next tick's time budget of handshakes, and reads their lanes again.
static void renew_handshake_budget(struct daemon *daemon) {
    hc_sv_time_budget_renew(&daemon->report.handshake_budget);
    for (unsigned lane = HC_SV_UDP_DATA + 1; lane < HC_SV_UDP_LANES; lane++)
        if (daemon->readable[lane] != NULL)
            event_add(daemon->readable[lane], NULL);
}

/// Records that a tick, or several after a stall, took `work_us`.
static void record_work(struct daemon *daemon, uint64_t work_us) {
    struct hc_sv_report *report = &daemon->report;
    hc_histogram_record(&report->tick_us, work_us);
    report->ticks_worked_too_long += work_us > 1000000 / daemon->options.tick_rate;
    hc_sv_status_add_tick(&daemon->status, work_us);
}

/// Gives the host the wall clock if it is due; tokens expire by it.
static void set_time(struct daemon *daemon, uint64_t now) {
    if (now - daemon->time_set_us < SET_TIME_EVERY_US)
        return;
    daemon->time_set_us = now;
    hc_sv_host_set_time(daemon->host, hc_sv_wall_clock_us(), now);
    daemon->report.udp = hc_sv_udp_stats(daemon->udp);
}

/// Receives a batch of a lane and returns the number of its datagrams.
static unsigned receive_batch(struct daemon *daemon, enum hc_sv_udp_lane lane) {
    unsigned count = hc_sv_udp_receive(daemon->udp, lane);
    for (unsigned i = 0; i < count; i++) {
        struct hc_sv_udp_datagram datagram = hc_sv_udp_received(daemon->udp, i);
        // The host counts what it refuses.
        (void)hc_sv_host_receive(daemon->host, &datagram.from, datagram.bytes, datagram.size,
                                 datagram.arrived_us);
    }
    return count;
}

static uint64_t tick_us(const struct daemon *daemon) {
    return 1000000 / daemon->options.tick_rate;
}

/// Receives DATA until the lane is empty or it is `end_us`. The rest waits in the receive buffer.
static void receive_data(struct daemon *daemon, uint64_t end_us) {
    unsigned count;
    do {
        count = receive_batch(daemon, HC_SV_UDP_DATA);
        daemon->drained += count;
    } while (count == HC_SV_UDP_BATCH && hc_clock_us() < end_us);
}

/// Chooses how often the DATA lane is read in the next tick: whole batches at a time, because a
/// wake-up for each datagram costs three times the processor time.
static void plan_drains(struct daemon *daemon) {
    daemon->drain_every_us = tick_us(daemon) / (daemon->drained / daemon->drain_size + 1);
    if (daemon->drain_every_us < DRAIN_EVERY_US)
        daemon->drain_every_us = DRAIN_EVERY_US;
    daemon->drained = 0;
}

/// Reads the DATA lane if it is time to, always right before a tick.
static void drain(struct daemon *daemon, uint64_t now) {
    uint64_t deadline = hc_sv_host_deadline(daemon->host);
    if (now < deadline && now < daemon->drain_us)
        return;
    receive_data(daemon, now < deadline ? deadline : now + tick_us(daemon) / RECEIVE_FRACTION);
    daemon->drain_us = now + daemon->drain_every_us;
}

/// Sets the timer to the host's deadline, or to the next reading of the DATA lane before it.
static void arm_timer(struct daemon *daemon) {
    uint64_t deadline = hc_sv_host_deadline(daemon->host), now = hc_clock_us();
    // A reading shortly before the deadline would only wake the daemon twice.
    if (daemon->drain_us + DRAIN_EVERY_US / 2 < deadline)
        deadline = daemon->drain_us;
    if (deadline == daemon->armed_us && evtimer_pending(daemon->timer, NULL))
        return;
    // The deadline is absolute, so errors of the timer do not add up.
    daemon->armed_us = deadline;
    uint64_t wait = deadline > now ? deadline - now : 0;
    struct timeval timeout = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(daemon->timer, &timeout);
}

/// Gives the host the time worked since the last tick.
static void note_work(struct daemon *daemon) {
    hc_sv_host_note_work(daemon->host, daemon->advance_us, daemon->send_us, daemon->other_us,
                         hc_clock_us());
    daemon->advance_us = daemon->send_us = daemon->other_us = 0;
}

/// Does everything that is due at `now`, and sets the timer to the next deadline.
static void turn(struct daemon *daemon, uint64_t now) {
    struct hc_sv_event event;
    drain(daemon, now);
    uint64_t drained = hc_clock_us();
    hc_sv_host_advance(daemon->host, now);
    bool ticked = count_ticks(daemon);
    uint64_t advanced = hc_clock_us();
    uint64_t end = send_all(daemon, advanced);
    if (ticked) {
        record_work(daemon, end - now);
        renew_handshake_budget(daemon);
        plan_drains(daemon);
    }
    while (hc_sv_host_poll_event(daemon->host, &event))
        log_event(daemon, &event);
    drop_messages(daemon);
    if (ticked) {
        hc_sv_status_log_denials(&daemon->status, &daemon->log, daemon->report.host, false, now);
        hc_sv_status_log(&daemon->status, &daemon->log, &daemon->report,
                         hc_sv_host_clients(daemon->host), now);
        hc_sv_status_log_overload(&daemon->status, &daemon->log, daemon->report.host);
    }
    hc_sv_log_advance(&daemon->log);
    set_time(daemon, now);
    daemon->advance_us += advanced - drained;
    daemon->send_us += end - advanced;
    daemon->other_us += drained - now + hc_clock_us() - end;
    if (ticked)
        note_work(daemon);

    if (daemon->options.ticks != 0 && daemon->counted_tick >= daemon->options.ticks)
        stop(daemon, "--ticks", end);
    if (hc_sv_host_ended(daemon->host))
        stop(daemon, "a world has no more ticks", end);
    if (daemon->stopping && hc_sv_host_closed(daemon->host)) {
        event_base_loopbreak(daemon->base);
        return;
    }
    arm_timer(daemon);
}

static void on_timer(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor;
    (void)events;
    turn(context, hc_clock_us());
}

/// Receives HELLOs and CONNECTs in turn, so that neither delays the other, until both lanes are
/// empty, the timer is due, or their time budget is used up. The rest waits in the receive buffers.
/// A CLOSE that arrived before a CONNECT is read before it, and frees its place.
static void receive_handshakes(struct daemon *daemon) {
    struct hc_sv_time_budget *budget = &daemon->report.handshake_budget;
    uint64_t now = hc_clock_us(), deadline = daemon->armed_us;
    for (unsigned empty = 0; empty < 2 && now < deadline && hc_sv_time_budget_lasts(budget);) {
        receive_data(daemon, deadline);
        uint64_t from = thread_cpu_us();
        unsigned count = receive_batch(daemon, daemon->next_lane);
        now = send_all(daemon, hc_clock_us());
        hc_sv_time_budget_take(budget, thread_cpu_us() - from);
        daemon->report.handshakes += count;
        empty = count < HC_SV_UDP_BATCH ? empty + 1 : 0;
        daemon->next_lane =
            daemon->next_lane == HC_SV_UDP_CONNECT ? HC_SV_UDP_HELLO : HC_SV_UDP_CONNECT;
    }
    if (!hc_sv_time_budget_lasts(budget)) {
        event_del(daemon->readable[HC_SV_UDP_CONNECT]);
        event_del(daemon->readable[HC_SV_UDP_HELLO]);
    }
}

static void on_handshake(evutil_socket_t descriptor, short events, void *context) {
    struct daemon *daemon = context;
    uint64_t begun = hc_clock_us();
    (void)descriptor;
    (void)events;
    receive_handshakes(daemon);
    uint64_t now = hc_clock_us();
    daemon->other_us += now - begun;
    turn(daemon, now);
}

/// Makes the report of the run so far.
static json_t *make_report(struct daemon *daemon) {
    struct hc_sv_report *report = &daemon->report;
    report->ticks = daemon->counted_tick;
    report->duration_us = hc_clock_us() - daemon->started_us;
    report->cpu_us = hc_report_cpu_us();
    report->resident_bytes = resident_bytes();
    report->udp = hc_sv_udp_stats(daemon->udp);
    return hc_sv_report_json(report);
}

/// SIGTERM and SIGINT: closes all connections and ends; a second signal ends at once.
static void on_stop(evutil_socket_t signal_number, short events, void *context) {
    struct daemon *daemon = context;
    (void)events;
    if (daemon->stopping) {
        event_base_loopbreak(daemon->base);
        return;
    }
    uint64_t now = hc_clock_us();
    stop(daemon, signal_number == SIGTERM ? "SIGTERM" : "SIGINT", now);
    turn(daemon, now);
}

/// SIGUSR1 and SIGQUIT: writes the report of the run so far into the log, as a table or as one line
/// of JSON. The log never waits for its reader.
static void on_report(evutil_socket_t signal_number, short events, void *context) {
    struct daemon *daemon = context;
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
    hc_sv_host_set_keys(daemon->host, keys);
    hc_sv_log_event(
        &daemon->log, HC_SV_LOG_INFO, "keys-read",
        json_pack("{s:i, s:i}", "current", (int)keys->keys[0].id, "keys", (int)keys->count));
}

/// A reading of the refused users ended, or is slow.
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
} signals[SIGNALS] = {{SIGTERM, on_stop},
                      {SIGINT, on_stop},
                      {SIGHUP, on_hangup},
                      {SIGUSR1, on_report},
                      {SIGQUIT, on_report}};

/// Blocks or unblocks the handled signals. While the daemon sets up, no signal is lost or ends it.
static void mask_signals(int how) {
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
    // Without these, timers are up to 3 ms late, and early by the duration of a callback.
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    daemon->base = event_base_new_with_config(config);
    event_config_free(config);
    return daemon->base != NULL;
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

/// Registers all events that wake the daemon; false: no memory.
static bool watch(struct daemon *daemon) {
    for (enum hc_sv_udp_lane lane = HC_SV_UDP_DATA + 1; lane < HC_SV_UDP_LANES; lane++) {
        int descriptor = hc_sv_udp_descriptor(daemon->udp, lane);
        if (descriptor < 0)
            continue;
        daemon->readable[lane] =
            event_new(daemon->base, descriptor, EV_READ | EV_PERSIST, on_handshake, daemon);
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
    static struct hc_sv_refused refused; // too large for the stack
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
    struct hc_sv_token_http_issuer issuer = {
        .key = daemon->keys.keys[0],
        .protocol_id = hc_datagram_protocol_id(options->plugin.game, options->plugin.rule_hash),
        .audience = options->audience,
        .failed = on_accept_failed,
        .context = daemon};
    char why[256] = "";
    unsigned tries = options->dev && options->port == 0 ? DEV_PORTS : 1;
    for (unsigned i = 0; i < tries && daemon->udp == NULL; i++) {
        daemon->udp = hc_sv_udp_open(options->bind, options->port, why, sizeof(why));
        if (daemon->udp == NULL || !options->dev)
            break;
        daemon->token_http = hc_sv_token_http_open(
            daemon->base, hc_sv_udp_address(daemon->udp).port, &issuer, why, sizeof(why));
        if (daemon->token_http == NULL) {
            hc_sv_udp_close(daemon->udp);
            daemon->udp = NULL;
        }
    }
    sodium_memzero(&issuer, sizeof(issuer));
    if (daemon->udp == NULL)
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->udp != NULL;
}

/// Creates the host by the options. Exits with 2 if they exclude each other.
static struct hc_sv_host *create_host(struct daemon *daemon) {
    struct hc_sv_options *options = &daemon->options;
    struct hc_sv_host_config config = hc_sv_host_config_default();
    char why[256];
    if (!options->seed_given) {
        randombytes_buf(&options->seed, sizeof(options->seed));
        options->seed &= ((uint64_t)1 << SEED_BITS) - 1;
    }
    daemon->game = *options->plugin.game;
    if (options->view_given)
        daemon->game.view = options->view;
    config.game = &daemon->game;
    config.rule_hash = options->plugin.rule_hash;
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

static void announce(struct daemon *daemon) {
    struct hc_address address = hc_sv_udp_address(daemon->udp);
    uint32_t granted = hc_sv_udp_receive_buffer(daemon->udp);
    char text[HC_ADDRESS_TEXT_MAX];
    fprintf(daemon->text, "listening on %s\n", hc_address_format(&address, text));
    fflush(daemon->text);
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, "started",
                    json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:i, s:b}", "version",
                              HC_VERSION, "game", daemon->options.plugin.game->name, "tick_rate_hz",
                              (int)daemon->options.tick_rate, "max_clients",
                              (int)daemon->options.clients, "history_ticks",
                              (int)daemon->options.history, "seed",
                              (json_int_t)daemon->options.seed, "memory_bytes",
                              (json_int_t)hc_sv_host_stats(daemon->host)->memory_bytes,
                              "resident_bytes", (json_int_t)resident_bytes(),
                              "receive_buffer_bytes_each", (int)granted, "handshakes_apart",

                              hc_sv_udp_descriptor(daemon->udp, HC_SV_UDP_HELLO) >= 0));
    if (granted < HC_SV_UDP_RECEIVE_BUFFER)
        log_small_buffer(&daemon->log, granted);
    if (!daemon->options.dev && daemon->options.audience == 0)
        hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "default-audience",
                        json_pack("{s:s}", "why",
                                  "every server of this key without --audience accepts the same "
                                  "tokens and tickets, each once"));
}

/// Prints the final report and writes the JSON. False: the verdict is NOT OK, or writing failed.
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
    hc_sv_token_http_close(daemon->token_http);
    hc_sv_owner_file_reader_close(daemon->keys_reader);
    hc_sv_owner_file_reader_close(daemon->refused_reader);
    if (daemon->base != NULL)
        event_base_free(daemon->base);
    hc_sv_udp_close(daemon->udp);
    hc_sv_host_destroy(daemon->host);
    hc_sv_log_close(&daemon->log);
    sodium_memzero(&daemon->keys, sizeof(daemon->keys));
}

/// Plans the readings of the DATA lane, which has received nothing yet.
static void begin_drains(struct daemon *daemon) {
    daemon->drain_size = hc_sv_udp_capacity(daemon->udp) / DRAIN_CAPACITY;
    if (daemon->drain_size < 1)
        daemon->drain_size = 1;
    if (daemon->drain_size > HC_SV_UDP_BATCH)
        daemon->drain_size = HC_SV_UDP_BATCH;
    plan_drains(daemon);
}

/// Makes everything that the server needs; false: failed, with a sentence on standard error.
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
    begin_drains(daemon);
    begin_report(daemon);
    return true;
}

int main(int argc, char **argv) {
    static struct daemon daemon; // the histograms are too large for the stack
    int status;
    argp_program_version = "hindcastd " HC_VERSION;
    if (hc_sv_commands_run(argc, argv, &status))
        return status;
    hc_sv_options_parse(&daemon.options, argc, argv);
    hc_sv_log_open(&daemon.log, daemon.options.level, daemon.options.format, STDERR_FILENO);
    bool json_out = daemon.options.json != NULL && strcmp(daemon.options.json, "-") == 0;
    daemon.text = json_out ? stderr : stdout;
    daemon.report.handshake_budget.limit_us =
        1000000U / HANDSHAKE_FRACTION / daemon.options.tick_rate;
    daemon.next_lane = HC_SV_UDP_CONNECT;
    daemon.status.every_us = daemon.options.status_every_us;
    mask_signals(SIG_BLOCK);
    bool good = set_up(&daemon);
    if (good) {
        signal(SIGPIPE, SIG_IGN); // the reader of the output may end before the daemon
        announce(&daemon);
        mask_signals(SIG_UNBLOCK);
        daemon.started_us = hc_clock_us();
        hc_sv_host_start(daemon.host, daemon.started_us);
        // The first turn runs inside the loop, so that it can break the loop.
        event_active(daemon.timer, EV_TIMEOUT, 0);
        event_base_dispatch(daemon.base);
        good = report(&daemon);
    }
    clean_up(&daemon);
    return good ? 0 : 1;
}
