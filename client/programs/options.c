/// Owns the command lines of the bots' programs: which of their settings exclude or limit each
/// other, and what follows from them.
#define _GNU_SOURCE // argp

#include "client/programs/options.h"

#include "client/programs/window_keys.h"
#include "common/decimal.h"
#include "proto/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_MAX = 9000 }; ///< bytes of a sentence with two paths

#define ROW(type, member, name, value, initial, programs, group, sentence)                         \
    HC_SETTING(struct hc_cl_options, member, name, value, HC_CL_OPTIONS_##programs,                \
               HC_CL_SETTINGS_##group, HC_SETTING_FIXED, sentence)
const struct hc_setting hc_cl_settings[HC_CL_SETTING_COUNT] = {HC_CL_SETTINGS(ROW)};

static const char *const groups[] = {
    [HC_CL_SETTINGS_RUN] = "",
    [HC_CL_SETTINGS_PROFILE] = "The profile:",
    [HC_CL_SETTINGS_LINK] = "The simulated link, each direction:",
    [HC_CL_SETTINGS_RESULTS] = "The results:",
    [HC_CL_SETTINGS_OTHER] = "Other:",
    NULL,
};

/// A key of the window as a line of --help.
#define KEY_LINE(name, key, effect, sentence) "\n" key ": " sentence "."

static const char *const abouts[] = {
    [HC_CL_OPTIONS_BOT] =
        "Headless bots that play on a Hindcast server, each over its own simulated link.\v"
        "The report's first line and the exit status give the verdict on the run; docs/REPORT.md "
        "explains the other lines.",
    [HC_CL_OPTIONS_LOAD] =
        "Plays with many bots on a Hindcast server, and reports their cost and the quality of "
        "play.\v"
        "The report's first line and the exit status give the verdict on the run; docs/REPORT.md "
        "explains the other lines.",
    [HC_CL_OPTIONS_VIEW] =
        "A window in which a person plays on a Hindcast server, over a simulated link.\v"
        "Keys: W A S D or the arrows move, the mouse aims, space or a mouse button fires; with "
        "--split W A S D are the left client's, and the arrows and Enter the right one's. "
        "Gamepads: a stick moves, the other aims, A or a trigger fires. A game has a button for "
        "each other field of its input. The keys of the window:" HC_CL_WINDOW_KEYS(KEY_LINE),
};

struct hc_cl_options hc_cl_options_default(enum hc_cl_options_program program) {
    const struct hc_client_config core = hc_client_config_default();
#define INITIAL(type, member, name, value, initial, ...) .member = (initial),
    return (struct hc_cl_options){HC_CL_SETTINGS(INITIAL)};
}

/// Parses HOST:PORT or [HOST]:PORT.
static void parse_server(const struct hc_settings *settings) {
    struct hc_cl_options *options = settings->values;
    const char *text = options->connect, *colon = strrchr(text, ':');
    const char *begin = text, *end = colon;
    uint64_t port = 0;
    if (colon != NULL && text[0] == '[' && colon > text && colon[-1] == ']') {
        begin = text + 1;
        end = colon - 1;
    }
    bool good = colon != NULL && end > begin && (size_t)(end - begin) < sizeof(options->host) &&
                (begin != text || memchr(begin, ':', (size_t)(end - begin)) == NULL) &&
                hc_decimal_parse(colon + 1, 0, &port) == HC_OK && port >= 1 && port <= UINT16_MAX;
    if (!good)
        hc_settings_refuse(settings, HC_CL_SETTING_connect,
                           "HOST:PORT or [ADDR]:PORT, the port in [1, 65535]");
    memcpy(options->host, begin, (size_t)(end - begin));
    options->host[end - begin] = '\0';
    snprintf(options->port, sizeof(options->port), "%u", (unsigned)(uint16_t)port);
}

static void parse_until(const struct hc_settings *settings) {
    struct hc_cl_options *options = settings->values;
    uint64_t clients = 0;
    if (strcmp(options->until, "late") != 0 &&
        (hc_decimal_parse(options->until, 0, &clients) != HC_OK || clients < 1 ||
         clients > HC_CL_OPTIONS_CLIENTS_MAX))
        hc_settings_refuse(settings, HC_CL_SETTING_until, "late, or a whole number in [1, %d]",
                           HC_CL_OPTIONS_CLIENTS_MAX);
    options->last_step = (uint32_t)clients;
}

/// Parses `auto` or ticks. Returns whether it is automatic.
static bool parse_delay(const struct hc_settings *settings, enum hc_cl_setting setting,
                        const char *text, uint32_t max, uint32_t *ticks) {
    uint64_t number = 0;
    *ticks = 0;
    if (strcmp(text, "auto") == 0)
        return true;
    if (hc_decimal_parse(text, 0, &number) != HC_OK || number > max)
        hc_settings_refuse(settings, setting, "auto, or a whole number in [0, %" PRIu32 "] ticks",
                           max);
    *ticks = (uint32_t)number;
    return false;
}

/// Makes input delay and lead of their preset and what is given besides.
static void make_timing(const struct hc_settings *settings) {
    struct hc_cl_options *options = settings->values;
    struct hc_client_timing *timing = &options->timing, ahead;
    bool limited = options->given[HC_CL_SETTING_input_delay_max];
    (void)hc_client_timing_preset("ahead", &ahead);
    (void)hc_client_timing_preset(options->timing_name,
                                  timing); // its names are those of the option
    if (options->input_delay != NULL)
        timing->input_delay_max = 0;
    if (options->input_delay != NULL &&
        parse_delay(settings, HC_CL_SETTING_input_delay, options->input_delay, HC_INPUT_DELAY_MAX,
                    &timing->input_delay))
        timing->input_delay_max = options->input_delay_max;
    else if (limited && timing->input_delay_max == 0)
        hc_settings_refuse(settings, HC_CL_SETTING_input_delay_max,
                           "with --input-delay auto, or --timing balanced or ahead");
    else if (limited)
        timing->input_delay_max = options->input_delay_max;
    if (options->lead != NULL)
        timing->lead_max =
            parse_delay(settings, HC_CL_SETTING_lead, options->lead, HC_LEAD_MAX, &timing->lead)
                ? ahead.lead_max
                : 0;
}

/// Makes the link of its preset and the conditions that are given besides, in any order.
static void make_link(const struct hc_settings *settings) {
    struct hc_cl_options *options = settings->values;
    struct hc_network_sim_config *link = &options->link;
    const char *preset = options->link_name;
    *link = hc_network_sim_config_default();
    if (preset != NULL)
        (void)hc_network_sim_preset(preset, link); // its names are those of the option
#define REPLACE(type, member, ...)                                                                 \
    if (options->given[HC_CL_SETTING_##member]) {                                                  \
        link->member = options->member;                                                            \
        options->link_name = NULL;                                                                 \
    }
    HC_CL_SETTINGS_OF_LINK(REPLACE)
    if (options->bandwidth_bit_s > 0) {
        link->bytes_per_s = options->bandwidth_bit_s / 8;
        link->queue_us = options->queue_us;
        options->link_name = NULL;
    }
    double latency = link->latency_us / 1e3, jitter = link->jitter_us / 1e3;
    // No datagram arrives before it was sent.
    if (jitter > latency && options->given[HC_CL_SETTING_jitter_us])
        hc_settings_refuse(settings, HC_CL_SETTING_jitter_us, "at most --latency, which is %g",
                           latency);
    if (jitter > latency)
        hc_settings_refuse(settings, HC_CL_SETTING_latency_us,
                           "at least the jitter of --link %s, which is %g", preset, jitter);
    if (options->given[HC_CL_SETTING_burst_mean] && link->loss_ppm == 0)
        hc_settings_refuse(settings, HC_CL_SETTING_burst_mean,
                           "with --loss PCT above 0, or a --link with loss");
    if (options->given[HC_CL_SETTING_queue_us] && link->bytes_per_s == 0)
        hc_settings_refuse(settings, HC_CL_SETTING_queue_us, "with --bandwidth KBIT");
    if (options->given[HC_CL_SETTING_latency_to_us] && options->latency_to_us < link->latency_us)
        hc_settings_refuse(settings, HC_CL_SETTING_latency_to_us, "at least --latency, which is %g",
                           latency);
}

/// Checks the numbers of clients against each other.
static void check_clients(const struct hc_settings *settings) {
    const struct hc_cl_options *options = settings->values;
    uint32_t clients = options->clients + options->light, steps = options->step;
    if (clients == 0 && steps == 0)
        hc_settings_refuse(settings, HC_CL_SETTING_clients, "a whole number in [1, %d]",
                           HC_CL_OPTIONS_CLIENTS_MAX);
    if (clients > HC_CL_OPTIONS_CLIENTS_MAX)
        hc_settings_refuse(settings, HC_CL_SETTING_light, "at most %d together with --clients",
                           HC_CL_OPTIONS_CLIENTS_MAX);
    if (options->storm > clients + steps) // each leaves and joins again once
        hc_settings_refuse(settings, HC_CL_SETTING_storm, "at most the clients, which are %" PRIu32,
                           clients + steps);
    if (options->sources != 0 && options->light == 0 && steps == 0)
        hc_settings_refuse(settings, HC_CL_SETTING_sources, "with --light N or --step N");
    if (steps == 0 && options->processes > clients)
        hc_settings_refuse(settings, HC_CL_SETTING_processes,
                           "at most --clients%s, which is %" PRIu32,
                           options->light > 0 ? " and --light" : "", clients);
    if (steps == 0 && options->given[HC_CL_SETTING_until])
        hc_settings_refuse(settings, HC_CL_SETTING_until, "with --step N");
}

/// Checks the name of users.
static void check_name(const struct hc_settings *settings) {
    const char *name = ((const struct hc_cl_options *)settings->values)->name;
    if (name != NULL && (strlen(name) > HC_CL_TOKENS_NAME_MAX ||
                         hc_name_check((const uint8_t *)name, strlen(name)) != HC_OK))
        hc_settings_refuse(settings, HC_CL_SETTING_name,
                           "UTF-8 that can be shown, of at most %d bytes", HC_CL_TOKENS_NAME_MAX);
}

/// Splits the arguments of the server.
static void split_server_args(const struct hc_settings *settings) {
    struct hc_cl_options *options = settings->values;
    char why[128];
    if (options->server_args != NULL &&
        !hc_cl_words_split(options->server_args, &options->server_words, why, sizeof(why)))
        hc_settings_refuse(settings, HC_CL_SETTING_server_args, "words as of a shell, but it %s",
                           why);
}

/// Refuses settings that exclude or need each other.
static void check_pairs(const struct hc_settings *settings, const struct argp_state *state) {
    const struct hc_cl_options *options = settings->values;
    bool connects = options->connect != NULL, spawns = options->spawn;
    bool elsewhere = options->token != NULL, has_key = options->key_file != NULL;
    const struct {
        bool wrong;
        const char *why;
    } pairs[] = {
        {settings->program == HC_CL_OPTIONS_BOT && !connects, "--connect HOST:PORT is needed"},
        {connects && spawns, "--connect HOST:PORT and --spawn exclude each other"},
        {!connects && !spawns, "one of --connect HOST:PORT and --spawn is needed"},
        {spawns && elsewhere, "--token FILE is for a server elsewhere, not for --spawn"},
        {spawns && has_key, "--key-file FILE is for a server elsewhere, not for --spawn"},
        {elsewhere && has_key, "--token FILE and --key-file FILE exclude each other"},
        {options->given[HC_CL_SETTING_audience] && !has_key,
         "--audience N is for the tokens of --key-file"},
        {options->given[HC_CL_SETTING_tolerance] && options->compare == NULL,
         "--tolerance PCT is for --compare"},
        {options->server_args != NULL && !spawns,
         "--server-args ARGS is for the server of --spawn"},
        {options->match != 0 && (spawns || elsewhere),
         "--match N is for the tokens of a server with --matches"},
        {options->name != NULL && (elsewhere || has_key),
         "--name NAME is for the tokens of a hindcastd --dev"},
        {options->right_link_name != NULL && !options->split, "--right-link NAME is for --split"},
        {options->screenshot != NULL && options->frames == 0, "--screenshot FILE needs --frames N"},
        {options->drawing != NULL && options->game == NULL, "--drawing FILE needs --game FILE"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i].wrong)
            argp_error(state, "%s", pairs[i].why);
}

/// Checks the settings against each other once all are parsed, and fills in what follows from them.
static void resolve(const struct hc_settings *settings, const struct argp_state *state) {
    struct hc_cl_options *options = settings->values;
    if (options->connect != NULL)
        parse_server(settings);
    parse_until(settings);
    check_pairs(settings, state);
    split_server_args(settings);
    check_name(settings);
    if (settings->program == HC_CL_OPTIONS_BOT)
        options->clients = options->count;
    if (settings->program == HC_CL_OPTIONS_VIEW)
        options->clients = options->split ? 2 : 1;
    check_clients(settings);
    make_link(settings);
    make_timing(settings);
    options->right_link = options->link;
    if (options->right_link_name == NULL)
        options->right_link_name = options->link_name;
    else
        (void)hc_network_sim_preset(options->right_link_name, &options->right_link);
    options->wish = (struct hc_cl_tokens_wish){.match = options->match, .name = options->name};
}

static error_t parse(int key, char *text, struct argp_state *state) {
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", text);
    if (key == ARGP_KEY_END)
        resolve(state->input, state);
    return hc_settings_take(state->input, key, text);
}

/// Loads the game. Unless their number is given there are no more clients than its players.
static void load_game(struct hc_cl_options *options) {
    char why[WHY_MAX];
    if (!hc_plugin_load(&options->plugin, options->game, why, sizeof(why))) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
        exit(2);
    }
    uint32_t most = options->plugin.game->players_max;
    uint32_t light = options->light > 0 ? options->light : options->step; // of the first step
    most = most > light ? most - light : 0;
    if (!options->given[HC_CL_SETTING_clients] && !options->given[HC_CL_SETTING_count] &&
        options->clients > most)
        options->clients = most;
}

void hc_cl_options_parse(struct hc_cl_options *options, enum hc_cl_options_program program,
                         int argc, char **argv) {
    const struct hc_cl_options defaults = hc_cl_options_default(program);
    struct hc_settings settings = {.rows = hc_cl_settings,
                                   .count = HC_CL_SETTING_COUNT,
                                   .program = program,
                                   .groups = groups,
                                   .defaults = &defaults,
                                   .values = options,
                                   .given = options->given};
    *options = defaults;
    hc_settings_run(&settings, parse, abouts[program], argc, argv);
    load_game(options);
}
