/// A simulation with the record of its final ticks, its clients' stamped inputs and random keys.
#pragma once

#include "common/unit.h"
#include "tests/scenario/final_record.h"
#include "tests/scenario/stamped_inputs.h"
#include "tests/sim/sim.h"

enum {
    SCENARIO_CLIENTS_MAX = 64,
    SCENARIO_TICKS_MAX = 4096, ///< no play lasts longer
    MS_US = 1000,              ///< microseconds
    SECOND_US = 1000000,       ///< microseconds
};

struct scenario {
    struct hc_sim *sim;
    struct final_record *record;
    /// [client][local player], of the clients' first connects.
    struct stamped_inputs *stamps[SCENARIO_CLIENTS_MAX][HC_OWN_PLAYERS_MAX];
    hc_tick joined[SCENARIO_CLIENTS_MAX]; ///< [player of the world] its newest join, or HC_NO_TICK
    hc_tick scanned;                      ///< roster changes before it are in `joined`
    bool hands_off;                       ///< nobody presses a key
    uint32_t seed;                        ///< of the keys

    /// Hooks of a test; each may be NULL.
    void (*host_ticked)(struct scenario *scenario);
    void (*client_changed)(struct scenario *scenario, unsigned client);
    void (*host_sent)(struct scenario *scenario, unsigned client, const uint8_t *bytes,
                      size_t size);
    void (*client_sent)(struct scenario *scenario, unsigned client, const uint8_t *bytes,
                        size_t size);
    void *context;
};

/// The defaults for `clients` clients that play `game`, with as many player slots, over links of
/// `latency_ms` each way.
struct hc_sim_config scenario_config(const struct hc_game *game, unsigned clients,
                                     uint32_t latency_ms, uint64_t seed);

/// The same of the arena, for a simulation without a scenario: its clients press keys drawn from
/// `seed`, and the test owns the hooks and their context. Worlds are not traced.
struct hc_sim_config scenario_config_bare(unsigned clients, uint32_t latency_ms, uint64_t seed);

/// Conditions of a link: one-way latency, and shares lost in percent.
struct hc_network_sim_config scenario_link(uint32_t latency_ms, uint32_t loss_percent);

/// Creates a scenario, which owns the simulation's hooks. Fails the test if `config` is invalid.
struct scenario *scenario_create(const struct hc_sim_config *config);

void scenario_destroy(struct scenario *scenario);

/// Stops recording stamped inputs: for clients that connect more than once.
void scenario_drop_stamps(struct scenario *scenario);

/// Connects all clients and runs until each is playing; fails the test after 10 s.
void scenario_join_all(struct scenario *scenario);

/// Sets both directions of every client's link.
void scenario_set_links(struct scenario *scenario, struct hc_network_sim_config link);

/// Draws the keys that `client` presses at `tick`, into `input` of `game`. Keys are held for a
/// while.
void scenario_keys(const struct hc_game *game, uint32_t seed, unsigned client, unsigned index,
                   hc_tick tick, void *input);

/// The client's state; HC_CLIENT_CLOSED if there is no client.
enum hc_client_state scenario_client_state(const struct scenario *scenario, unsigned client);

/// Counts the datagrams that a client, or the host, has rejected.
uint64_t scenario_client_rejected(const struct scenario *scenario, unsigned client);
uint64_t scenario_host_rejected(const struct scenario *scenario);

/// Whether `client` sees `unit` in a world of these states: the unit is its own or the referee, an
/// alive entity of it is within `range` of an own player, or the client sees everything.
bool scenario_in_view(const struct scenario *scenario, unsigned client, hc_unit unit,
                      const uint8_t *presence, const uint8_t *states, uint32_t range);

/// Fails the test unless the client has the server's chain hash at its newest final tick, and at
/// that tick (or at the oldest that it holds, which is final as well) either the recorded states of
/// a unit or nothing. It must hold a unit that was in view for a second, and must not hold one that
/// was far out of view for two. Returns the tick.
hc_tick scenario_check_final(const struct scenario *scenario, unsigned client);

/// Fails the test if any client received a snapshot whose states did not have its hash.
void scenario_check_hashes(const struct scenario *scenario);
