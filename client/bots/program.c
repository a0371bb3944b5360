/// Owns the sequence of a run: options, server, tokens, play, report.
#define _GNU_SOURCE // argp

#include "client/bots/program.h"

#include "client/programs/failure.h"
#include "client/programs/key_tokens.h"
#include "client/bots/processes.h"
#include "client/programs/spawn.h"
#include "client/bots/report.h"
#include "client/bots/results.h"
#include "client/programs/resolve.h"
#include "client/bots/steps.h"
#include "client/programs/tokens.h"
#include "common/programs/backtrace.h"
#include "common/programs/crash.h"
#include "common/programs/report.h"
#include "common/programs/standard.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WHY_MAX = 4500,        ///< bytes of a sentence with a path
    TOKENS_LATE_S = 60,    ///< that a client may come after the run's time
    CUT_SHORT_US = 500000, ///< a run that ends so long before its time was ended early
};

/// The longest time until a server answers.
static uint64_t patience_us(const struct hc_cl_options *options,
                            const struct hc_cl_fleet_config *config) {
    uint64_t timeout_us = config->client.timeout_us;
    bool is_shorter = options->duration_us != 0 && options->duration_us < timeout_us;
    return is_shorter ? options->duration_us : timeout_us;
}

/// Chooses the server's address.
static bool resolve(const struct hc_cl_options *options, struct hc_cl_fleet_config *config,
                    char *why) {
    const struct hc_plugin *plugin = &options->plugin;
    struct hc_cl_resolve_wish wish = {
        .host = options->host,
        .port = options->port,
        .protocol_id = hc_datagram_protocol_id(plugin->game, plugin->rule_hash),
        .patience_us = patience_us(options, config),
    };
    return hc_cl_resolve(&wish, &config->server, why, WHY_MAX);
}

/// Whether all tokens come before the run, from a file or by a key.
static bool has_all_tokens(const struct hc_cl_options *options) {
    return options->token != NULL || options->key_file != NULL;
}

/// Reads, issues or requests a token for each session.
static bool obtain_tokens(const struct hc_cl_options *options,
                          const struct hc_cl_fleet_config *config,
                          struct hc_cl_tokens_issuer *issuer, char *why) {
    const struct hc_plugin *plugin = &options->plugin;
    if (options->token != NULL)
        return hc_cl_tokens_read(options->token, options->token_first, config->tokens,
                                 config->spare_end, why, WHY_MAX);
    if (options->key_file != NULL) {
        struct hc_cl_key_tokens wish = {
            .key_file = options->key_file,
            .game = options->game,
            .audience = options->audience,
            .match = options->match,
            .life_s = TOKENS_LATE_S + (options->ramp_us + options->duration_us) / 1000000,
        };
        return hc_cl_key_tokens_issue(&wish, config->tokens, config->spare_end, why, WHY_MAX);
    }
    struct hc_cl_tokens_port port = {config->server, config->server_name, &options->wish};
    uint64_t id = hc_datagram_protocol_id(plugin->game, plugin->rule_hash);
    return hc_cl_tokens_request(&port, config->tokens, config->spare_end,
                                patience_us(options, config), issuer, why, WHY_MAX) &&
           hc_cl_failure_check_game(plugin->game, id, issuer, config->server_name, why, WHY_MAX);
}

/// Makes the search for a server that is started anew. A load test has none: it measures one
/// server. False: no memory.
static bool open_next_server(struct hc_cl_options *options, struct hc_cl_fleet_config *config,
                             const struct hc_cl_tokens_issuer *issuer,
                             struct hc_cl_next_server *search) {
    struct hc_cl_next_server_config wanted = {
        .program = config->program,
        .game = options->game,
        .port = {config->server, config->server_name, &options->wish},
        .issuer = *issuer,
        .plugin = &options->plugin,
        .tokens = config->tokens,
        .count = config->spare_end,
        .patience_us = (uint64_t)config->client.timeout_us + config->client.reconnect_us,
    };
    if (!config->announces || has_all_tokens(options))
        return true;
    config->next_server = search;
    return hc_cl_next_server_init(search, &wanted);
}

/// A run in progress.
struct run {
    const char *program;
    const struct hc_cl_options *options;
    bool announces; ///< prints when all clients play
    bool all_play;
    bool terminal;
    struct hc_cl_page_series *series; ///< NULL: not recorded
    struct hc_cl_second_lines lines;  ///< of --json-lines
};

/// Prints one line and overwrites it each second: figures of the clients that still play.
static void print_progress(const struct hc_cl_options *options,
                           const struct hc_cl_fleet_progress *progress) {
    char others[64] = "";
    int size = 0;
    if (progress->stalled > 0)
        size = snprintf(others, sizeof(others), "  %" PRIu32 " stalled", progress->stalled);
    if (progress->connecting > 0)
        snprintf(others + size, sizeof(others) - (size_t)size, "  %" PRIu32 " connecting",
                 progress->connecting);
    fprintf(stderr, "\r\033[K%4.0f s  %" PRIu32 "/%" PRIu32 " playing%s",
            (double)progress->elapsed_us / 1e6, progress->playing,
            options->clients + options->light, others);
    if (progress->playing > 0)
        fprintf(stderr, "  rtt %.0f ms", (double)progress->rtt_us / progress->playing / 1e3);
    fprintf(stderr, "  rollbacks %" PRIu64 "  stalls %" PRIu64, progress->rollbacks,
            progress->stalls);
}

/// Prints a line each time that all clients play, after some did not.
static void announce(struct run *run, uint32_t playing) {
    uint32_t clients = run->options->clients + run->options->light;
    if (playing == clients && !run->all_play)
        fprintf(stderr, "%s: all clients play (%" PRIu32 ")\n", run->program, clients);
    run->all_play = playing == clients;
}

static void on_progress(void *context, const struct hc_cl_fleet_progress *progress) {
    struct run *run = context;
    if (run->series != NULL)
        hc_cl_page_series_add(run->series, progress);
    if (run->lines.out != NULL)
        hc_cl_second_lines_add(&run->lines, progress);
    if (run->terminal)
        print_progress(run->options, progress);
    else if (run->announces)
        announce(run, progress->playing);
}

/// The tokens that a run has from its start: of its clients, and of sessions that follow.
static uint32_t tokens_of(const struct hc_cl_options *options) {
    double played_s = (double)options->duration_us / 1e6;
    // Two more a second, because each process takes its part of them in whole numbers.
    bool spares = options->churn_mhz != 0 && has_all_tokens(options);
    uint32_t spare = spares ? (uint32_t)(played_s * (options->churn_mhz / 1e3 + 2)) + 2 : 0;
    return options->clients + options->light + spare + 2 * options->storm;
}

/// Plays by the options and writes the counts to `*result`. False: all or some clients could not
/// play, and `why` is a sentence. `announces`: print a line for each client that begins to play.
/// `lines`: of --json-lines, or NULL.
static bool play(const char *program, bool announces, struct hc_cl_options *options, FILE *lines,
                 struct hc_cl_page_series *series, struct hc_cl_fleet_result *result, char *why) {
    char server[sizeof(options->host) + sizeof(options->port) + 3];
    struct run run = {.program = program,
                      .options = options,
                      .announces = announces,
                      .terminal = isatty(STDERR_FILENO),
                      .series = series};
    uint32_t clients = options->clients + options->light;
    hc_cl_second_lines_begin(&run.lines, lines, clients);
    snprintf(server, sizeof(server), strchr(options->host, ':') != NULL ? "[%s]:%s" : "%s:%s",
             options->host, options->port);
    struct hc_cl_fleet_config config = {
        .program = program,
        .server_name = server,
        .clients = options->clients,
        .lights = options->light,
        .sources = options->sources,
        .activity_percent = options->activity,
        .churn_per_s = options->churn_mhz / 1e3,
        .storm = options->storm,
        .snapshot_rate = options->snapshot_rate,
        .spare_first = clients,
        .spare_end = tokens_of(options),
        .feed = has_all_tokens(options) ? NULL : &options->wish,
        .announces = announces,
        .ramp_us = options->ramp_us,
        .duration_us = options->duration_us,
        .link = options->link,
        .latency_to_us = options->latency_to_us,
        .seed = options->seed,
        .client = hc_client_config_default(),
        .progress =
            run.terminal || announces || series != NULL || lines != NULL ? on_progress : NULL,
        .progress_context = &run,
    };
    config.client.smoothing_us = 0; // nobody draws
    config.client.game = options->plugin.game;
    config.client.rule_hash = options->plugin.rule_hash;
    config.think = options->plugin.think;
    config.client.input_delay = options->timing.input_delay;
    config.client.input_delay_max = options->timing.input_delay_max;
    config.client.display_offset = options->display_offset;
    config.client.others = options->others;
    config.client.lead = options->timing.lead;
    config.client.lead_max = options->timing.lead_max;
    config.client.extrapolation = options->extrapolation;
    struct hc_cl_next_server search = {.got = NULL};
    struct hc_cl_tokens_issuer issuer = {.process = 0};
    config.tokens = calloc(config.spare_end, sizeof(*config.tokens));
    snprintf(why, WHY_MAX, "no memory");
    bool good = config.tokens != NULL && resolve(options, &config, why) &&
                obtain_tokens(options, &config, &issuer, why) &&
                open_next_server(options, &config, &issuer, &search);
    if (good && series != NULL)
        hc_cl_page_series_begin(series);
    good = good && hc_cl_processes_run(&config, options->processes, result, why, WHY_MAX);
    hc_cl_fleet_sum(result);
    if (run.terminal)
        fprintf(stderr, "\r\033[K");
    hc_cl_next_server_free(&search);
    free(config.tokens);
    return good;
}

/// Starts a server for --spawn; false: failed, with a sentence on standard error.
static bool spawn(const char *program, struct hc_cl_options *options, struct hc_cl_spawn *server) {
    char why[WHY_MAX];
    uint32_t clients = options->clients + options->light;
    // A client that joins again may come before the server knows that it has left.
    uint32_t more = options->storm + options->churn_mhz / 500;
    uint32_t most = options->plugin.game->players_max;
    if (options->server_args == NULL && clients + more > most)
        more = clients < most ? most - clients : 0; // a client that comes early asks again
    struct hc_cl_spawn_config config = {
        .program = program,
        .arguments = &options->server_words,
        .game = options->game,
        .clients = clients + more,
        .snapshot_rate = options->snapshot_rate,
        .seed = options->seed,
        .keeps_log = options->report != NULL,
    };
    if (!hc_cl_spawn_start(server, &config, why, sizeof(why))) {
        fprintf(stderr, "%s: %s\n", program, why);
        return false;
    }
    snprintf(options->host, sizeof(options->host), "127.0.0.1");
    snprintf(options->port, sizeof(options->port), "%s", server->port);
    return true;
}

/// The outcome of one run.
struct outcome {
    json_t *report; ///< NULL: the run did not begin
    bool good;      ///< the run itself succeeded; its verdict may be NOT OK
    bool cut_short; ///< the run ended before its time, by a signal or because no client was left
    struct hc_cl_page_series series;
};

static void release(struct outcome *outcome) {
    json_decref(outcome->report);
    hc_cl_page_series_free(&outcome->series);
    *outcome = (struct outcome){.report = NULL};
}

/// Runs the load of `options` once. Prints failures to standard error.
static struct outcome run_once(const char *program, bool announces, const char *version,
                               struct hc_cl_options *options, FILE *lines) {
    static struct hc_cl_fleet_result result; // the histograms are too large for the stack
    struct outcome outcome = {.report = NULL};
    struct hc_cl_spawn server;
    char why[WHY_MAX], server_why[WHY_MAX] = "";
    if (options->processes == 0)
        options->processes = hc_cl_processes_default(options->clients + options->light);
    result = (struct hc_cl_fleet_result){.tick_rate = 0};
    if (options->spawn && !spawn(program, options, &server))
        return outcome;
    outcome.good = play(program, announces, options, lines,
                        options->report != NULL ? &outcome.series : NULL, &result, why);
    if (!outcome.good)
        fprintf(stderr, "%s: %s\n", program, why);
    outcome.cut_short = result.duration_us + CUT_SHORT_US < options->ramp_us + options->duration_us;
    json_t *server_report = NULL;
    if (options->spawn) {
        server_report = hc_cl_spawn_stop(&server, server_why, sizeof(server_why));
        if (server_report == NULL)
            fprintf(stderr, "%s: %s\n", program, server_why);
        outcome.series.server = hc_cl_spawn_status(&server);
    }
    if (result.self.processes > 0)
        outcome.report = hc_cl_report_json(program, version, options, &result, server_report,
                                           outcome.good ? server_why : why);
    json_decref(server_report);
    return outcome;
}

/// Runs steps of more and more light clients. Keeps the outcome of the last step that was held, or
/// of the first one, with all rows as `steps`. Returns the exit status.
static int run_steps(const char *program, const char *version, const struct hc_cl_options *options,
                     const struct hc_cl_results *results) {
    struct outcome kept = {.report = NULL};
    json_t *rows = json_array();
    bool held = true, failed = false;
    uint32_t tokens = 0;
    int status = HC_CL_STATUS_NOT_OK;
    FILE *out = hc_cl_results_out(results);
    uint32_t most = options->last_step > 0 ? options->last_step : HC_CL_OPTIONS_CLIENTS_MAX;
    if (options->spawn && options->server_args == NULL && most > options->plugin.game->players_max)
        most = options->plugin.game->players_max;
    hc_cl_steps_print_head(out);
    for (uint32_t light = options->light > 0 ? options->light : options->step;
         held && options->clients + light <= most; light += options->step) {
        struct hc_cl_options step = *options;
        step.light = light;
        step.token_first = tokens; // each opens one session
        tokens += tokens_of(&step);
        struct outcome outcome = run_once(program, false, version, &step, results->lines);
        held = outcome.report != NULL && !outcome.cut_short &&
               json_is_true(hc_report_find(outcome.report, "load.held.ok"));
        failed = outcome.report == NULL;
        if (outcome.cut_short) {
            fprintf(out, "%9" PRIu32 "  ended early\n", options->clients + light);
        } else if (outcome.report != NULL) {
            json_t *row = hc_cl_steps_row(outcome.report);
            hc_cl_steps_print_row(row, out);
            json_array_append_new(rows, row);
        }
        if (kept.report != NULL && !held) {
            release(&outcome);
            break;
        }
        release(&kept);
        kept = outcome;
    }
    json_t *verdict = hc_cl_steps_verdict(rows, failed);
    bool good = json_is_true(json_object_get(verdict, "ok"));
    fprintf(out, "%s\n\n", json_string_value(json_object_get(verdict, "text")));
    if (kept.report != NULL) {
        json_object_set_new(kept.report, "steps", rows);
        json_object_set(kept.report, "steps_verdict", verdict);
        status = (int)hc_cl_results_finish(results, kept.report, &kept.series, good);
    } else {
        json_decref(rows);
        hc_cl_results_fail(results);
    }
    json_decref(verdict);
    release(&kept);
    return status;
}

int hc_cl_program_run(enum hc_cl_options_program kind, const char *version, int argc, char **argv) {
    const char *program = kind == HC_CL_OPTIONS_BOT ? "hindcast-bot" : "hindcast-load";
    static struct hc_cl_results results; // too large for the stack
    struct hc_cl_options options;
    int status = HC_CL_STATUS_NOT_OK;
    hc_standard_open();
    hc_cl_options_parse(&options, kind, argc, argv);
    hc_crash_watch(program, hc_place_of((void (*)(void))options.plugin.game->step), false);
    if (kind == HC_CL_OPTIONS_BOT)
        options.processes = 1;
    hc_cl_results_prepare(&results, program, version, &options, argc, argv);
    if (options.step > 0) {
        status = run_steps(program, version, &options, &results);
    } else {
        bool announces = kind == HC_CL_OPTIONS_BOT;
        struct outcome outcome = run_once(program, announces, version, &options, results.lines);
        bool good = outcome.good && outcome.report != NULL && hc_report_ok(outcome.report);
        if (outcome.report != NULL)
            status = (int)hc_cl_results_finish(&results, outcome.report, &outcome.series, good);
        else
            hc_cl_results_fail(&results);
        release(&outcome);
    }
    return hc_cl_results_close(&results) || status != 0 ? status : HC_CL_STATUS_NOT_OK;
}
