#include "tests/attack/yard.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <stdlib.h>
#include <string.h>

enum { APART_US = 3000, JOIN_US = 10 * YARD_S };

void yard_keys(uint32_t seed, unsigned client, hc_tick tick, void *input) {
    // Keys are held for 5 to 12 ticks, and each player's for times of its own.
    uint64_t random = hc_random(seed, client, tick / (5 + client % 8), 7);
    struct hc_arena_input keys = {.move_x = (int8_t)(random % 3 - 1),
                                  .move_y = (int8_t)(random / 8 % 3 - 1),
                                  .aim = (uint8_t)(random >> 16),
                                  .fire = (random >> 24) % 4 == 0};
    memcpy(input, &keys, sizeof keys);
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    struct yard *yard = context;
    (void)sim;
    (void)index;
    if (yard->script != NULL)
        yard->script(yard, client, tick, input);
    else
        yard_keys(yard->seed, client, tick, input);
}

static void host_works(void *context, enum hc_sim_work work, bool begins) {
    struct yard *yard = context;
    if (yard->host_works != NULL)
        yard->host_works(yard, work, begins);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct yard *yard = context;
    uint64_t chain;
    yard->final = hc_sv_host_final(hc_sim_host(sim), &chain);
    yard->chains[yard->final % YARD_CHAINS] = chain;
    if (yard->host_ticked != NULL)
        yard->host_ticked(yard);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct yard *yard = context;
    (void)bytes;
    if (yard->client_sent != NULL)
        yard->client_sent(yard, client, hc_sim_sealed(sim), size);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct yard *yard = context;
    (void)bytes;
    if (yard->host_sent != NULL)
        yard->host_sent(yard, client, hc_sim_sealed(sim), size);
}

static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct yard *yard = context;
    (void)sim;
    if (yard->host_received != NULL)
        yard->host_received(yard, client, port, bytes, size, status);
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct yard *yard = context;
    (void)sim;
    if (yard->client_received != NULL)
        yard->client_received(yard, client, bytes, size, status);
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_sv_event *event) {
    struct yard *yard = context;
    (void)sim;
    if (yard->host_event != NULL)
        yard->host_event(yard, event);
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct yard *yard = context;
    (void)sim;
    if (yard->client_event != NULL)
        yard->client_event(yard, client, event);
}

struct hc_sim_config yard_config(unsigned clients, unsigned guests, uint32_t latency_ms,
                                 uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_default(&hc_arena);
    config.clients = clients;
    config.host.clients = (uint16_t)(clients + guests);
    config.up.latency_us = config.down.latency_us = latency_ms * YARD_MS;
    config.seed = seed;
    config.trace_worlds = false;
    return config;
}

struct yard *yard_create(const struct hc_sim_config *config) {
    struct yard *yard = calloc(1, sizeof *yard);
    HC_ASSERT(yard != NULL);
    struct hc_sim_config own = *config;
    own.context = yard;
    own.hooks = (struct hc_sim_hooks){.script = script,
                                      .host_works = host_works,
                                      .host_ticked = host_ticked,
                                      .client_sent = client_sent,
                                      .host_sent = host_sent,
                                      .host_received = host_received,
                                      .client_received = client_received,
                                      .host_event = host_event,
                                      .client_event = client_event};
    yard->clients = config->clients;
    yard->seed = (uint32_t)config->seed;
    yard->sim = hc_sim_create(&own);
    HC_ASSERT(yard->sim != NULL);
    return yard;
}

void yard_destroy(struct yard *yard) {
    hc_sim_destroy(yard->sim);
    free(yard);
}

unsigned yard_playing(const struct yard *yard) {
    unsigned playing = 0;
    for (unsigned i = 0; i < yard->clients; i++) {
        const struct hc_client *client = hc_sim_client(yard->sim, i);
        playing += client != NULL && hc_client_state(client) == HC_CLIENT_PLAYING;
    }
    return playing;
}

void yard_join_all(struct attack *attack, struct yard *yard) {
    for (unsigned i = 0; i < yard->clients; i++) {
        HC_ASSERT(hc_sim_connect(yard->sim, i));
        hc_sim_run(yard->sim, APART_US);
    }
    for (uint64_t end = hc_sim_now(yard->sim) + JOIN_US;
         yard_playing(yard) < yard->clients && hc_sim_now(yard->sim) < end;)
        hc_sim_run(yard->sim, 10 * YARD_MS);
    attack_require(attack, yard_playing(yard) == yard->clients, "only %u of %u clients play",
                   yard_playing(yard), yard->clients);
}

void yard_require_unharmed(struct attack *attack, const struct yard *yard, unsigned except) {
    const struct hc_sv_host_stats *server = hc_sv_host_stats(hc_sim_host(yard->sim));
    for (unsigned i = 0; i < yard->clients; i++) {
        const struct hc_client *client = hc_sim_client(yard->sim, i);
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
                       "client %u saw %llu states with another hash", i,
                       (unsigned long long)stats->hash_mismatches);
        bool told = hc_client_final(client, &final, &chain);
        uint64_t known = yard->chains[final % YARD_CHAINS];
        attack_require(attack, told && (known == 0 || known == chain),
                       "client %u has another past than the server", i);
        attack_require(attack, except != yard->clients || stats->inputs_forced == 0,
                       "client %u lost inputs", i);
    }
    attack_require(attack, except != yard->clients || server->inputs_forced == 0,
                   "the server did without %llu inputs", (unsigned long long)server->inputs_forced);
}
