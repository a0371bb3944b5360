#define _GNU_SOURCE // argp

#include "client/load_program.h"

#include "client/load.h"
#include "client/load_spawn.h"
#include "client/load_tokens.h"
#include "client/report.h"
#include "common/arena/arena.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_MAX = 4500 }; ///< a path and more

/// A token for each client.
static bool obtain_tokens(const struct hc_cl_options *options,
                          const struct hc_cl_load_config *config, struct hc_credential *tokens,
                          char *why) {
    uint64_t patience_us = config->client.timeout_us;
    if (options->token != NULL)
        return hc_cl_load_tokens_read(options->token, tokens, options->clients, why, WHY_MAX);
    if (options->duration_us != 0 && options->duration_us < patience_us)
        patience_us = options->duration_us;
    return hc_cl_load_tokens_ask(&config->server, config->server_name, tokens, options->clients,
                                 patience_us, why, WHY_MAX);
}

/// Plays as the options want, into `*result`. False: not every client played to the end; when
/// there was nothing to play at all, `why` is not empty.
static bool play(const char *program, const struct hc_cl_options *options,
                 struct hc_cl_load_result *result, char *why) {
    char server[sizeof(options->host) + sizeof(options->port) + 3];
    snprintf(server, sizeof(server), strchr(options->host, ':') != NULL ? "[%s]:%s" : "%s:%s",
             options->host, options->port);
    struct hc_cl_load_config config = {
        .program = program,
        .server_name = server,
        .clients = options->clients,
        .ramp_us = options->ramp_us,
        .duration_us = options->duration_us,
        .link = options->link,
        .seed = options->seed,
        .client = hc_client_config_default(),
    };
    config.client.game = &hc_arena;
    config.client.input_delay = options->input_delay;
    config.client.display_offset = options->display_offset;
    config.client.lead = options->lead;
    struct hc_cl_load *load = NULL;
    struct hc_credential *tokens = calloc(options->clients, sizeof(*tokens));
    snprintf(why, WHY_MAX, "no memory");
    config.tokens = tokens;
    if (tokens != NULL &&
        hc_cl_udp_resolve(options->host, options->port, &config.server, why, WHY_MAX) &&
        obtain_tokens(options, &config, tokens, why))
        load = hc_cl_load_create(&config, why, WHY_MAX);
    bool good = load != NULL;
    if (good) {
        *why = '\0';
        good = hc_cl_load_run(load);
        hc_cl_load_result(load, result);
        hc_cl_load_destroy(load);
    }
    free(tokens);
    return good;
}

/// Prints and writes the report; false: it could not be written.
static bool report(const char *program, const char *version, const struct hc_cl_options *options,
                   const struct hc_cl_load_result *result, const json_t *server) {
    json_t *json = hc_cl_report_json(program, version, options, result, server);
    bool json_out = options->json != NULL && strcmp(options->json, "-") == 0;
    hc_cl_report_print(json, json_out ? stderr : stdout);
    fflush(stdout);
    bool written = options->json == NULL || hc_cl_report_write(json, options->json);
    if (!written)
        fprintf(stderr, "%s: --json '%s': cannot be written\n", program, options->json);
    json_decref(json);
    return written;
}

int hc_cl_load_program(enum hc_cl_options_program kind, const char *version, int argc,
                       char **argv) {
    static struct hc_cl_load_result result; // the histograms are too much for a stack
    const char *program = kind == HC_CL_OPTIONS_BOT ? "hindcast-bot" : "hindcast-load";
    struct hc_cl_options options;
    struct hc_cl_load_server server;
    static char version_text[64]; // argp keeps it
    char why[WHY_MAX];
    snprintf(version_text, sizeof(version_text), "%s %s", program, version);
    argp_program_version = version_text;
    hc_cl_options_parse(&options, kind, argc, argv);
    if (options.spawn) {
        if (!hc_cl_load_spawn(&server, options.clients, options.seed, why, sizeof(why))) {
            fprintf(stderr, "%s: %s\n", program, why);
            return 1;
        }
        snprintf(options.host, sizeof(options.host), "127.0.0.1");
        snprintf(options.port, sizeof(options.port), "%s", server.port);
    }

    bool good = play(program, &options, &result, why);
    bool nothing = *why != '\0';
    if (nothing)
        fprintf(stderr, "%s: %s\n", program, why);
    json_t *server_report = NULL;
    if (options.spawn) {
        server_report = hc_cl_load_reap(&server, why, sizeof(why));
        if (server_report == NULL) {
            fprintf(stderr, "%s: %s\n", program, why);
            good = false;
        }
    }
    if (!nothing && !report(program, version, &options, &result, server_report))
        good = false;
    json_decref(server_report);
    return good ? 0 : 1;
}
