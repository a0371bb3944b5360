/// Owns the command line of hindcastd: which of its settings exclude or limit each other.
#define _GNU_SOURCE // argp

#include "server/daemon/options.h"

#include "common/programs/standard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { WHY_MAX = 9000 }; ///< bytes of a sentence with two paths

#define ROW(type, member, name, value, initial, group, change, sentence)                           \
    HC_SETTING(struct hc_sv_options, member, name, value, 1, HC_SV_SETTINGS_##group, sentence)
const struct hc_setting hc_sv_settings[HC_SV_SETTING_COUNT] = {HC_SV_SETTINGS(ROW)};

static const char *const groups[] = {
    [HC_SV_SETTINGS_ADDRESS] = "Address and keys:",
    [HC_SV_SETTINGS_CLIENTS] = "Clients:",
    [HC_SV_SETTINGS_WORLD] = "The world:",
    [HC_SV_SETTINGS_LIMITS] = "Late inputs and snapshots:",
    [HC_SV_SETTINGS_MATCHES] = "Matches:",
    [HC_SV_SETTINGS_OUTPUT] = "Log and report:",
    [HC_SV_SETTINGS_TRIALS] = "Measurements:",
    NULL,
};

static const char about[] =
    "Hindcast's dedicated server: simulates a game, rewinds for inputs that arrive late, and "
    "broadcasts the corrected ticks.\v"
    "`hindcastd key` makes a key file and rotates its keys, `hindcastd token` prints a token to "
    "connect with, `hindcastd protocol-id` the game's protocol_id: see their --help. Prints "
    "`listening on ADDRESS:PORT` once it is ready. On SIGTERM and SIGINT it closes all "
    "connections, prints the report, whose first line is the verdict on the run, and exits with "
    "0; with --verdict, the exit status is that of the verdict. SIGUSR2 does the same, but the "
    "clients come back to a server that is started again with the same keys. SIGUSR1 and SIGQUIT "
    "write the report so far into the log. SIGHUP reads the keys and the refused users again. "
    "docs/REPORT.md explains the report.";

struct hc_sv_options hc_sv_options_default(void) {
    const struct hc_server_config core = hc_server_config_default();
#define INITIAL(type, member, name, value, initial, ...) .member = (initial),
    return (struct hc_sv_options){HC_SV_SETTINGS(INITIAL)};
}

/// Checks the settings that need no game, once all are parsed.
static void check(const struct hc_settings *settings, const struct argp_state *state) {
    const struct hc_sv_options *options = settings->values;
    struct in6_addr ip;
    // Names are refused, so that the start asks no name server.
    if (inet_pton(AF_INET, options->bind, &ip) != 1 && inet_pton(AF_INET6, options->bind, &ip) != 1)
        hc_settings_refuse(settings, HC_SV_SETTING_bind,
                           "a numeric IPv4 or IPv6 address, such as 127.0.0.1 or ::");
    if (options->dev && options->key_file != NULL)
        argp_error(state, "--dev makes a key of its own, and excludes --key-file FILE");
    if (!options->dev && options->key_file == NULL && !options->print_config)
        argp_error(state, "--key-file FILE is needed, or --dev for trying things");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'; the commands are key, token and protocol-id",
                   text);
    if (key == ARGP_KEY_END)
        check(state->input, state);
    return hc_settings_take(state->input, key, text);
}

/// Loads the game, which limits the clients and says what they see.
static void load_game(struct hc_sv_options *options) {
    char why[WHY_MAX];
    if (!hc_plugin_load(&options->plugin, options->game, why, sizeof(why))) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
        exit(2);
    }
    const struct hc_game *game = options->plugin.game;
    if (!options->given[HC_SV_SETTING_clients] && options->clients > game->players_max)
        options->clients = game->players_max;
    if (!options->given[HC_SV_SETTING_view])
        options->view = game->view;
}

/// Refuses a number above that of another setting.
static void check_limits(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    const struct {
        enum hc_sv_setting setting;
        uint32_t value, most;
        const char *name; ///< of `most`
    } limits[] = {
        {HC_SV_SETTING_clients, options->clients, options->plugin.game->players_max,
         "the players of the game"},
        {HC_SV_SETTING_npcs, options->npcs, options->clients - 1u, "one less than --max-clients"},
        {HC_SV_SETTING_workers, options->workers, options->matches, "--matches"},
        {HC_SV_SETTING_force_rewind_match, options->force_rewind_match, options->matches,
         "--matches"},
        {HC_SV_SETTING_clients, options->matches > 1 ? options->clients : 0,
         HC_SERVER_MATCH_CLIENTS_MAX, "the clients of one of several --matches"},
        {HC_SV_SETTING_spectators, options->matches > 1 ? options->spectators : 0,
         HC_SERVER_MATCH_CLIENTS_MAX, "the spectators of one of several --matches"},
        {HC_SV_SETTING_force_rewind, options->force_rewind, options->history, "--history"},
        {HC_SV_SETTING_snapshot_rate, options->snapshot_rate, options->tick_rate, "--tick-rate"},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i].value > limits[i].most)
            hc_settings_refuse(settings, limits[i].setting, "at most %s, which is %" PRIu32,
                               limits[i].name, limits[i].most);
}

/// Refuses a setting that would be in vain beside the others.
static void check_use(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    uint32_t reach = options->plugin.game->reach;
    if (options->force_rewind_match != 0 && options->force_rewind == 0)
        hc_settings_refuse(settings, HC_SV_SETTING_force_rewind_match,
                           "given with --force-rewind TICKS");
    // A player has to see what its step reads.
    if (options->given[HC_SV_SETTING_view] && options->view != 0 && options->view < reach)
        hc_settings_refuse(settings, HC_SV_SETTING_view,
                           "0, or at least the game's reach, which is %" PRIu32, reach);
}

void hc_sv_options_parse(struct hc_sv_options *options, int argc, char **argv) {
    const struct hc_sv_options defaults = hc_sv_options_default();
    struct hc_settings settings = {.rows = hc_sv_settings,
                                   .count = HC_SV_SETTING_COUNT,
                                   .program = 1,
                                   .groups = groups,
                                   .defaults = &defaults,
                                   .values = options,
                                   .given = options->given};
    *options = defaults;
    hc_settings_run(&settings, parse, about, argc, argv);
    options->verdict |= options->ticks != 0;
    load_game(options);
    check_limits(&settings);
    check_use(&settings);
    if (options->print_config) {
        hc_settings_print(&settings, stdout);
        exit(hc_standard_flush(stdout, "hindcastd") ? 0 : 1);
    }
}

void hc_sv_options_configure(const struct hc_sv_options *options, struct hc_server_config *config) {
#define COPY(type, member, ...) config->member = options->member;
    HC_SV_SETTINGS_OF_SERVER(COPY)
}
