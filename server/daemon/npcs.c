/// Owns the NPCs of --npcs.
#include "server/daemon/npcs.h"

#include "common/programs/thinker.h"
#include "hindcast/server.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REACTION_MS = 100, ///< an NPC acts so long after it sees, and clients know its input before
};

struct hc_sv_npcs {
    struct hc_server *server;
    hc_tick tick;   ///< of the newest thought
    hc_tick next;   ///< the tick of the next input
    uint32_t ahead; ///< ticks from a thought to its input
    unsigned count;
    hc_player *players;          ///< [count]
    struct hc_thinker *thinkers; ///< [count]
};

struct hc_sv_npcs *hc_sv_npcs_create(struct hc_server *server,
                                     const struct hc_sv_options *options) {
    struct hc_sv_npcs *npcs = calloc(1, sizeof(*npcs));
    if (npcs == NULL)
        return NULL;
    *npcs = (struct hc_sv_npcs){.server = server,
                                .tick = HC_NO_TICK,
                                .ahead = REACTION_MS * (uint32_t)options->tick_rate / 1000,
                                .count = options->npcs,
                                .players = calloc(options->npcs + 1u, sizeof(*npcs->players)),
                                .thinkers = calloc(options->npcs + 1u, sizeof(*npcs->thinkers))};
    if (npcs->players == NULL || npcs->thinkers == NULL) {
        hc_sv_npcs_destroy(npcs);
        return NULL;
    }
    uint64_t seed; // clients know the world's, and could foretell the NPCs by it
    randombytes_buf(&seed, sizeof(seed));
    for (unsigned i = 0; i < npcs->count; i++) {
        char name[HC_TOKEN_NAME_SIZE + 1];
        snprintf(name, sizeof(name), "NPC %u", i + 1);
        npcs->players[i] = hc_server_add_npc(server);
        (void)hc_server_name_npc(server, npcs->players[i], name); // there is a slot for each
        hc_thinker_init(&npcs->thinkers[i], options->plugin.think, seed, i);
    }
    return npcs;
}

void hc_sv_npcs_destroy(struct hc_sv_npcs *npcs) {
    if (npcs == NULL)
        return;
    free(npcs->players);
    free(npcs->thinkers);
    free(npcs);
}

void hc_sv_npcs_think(struct hc_sv_npcs *npcs) {
    const struct hc_timeline *timeline = hc_server_timeline(npcs->server);
    const struct hc_world *world = hc_server_world(npcs->server);
    hc_tick head = hc_timeline_head(timeline), end = head + npcs->ahead + 1;
    uint8_t input[HC_INPUT_MAX];
    if (npcs->count == 0 || npcs->tick == head)
        return;
    npcs->tick = head;
    for (unsigned i = 0; i < npcs->count; i++) {
        hc_thinker_think(&npcs->thinkers[i], world, head, hc_timeline_presence(timeline, head),
                         hc_timeline_states(timeline, head), npcs->players[i], input);
        for (hc_tick t = hc_tick_max(npcs->next, head); t < end; t++)
            (void)hc_server_put_npc_input(npcs->server, npcs->players[i], t, input);
    }
    npcs->next = end;
}
