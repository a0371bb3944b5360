/// A simulation with the record of its final ticks and its clients' stamped inputs.
#pragma once

#include "common/unit.h"
#include "tests/scenario/final_record.h"
#include "tests/scenario/stamped_inputs.h"
#include "tests/sim/players.h"

enum {
    SCENARIO_CLIENTS_MAX = 64,
    SCENARIO_TICKS_MAX = 4096, ///< no play lasts longer
};

struct scenario {
    struct hc_sim *sim;
    struct final_record *record;
    /// [client][local player], of the clients' first connects.
    struct stamped_inputs *stamps[SCENARIO_CLIENTS_MAX][HC_OWN_PLAYERS_MAX];
    hc_tick joined[SCENARIO_CLIENTS_MAX]; ///< [player of the world] its newest join, or HC_NO_TICK
    hc_tick scanned;                      ///< roster changes before it are in `joined`
};

/// Creates a scenario of `config`, which is of hc_sim_config_players, and observes its simulation.
/// Tests observe it after that. Fails the test if `config` is invalid.
struct scenario *scenario_create(const struct hc_sim_config *config);

void scenario_destroy(struct scenario *scenario);

/// Stops recording stamped inputs: for clients that connect more than once.
void scenario_drop_stamps(struct scenario *scenario);

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
