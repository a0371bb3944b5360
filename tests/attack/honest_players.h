/// Clients of the arena that play honestly in virtual time during an attack.
#pragma once

#include "tests/attack/attack.h"
#include "tests/sim/players.h"
#include "tests/sim/raw_client.h"

enum { HONEST_CHAINS = 8192 }; ///< ticks of which the server's chain hash is remembered

struct honest_players {
    struct hc_sim *sim; ///< a row observes it by hc_sim_observe
    unsigned clients;
    uint64_t chains[HONEST_CHAINS]; ///< by final tick; 0: not seen
};

/// Creates them with their simulation, of hc_sim_config_players, and observes it first.
struct honest_players *honest_create(const struct hc_sim_config *config);
void honest_destroy(struct honest_players *players);

/// Requires that all clients join.
void honest_join_all(struct attack *attack, struct honest_players *players);

/// Joins a cheat beside them, with a token of `user` for each `serial`, from a port of loopback.
void honest_admit(struct attack *attack, struct honest_players *players, struct raw_client *raw,
                  uint16_t port, uint64_t user, uint64_t serial);

/// Requires that every client but `except` (players->clients: all) plays, never stalled, never lost
/// its connection, never received a state with another hash, and has the server's past; for all
/// clients also that the server forced none of their inputs.
void honest_require_unharmed(struct attack *attack, const struct honest_players *players,
                             unsigned except);
