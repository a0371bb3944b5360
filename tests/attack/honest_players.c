/// The honest players: their simulation, and the past of its server.
#include "tests/attack/honest_players.h"

#include "hindcast/check.h"

#include <stdlib.h>

static void host_ticked(void *context, struct hc_sim *sim) {
    struct honest_players *players = context;
    uint64_t chain;
    hc_tick final = hc_sv_host_final(hc_sim_host(sim), &chain);
    players->chains[final % HONEST_CHAINS] = chain;
}

struct honest_players *honest_create(const struct hc_sim_config *config) {
    struct honest_players *players = calloc(1, sizeof *players);
    HC_ASSERT(players != NULL);
    players->clients = config->clients;
    players->sim = hc_sim_create(config);
    HC_ASSERT(players->sim != NULL);
    hc_sim_observe(players->sim, &(struct hc_sim_hooks){.host_ticked = host_ticked}, players);
    return players;
}

void honest_destroy(struct honest_players *players) {
    hc_sim_destroy(players->sim);
    free(players);
}

void honest_join_all(struct attack *attack, struct honest_players *players) {
    attack_require(attack, hc_sim_join_all(players->sim), "only %u of %u clients play",
                   hc_sim_playing(players->sim), players->clients);
}

void honest_admit(struct attack *attack, struct honest_players *players, struct raw_client *raw,
                  uint16_t port, uint64_t user, uint64_t serial) {
    struct hc_address address = hc_address_ipv4(127, 0, 0, 1, port);
    raw_client_begin(raw, hc_sim_host(players->sim), address, user, serial);
    attack_require(attack, raw_client_join(raw, 1, hc_sim_host_now(players->sim)),
                   "the cheat cannot join");
}

void honest_require_unharmed(struct attack *attack, const struct honest_players *players,
                             unsigned except) {
    const struct hc_server_stats *server = hc_server_stats(hc_sim_host(players->sim));
    for (unsigned i = 0; i < players->clients; i++) {
        const struct hc_client *client = hc_sim_client(players->sim, i);
        const struct hc_client_stats *stats = hc_client_stats(client);
        hc_tick final = 0;
        uint64_t chain = 0;
        if (i == except)
            continue;
        attack_require(attack, hc_client_state(client) == HC_CLIENT_PLAYING,
                       "client %u does not play", i);
        attack_require(attack, stats->stalls == 0, "client %u stalled", i);
        attack_require(attack, stats->losses == 0, "client %u lost its connection", i);
        attack_require(attack, stats->hash_checks > 0 && stats->hash_mismatches == 0,
                       "client %u received %llu states with another hash", i,
                       (unsigned long long)stats->hash_mismatches);
        bool has_final = hc_client_final(client, &final, &chain);
        uint64_t known = players->chains[final % HONEST_CHAINS];
        attack_require(attack, has_final && (known == 0 || known == chain),
                       "client %u has another past than the server", i);
        attack_require(attack, except != players->clients || stats->inputs_forced == 0,
                       "client %u lost inputs", i);
    }
    attack_require(attack, except != players->clients || server->inputs_forced == 0,
                   "the server forced %llu inputs", (unsigned long long)server->inputs_forced);
}
