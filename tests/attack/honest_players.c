/// The simulation of the honest players, and its hooks.
#include "tests/attack/honest_players.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <stdlib.h>
#include <string.h>

enum { APART_US = 3000, JOIN_US = 10 * SECOND_US };

void honest_keys(uint32_t seed, unsigned client, hc_tick tick, void *input) {
    // Each player holds its keys for 5 to 12 ticks.
    uint64_t random = hc_random(seed, client, tick / (5 + client % 8), 7);
    struct hc_arena_input keys = {.move_x = (int8_t)(random % 3 - 1),
                                  .move_y = (int8_t)(random / 8 % 3 - 1),
                                  .aim = (uint8_t)(random >> 16),
                                  .fire = (random >> 24) % 4 == 0};
    memcpy(input, &keys, sizeof keys);
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    struct honest_players *players = context;
    (void)sim;
    (void)index;
    if (players->script != NULL)
        players->script(players, client, tick, input);
    else
        honest_keys(players->seed, client, tick, input);
}

static void host_works(void *context, enum hc_sim_work work, bool begins) {
    struct honest_players *players = context;
    if (players->host_works != NULL)
        players->host_works(players, work, begins);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct honest_players *players = context;
    uint64_t chain;
    hc_tick final = hc_sv_host_final(hc_sim_host(sim), &chain);
    players->chains[final % HONEST_CHAINS] = chain;
    if (players->host_ticked != NULL)
        players->host_ticked(players);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct honest_players *players = context;
    (void)bytes;
    if (players->client_sent != NULL)
        players->client_sent(players, client, hc_sim_sealed(sim), size);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct honest_players *players = context;
    (void)bytes;
    if (players->host_sent != NULL)
        players->host_sent(players, client, hc_sim_sealed(sim), size);
}

static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct honest_players *players = context;
    (void)sim;
    if (players->host_received != NULL)
        players->host_received(players, client, port, bytes, size, status);
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct honest_players *players = context;
    (void)sim;
    if (players->client_received != NULL)
        players->client_received(players, client, bytes, size, status);
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct honest_players *players = context;
    (void)sim;
    if (players->client_event != NULL)
        players->client_event(players, client, event);
}

struct hc_sim_config honest_config(unsigned clients, unsigned guests, uint32_t latency_ms,
                                   uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_default(&hc_arena);
    config.clients = clients;
    config.host.clients = (uint16_t)(clients + guests);
    config.up.latency_us = config.down.latency_us = latency_ms * MS_US;
    config.seed = seed;
    config.trace_worlds = false;
    return config;
}

struct honest_players *honest_create(const struct hc_sim_config *config) {
    struct honest_players *players = calloc(1, sizeof *players);
    HC_ASSERT(players != NULL);
    struct hc_sim_config own = *config;
    own.context = players;
    own.hooks = (struct hc_sim_hooks){.script = script,
                                      .host_works = host_works,
                                      .host_ticked = host_ticked,
                                      .client_sent = client_sent,
                                      .host_sent = host_sent,
                                      .host_received = host_received,
                                      .client_received = client_received,

                                      .client_event = client_event};
    players->clients = config->clients;
    players->seed = (uint32_t)config->seed;
    players->sim = hc_sim_create(&own);
    HC_ASSERT(players->sim != NULL);
    return players;
}

void honest_destroy(struct honest_players *players) {
    hc_sim_destroy(players->sim);
    free(players);
}

unsigned honest_playing(const struct honest_players *players) {
    unsigned playing = 0;
    for (unsigned i = 0; i < players->clients; i++) {
        const struct hc_client *client = hc_sim_client(players->sim, i);
        playing += client != NULL && hc_client_state(client) == HC_CLIENT_PLAYING;
    }
    return playing;
}

void honest_join_all(struct attack *attack, struct honest_players *players) {
    for (unsigned i = 0; i < players->clients; i++) {
        HC_ASSERT(hc_sim_connect(players->sim, i));
        hc_sim_run(players->sim, APART_US);
    }
    for (uint64_t end = hc_sim_now(players->sim) + JOIN_US;
         honest_playing(players) < players->clients && hc_sim_now(players->sim) < end;)
        hc_sim_run(players->sim, 10 * MS_US);
    attack_require(attack, honest_playing(players) == players->clients,
                   "only %u of %u clients play", honest_playing(players), players->clients);
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
