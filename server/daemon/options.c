/// Owns the table of hindcastd's options, their ranges and defaults.
#define _GNU_SOURCE // argp

#include "server/daemon/options.h"

#include "common/decimal.h"
#include "proto/snapshot.h"
#include "hindcast/server.h"

#include <argp.h>
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_DEV = 256,
    KEY_KEY_FILE,
    KEY_AUDIENCE,
    KEY_CONNECTS,
    KEY_CLIENTS,
    KEY_PLAYERS,
    KEY_SPECTATORS,
    KEY_TIMEOUT,
    KEY_LINGER,
    KEY_SESSION_LIFE,
    KEY_REMEMBERED,
    KEY_RESTART_SECONDS,
    KEY_REFUSED,
    KEY_BIND,
    KEY_PORT,
    KEY_TICK_RATE,
    KEY_MAX_CLIENTS,
    KEY_NPCS,
    KEY_HISTORY,
    KEY_LATE_MARGIN,
    KEY_FORCE_REWIND,
    KEY_LAG_COMPENSATION,
    KEY_MATCHES,
    KEY_WORKERS,
    KEY_FORCE_REWIND_MATCH,
    KEY_SNAPSHOT_RATE,
    KEY_CLIENT_RATE,
    KEY_VIEW,
    KEY_SEED,
    KEY_TICKS,
    KEY_VERDICT,
    KEY_STATUS_EVERY,
    KEY_LOG_LEVEL,
    KEY_LOG_FORMAT,
    KEY_JSON,
    KEY_GAME,
    WHY_MAX = 9000, ///< bytes of a sentence with two paths
    SECOND_US = 1000000,
    SECONDS_MAX = 3600, ///< of silence, and of lingering
};

static const struct argp_option table[] = {
    {"dev", KEY_DEV, NULL, 0,
     "For trials: a random key, and tokens for every program on this machine, at the TCP port of "
     "the same number on loopback. A restarted server has another key, and clients need new "
     "tokens",
     0},
    {"key-file", KEY_KEY_FILE, "FILE", 0,
     "The token keys, made by `hindcastd key`; read again on SIGHUP", 0},
    {"audience", KEY_AUDIENCE, "N", 0, "Accept tokens for this audience (default 0)", 0},
    {"connects-per-address", KEY_CONNECTS, "N", 0,
     "Connects a second of one IPv4 address or IPv6 /64, except loopback; 0: any number (default "
     "5)",
     0},
    {"clients-per-address", KEY_CLIENTS, "N", 0,
     "Clients at once of one IPv4 address or IPv6 /64, except loopback; 0: any number (default 16)",
     0},
    {"players-per-client", KEY_PLAYERS, "N", 0,
     "Most local players of a client, if its token allows them (default 4)", 0},
    {"spectators", KEY_SPECTATORS, "N", 0,
     "Places for clients without players, if their tokens let them watch, beside those of "
     "--max-clients; in each match (default 4)",
     0},
    {"timeout", KEY_TIMEOUT, "S", 0,
     "Seconds of silence after which a client has lost its connection (default 10)", 0},
    {"linger", KEY_LINGER, "S", 0,
     "Seconds for which the players of such a client wait for it to come back; 0: none (default "
     "30)",
     0},
    {"session-life", KEY_SESSION_LIFE, "S", 0,
     "Seconds after which a session ends, and its user needs a new token; 0: never (default 86400)",
     0},
    {"remembered-users", KEY_REMEMBERED, "N", 0,
     "Users whose used tokens are remembered, at least four for each client. If more come, those "
     "with the oldest tokens are forgotten, and whatever was issued before is refused. Several "
     "--matches share them, but have 512 each (default 4096)",
     0},
    {"restart-seconds", KEY_RESTART_SECONDS, "S", 0,
     "On SIGUSR2, say that the server is back after S seconds: so long the clients wait before "
     "they "
     "try to reconnect, for 30 s (default 1)",
     0},
    {"refused", KEY_REFUSED, "FILE", 0,
     "Users to refuse, a client_id on each line, and `not-before UNIX_TIME` to refuse all older "
     "sessions and tokens; read again on SIGHUP",
     0},
    {"bind", KEY_BIND, "ADDR", 0, "Numeric address to listen on (default ::, all of them)", 0},
    {"port", KEY_PORT, "N", 0, "UDP port; 0 takes any free one (default 40000)", 0},
    {"tick-rate", KEY_TICK_RATE, "HZ", 0, "Ticks a second (default 60)", 0},
    {"max-clients", KEY_MAX_CLIENTS, "N", 0,
     "Clients that play at once, at most the game's players (default 8, or fewer if the game has "
     "fewer)",
     0},
    {"npcs", KEY_NPCS, "N", 0,
     "Players of --max-clients that the server plays itself, as the game's bots do (default 0)", 0},
    {"matches", KEY_MATCHES, "N", 0,
     "Host N matches, each with a world, a seed and --max-clients clients of its own. A token "
     "names "
     "the match or leaves the choice to the server (default 1)",
     0},
    {"workers", KEY_WORKERS, "N", 0,
     "Threads that share the matches, at most --matches (default 1)", 0},
    {"history", KEY_HISTORY, "TICKS", 0,
     "Farthest rewind for a late input; 0 never rewinds (default 64)", 0},
    {"late-margin", KEY_LATE_MARGIN, "TICKS", 0,
     "Refuse inputs that are more than TICKS + 1 later than usual for their client, against "
     "clients that hold inputs back; 512: only --history limits them (default 24)",
     0},
    {"force-rewind", KEY_FORCE_REWIND, "TICKS", 0,
     "Redo the last TICKS ticks at every tick, to measure the worst case; at most --history "
     "(default 0)",
     0},
    {"lag-compensation", KEY_LAG_COMPENSATION, "MS", 0,
     "Compare shots with what their shooters saw, at most MS ms ago, in games that look back "
     "(default 400)",
     0},
    {"force-rewind-match", KEY_FORCE_REWIND_MATCH, "N", 0,
     "--force-rewind in match N alone; 0: in all (default 0)", 0},
    {"snapshot-rate", KEY_SNAPSHOT_RATE, "HZ", 0,
     "Snapshots a second for each client, at most --tick-rate; 0: one each tick (default 0)", 0},
    {"client-rate", KEY_CLIENT_RATE, "BYTES", 0,
     "Most bytes a second that a client is sent, headers included (default 262144)", 0},
    {"view", KEY_VIEW, "UNITS", 0,
     "How far a player sees in x and y, in units of the game, and at least its reach; 0: "
     "everything "
     "(default: as the game says)",
     0},
    {"seed", KEY_SEED, "N", 0,
     "Seed of the world (default: random), which clients know; NPCs have a secret one", 0},
    {"ticks", KEY_TICKS, "N", 0, "Stop after N ticks; the exit status is that of --verdict", 0},
    {"verdict", KEY_VERDICT, NULL, 0,
     "Exit with 1 if the verdict of the final report is NOT OK. Otherwise a server that stops as "
     "it was told exits with 0, whatever happened in its life",
     0},
    {"status-every", KEY_STATUS_EVERY, "S", 0,
     "Log a status line every S seconds, at level info (default: none)", 0},
    {"log-level", KEY_LOG_LEVEL, "L", 0, "error, warn, info or debug (default info)", 0},
    {"log-format", KEY_LOG_FORMAT, "F", 0, "text or json, one line for each event (default text)",
     0},
    {"json", KEY_JSON, "FILE", 0, "Write the final report as one JSON object; - is standard output",
     0},
    {"game", KEY_GAME, "FILE", 0, "A plugin with the game to serve (default: the arena)", 0},
    {0},
};

/// The options that take a whole number, and their ranges.
static const struct {
    int key;
    uint64_t min, max;
} numbers[] = {
    {KEY_AUDIENCE, 0, UINT64_MAX},
    {KEY_CONNECTS, 0, 10000},
    {KEY_CLIENTS, 0, HC_SERVER_CLIENTS_MAX},
    {KEY_PLAYERS, 1, HC_OWN_PLAYERS_MAX},
    {KEY_SPECTATORS, 0, HC_SERVER_CLIENTS_MAX},
    {KEY_TIMEOUT, 1, SECONDS_MAX},
    {KEY_LINGER, 0, SECONDS_MAX},
    {KEY_SESSION_LIFE, 0, UINT32_MAX},
    {KEY_REMEMBERED, 1, HC_SERVER_REMEMBERED_MAX},
    {KEY_RESTART_SECONDS, 0, HC_RESTART_SECONDS_MAX},
    {KEY_PORT, 0, UINT16_MAX},
    {KEY_TICK_RATE, 1, HC_TICK_RATE_MAX},
    {KEY_MAX_CLIENTS, 1, HC_PLAYERS_MAX},
    {KEY_NPCS, 0, HC_PLAYERS_MAX},
    {KEY_HISTORY, 0, HC_HISTORY_MAX},
    {KEY_LATE_MARGIN, 0, HC_HISTORY_MAX},
    {KEY_FORCE_REWIND, 0, HC_HISTORY_MAX},
    {KEY_LAG_COMPENSATION, 0, 10000},
    {KEY_MATCHES, 1, HC_MATCH_MAX},
    {KEY_WORKERS, 1, HC_SV_WORKERS_MAX},
    {KEY_FORCE_REWIND_MATCH, 0, HC_MATCH_MAX},
    {KEY_SNAPSHOT_RATE, 0, HC_TICK_RATE_MAX},
    {KEY_CLIENT_RATE, HC_SERVER_CLIENT_RATE_MIN, UINT32_MAX},
    {KEY_VIEW, 0, UINT32_C(1) << 30},
    {KEY_SEED, 0, INT64_MAX}, // a JSON integer in the report
    {KEY_TICKS, 1, HC_SNAPSHOT_TICK_MAX},
    {KEY_STATUS_EVERY, 1, 86400},
};

static const char *option_name(int key) {
    const struct argp_option *option = table;
    while (option->key != key)
        option++;
    return option->name;
}

static void refuse(int key, const char *value, const char *allowed) {
    fprintf(stderr, "%s: --%s '%s': must be %s\n", program_invocation_short_name, option_name(key),
            value, allowed);
    exit(2);
}

/// Checks a numeric address. Names are refused, so that the start asks no name server.
static const char *address(int key, const char *text) {
    struct in6_addr ip;
    if (inet_pton(AF_INET, text, &ip) != 1 && inet_pton(AF_INET6, text, &ip) != 1)
        refuse(key, text, "a numeric IPv4 or IPv6 address, such as 127.0.0.1 or ::");
    return text;
}

/// The value of an option that takes a number; 0 for any other option.
static uint64_t number(int key, const char *text) {
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (numbers[i].key != key)
            continue;
        uint64_t value = 0;
        if (hc_decimal_parse(text, 0, &value) == HC_OK && value >= numbers[i].min &&
            value <= numbers[i].max)
            return value;
        char allowed[80];
        snprintf(allowed, sizeof(allowed), "a whole number in [%" PRIu64 ", %" PRIu64 "]",
                 numbers[i].min, numbers[i].max);
        refuse(key, text, allowed);
    }
    return 0;
}

/// The index of `text` among `count` words.
static unsigned find_word(int key, const char *text, const char *const *words, unsigned count,
                          const char *allowed) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    refuse(key, text, allowed);
    return 0;
}

/// Takes an option about admission; false: it is another option.
static bool parse_admission(struct hc_sv_options *options, int key, const char *text,
                            uint64_t value) {
    switch (key) {
    case KEY_DEV:
        options->dev = true;
        return true;
    case KEY_KEY_FILE:
        options->key_file = text;
        return true;
    case KEY_AUDIENCE:
        options->audience = value;
        return true;
    case KEY_CONNECTS:
        options->connects_per_address = (uint16_t)value;
        return true;
    case KEY_CLIENTS:
        options->clients_per_address = (uint16_t)value;
        return true;
    case KEY_PLAYERS:
        options->players_per_client = (uint16_t)value;
        return true;
    case KEY_SPECTATORS:
        options->spectators = (uint16_t)value;
        return true;
    case KEY_TIMEOUT:
        options->timeout_s = (uint32_t)value;
        return true;
    case KEY_LINGER:
        options->linger_s = (uint32_t)value;
        return true;
    case KEY_SESSION_LIFE:
        options->session_life_s = (uint32_t)value;
        return true;
    case KEY_REMEMBERED:
        options->remembered_users = (uint32_t)value;
        return true;
    case KEY_RESTART_SECONDS:
        options->restart_s = (uint32_t)value;
        return true;
    case KEY_REFUSED:
        options->refused = text;
        return true;
    default:
        return false;
    }
}

/// Takes an option about the matches; false: it is another option.
static bool parse_matches(struct hc_sv_options *options, int key, uint64_t value) {
    switch (key) {
    case KEY_MATCHES:
        options->matches = (uint16_t)value;
        return true;
    case KEY_WORKERS:
        options->workers = (uint16_t)value;
        return true;
    case KEY_FORCE_REWIND_MATCH:
        options->force_rewind_match = (uint16_t)value;
        return true;
    default:
        return false;
    }
}

/// Takes an option about the log and the report; false: it is another option.
static bool parse_output(struct hc_sv_options *options, int key, const char *text, uint64_t value) {
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    static const char *const formats[] = {"text", "json"};
    switch (key) {
    case KEY_VERDICT:
        options->verdict = true;
        return true;
    case KEY_STATUS_EVERY:
        options->status_every_us = value * 1000000;
        return true;
    case KEY_LOG_LEVEL:
        options->level =
            (enum hc_sv_log_level)find_word(key, text, levels, 4, "error, warn, info or debug");
        return true;
    case KEY_LOG_FORMAT:
        options->format = (enum hc_sv_log_format)find_word(key, text, formats, 2, "text or json");
        return true;
    case KEY_JSON:
        options->json = text;
        return true;
    default:
        return false;
    }
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct hc_sv_options *options = state->input;
    uint64_t value = text != NULL ? number(key, text) : 0;
    if (parse_admission(options, key, text, value) || parse_output(options, key, text, value) ||
        parse_matches(options, key, value))
        return 0;
    switch (key) {
    case KEY_BIND:
        options->bind = address(key, text);
        break;
    case KEY_PORT:
        options->port = (uint16_t)value;
        break;
    case KEY_TICK_RATE:
        options->tick_rate = (uint16_t)value;
        break;
    case KEY_MAX_CLIENTS:
        options->clients = (uint16_t)value;
        break;
    case KEY_NPCS:
        options->npcs = (uint16_t)value;
        break;
    case KEY_HISTORY:
        options->history = (uint32_t)value;
        break;
    case KEY_LATE_MARGIN:
        options->late_margin = (uint32_t)value;
        break;
    case KEY_FORCE_REWIND:
        options->force_rewind = (uint32_t)value;
        break;
    case KEY_LAG_COMPENSATION:
        options->lag_compensation_ms = (uint32_t)value;
        break;
    case KEY_SNAPSHOT_RATE:
        options->snapshot_rate = (uint16_t)value;
        break;
    case KEY_CLIENT_RATE:
        options->client_rate = (uint32_t)value;
        break;
    case KEY_VIEW:
        options->view = (uint32_t)value;
        options->view_given = true;
        break;
    case KEY_SEED:
        options->seed = value;
        options->seed_given = true;
        break;
    case KEY_TICKS:
        options->ticks = (uint32_t)value;
        options->verdict = true;
        break;
    case KEY_GAME:
        options->game = text;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'; the commands are key, token and protocol-id",
                   text);
        break;
    case ARGP_KEY_END:
        if (options->dev && options->key_file != NULL)
            argp_error(state, "--dev makes a key of its own, and excludes --key-file FILE");
        if (!options->dev && options->key_file == NULL)
            argp_error(state, "--key-file FILE is needed, or --dev for trying things");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/// Refuses a value above that of another option.
static void check_most(int key, uint32_t value, const char *name, uint32_t most) {
    char text[16], allowed[80];
    snprintf(text, sizeof(text), "%" PRIu32, value);
    snprintf(allowed, sizeof(allowed), "at most %s, which is %" PRIu32, name, most);
    if (value > most)
        refuse(key, text, allowed);
}

/// Refuses to restrict --force-rewind to a match where it is not given.
static void check_match_of_rewind(const struct hc_sv_options *options) {
    char text[16];
    snprintf(text, sizeof(text), "%u", options->force_rewind_match);
    if (options->force_rewind_match != 0)
        refuse(KEY_FORCE_REWIND_MATCH, text, "given with --force-rewind TICKS");
}

/// Refuses a view in which a player does not see what its step reads.
static void check_view(const struct hc_sv_options *options) {
    char text[16], allowed[80];
    uint32_t reach = options->plugin.game->reach;
    if (!options->view_given || options->view == 0 || options->view >= reach)
        return;
    snprintf(text, sizeof(text), "%" PRIu32, options->view);
    snprintf(allowed, sizeof(allowed), "0, or at least the game's reach, which is %" PRIu32, reach);
    refuse(KEY_VIEW, text, allowed);
}

/// Loads the game. Without --max-clients there are no more than its players.
static void load_game(struct hc_sv_options *options) {
    char why[WHY_MAX];
    if (!hc_plugin_load(&options->plugin, options->game, why, sizeof(why))) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
        exit(2);
    }
    uint16_t most = options->plugin.game->players_max, usual = hc_server_config_default().clients;
    if (options->clients == 0)
        options->clients = usual < most ? usual : most;
    check_most(KEY_MAX_CLIENTS, options->clients, "the players of the game", most);
}

void hc_sv_options_parse(struct hc_sv_options *options, int argc, char **argv) {
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc =
            "Hindcast's dedicated server: simulates a game, rewinds for inputs that arrive "
            "late, and broadcasts the corrected ticks.\v"
            "`hindcastd key` makes a key file and rotates its keys, `hindcastd token` prints a "
            "token to connect with, `hindcastd protocol-id` the game's protocol_id: see their "
            "--help. "
            "Prints `listening on ADDRESS:PORT` once it is ready. On SIGTERM and SIGINT it closes "
            "all connections, prints the report, whose first line is the verdict on the run, and "
            "exits with 0; with --verdict, the exit status is that of the verdict. SIGUSR2 does "
            "the "
            "same, but the clients come back to a server that is started again with the same keys. "
            "SIGUSR1 and SIGQUIT write the report so far into the log. "
            "SIGHUP reads the keys and the refused users again. docs/REPORT.md explains the "
            "report.",
    };
    struct hc_server_config defaults = hc_server_config_default();
    *options = (struct hc_sv_options){
        .connects_per_address = defaults.connects_per_address,
        .clients_per_address = defaults.clients_per_address,
        .players_per_client = defaults.players_per_client,
        .spectators = defaults.spectators,
        .timeout_s = defaults.timeout_us / SECOND_US,
        .linger_s = defaults.linger_us / SECOND_US,
        .session_life_s = defaults.session_life_s,
        .remembered_users = defaults.remembered_users,
        .restart_s = 1,
        .bind = "::",
        .port = 40000,
        .matches = 1,
        .workers = 1,
        .tick_rate = defaults.tick_rate,
        .history = defaults.history,
        .late_margin = defaults.late_margin,
        .lag_compensation_ms = defaults.lag_compensation_ms,
        .snapshot_rate = defaults.snapshot_rate,
        .client_rate = defaults.client_rate,
        .level = HC_SV_LOG_INFO,
    };
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, options);
    load_game(options);
    check_most(KEY_NPCS, options->npcs, "one less than --max-clients", options->clients - 1u);
    check_most(KEY_WORKERS, options->workers, "--matches", options->matches);
    check_most(KEY_FORCE_REWIND_MATCH, options->force_rewind_match, "--matches", options->matches);
    if (options->force_rewind == 0) // there is nothing to restrict
        check_match_of_rewind(options);
    check_view(options);
    if (options->matches > 1) {
        check_most(KEY_MAX_CLIENTS, options->clients, "the clients of one of several --matches",
                   HC_SERVER_MATCH_CLIENTS_MAX);
        check_most(KEY_SPECTATORS, options->spectators,
                   "the spectators of one of several --matches", HC_SERVER_MATCH_CLIENTS_MAX);
    }
    check_most(KEY_FORCE_REWIND, options->force_rewind, "--history", options->history);
    check_most(KEY_SNAPSHOT_RATE, options->snapshot_rate, "--tick-rate", options->tick_rate);
}

void hc_sv_options_configure(const struct hc_sv_options *options, struct hc_server_config *config) {
    config->clients = options->clients;
    config->tick_rate = options->tick_rate;
    config->history = options->history;
    config->late_margin = options->late_margin;
    config->force_rewind = options->force_rewind;
    config->lag_compensation_ms = options->lag_compensation_ms;
    config->snapshot_rate = options->snapshot_rate;
    config->client_rate = options->client_rate;
    config->seed = options->seed;
    config->audience = options->audience;
    config->connects_per_address = options->connects_per_address;
    config->clients_per_address = options->clients_per_address;
    config->players_per_client = options->players_per_client;
    config->spectators = options->spectators;
    config->timeout_us = options->timeout_s * SECOND_US;
    config->linger_us = options->linger_s * SECOND_US;
    config->session_life_s = options->session_life_s;
    config->remembered_users = options->remembered_users;
}
