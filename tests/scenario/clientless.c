/// The slots and inputs of players without a client.
#include "tests/scenario/clientless.h"

#include "server/state.h"

#include <check.h>
#include <string.h>

enum { AHEAD = 3, DELAYS = 8 };

static bool is_clientless(const struct hc_server *host, hc_player player) {
    const struct hc_sv_player *slot = &host->clients.players.slots[player];
    return slot->in && host->clients.peers[slot->peer - 1].state == HC_SV_PEER_FREE;
}

void clientless_join(struct hc_server *host, hc_player first) {
    for (hc_player p = first; p < host->world.players; p++) {
        ck_assert_uint_eq(host->clients.players.slots[p].peer, 0);
        hc_sv_players_assign(&host->clients.players, p, 1, (hc_player[HC_OWN_PLAYERS_MAX]){p});
    }
}

void clientless_play(void *context, struct hc_sim *sim) {
    struct hc_server *host = hc_sim_host(sim);
    uint64_t seed = hc_sim_config(sim)->seed;
    hc_tick head = hc_timeline_head(host->timeline);
    (void)context;
    for (hc_player p = 0; p < host->world.players; p++) {
        if (!is_clientless(host, p))
            continue;
        // Each player's inputs have a delay of their own, and none is lost.
        hc_tick newest = hc_tick_back(head + AHEAD, p % DELAYS);
        for (hc_tick t = hc_timeline_inputs_through(host->timeline, p) + 1; t <= newest; t++) {
            uint8_t input[HC_INPUT_MAX] = {0}, before[HC_INPUT_MAX] = {0};
            hc_sim_draw_keys(host->world.game, seed, SCENARIO_CLIENTS_MAX + p, 0, t, input);
            hc_sim_draw_keys(host->world.game, seed, SCENARIO_CLIENTS_MAX + p, 0, t - 1, before);
            hc_sv_roster_input(&host->replicator.roster, p, t);
            hc_sv_replicator_turn(&host->replicator, p, before, input);
            enum hc_status status = hc_timeline_put_input(host->timeline, p, t, input);
            ck_assert_int_eq(status, HC_OK);
        }
    }
}
