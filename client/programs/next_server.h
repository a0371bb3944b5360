/// The search for a `hindcastd --dev` that was started anew at the same port. No client can go on
/// there: the new process has another key, and perhaps another game.
///
///   1. hc_cl_next_server_init, with the process that issued the tokens in use;
///   2. hc_cl_next_server_connected when the clients begin, and when one receives something on a
///      connection; hc_cl_next_server_turn, at least 10 times a second: after some silence it asks
///      the token port for the tokens of all clients. Only another process has an effect;
///   3. if it returns HC_CL_NEXT_SERVER_FOUND: the caller frees all clients, calls
///      hc_cl_next_server_apply, and begins them anew; back to 2;
///   4. hc_cl_next_server_free.
#pragma once

#include "client/programs/tokens.h"
#include "common/programs/plugin.h"

#include <stdbool.h>
#include <stdint.h>

enum { HC_CL_NEXT_SERVER_WHY = 4300 }; ///< bytes of a sentence with a path

enum hc_cl_next_server_state {
    HC_CL_NEXT_SERVER_NONE,   ///< clients go on as they are
    HC_CL_NEXT_SERVER_FOUND,  ///< another process issued tokens, and its game is loaded
    HC_CL_NEXT_SERVER_FAILED, ///< the search is over, see `why`
};

struct hc_cl_next_server_config {
    const char *program;               ///< name of the program in messages; borrowed
    const char *game;                  ///< path of --game; NULL: the arena
    struct hc_cl_tokens_port port;     ///< of the server
    struct hc_cl_tokens_issuer issuer; ///< of the tokens in use
    struct hc_plugin *plugin;          ///< the game in use; hc_cl_next_server_apply replaces it
    struct hc_credential *tokens;      ///< [count] those in use; it replaces them, too
    uint32_t count;                    ///< at most HC_CL_TOKEN_ASK_COUNT_MAX
    uint64_t patience_us;              ///< longest silence of the server after which it asks
};

struct hc_cl_next_server {
    struct hc_cl_next_server_config config;
    struct hc_cl_token_ask ask;      ///< in progress, or none
    struct hc_cl_tokens_issuer next; ///< the other process
    struct hc_plugin fresh;          ///< the game of that process; `game` NULL: the one in use
    struct hc_credential *got;       ///< [config.count] tokens of that process
    uint64_t connected_us; ///< A client's connection received something last, or all clients began.
    uint64_t ask_us;       ///< when the next request is due
    uint64_t other_us;     ///< since when a game answers that cannot be loaded; 0: none does
    bool is_over;          ///< the search has failed
    char why[HC_CL_NEXT_SERVER_WHY]; ///< a sentence on the last answer that was of no use; or empty
};

/// Makes the search; false: no memory.
bool hc_cl_next_server_init(struct hc_cl_next_server *search,
                            const struct hc_cl_next_server_config *config);

/// A client's connection received something, or all clients begin.
void hc_cl_next_server_connected(struct hc_cl_next_server *search, uint64_t now_us);

/// Searches, if there was silence.
enum hc_cl_next_server_state hc_cl_next_server_turn(struct hc_cl_next_server *search,
                                                    uint64_t now_us);

/// Makes the found tokens and game those in use, and unloads the former game. Prints that to
/// standard error.
void hc_cl_next_server_apply(struct hc_cl_next_server *search);

/// Frees it, but not what is in use; one that was never made is allowed if it is all zeros.
void hc_cl_next_server_free(struct hc_cl_next_server *search);
