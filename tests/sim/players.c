/// Owns what the players of simulations have in common: their configuration, keys and joins.
#include "tests/sim/players.h"

#include "common/draw_input.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/sim/games.h"

#include <string.h>

enum { JOIN_US = 10 * SECOND_US, JOIN_STEP_US = 10 * MS_US, DRAW_KEYS = 7 };

struct hc_network_sim_config hc_sim_link(uint32_t latency_ms, uint32_t loss_percent) {
    struct hc_network_sim_config link = hc_network_sim_config_default();
    link.latency_us = latency_ms * MS_US;
    link.loss_ppm = loss_percent * (HC_NETWORK_SIM_PPM / 100);
    return link;
}

struct hc_sim_config hc_sim_config_players(const struct hc_game *game, unsigned clients,
                                           uint32_t latency_ms, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_default(game);
    config.clients = clients;
    config.host.clients = (uint16_t)clients;
    config.up = config.down = hc_sim_link(latency_ms, 0);
    config.seed = seed;
    config.trace_worlds = false;
    config.hooks.script = hc_sim_press_keys;
    return config;
}

void hc_sim_fix_delays(struct hc_client_config *client, uint32_t input_delay, uint32_t lead) {
    client->input_delay = client->input_delay_max = input_delay;
    client->lead = client->lead_max = lead;
}

void hc_sim_set_links(struct hc_sim *sim, struct hc_network_sim_config link) {
    for (unsigned i = 0; i < hc_sim_clients(sim); i++)
        hc_sim_set_link(sim, i, &link, &link);
}

void hc_sim_draw_keys(const struct hc_game *game, uint64_t seed, unsigned client, unsigned index,
                      hc_tick tick, void *input) {
    uint32_t player = client * HC_OWN_PLAYERS_MAX + index;
    hc_tick held = tick / (5 + player % 8);
    uint64_t random = hc_random(seed, player, held, DRAW_KEYS);
    if (game->input_fields == hc_arena.input_fields) {
        struct hc_arena_input keys = {.move_x = (int8_t)(random % 3 - 1),
                                      .move_y = (int8_t)(random / 8 % 3 - 1),
                                      .aim = (uint8_t)(random >> 16),
                                      .fire = (random >> 24) % 4 == 0};
        memcpy(input, &keys, sizeof keys);
    } else if (game->input_fields == lanes.input_fields) { // also shove
        struct lanes_input keys = {.push = (int8_t)(random % 16 - 8),
                                   .touch = (uint8_t)(random >> 8)};
        memcpy(input, &keys, sizeof keys);
    } else {
        struct hc_rng rng = hc_rng_init(random, 0);
        hc_draw_input(game, &rng, input);
    }
}

void hc_sim_press_keys(void *context, struct hc_sim *sim, unsigned client, unsigned index,
                       hc_tick tick, void *input) {
    const struct hc_sim_config *config = hc_sim_config(sim);
    (void)context;
    hc_sim_draw_keys(config->host.game, config->seed, client, index, tick, input);
}

enum hc_client_state hc_sim_client_state(struct hc_sim *sim, unsigned client) {
    const struct hc_client *core = hc_sim_client(sim, client);
    return core != NULL ? hc_client_state(core) : HC_CLIENT_CLOSED;
}

unsigned hc_sim_playing(struct hc_sim *sim) {
    unsigned playing = 0;
    for (unsigned i = 0; i < hc_sim_clients(sim); i++)
        playing += hc_sim_client_state(sim, i) == HC_CLIENT_PLAYING;
    return playing;
}

bool hc_sim_connect_all(struct hc_sim *sim) {
    bool connected = true;
    for (unsigned i = 0; i < hc_sim_clients(sim) && connected; i++)
        connected = hc_sim_connect(sim, i);
    return connected;
}

bool hc_sim_join_all(struct hc_sim *sim) {
    bool connected = hc_sim_connect_all(sim);
    uint64_t end = hc_sim_now(sim) + JOIN_US;
    while (connected && hc_sim_now(sim) < end && hc_sim_playing(sim) < hc_sim_clients(sim))
        hc_sim_run(sim, JOIN_STEP_US);
    return connected && hc_sim_playing(sim) == hc_sim_clients(sim);
}
