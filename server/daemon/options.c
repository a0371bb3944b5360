/// Owns the settings of hindcastd: their sources, and which of them exclude or limit each other.
#define _GNU_SOURCE // argp

#include "server/daemon/options.h"

#include "common/programs/standard.h"
#include "proto/name.h"
#include "server/daemon/admin_address.h"
#include "server/daemon/settings_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHY_MAX = 9000,      ///< bytes of a sentence with two paths
    QUERY_NAME_MAX = 63, ///< bytes
};

#define ROW(type, member, name, value, initial, group, change, sentence)                           \
    HC_SETTING(struct hc_sv_options, member, name, value, 1, HC_SV_SETTINGS_##group,               \
               HC_SETTING_##change, sentence)
const struct hc_setting hc_sv_settings[HC_SV_SETTING_COUNT] = {HC_SV_SETTINGS(ROW)};

static const char *const groups[] = {
    [HC_SV_SETTINGS_ADDRESS] = "Address and keys:",
    [HC_SV_SETTINGS_CLIENTS] = "Clients:",
    [HC_SV_SETTINGS_WORLD] = "The world:",
    [HC_SV_SETTINGS_LIMITS] = "Late inputs and snapshots:",
    [HC_SV_SETTINGS_MATCHES] = "Matches:",
    [HC_SV_SETTINGS_ADMIN] = "Administration:",
    [HC_SV_SETTINGS_FLEET] = "A fleet of Agones:",
    [HC_SV_SETTINGS_OUTPUT] = "Log and report:",
    [HC_SV_SETTINGS_TRIALS] = "Measurements:",
    NULL,
};

static const char about[] =
    "Hindcast's dedicated server: simulates a game, rewinds for inputs that arrive late, and "
    "broadcasts the corrected ticks.\v"
    "`hindcastd config` prints a configuration file with all settings, `hindcastd key` makes a key "
    "file and rotates its keys, `hindcastd token` prints a token to connect with, `hindcastd "
    "protocol-id` the game's protocol_id: see their --help. Prints "
    "`listening on ADDRESS:PORT` once it is ready. On SIGTERM and SIGINT it closes all "
    "connections, prints the report, whose first line is the verdict on the run, and exits with "
    "0; with --verdict, the exit status is that of the verdict. SIGUSR2 does the same, but the "
    "clients come back to a server that is started again with the same keys, and it exits with 75 "
    "instead of 0. SIGUSR1 and SIGQUIT write the report so far into the log. SIGHUP reads the "
    "configuration files, the keys and the "
    "refused users again. docs/OPERATING.md is for operators, and docs/REPORT.md explains the "
    "report.";

static const char about_config[] =
    "Prints a configuration file for `hindcastd --config FILE`: all settings, each with its "
    "effect, "
    "its range and its default. Without options they are the defaults, in lines that begin with "
    "`;`. Those that options or files give are in force.";

struct hc_sv_options hc_sv_options_default(void) {
    const struct hc_server_config core = hc_server_config_default();
#define INITIAL(type, member, name, value, initial, ...) .member = (initial),
    return (struct hc_sv_options){HC_SV_SETTINGS(INITIAL)};
}

// ---- Checks -------------------------------------------------------------------------------------

/// Adds a fault that is of no single setting.
static void add_fault(const struct hc_settings *settings, const char *why) {
    hc_setting_faults_add(settings->faults, &(struct hc_setting_place){.file = NULL}, NULL, NULL,
                          why);
}

/// Only programs of this machine may ask without a password.
static void check_admin(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    struct hc_sv_admin_address address;
    if (options->admin == NULL) {
        if (options->admin_password_file != NULL)
            hc_settings_fault(settings, HC_SV_SETTING_admin_password_file,
                              "given with --admin ADDRESS");
        return;
    }
    if (!hc_sv_admin_address_parse(options->admin, &address))
        hc_settings_fault(settings, HC_SV_SETTING_admin,
                          "a numeric address and a port, such as 127.0.0.1:40080 or [::1]:40080, "
                          "or unix: and an absolute path of at most 107 bytes");
    else if (!address.loopback && options->admin_password_file == NULL)
        hc_settings_fault(settings, HC_SV_SETTING_admin,
                          "an address of loopback, such as 127.0.0.1, unless "
                          "--admin-password-file FILE is given");
}

/// The port is known once: from the gameserver, or from the settings.
static void check_fleet(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    if (options->agones_port == NULL)
        return;
    if (!options->agones)
        hc_settings_fault(settings, HC_SV_SETTING_agones_port, "given with --agones");
    else if (options->given[HC_SV_SETTING_port])
        hc_settings_fault(settings, HC_SV_SETTING_agones_port, "given without --port");
}

/// Server browsers show the name as it is.
static void check_query(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    size_t size = strlen(options->query_name);
    if (size == 0 || size > QUERY_NAME_MAX ||
        hc_text_check((const uint8_t *)options->query_name, size) != HC_OK)
        hc_settings_fault(settings, HC_SV_SETTING_query_name,
                          "1 to 63 bytes of UTF-8 that can all be seen");
    if (options->query_port != 0 && options->query_port == options->port)
        hc_settings_fault(settings, HC_SV_SETTING_query_port, "another port than --port");
}

/// Checks the settings that need no game.
static void check(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    struct in6_addr ip;
    // Names are refused, so that the start asks no name server.
    if (inet_pton(AF_INET, options->bind, &ip) != 1 && inet_pton(AF_INET6, options->bind, &ip) != 1)
        hc_settings_fault(settings, HC_SV_SETTING_bind,
                          "a numeric IPv4 or IPv6 address, such as 127.0.0.1 or ::");
    check_admin(settings);
    check_fleet(settings);
    check_query(settings);
    if (options->dev && options->key_file != NULL)
        add_fault(settings, "--dev makes a key of its own, and excludes --key-file FILE");
}

/// A server needs keys; a printed configuration does not.
static void check_keys(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    if (!options->dev && options->key_file == NULL)
        add_fault(settings, "--key-file FILE is needed, or --dev for trying things");
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
            hc_settings_fault(settings, limits[i].setting, "at most %s, which is %" PRIu32,
                              limits[i].name, limits[i].most);
}

/// Refuses a setting that would be in vain beside the others.
static void check_use(const struct hc_settings *settings) {
    const struct hc_sv_options *options = settings->values;
    uint32_t reach = options->plugin.game->reach;
    if (options->force_rewind_match != 0 && options->force_rewind == 0)
        hc_settings_fault(settings, HC_SV_SETTING_force_rewind_match,
                          "given with --force-rewind TICKS");
    // A player has to see what its step reads.
    if (options->given[HC_SV_SETTING_view] && options->view != 0 && options->view < reach)
        hc_settings_fault(settings, HC_SV_SETTING_view,
                          "0, or at least the game's reach, which is %" PRIu32, reach);
}

// ---- Sources ------------------------------------------------------------------------------------

/// The settings of a reading that has its options.
static struct hc_settings settings_of(struct hc_sv_reading *reading,
                                      const struct hc_sv_options *initial) {
    return (struct hc_settings){.rows = hc_sv_settings,
                                .count = HC_SV_SETTING_COUNT,
                                .program = 1,
                                .groups = groups,
                                .defaults = initial,
                                .values = &reading->options,
                                .given = reading->options.given,
                                .places = reading->places,
                                .texts = reading->texts,
                                .faults = &reading->faults};
}

static error_t parse(int key, char *text, struct argp_state *state) {
    if (key == ARGP_KEY_ARG)
        argp_error(state,
                   "unexpected argument '%s'; the commands are config, key, token and protocol-id",
                   text);
    return hc_settings_take(state->input, key, text);
}

static void parse_command(struct hc_sv_options *command, const char *text, int argc, char **argv) {
    const struct hc_sv_options initial = hc_sv_options_default();
    struct hc_settings settings = {.rows = hc_sv_settings,
                                   .count = HC_SV_SETTING_COUNT,
                                   .program = 1,
                                   .groups = groups,
                                   .defaults = &initial,
                                   .values = command,
                                   .given = command->given};
    *command = initial;
    hc_settings_run(&settings, parse, text, argc, argv);
}

/// Reads all files, and takes the command line over them.
static void read_sources(struct hc_settings *settings, const struct hc_sv_options *command) {
    for (unsigned i = 0; i < command->config.count; i++)
        hc_sv_settings_file_read(settings, command->config.all[i]);
    hc_settings_take_all(settings, command, command->given);
}

/// Loads the game, or exits with 2.
static void load_game(struct hc_sv_options *options) {
    char why[WHY_MAX];
    if (hc_plugin_load(&options->plugin, options->game, why, sizeof(why)))
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    exit(2);
}

/// Takes what the game says where no setting does.
static void adopt_game(struct hc_sv_options *options) {
    const struct hc_game *game = options->plugin.game;
    if (!options->given[HC_SV_SETTING_clients] && options->clients > game->players_max)
        options->clients = game->players_max;
    if (!options->given[HC_SV_SETTING_view])
        options->view = game->view;
}

/// Reads everything at a start, and exits with 2 if there is a fault.
static void start(const struct hc_sv_options *command, struct hc_sv_reading *reading,
                  bool needs_keys) {
    const struct hc_sv_options initial = hc_sv_options_default();
    struct hc_settings settings = settings_of(reading, &initial);
    reading->options = initial;
    read_sources(&settings, command);
    check(&settings);
    if (needs_keys && reading->faults.count == 0)
        check_keys(&settings);
    if (reading->faults.count == 0) {
        load_game(&reading->options);
        adopt_game(&reading->options);
        check_limits(&settings);
        check_use(&settings);
    }
    if (reading->faults.count == 0)
        return;
    hc_setting_faults_print(&reading->faults);
    exit(2);
}

void hc_sv_options_parse(struct hc_sv_options *command, struct hc_sv_reading *reading, int argc,
                         char **argv) {
    parse_command(command, about, argc, argv);
    start(command, reading, true);
}

void hc_sv_options_print(int argc, char **argv) {
    static struct hc_sv_options command;
    static struct hc_sv_reading reading; // too large for the stack
    const struct hc_sv_options initial = hc_sv_options_default();
    parse_command(&command, about_config, argc, argv);
    start(&command, &reading, false);
    struct hc_settings settings = settings_of(&reading, &initial);
    puts(
        "# Settings of hindcastd, for `hindcastd --config FILE`. A line that begins with `;` shows "
        "a default.\n"
        "# docs/OPERATING.md explains how changes are applied.");
    hc_settings_print(&settings, stdout);
    exit(hc_standard_flush(stdout, "hindcastd") ? 0 : 1);
}

// ---- Reading again ------------------------------------------------------------------------------

/// Whether a setting differs from the one in force. Where neither is given, the one in force may
/// have been chosen at the start.
static bool differs(unsigned i, const struct hc_sv_options *options,
                    const struct hc_sv_options *now) {
    return (options->given[i] || now->given[i]) &&
           !hc_setting_equal(&hc_sv_settings[i], options, now);
}

/// Keeps the settings in force that cannot change.
static void keep_fixed(struct hc_sv_reading *reading, const struct hc_sv_options *now) {
    struct hc_sv_options *options = &reading->options;
    for (unsigned i = 0; i < HC_SV_SETTING_COUNT; i++) {
        bool other = differs(i, options, now), live = hc_sv_settings[i].change == HC_SETTING_LIVE;
        reading->changed[i] = other && live;
        reading->waits[i] = other && !live;
        if (live)
            continue;
        hc_setting_copy(&hc_sv_settings[i], now, options);
        options->given[i] = now->given[i];
    }
}

void hc_sv_options_read(const struct hc_sv_options *command, const struct hc_sv_options *now,
                        struct hc_sv_reading *reading) {
    const struct hc_sv_options initial = hc_sv_options_default();
    struct hc_settings settings = settings_of(reading, &initial);
    reading->options = initial;
    read_sources(&settings, command);
    reading->options.plugin = now->plugin;
    adopt_game(&reading->options);
    if (reading->faults.count > 0)
        return;
    keep_fixed(reading, now);
    check(&settings);
    check_keys(&settings);
    check_limits(&settings);
    check_use(&settings);
}

// ---- Play ---------------------------------------------------------------------------------------

struct hc_sv_play_settings hc_sv_options_play(const struct hc_sv_options *options) {
#define PLAY(type, member, ...) .member = options->member,
    return (struct hc_sv_play_settings){HC_SV_SETTINGS_OF_SERVER(PLAY).force_rewind_match =
                                            options->force_rewind_match,
                                        .status_every_us = options->status_every_us};
}

void hc_sv_options_configure(const struct hc_sv_play_settings *settings, uint16_t number,
                             struct hc_server_config *config) {
#define COPY(type, member, ...) config->member = settings->member;
    HC_SV_SETTINGS_OF_SERVER(COPY)
    if (settings->force_rewind_match != 0 && settings->force_rewind_match != number)
        config->force_rewind = 0;
}
