/// Owns the commands config, key, token and protocol-id: their options and their output.
#define _GNU_SOURCE // argp

#include "server/daemon/commands.h"

#include "common/programs/plugin.h"
#include "common/programs/settings.h"
#include "proto/name.h"
#include "server/daemon/key_file.h"
#include "server/daemon/options.h"
#include "server/daemon/wall_clock.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIFE_MAX_S = 86400,
    COUNT_MAX = 4096,
    WHY_MAX = 9000, ///< bytes of a sentence with two paths
    // The commands, each a bit.
    KEY = 1,
    TOKEN = 2,
    PROTOCOL_ID = 4,
};

/// X(type, member, name, VALUE, initial, commands, sentence), as in server/daemon/settings.h.
#define SETTINGS(X)                                                                                \
    X(const char *, key_file, "key-file", TEXT("FILE"), NULL, KEY | TOKEN,                         \
      "The key file; a server reads it again on SIGHUP")                                           \
    X(bool, use, "use", FLAG, false, KEY,                                                          \
      "Use the published key: tokens and tickets are issued with it from now on, and the former "  \
      "key stays accepted")                                                                        \
    X(uint64_t, client_id, "client-id", OR(N(0, UINT64_MAX), "random"), 0, TOKEN,                  \
      "The user's number")                                                                         \
    X(const char *, name, "name", OR(TEXT("NAME"), "none"), NULL, TOKEN, "The user's name")        \
    X(uint64_t, audience, "audience", N(0, UINT64_MAX), 0, TOKEN, "The server's --audience")       \
    X(uint64_t, life_s, "life", S(1, LIFE_MAX_S), 60, TOKEN, "Seconds until the token expires")    \
    X(uint16_t, players, "players", N(0, HC_OWN_PLAYERS_MAX), 1, TOKEN,                            \
      "Most local players that the token admits")                                                  \
    X(bool, watch, "watch", FLAG, false, TOKEN, "Also admit a spectator, which sees everything")   \
    X(uint16_t, match, "match", N(0, HC_MATCH_MAX), 0, TOKEN,                                      \
      "Admit to match N of a server's --matches; 0: to any")                                       \
    X(uint32_t, count, "count", N(1, COUNT_MAX), 1, TOKEN,                                         \
      "Number of tokens, one on each line: for --client-id and the numbers after it, or for "      \
      "random users")                                                                              \
    X(const char *, game, "game", OR(TEXT("FILE"), "the arena"), NULL, TOKEN | PROTOCOL_ID,        \
      "The server's --game")

enum setting {
#define ENUM(type, member, ...) SETTING_##member,
    SETTINGS(ENUM) SETTINGS_COUNT
};

struct command {
#define MEMBER(type, member, ...) type member;
    SETTINGS(MEMBER)
    bool given[SETTINGS_COUNT];
};

#define ROW(type, member, name, value, initial, commands, sentence)                                \
    HC_SETTING(struct command, member, name, value, commands, 0, HC_SETTING_FIXED, sentence)
static const struct hc_setting rows[] = {SETTINGS(ROW)};

#define INITIAL(type, member, name, value, initial, ...) .member = (initial),
static const struct command defaults = {SETTINGS(INITIAL)};

static void check_name(const char *text) {
    if (hc_name_check((const uint8_t *)text, strlen(text)) == HC_OK)
        return;
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
    struct hc_settings *settings = state->input;
    const struct command *command = settings->values;
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", text);
    if (key == ARGP_KEY_END && command->name != NULL)
        check_name(command->name);
    if (key == ARGP_KEY_END && settings->program != PROTOCOL_ID && command->key_file == NULL)
        argp_error(state, "--key-file FILE is needed");
    return hc_settings_take(settings, key, text);
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
    char place[HC_SV_OWNER_FILE_PATH_MAX];
    const char *path = hc_sv_owner_file_locate(command->key_file, place, sizeof(place));
    if (!hc_sv_key_file_read(path, &ring, why, sizeof(why))) {
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
    for (uint32_t i = 0; i < command->count; i++, token.client_id++) {
        if (!command->given[SETTING_client_id])
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

static const char about_token[] =
    "Prints tokens, each with its secret. A token admits a client: keep it secret, because anybody "
    "who reads it can connect in the client's place.";

static const char about_key[] =
    "Makes a key file for hindcastd if FILE does not exist; otherwise publishes a new key in it. "
    "Servers accept a published key, but nothing is issued with it yet.\v"
    "To rotate the key:\n"
    "  1. hindcastd key --key-file FILE\n"
    "  2. send SIGHUP to every server: it accepts the new key\n"
    "  3. hindcastd key --use --key-file FILE\n"
    "  4. send SIGHUP to every server: it issues tickets with the new key\n"
    "Servers on other machines get the file before each SIGHUP, and backends after step 3. The "
    "former key is accepted until the next rotation. Begin that ten minutes later at the earliest, "
    "because a ticket is valid for ten minutes.";

static const char about_protocol_id[] =
    "Prints the protocol_id of the game that hindcastd serves, as 0x and 16 hexadecimal digits. "
    "Tokens are sealed for it.";

/// The commands. argp takes `name` as the program's name in its messages.
static struct {
    const char *word; ///< first argument
    char name[32];
    unsigned bit;
    const char *about;
    int (*run)(const struct command *command);
} commands[] = {
    {"key", "hindcastd key", KEY, about_key, run_key},
    {"token", "hindcastd token", TOKEN, about_token, run_token},
    {"protocol-id", "hindcastd protocol-id", PROTOCOL_ID, about_protocol_id, run_protocol_id},
};

bool hc_sv_commands_run(int argc, char **argv, int *status) {
    static const char *const groups[] = {"", NULL};
    static char config[] = "hindcastd config"; // argp takes it as the program's name
    const size_t count = sizeof(commands) / sizeof(*commands);
    size_t i = 0;
    if (argc >= 2 && strcmp(argv[1], "config") == 0) {
        argv[1] = config;
        hc_sv_options_print(argc - 1, argv + 1);
    }
    while (i < count && (argc < 2 || strcmp(argv[1], commands[i].word) != 0))
        i++;
    if (i == count)
        return false;
    struct command command = defaults;
    struct hc_settings settings = {.rows = rows,
                                   .count = SETTINGS_COUNT,
                                   .program = commands[i].bit,
                                   .groups = groups,
                                   .defaults = &defaults,
                                   .values = &command,
                                   .given = command.given};
    argv[1] = commands[i].name;
    hc_settings_run(&settings, parse, commands[i].about, argc - 1, argv + 1);
    if (sodium_init() < 0) {
        fprintf(stderr, "hindcastd: the system gives no random numbers\n");
        *status = 1;
        return true;
    }
    *status = commands[i].run(&command);
    return true;
}
