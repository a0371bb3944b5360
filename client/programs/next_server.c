/// Owns the search for a server of --dev that was started anew.
#include "client/programs/next_server.h"

#include "client/programs/failure.h"
#include "common/elapsed.h"
#include "common/programs/backtrace.h"
#include "common/programs/crash.h"
#include "proto/datagram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SILENT_US = 1000000, ///< silence after which it asks
    VAIN_US = 250000,    ///< from a request that nobody answered to the next
    AGAIN_US = 1000000,  ///< from an answered one to the next
    OTHER_US = 10000000, ///< a game that cannot be loaded is tried so long
};

bool hc_cl_next_server_init(struct hc_cl_next_server *search,
                            const struct hc_cl_next_server_config *config) {
    *search = (struct hc_cl_next_server){.config = *config,
                                         .got = calloc(config->count, sizeof(*search->got))};
    search->is_over = config->issuer.process == 0; // a server that does not describe itself
    return search->got != NULL;
}

static uint64_t id_of(const struct hc_plugin *plugin) {
    return hc_datagram_protocol_id(plugin->game, plugin->rule_hash);
}

/// Notes that a game answers that is not the one in use and cannot be loaded.
static enum hc_cl_next_server_state wait_for_game(struct hc_cl_next_server *search,
                                                  uint64_t now_us) {
    if (search->other_us == 0)
        search->other_us = now_us;
    if (hc_since(search->other_us, now_us) >= OTHER_US)
        search->is_over = true;
    return search->is_over ? HC_CL_NEXT_SERVER_FAILED : HC_CL_NEXT_SERVER_NONE;
}

/// Loads the game as it is now, and compares it with the other process's.
static enum hc_cl_next_server_state load_game(struct hc_cl_next_server *search, uint64_t now_us) {
    const struct hc_cl_next_server_config *config = &search->config;
    struct hc_plugin fresh = *config->plugin;
    if (config->game != NULL &&
        !hc_plugin_load_anew(&fresh, config->game, search->why, sizeof(search->why))) {
        search->is_over = fresh.crashed;
        return wait_for_game(search, now_us);
    }
    if (id_of(&fresh) == search->next.protocol_id) {
        search->fresh = fresh;
        return HC_CL_NEXT_SERVER_FOUND;
    }
    hc_cl_failure_game(search->why, sizeof(search->why), fresh.game, id_of(&fresh),
                       search->next.game, search->next.protocol_id);
    if (config->game != NULL)
        hc_plugin_unload(&fresh);
    return wait_for_game(search, now_us);
}

/// Judges a whole answer.
static enum hc_cl_next_server_state judge(struct hc_cl_next_server *search, uint64_t now_us) {
    const struct hc_cl_next_server_config *config = &search->config;
    search->next = hc_cl_tokens_parse_issuer(search->ask.answer);
    uint32_t count = hc_cl_tokens_parse(search->ask.answer, search->got, config->count);
    if (count < config->count || search->next.process == 0 ||
        search->next.process == config->issuer.process)
        return HC_CL_NEXT_SERVER_NONE;
    if (search->next.protocol_id == id_of(config->plugin))
        return HC_CL_NEXT_SERVER_FOUND;
    return load_game(search, now_us);
}

void hc_cl_next_server_connected(struct hc_cl_next_server *search, uint64_t now_us) {
    search->connected_us = now_us;
}

enum hc_cl_next_server_state hc_cl_next_server_turn(struct hc_cl_next_server *search,
                                                    uint64_t now_us) {
    const struct hc_cl_next_server_config *config = &search->config;
    uint64_t silent_us = hc_since(search->connected_us, now_us);
    if (silent_us < SILENT_US && !search->is_over) {
        hc_cl_token_ask_end(&search->ask);
        search->ask_us = search->other_us = 0;
        search->why[0] = '\0';
    }
    search->is_over = search->is_over || silent_us >= config->patience_us;
    if (search->is_over)
        return HC_CL_NEXT_SERVER_FAILED;
    if (silent_us < SILENT_US || now_us < search->ask_us)
        return HC_CL_NEXT_SERVER_NONE;
    if (!hc_cl_token_ask_is_active(&search->ask))
        hc_cl_token_ask_begin(&search->ask, &config->port.server, config->port.wish, config->count,
                              now_us);
    enum hc_cl_token_ask_state state = hc_cl_token_ask_turn(&search->ask, now_us);
    if (state == HC_CL_TOKEN_ASK_WAITS)
        return HC_CL_NEXT_SERVER_NONE;
    bool is_answered = state == HC_CL_TOKEN_ASK_ANSWERED;
    enum hc_cl_next_server_state found =
        is_answered ? judge(search, now_us) : HC_CL_NEXT_SERVER_NONE;
    hc_cl_token_ask_end(&search->ask);
    search->ask_us = now_us + (is_answered ? AGAIN_US : VAIN_US);
    return found;
}

void hc_cl_next_server_apply(struct hc_cl_next_server *search) {
    struct hc_cl_next_server_config *config = &search->config;
    bool is_other = search->fresh.game != NULL;
    memcpy(config->tokens, search->got, config->count * sizeof(*config->tokens));
    config->issuer = search->next;
    search->ask_us = search->other_us = 0;
    search->why[0] = '\0';
    fprintf(stderr, "%s: the server at %s was started anew%s%s: all clients join it again\n",
            config->program, config->port.name, is_other ? " and plays " : "",
            is_other ? config->issuer.game : "");
    if (!is_other)
        return;
    hc_plugin_unload(config->plugin);
    *config->plugin = search->fresh;
    search->fresh = (struct hc_plugin){.game = NULL};
    hc_crash_watch(config->program, hc_place_of((void (*)(void))config->plugin->game->step), false);
}

void hc_cl_next_server_free(struct hc_cl_next_server *search) {
    hc_cl_token_ask_end(&search->ask);
    free(search->got);
    *search = (struct hc_cl_next_server){.got = NULL};
}
