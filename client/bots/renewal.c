/// Owns the search for a server of --dev that was started anew.
#include "client/bots/renewal.h"

#include "client/bots/failure.h"
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

bool hc_cl_renewal_init(struct hc_cl_renewal *renewal, const struct hc_cl_renewal_config *config) {
    *renewal = (struct hc_cl_renewal){.config = *config,
                                      .got = calloc(config->count, sizeof(*renewal->got))};
    renewal->is_over = config->issuer.process == 0; // a server that does not describe itself
    return renewal->got != NULL;
}

static uint64_t id_of(const struct hc_plugin *plugin) {
    return hc_datagram_protocol_id(plugin->game, plugin->rule_hash);
}

/// Notes that a game answers that is not the one in use and cannot be loaded.
static enum hc_cl_renewal_state wait_for_game(struct hc_cl_renewal *renewal, uint64_t now_us) {
    if (renewal->other_us == 0)
        renewal->other_us = now_us;
    if (hc_since(renewal->other_us, now_us) >= OTHER_US)
        renewal->is_over = true;
    return renewal->is_over ? HC_CL_RENEWAL_FAILED : HC_CL_RENEWAL_NONE;
}

/// Loads the game as it is now, and compares it with the other process's.
static enum hc_cl_renewal_state load_game(struct hc_cl_renewal *renewal, uint64_t now_us) {
    const struct hc_cl_renewal_config *config = &renewal->config;
    struct hc_plugin fresh = *config->plugin;
    if (config->game != NULL &&
        !hc_plugin_load_anew(&fresh, config->game, renewal->why, sizeof(renewal->why))) {
        renewal->is_over = fresh.crashed;
        return wait_for_game(renewal, now_us);
    }
    if (id_of(&fresh) == renewal->next.protocol_id) {
        renewal->fresh = fresh;
        return HC_CL_RENEWAL_FOUND;
    }
    hc_cl_failure_game(renewal->why, sizeof(renewal->why), fresh.game, id_of(&fresh),
                       renewal->next.game, renewal->next.protocol_id);
    if (config->game != NULL)
        hc_plugin_unload(&fresh);
    return wait_for_game(renewal, now_us);
}

/// Judges a whole answer.
static enum hc_cl_renewal_state judge(struct hc_cl_renewal *renewal, uint64_t now_us) {
    const struct hc_cl_renewal_config *config = &renewal->config;
    renewal->next = hc_cl_tokens_parse_issuer(renewal->ask.answer);
    uint32_t count = hc_cl_tokens_parse(renewal->ask.answer, renewal->got, config->count);
    if (count < config->count || renewal->next.process == 0 ||
        renewal->next.process == config->issuer.process)
        return HC_CL_RENEWAL_NONE;
    if (renewal->next.protocol_id == id_of(config->plugin))
        return HC_CL_RENEWAL_FOUND;
    return load_game(renewal, now_us);
}

enum hc_cl_renewal_state hc_cl_renewal_turn(struct hc_cl_renewal *renewal, uint64_t connected_us,
                                            uint64_t now_us) {
    const struct hc_cl_renewal_config *config = &renewal->config;
    uint64_t silent_us = hc_since(connected_us, now_us);
    if (silent_us < SILENT_US && !renewal->is_over) {
        hc_cl_token_ask_end(&renewal->ask);
        renewal->ask_us = renewal->other_us = 0;
        renewal->why[0] = '\0';
    }
    renewal->is_over = renewal->is_over || silent_us >= config->patience_us;
    if (renewal->is_over)
        return HC_CL_RENEWAL_FAILED;
    if (silent_us < SILENT_US || now_us < renewal->ask_us)
        return HC_CL_RENEWAL_NONE;
    if (!hc_cl_token_ask_is_active(&renewal->ask))
        hc_cl_token_ask_begin(&renewal->ask, &config->port.server, config->port.wish, config->count,
                              now_us);
    enum hc_cl_token_ask_state state = hc_cl_token_ask_turn(&renewal->ask, now_us);
    if (state == HC_CL_TOKEN_ASK_WAITS)
        return HC_CL_RENEWAL_NONE;
    bool is_answered = state == HC_CL_TOKEN_ASK_ANSWERED;
    enum hc_cl_renewal_state found = is_answered ? judge(renewal, now_us) : HC_CL_RENEWAL_NONE;
    hc_cl_token_ask_end(&renewal->ask);
    renewal->ask_us = now_us + (is_answered ? AGAIN_US : VAIN_US);
    return found;
}

void hc_cl_renewal_apply(struct hc_cl_renewal *renewal) {
    struct hc_cl_renewal_config *config = &renewal->config;
    bool is_other = renewal->fresh.game != NULL;
    memcpy(config->tokens, renewal->got, config->count * sizeof(*config->tokens));
    config->issuer = renewal->next;
    renewal->ask_us = renewal->other_us = 0;
    renewal->why[0] = '\0';
    fprintf(stderr, "%s: the server at %s was started anew%s%s: all clients join it again\n",
            config->program, config->port.name, is_other ? " and plays " : "",
            is_other ? config->issuer.game : "");
    if (!is_other)
        return;
    hc_plugin_unload(config->plugin);
    *config->plugin = renewal->fresh;
    renewal->fresh = (struct hc_plugin){.game = NULL};
    hc_crash_watch(config->program, hc_place_of((void (*)(void))config->plugin->game->step), false);
}

void hc_cl_renewal_free(struct hc_cl_renewal *renewal) {
    hc_cl_token_ask_end(&renewal->ask);
    free(renewal->got);
    *renewal = (struct hc_cl_renewal){.got = NULL};
}
