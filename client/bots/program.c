/// Owns the sequence of a run: options, server, tokens, play, report.
#define _GNU_SOURCE // argp

#include "client/bots/program.h"

#include "client/bots/processes.h"
#include "client/bots/spawn.h"
#include "client/bots/tokens.h"
#include "client/bots/report.h"
#include "common/programs/report.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHY_MAX = 4500 }; ///< bytes of a sentence with a path

/// Reads or requests a token for each client.
static bool obtain_tokens(const struct hc_cl_options *options,
                          const struct hc_cl_fleet_config *config, struct hc_credential *tokens,
                          char *why) {
    uint64_t patience_us = config->client.timeout_us;
    if (options->token != NULL)
        return hc_cl_tokens_read(options->token, tokens, options->clients, why, WHY_MAX);
    if (options->duration_us != 0 && options->duration_us < patience_us)
        patience_us = options->duration_us;
    return hc_cl_tokens_request(&config->server, config->server_name, tokens, options->clients,
                                patience_us, why, WHY_MAX);
}

/// Prints one line and overwrites it each second: figures of the clients that still play.
static void print_progress(void *context, const struct hc_cl_fleet_progress *progress) {
    const struct hc_cl_options *options = context;
    char others[64] = "";
    int size = 0;
    if (progress->stalled > 0)
        size = snprintf(others, sizeof(others), "  %" PRIu32 " stalled", progress->stalled);
    if (progress->connecting > 0)
        snprintf(others + size, sizeof(others) - (size_t)size, "  %" PRIu32 " connecting",
                 progress->connecting);
    fprintf(stderr, "\r\033[K%4.0f s  %" PRIu32 "/%" PRIu32 " playing%s",
            (double)progress->elapsed_us / 1e6, progress->playing, options->clients, others);
    if (progress->playing > 0)
        fprintf(stderr, "  rtt %.0f ms", (double)progress->rtt_us / progress->playing / 1e3);
    fprintf(stderr, "  rollbacks %" PRIu64 "  stalls %" PRIu64, progress->rollbacks,
            progress->stalls);
}

/// Plays by the options and writes the counts to `*result`. False: all or some clients could not
/// play, and `why` is a sentence. `announces`: print a line for each client that begins to play.
static bool play(const char *program, bool announces, struct hc_cl_options *options,
                 struct hc_cl_fleet_result *result, char *why) {
    char server[sizeof(options->host) + sizeof(options->port) + 3];
    bool terminal = isatty(STDERR_FILENO);
    snprintf(server, sizeof(server), strchr(options->host, ':') != NULL ? "[%s]:%s" : "%s:%s",
             options->host, options->port);
    struct hc_cl_fleet_config config = {
        .program = program,
        .server_name = server,
        .clients = options->clients,
        .announces = announces,
        .ramp_us = options->ramp_us,
        .duration_us = options->duration_us,
        .link = options->link,
        .seed = options->seed,
        .client = hc_client_config_default(),
        .progress = terminal ? print_progress : NULL,
        .progress_context = options,
    };
    config.client.game = options->plugin.game;
    config.client.rule_hash = options->plugin.rule_hash;
    config.think = options->plugin.think;
    config.client.input_delay = options->input_delay;
    config.client.display_offset = options->display_offset;
    config.client.lead = options->lead;
    struct hc_credential *tokens = calloc(options->clients, sizeof(*tokens));
    snprintf(why, WHY_MAX, "no memory");
    config.tokens = tokens;
    bool good = tokens != NULL &&
                hc_cl_udp_resolve(options->host, options->port, &config.server, why, WHY_MAX) &&
                obtain_tokens(options, &config, tokens, why) &&
                hc_cl_processes_run(&config, options->processes, result, why, WHY_MAX);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    free(tokens);
    return good;
}

/// Prints and writes the report; false: the verdict is NOT OK, or writing failed.
static bool report(const char *program, const char *version, const struct hc_cl_options *options,
                   const struct hc_cl_fleet_result *result, const json_t *server, const char *why) {
    json_t *json = hc_cl_report_json(program, version, options, result, server, why);
    bool json_out = options->json != NULL && strcmp(options->json, "-") == 0;
    hc_cl_report_print(json, json_out ? stderr : stdout);
    fflush(stdout);
    bool good = hc_report_ok(json);
    if (options->json != NULL && !hc_report_write(json, options->json)) {
        fprintf(stderr, "%s: --json '%s': cannot be written\n", program, options->json);
        good = false;
    }
    json_decref(json);
    return good;
}

/// Starts a server for --spawn; false: failed, with a sentence on standard error.
static bool spawn(const char *program, struct hc_cl_options *options, struct hc_cl_spawn *server) {
    char why[WHY_MAX];
    if (!hc_cl_spawn_start(server, options->game, options->clients, options->seed, why,
                           sizeof(why))) {
        fprintf(stderr, "%s: %s\n", program, why);
        return false;
    }
    snprintf(options->host, sizeof(options->host), "127.0.0.1");
    snprintf(options->port, sizeof(options->port), "%s", server->port);
    return true;
}

int hc_cl_program_run(enum hc_cl_options_program kind, const char *version, int argc, char **argv) {
    static struct hc_cl_fleet_result result; // the histograms are too large for the stack
    const char *program = kind == HC_CL_OPTIONS_BOT ? "hindcast-bot" : "hindcast-load";
    struct hc_cl_options options;
    struct hc_cl_spawn server;
    static char version_text[64]; // argp keeps it
    char why[WHY_MAX], server_why[WHY_MAX] = "";
    snprintf(version_text, sizeof(version_text), "%s %s", program, version);
    argp_program_version = version_text;
    hc_cl_options_parse(&options, kind, argc, argv);
    if (kind == HC_CL_OPTIONS_BOT)
        options.processes = 1;
    else if (options.processes == 0)
        options.processes = hc_cl_processes_default(options.clients);
    if (options.json != NULL && !hc_report_can_write(options.json)) {
        fprintf(stderr, "%s: --json '%s': cannot be written\n", program, options.json);
        return 1;
    }
    if (options.spawn && !spawn(program, &options, &server))
        return 1;

    bool good = play(program, kind == HC_CL_OPTIONS_BOT, &options, &result, why);
    if (!good)
        fprintf(stderr, "%s: %s\n", program, why);
    json_t *server_report = NULL;
    if (options.spawn) {
        server_report = hc_cl_spawn_stop(&server, server_why, sizeof(server_why));
        if (server_report == NULL)
            fprintf(stderr, "%s: %s\n", program, server_why);
    }
    if (result.self.processes > 0 &&
        !report(program, version, &options, &result, server_report, good ? server_why : why))
        good = false;
    json_decref(server_report);
    return good ? 0 : 1;
}
