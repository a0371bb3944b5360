/// The players of a simulation, as most tests have them: clients that all connect over like links,
/// and press keys that are drawn.
///
/// Calls belong in this order: hc_sim_config_players, hc_sim_create, hc_sim_join_all.
#pragma once

#include "tests/sim/sim.h"

enum {
    MS_US = 1000,        ///< microseconds
    SECOND_US = 1000000, ///< microseconds
};

/// The defaults for `clients` clients of `game`, with as many player slots, over links of
/// `latency_ms` each way. They press keys drawn from `seed`; worlds are not traced.
struct hc_sim_config hc_sim_config_players(const struct hc_game *game, unsigned clients,
                                           uint32_t latency_ms, uint64_t seed);

/// Conditions of a link: one-way latency, and the share of lost datagrams in percent.
struct hc_network_sim_config hc_sim_link(uint32_t latency_ms, uint32_t loss_percent);

/// Makes input delay and lead fixed, in ticks: for tests that compute with them.
void hc_sim_fix_delays(struct hc_client_config *client, uint32_t input_delay, uint32_t lead);

/// Sets both directions of every client's link.
void hc_sim_set_links(struct hc_sim *sim, struct hc_network_sim_config link);

/// Draws the keys that `client` presses at `tick`, into `input` of `game`. Keys are held for 5 to
/// 12 ticks.
void hc_sim_draw_keys(const struct hc_game *game, uint64_t seed, unsigned client, unsigned index,
                      hc_tick tick, void *input);

/// The hook `script` that draws the keys of all players from the simulation's seed.
void hc_sim_press_keys(void *context, struct hc_sim *sim, unsigned client, unsigned index,
                       hc_tick tick, void *input);

/// The client's state; HC_CLIENT_CLOSED if there is no client.
enum hc_client_state hc_sim_client_state(struct hc_sim *sim, unsigned client);

/// Counts the clients that play.
unsigned hc_sim_playing(struct hc_sim *sim);

/// Connects all clients. False: an invalid configuration or no memory.
bool hc_sim_connect_all(struct hc_sim *sim);

/// Connects all clients, and runs until each plays, at most 10 s. False: they do not.
bool hc_sim_join_all(struct hc_sim *sim);
