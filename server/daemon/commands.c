/// Owns the commands key, token and protocol-id: their options and their output.
#define _GNU_SOURCE // argp

#include "server/daemon/commands.h"

#include "common/decimal.h"
#include "common/programs/plugin.h"
#include "proto/name.h"
#include "server/daemon/key_file.h"
#include "server/daemon/wall_clock.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_KEY_FILE = 256,
    KEY_USE,
    KEY_CLIENT_ID,
    KEY_NAME,
    KEY_AUDIENCE,
    KEY_LIFE,
    KEY_COUNT,
    KEY_PLAYERS,
    KEY_WATCH,
    KEY_MATCH,
    KEY_GAME,
    LIFE_S = 60,
    LIFE_MAX_S = 86400,
    COUNT_MAX = 4096,
    WHY_MAX = 9000, ///< bytes of a sentence with two paths
};

struct command {
    const char *key_file;
    bool needs_key_file, use;
    uint64_t client_id, audience, life_s, count, players;
    bool watch;
    uint16_t match;
    bool client_id_given;
    const char *name, *game;
};

static const struct argp_option token_table[] = {
    {"key-file", KEY_KEY_FILE, "FILE", 0, "The server's key file", 0},
    {"client-id", KEY_CLIENT_ID, "N", 0, "The user's number (default: random)", 0},
    {"name", KEY_NAME, "NAME", 0, "The user's name (default: none)", 0},
    {"audience", KEY_AUDIENCE, "N", 0, "The server's --audience (default 0)", 0},
    {"life", KEY_LIFE, "S", 0, "Seconds until the token expires (default 60)", 0},
    {"players", KEY_PLAYERS, "N", 0, "Most local players that the token admits (default 1)", 0},
    {"watch", KEY_WATCH, NULL, 0, "Also admit a spectator, which sees everything", 0},
    {"match", KEY_MATCH, "N", 0, "Admit to match N of a server's --matches; 0: to any (default 0)",
     0},
    {"count", KEY_COUNT, "N", 0,
     "Number of tokens, one on each line: for --client-id and the numbers after it, or for random "
     "users (default 1)",
     0},
    {"game", KEY_GAME, "FILE", 0, "The server's --game (default: the arena)", 0},
    {0},
};

static const struct argp_option key_table[] = {
    {"key-file", KEY_KEY_FILE, "FILE", 0, "The key file; a server reads it again on SIGHUP", 0},
    {"use", KEY_USE, NULL, 0,
     "Use the published key: tokens and tickets are issued with it from now on, and the former key "
     "stays accepted",
     0},
    {0},
};

static const struct argp_option protocol_id_table[] = {
    {"game", KEY_GAME, "FILE", 0, "The server's --game (default: the arena)", 0},
    {0},
};

static uint64_t number(const char *option, const char *text, uint64_t min, uint64_t max) {
    uint64_t value = 0;
    if (hc_decimal_parse(text, 0, &value) == HC_OK && value >= min && value <= max)
        return value;
    fprintf(stderr, "hindcastd: --%s '%s': must be a whole number in [%" PRIu64 ", %" PRIu64 "]\n",
            option, text, min, max);
    exit(2);
}

static const char *name_of(const char *text) {
    if (hc_name_check((const uint8_t *)text, strlen(text)) == HC_OK)
        return text;
    char shown[HC_NAME_ESCAPED_MAX];
    bool is_long = strlen(text) > HC_NAME_MAX;
    hc_name_escape(text, is_long ? HC_NAME_MAX : strlen(text), shown, sizeof(shown));
    fprintf(stderr,
            "hindcastd: --name '%s%s' (%zu bytes): must be 1 to %d bytes of UTF-8 that can all be "
            "seen\n",
            shown, is_long ? "..." : "", strlen(text), HC_NAME_MAX);
    exit(2);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct command *command = state->input;
    switch (key) {
    case KEY_KEY_FILE:
        command->key_file = text;
        break;
    case KEY_USE:
        command->use = true;
        break;
    case KEY_CLIENT_ID:
        command->client_id = number("client-id", text, 0, UINT64_MAX);
        command->client_id_given = true;
        break;
    case KEY_NAME:
        command->name = name_of(text);
        break;
    case KEY_AUDIENCE:
        command->audience = number("audience", text, 0, UINT64_MAX);
        break;
    case KEY_LIFE:
        command->life_s = number("life", text, 1, LIFE_MAX_S);
        break;
    case KEY_COUNT:
        command->count = number("count", text, 1, COUNT_MAX);
        break;
    case KEY_PLAYERS:
        command->players = number("players", text, 0, HC_OWN_PLAYERS_MAX);
        break;
    case KEY_WATCH:
        command->watch = true;
        break;
    case KEY_MATCH:
        command->match = (uint16_t)number("match", text, 0, HC_MATCH_MAX);
        break;
    case KEY_GAME:
        command->game = text;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (command->needs_key_file && command->key_file == NULL)
            argp_error(state, "--key-file FILE is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/// The protocol_id of a game. Exits with 2 if the plugin cannot be used.
static uint64_t protocol_id_of(const char *game) {
    struct hc_plugin plugin;
    char why[WHY_MAX];
    if (!hc_plugin_load(&plugin, game, why, sizeof(why))) {
        fprintf(stderr, "hindcastd: %s\n", why);
        exit(2);
    }
    return hc_datagram_protocol_id(plugin.game, plugin.rule_hash);
}

/// Prints tokens.
static int run_token(const struct command *command) {
    struct hc_token_ring ring;
    char why[WHY_MAX], text[HC_CREDENTIAL_TEXT_SIZE + 1];
    uint64_t protocol_id = protocol_id_of(command->game);
    if (!hc_sv_key_file_read(command->key_file, &ring, why, sizeof(why))) {
        fprintf(stderr, "hindcastd: %s\n", why);
        return 1;
    }
    uint64_t now_s = hc_sv_wall_clock_us() / 1000000;
    struct hc_token token = {.issued_s = now_s,
                             .expire_s = now_s + command->life_s,
                             .players = (uint8_t)command->players,
                             .watch = command->watch,
                             .match = command->match,
                             .client_id = command->client_id,
                             .audience = command->audience};
    if (command->name != NULL)
        memcpy(token.name, command->name, strlen(command->name));
    for (uint64_t i = 0; i < command->count; i++, token.client_id++) {
        if (!command->client_id_given)
            randombytes_buf(&token.client_id, sizeof(token.client_id));
        hc_sv_key_file_issue(&ring.keys[0], protocol_id, &token, text);
        puts(text);
    }
    sodium_memzero(&ring, sizeof(ring));
    sodium_memzero(text, sizeof(text));
    return fflush(stdout) == 0 ? 0 : 1;
}

/// Makes a key file or takes the next step of a rotation, and prints the step after it.
static int run_key(const struct command *command) {
    const char *path = command->key_file;
    struct hc_token_ring ring;
    char why[WHY_MAX];
    bool good = command->use ? hc_sv_key_file_use(path, &ring, why, sizeof(why))
                             : hc_sv_key_file_publish(path, &ring, why, sizeof(why));
    if (!good) {
        fprintf(stderr, "hindcastd: %s\n", why);
        return 1;
    }
    if (ring.count == 1)
        printf("Key %u is made in %s and is used. Give the file to hindcastd --key-file.\n",
               ring.keys[0].id, path);
    else if (command->use)
        printf("Key %u of %s is used now, and key %u is still accepted.\n"
               "Next: send SIGHUP to every server, so that tickets are issued with key %u.\n",
               ring.keys[0].id, path, ring.keys[1].id, ring.keys[0].id);
    else
        printf("Key %u is published in %s, and key %u is still used. No other key is accepted.\n"
               "Next: send SIGHUP to every server, then run hindcastd key --use --key-file %s\n",
               ring.keys[1].id, path, ring.keys[0].id, path);
    sodium_memzero(&ring, sizeof(ring));
    return fflush(stdout) == 0 ? 0 : 1;
}

/// Prints the protocol_id of the daemon's game.
static int run_protocol_id(const struct command *command) {
    printf("0x%016" PRIx64 "\n", protocol_id_of(command->game));
    return fflush(stdout) == 0 ? 0 : 1;
}

static const struct argp token_argp = {
    .options = token_table,
    .parser = parse,
    .doc = "Prints tokens, each with its secret. A token admits a client: keep it secret, because "
           "anybody who reads it can connect in the client's place.",
};

static const struct argp key_argp = {
    .options = key_table,
    .parser = parse,
    .doc =
        "Makes a key file for hindcastd if FILE does not exist; otherwise publishes a new key in "
        "it. Servers accept a published key, but nothing is issued with it yet.\v"
        "To rotate the key:\n"
        "  1. hindcastd key --key-file FILE\n"
        "  2. send SIGHUP to every server: it accepts the new key\n"
        "  3. hindcastd key --use --key-file FILE\n"
        "  4. send SIGHUP to every server: it issues tickets with the new key\n"
        "Servers on other machines get the file before each SIGHUP, and backends after step 3. "
        "The former key is accepted until the next rotation. Begin that ten minutes later at the "
        "earliest, because a ticket is valid for ten minutes.",
};

static const struct argp protocol_id_argp = {
    .options = protocol_id_table,
    .parser = parse,
    .doc = "Prints the protocol_id of the game that hindcastd serves, as 0x and 16 hexadecimal "
           "digits. Tokens are sealed for it.",
};

/// The commands. argp takes `name` as the program's name in its messages.
static struct {
    const char *word; ///< first argument
    char name[32];
    const struct argp *argp;
    int (*run)(const struct command *command);
    bool needs_key_file;
} commands[] = {
    {"key", "hindcastd key", &key_argp, run_key, true},
    {"token", "hindcastd token", &token_argp, run_token, true},
    {"protocol-id", "hindcastd protocol-id", &protocol_id_argp, run_protocol_id, false},
};

bool hc_sv_commands_run(int argc, char **argv, int *status) {
    const size_t count = sizeof(commands) / sizeof(*commands);
    size_t i = 0;
    while (i < count && (argc < 2 || strcmp(argv[1], commands[i].word) != 0))
        i++;
    if (i == count)
        return false;
    struct command command = {
        .life_s = LIFE_S, .count = 1, .players = 1, .needs_key_file = commands[i].needs_key_file};
    argp_err_exit_status = 2;
    argv[1] = commands[i].name;
    argp_parse(commands[i].argp, argc - 1, argv + 1, 0, NULL, &command);
    if (sodium_init() < 0) {
        fprintf(stderr, "hindcastd: the system gives no random numbers\n");
        *status = 1;
        return true;
    }
    *status = commands[i].run(&command);
    return true;
}
