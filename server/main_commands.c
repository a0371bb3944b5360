#define _GNU_SOURCE // argp

#include "server/main_commands.h"

#include "common/arena/arena.h"
#include "common/decimal.h"
#include "proto/name.h"
#include "server/admin_keys.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_KEY_FILE = 256,
    KEY_CLIENT_ID,
    KEY_NAME,
    KEY_AUDIENCE,
    KEY_LIFE,
    KEY_COUNT,
    LIFE_S = 60,
    LIFE_MAX_S = 86400,
    COUNT_MAX = 4096,
    WHY_MAX = 4500, ///< a path and more
};

struct command {
    const char *key_file;
    uint64_t client_id, audience, life_s, count;
    bool client_id_given;
    const char *name;
};

static const struct argp_option token_table[] = {
    {"key-file", KEY_KEY_FILE, "FILE", 0, "The server's key file", 0},
    {"client-id", KEY_CLIENT_ID, "N", 0, "The user's number (default: random)", 0},
    {"name", KEY_NAME, "NAME", 0, "The user's name (default: none)", 0},
    {"audience", KEY_AUDIENCE, "N", 0, "The server's --audience (default 0)", 0},
    {"life", KEY_LIFE, "S", 0, "Seconds for which it is good to connect (default 60)", 0},
    {"count", KEY_COUNT, "N", 0,
     "So many, one a line; of users from --client-id on, or of random ones (default 1)", 0},
    {0},
};

static const struct argp_option key_table[] = {
    {"key-file", KEY_KEY_FILE, "FILE", 0, "What is written; SIGHUP tells the server to read it", 0},
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
    size_t length = strlen(text) < HC_NAME_MAX ? strlen(text) : HC_NAME_MAX;
    hc_name_escape(text, length, shown, sizeof(shown));
    fprintf(stderr, "hindcastd: --name '%s': must be 1 to %d bytes of UTF-8 that can all be seen\n",
            shown, HC_NAME_MAX);
    exit(2);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct command *command = state->input;
    switch (key) {
    case KEY_KEY_FILE:
        command->key_file = text;
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
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (command->key_file == NULL)
            argp_error(state, "--key-file FILE is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/// Prints tokens.
static int run_token(const struct command *command) {
    struct hc_token_ring ring;
    char why[WHY_MAX], text[HC_CREDENTIAL_TEXT_SIZE + 1];
    if (!hc_sv_admin_keys_read(command->key_file, &ring, why, sizeof(why))) {
        fprintf(stderr, "hindcastd: %s\n", why);
        return 1;
    }
    struct hc_token token = {.expire_s = hc_sv_admin_keys_now_us() / 1000000 + command->life_s,
                             .client_id = command->client_id,
                             .audience = command->audience};
    if (command->name != NULL)
        memcpy(token.name, command->name, strlen(command->name));
    for (uint64_t i = 0; i < command->count; i++, token.client_id++) {
        if (!command->client_id_given)
            randombytes_buf(&token.client_id, sizeof(token.client_id));
        hc_sv_admin_keys_issue(&ring.keys[0], hc_datagram_protocol_id(&hc_arena), &token, text);
        puts(text);
    }
    sodium_memzero(&ring, sizeof(ring));
    sodium_memzero(text, sizeof(text));
    return fflush(stdout) == 0 ? 0 : 1;
}

/// Makes a key file, or rotates its keys.
static int run_key(const struct command *command) {
    char why[WHY_MAX];
    if (hc_sv_admin_keys_rotate(command->key_file, why, sizeof(why)))
        return 0;
    fprintf(stderr, "hindcastd: %s\n", why);
    return 1;
}

bool hc_sv_main_commands_run(int argc, char **argv, int *status) {
    static const struct argp token_argp = {
        .options = token_table,
        .parser = parse,
        .doc = "Prints tokens with which clients are let in, each with its secret: whoever reads "
               "one can come in its place."};
    static const struct argp key_argp = {
        .options = key_table,
        .parser = parse,
        .doc = "Makes a key file for hindcastd, or puts a new key into one: tokens of the key "
               "before are good until the next time."};
    static char token_name[] = "hindcastd token", key_name[] = "hindcastd key";
    bool is_token = argc > 1 && strcmp(argv[1], "token") == 0;
    bool is_key = argc > 1 && strcmp(argv[1], "key") == 0;
    struct command command = {.life_s = LIFE_S, .count = 1};
    if (!is_token && !is_key)
        return false;
    argp_err_exit_status = 2;
    argv[1] = is_token ? token_name : key_name;
    argp_parse(is_token ? &token_argp : &key_argp, argc - 1, argv + 1, 0, NULL, &command);
    if (sodium_init() < 0) {
        fprintf(stderr, "hindcastd: the system gives no random numbers\n");
        *status = 1;
        return true;
    }
    *status = is_token ? run_token(&command) : run_key(&command);
    return true;
}
