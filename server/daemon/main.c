/// Owns hindcastd's process: makes all of its parts, and writes the final report.
#define _GNU_SOURCE

#include "common/programs/backtrace.h"
#include "common/programs/clock.h"
#include "common/programs/crash.h"
#include "common/programs/report.h"
#include "common/programs/standard.h"
#include "hindcast/server.h"
#include "server/daemon/activation.h"
#include "server/daemon/admin.h"
#include "server/daemon/agones.h"
#include "server/daemon/commands.h"
#include "server/daemon/control.h"
#include "server/daemon/doors.h"
#include "server/daemon/key_file.h"
#include "server/daemon/last_words.h"
#include "server/daemon/memory.h"
#include "server/daemon/options.h"
#include "server/daemon/owner_file.h"
#include "server/daemon/query_port.h"
#include "server/daemon/refused_file.h"
#include "server/daemon/report.h"
#include "server/daemon/token_http.h"

#include <argp.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEV_PORTS = 16,      ///< ports tried with --port 0 in --dev
    WHY_MAX = 4500,      ///< bytes of a sentence with a path
    SEED_BITS = 53,      ///< of a random seed: every JSON reader reads these exactly
    LOG_FILE_MS = 1000,  ///< at the end, the log's file may take so long
    STUCK = 70,          ///< the exit status after a match was stuck
    RESTARTS = 75,       ///< the exit status that asks for the next server
    MAKERS_US = 1000000, ///< at the end, worlds that are being made are waited for so long
};

struct daemon {
    struct hc_sv_options command; ///< what the command line sets
    struct hc_sv_reading start;   ///< texts of `options`
    struct hc_sv_options options; ///< in force
    struct hc_sv_match_setting setting;
    struct hc_sv_log log;
    FILE *text; ///< for people: standard output, or standard error if the JSON goes there
    struct hc_token_ring keys;
    struct hc_sv_token_http *token_http; ///< NULL unless --dev
    struct hc_sv_admin *admin;           ///< NULL unless --admin
    struct hc_sv_agones *agones;         ///< NULL unless --agones
    struct hc_sv_query_port *query_port; ///< NULL unless --query-port
    pthread_mutex_t placement_lock;
    struct hc_sv_wall_clock wall_clock;
    struct hc_sv_tracing tracing;
    struct hc_sv_worker *workers; ///< [options.workers]
    struct hc_sv_control control;
    struct hc_sv_activation activation;
};

/// A place in the code of the game.
static const void *game_place(const struct daemon *daemon) {
    return hc_place_of((void (*)(void))daemon->options.plugin.game->step);
}

/// Reads or makes the keys; false: failed, with a sentence on standard error.
static bool obtain_keys(struct daemon *daemon) {
    char why[WHY_MAX], place[HC_SV_OWNER_FILE_PATH_MAX];
    if (daemon->options.dev) {
        daemon->keys = hc_sv_key_file_random();
        return true;
    }
    const char *path = hc_sv_owner_file_locate(daemon->options.key_file, place, sizeof(place));
    if (!hc_sv_key_file_read(path, &daemon->keys, why, sizeof(why)))
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->keys.count > 0;
}

/// Reads the refused users; false: failed, with a sentence on standard error. `check`: they are
/// only checked.
static bool obtain_refused(struct daemon *daemon, bool check) {
    static struct hc_sv_refused_file refused; // too large for the stack
    char why[WHY_MAX];
    const char *path = daemon->options.refused;
    if (path == NULL)
        return true;
    bool good = hc_sv_owner_file_read(&hc_sv_refused_file_kind, path, &refused, why, sizeof(why));
    if (good && !check && !hc_sv_reload_refuse(&daemon->control.reload, &refused)) {
        snprintf(why, sizeof(why), "--refused '%s': no memory for them", path);
        good = false;
    }
    if (!good)
        fprintf(stderr, "hindcastd: %s\n", why);
    return good;
}

/// Gives the workers their doors, and registers all events; false: failed, with a sentence on
/// standard error.
static bool watch(struct daemon *daemon, struct hc_sv_doors **doors) {
    bool good = hc_sv_control_watch(&daemon->control);
    for (unsigned i = 0; i < daemon->options.workers; i++)
        good = hc_sv_worker_watch(&daemon->workers[i], doors[i]) && good;
    if (!good)
        fprintf(stderr, "hindcastd: no event loop can be had\n");
    return good;
}

/// The token port cannot accept connections, and pauses.
static void on_accept_failed(void *context, const char *why) {
    struct daemon *daemon = context;
    hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "token-port-paused",
                    json_pack("{s:s}", "why", why));
}

/// Opens the doors and, in --dev, the token port of the same number; with --port 0, a number that
/// is free for both.
static bool open_ports(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    struct hc_sv_doors *doors[HC_SV_WORKERS_MAX] = {NULL};
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
    unsigned tries =
        options->dev && options->port == 0 && daemon->activation.games == 0 ? DEV_PORTS : 1;
    bool open = false;
    for (unsigned i = 0; i < tries && !open; i++) {
        open = hc_sv_doors_open(options, doors, why, sizeof(why));
        if (!open || !options->dev)
            break;
        daemon->token_http =
            hc_sv_token_http_open(daemon->control.base, hc_sv_doors_facts(doors[0]).address.port,
                                  &issuer, why, sizeof(why));
        open = daemon->token_http != NULL;
        for (unsigned w = 0; !open && w < options->workers; w++)
            hc_sv_doors_close(doors[w]);
    }
    sodium_memzero(&issuer, sizeof(issuer));
    if (!open)
        fprintf(stderr, "hindcastd: %s\n", why);
    return open && watch(daemon, doors);
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
    daemon->setting.drains = &daemon->control.drains;
    daemon->setting.tracing = &daemon->tracing;
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
    bool good = open_placement(daemon);
    for (unsigned i = 0; good && i < options->workers; i++) {
        struct hc_sv_worker *worker = &daemon->workers[i];
        worker->setting = &daemon->setting;
        worker->all = daemon->workers;
        worker->run = &daemon->control.run;
        worker->index = i;
        good = hc_sv_worker_open(worker, &daemon->keys);
    }
    return good;
}

/// Warns that a flood of DATA displaces players' datagrams sooner than with the whole buffer.
static void log_small_buffer(struct hc_sv_log *log, const struct hc_sv_door_facts *facts) {
    char why[160];
    snprintf(why, sizeof(why),
             "a flood of datagrams displaces those of players sooner: set the sysctl "
             "net.core.rmem_max to %" PRIu32 " or more, or give CAP_NET_ADMIN",
             facts->receive_buffer_asked);
    hc_sv_log_event(log, HC_SV_LOG_WARN, "small-receive-buffer",
                    json_pack("{s:I, s:I, s:s}", "granted_bytes", (json_int_t)facts->receive_buffer,
                              "asked_bytes", (json_int_t)facts->receive_buffer_asked, "why", why));
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
static void log_started(struct daemon *daemon, const char *address,
                        const struct hc_sv_door_facts *facts) {
    const struct hc_plugin *plugin = &daemon->options.plugin;
    char protocol_id[24];
    snprintf(protocol_id, sizeof(protocol_id), "0x%016" PRIx64,
             hc_datagram_protocol_id(plugin->game, plugin->rule_hash));
    json_t *fields =
        json_pack("{s:s, s:i, s:s, s:i, s:s, s:i, s:s, s:I, s:I, s:i, s:b}", "version", HC_VERSION,
                  "pid", (int)getpid(), "address", address, "port", (int)facts->address.port,
                  "game", plugin->game->name, "game_version", (int)plugin->game->version,
                  "protocol_id", protocol_id, "memory_bytes", (json_int_t)memory_of(daemon),
                  "resident_bytes", (json_int_t)hc_sv_memory_resident(),
                  "receive_buffer_bytes_each", (int)facts->receive_buffer, "handshakes_apart",
                  hc_sv_doors_stats(daemon->workers[0].runner->doors).sorted);
    json_t *settings = hc_settings_json(hc_sv_settings, HC_SV_SETTING_COUNT, &daemon->options);
    json_object_update_missing(fields, settings); // the port of --port 0 is another
    json_decref(settings);
    hc_sv_log_event(&daemon->log, HC_SV_LOG_INFO, "started", fields);
}

static void announce(struct daemon *daemon) {
    struct hc_sv_door_facts facts = hc_sv_doors_facts(daemon->workers[0].runner->doors);
    char text[HC_ADDRESS_TEXT_MAX];
    fprintf(daemon->text, "listening on %s\n", hc_address_format(&facts.address, text));
    fflush(daemon->text);
    log_started(daemon, text, &facts);
    if (facts.receive_buffer < facts.receive_buffer_asked)
        log_small_buffer(&daemon->log, &facts);
    if (!daemon->options.dev && daemon->options.audience == 0)
        hc_sv_log_event(&daemon->log, HC_SV_LOG_WARN, "default-audience",
                        json_pack("{s:s}", "why",
                                  "every server of this key without --audience accepts the same "
                                  "tokens and tickets, each once"));
}

/// Prints the final report and writes the JSON. False: writing failed, or the verdict, if it
/// decides the exit status, is NOT OK.
static bool report(struct daemon *daemon) {
    json_t *json = hc_sv_control_report(&daemon->control);
    const char *path = daemon->options.json;
    hc_sv_report_print(json, daemon->text);
    bool decides = daemon->options.verdict || daemon->options.ticks != 0;
    bool good = hc_report_ok(json) || !decides;
    good = hc_standard_flush(daemon->text, "hindcastd") && good;
    good = (path == NULL || hc_report_write(json, "hindcastd", path)) && good;
    json_decref(json);
    return good;
}

static void clean_up(struct daemon *daemon) {
    hc_sv_token_http_close(daemon->token_http);
    hc_sv_admin_close(daemon->admin);
    hc_sv_agones_close(daemon->agones);
    hc_sv_query_port_close(daemon->query_port);
    hc_sv_control_close(&daemon->control);
    hc_sv_last_words_forget();
    for (unsigned i = 0; daemon->workers != NULL && i < daemon->options.workers; i++)
        hc_sv_worker_close(&daemon->workers[i]);
    free(daemon->workers);
    hc_sv_watchdog_free(daemon->setting.watchdog);
    hc_sv_placement_destroy(daemon->setting.placement);
    hc_sv_wall_clock_close(&daemon->wall_clock);
    hc_sv_tracing_close(&daemon->tracing);
    hc_sv_log_close(&daemon->log);
    hc_sv_log_file_close(daemon->control.reload.log_file, LOG_FILE_MS);
    sodium_memzero(&daemon->keys, sizeof(daemon->keys));
}

/// Opens the admin face, if the options name one.
static bool open_admin(struct daemon *daemon) {
    char why[WHY_MAX];
    daemon->admin = hc_sv_admin_open(&daemon->control, why, sizeof(why));
    if (daemon->admin == NULL && why[0] != '\0')
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->admin != NULL || why[0] == '\0';
}

/// Opens the trace, and its file if the options name one.
static bool open_trace(struct daemon *daemon) {
    char why[HC_TRACE_WHY_MAX];
    daemon->tracing.version = HC_VERSION;
    daemon->tracing.options = &daemon->options;
    daemon->tracing.log = &daemon->log;
    bool good = hc_sv_tracing_open(&daemon->tracing, why);
    if (!good)
        fprintf(stderr, "hindcastd: %s\n", why);
    return good;
}

/// Opens the client of Agones, if there is --agones, and learns the port with --agones-port.
static bool open_agones(struct daemon *daemon) {
    char why[WHY_MAX];
    daemon->agones = hc_sv_agones_open(&daemon->control, &daemon->options.port, why, sizeof(why));
    if (daemon->agones == NULL && why[0] != '\0')
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->agones != NULL || why[0] == '\0';
}

/// Opens the port for server browsers, if the options name one.
static bool open_query_port(struct daemon *daemon) {
    char why[WHY_MAX];
    uint16_t game_port = hc_sv_doors_facts(daemon->workers[0].runner->doors).address.port;
    daemon->query_port = hc_sv_query_port_open(&daemon->control, game_port, why, sizeof(why));
    if (daemon->query_port == NULL && why[0] != '\0')
        fprintf(stderr, "hindcastd: %s\n", why);
    return daemon->query_port != NULL || why[0] == '\0';
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
    daemon->workers = calloc(options->workers, sizeof(*daemon->workers));
    if (daemon->workers == NULL ||
        !hc_sv_control_open(&daemon->control, &daemon->setting, daemon->workers)) {
        fprintf(stderr, "hindcastd: no event loop can be had\n");
        return false;
    }
    hc_sv_reload_open(&daemon->control.reload, &daemon->setting, &daemon->command, &daemon->options,
                      daemon->workers);
    if (!open_workers(daemon)) {
        fprintf(stderr,
                "hindcastd: not enough memory for %u matches of %u clients with %" PRIu32
                " ticks of history\n",
                options->matches, options->clients, options->history);
        return false;
    }
    return obtain_refused(daemon, false) && open_agones(daemon) && open_ports(daemon) &&
           open_admin(daemon) && open_trace(daemon) && open_query_port(daemon);
}

/// Runs all workers until they have ended; false: a thread cannot be had. `*ended`: no thread of
/// the daemon runs any more.
static bool run(struct daemon *daemon, bool *ended) {
    unsigned workers = daemon->options.workers, begun = 0;
    daemon->setting.watchdog =
        hc_sv_watchdog_start(&daemon->log, game_place(daemon), daemon->options.matches);
    daemon->setting.began_us = hc_clock_us();
    daemon->control.began_unix_us = hc_sv_wall_clock_us();
    daemon->control.began_cpu_us = hc_report_cpu_us();
    for (unsigned i = 0; i < workers; i++)
        begun += hc_sv_worker_begin(&daemon->workers[i]);
    if (begun < workers) {
        fprintf(stderr, "hindcastd: --workers '%u': only %u threads can be had\n", workers, begun);
        hc_sv_control_end(&daemon->control);
    }
    hc_sv_control_mask_signals(SIG_UNBLOCK); // of this thread alone: the others receive none
    hc_sv_control_run(&daemon->control);
    uint64_t until_us = hc_clock_us() + MAKERS_US;
    *ended = hc_sv_watchdog_stop(daemon->setting.watchdog); // first: it asks threads
    for (unsigned i = 0; i < workers; i++)
        *ended = *ended && hc_sv_worker_join(&daemon->workers[i], until_us);
    return begun == workers;
}

/// Takes what the service manager passes; false: it is wrong, with a sentence on standard error.
static bool meet_manager(struct daemon *daemon) {
    char why[WHY_MAX];
    struct hc_sv_options *options = &daemon->options;
    if (!hc_sv_notify_open(&daemon->control.notify, why, sizeof(why)) ||
        !hc_sv_activation_take(&daemon->activation, why, sizeof(why)) ||
        !hc_sv_activation_check(&daemon->activation, options, why, sizeof(why))) {
        fprintf(stderr, "hindcastd: %s\n", why);
        return false;
    }
    options->activation = &daemon->activation;
    return true;
}

/// The exit status after a run; `good`: it went well.
static int exit_status(const struct daemon *daemon, bool good) {
    if (atomic_load(&daemon->control.run.end) == HC_SV_RUN_STUCK)
        return STUCK;
    if (!good)
        return 1;
    return daemon->control.restarts ? RESTARTS : 0;
}

/// Opens the log; false: its file cannot be opened, with a sentence on standard error.
static bool open_log(struct daemon *daemon) {
    const struct hc_sv_options *options = &daemon->options;
    char why[WHY_MAX];
    int descriptor = STDERR_FILENO;
    if (options->log_file != NULL) {
        struct hc_sv_log_file *file = hc_sv_log_file_open(options->log_file, why, sizeof(why));
        if (file == NULL) {
            fprintf(stderr, "hindcastd: %s\n", why);
            return false;
        }
        daemon->control.reload.log_file = file;
        descriptor = hc_sv_log_file_descriptor(file);
    }
    hc_sv_log_open(&daemon->log, options->level, options->format, descriptor);
    return true;
}

/// The exit status of --check-config.
static int check_config(struct daemon *daemon) {
    if (sodium_init() < 0 || !obtain_keys(daemon))
        return 1;
    prepare_setting(daemon);
    bool good = obtain_refused(daemon, true);
    hc_sv_wall_clock_close(&daemon->wall_clock);
    sodium_memzero(&daemon->keys, sizeof(daemon->keys));
    if (good)
        puts("ok");
    return good && hc_standard_flush(stdout, "hindcastd") ? 0 : 1;
}

int main(int argc, char **argv) {
    static struct daemon daemon; // the histograms are too large for the stack
    int status;
    hc_standard_open();
    argp_program_version = "hindcastd " HC_VERSION_AND_COMMIT;
    if (hc_sv_commands_run(argc, argv, &status))
        return status;
    hc_sv_options_parse(&daemon.command, &daemon.start, argc, argv);
    daemon.options = daemon.start.options;
    if (daemon.options.check_config)
        return check_config(&daemon);
    if (!meet_manager(&daemon) || !open_log(&daemon))
        return 1;
    hc_crash_watch("hindcastd", game_place(&daemon), daemon.options.format == HC_SV_LOG_JSON);
    if (hc_sv_log_is_journal(STDERR_FILENO))
        hc_crash_begin_with("<2>"); // critical
    bool json_out = daemon.options.json != NULL && strcmp(daemon.options.json, "-") == 0;
    daemon.text = json_out ? stderr : stdout;
    hc_sv_memory_map_blocks();
    hc_sv_control_mask_signals(SIG_BLOCK);
    signal(SIGPIPE, SIG_IGN); // readers of the output and other programs may end before the daemon
    bool good = set_up(&daemon), ended = true;
    if (good) {
        hc_sv_last_words_open(daemon.workers);
        announce(&daemon);
        good = run(&daemon, &ended) && report(&daemon);
    }
    if (!ended) {
        // A thread that does not return uses memory that would be freed.
        hc_sv_log_finish(&daemon.log);
        hc_sv_log_redirect(&daemon.log, STDERR_FILENO);
        hc_sv_log_file_close(daemon.control.reload.log_file, LOG_FILE_MS);
        _exit(exit_status(&daemon, good));
    }
    clean_up(&daemon);
    return exit_status(&daemon, good);
}
