/// Clients of the arena that play honestly in virtual time during an attack.
#pragma once

#include "tests/attack/attack.h"
#include "tests/sim/sim.h"

enum {
    MS_US = 1000, ///< microseconds
    SECOND_US = 1000000,
    HONEST_CHAINS = 8192, ///< ticks of which the server's chain hash is remembered
};

struct honest_players {
    struct hc_sim *sim;
    unsigned clients;
    uint32_t seed; ///< of the keys that are pressed

    uint64_t chains[HONEST_CHAINS]; ///< by final tick; 0: not seen

    /// Hooks of a row; each may be NULL. `sealed` is the datagram as it is on the wire.
    void (*script)(struct honest_players *players, unsigned client, hc_tick tick, void *input);
    void (*host_works)(struct honest_players *players, enum hc_sim_work work, bool begins);
    void (*host_ticked)(struct honest_players *players);
    void (*client_sent)(struct honest_players *players, unsigned client, const uint8_t *sealed,
                        size_t size);
    void (*host_sent)(struct honest_players *players, unsigned client, const uint8_t *sealed,
                      size_t size);
    void (*host_received)(struct honest_players *players, unsigned client, uint16_t port,
                          const uint8_t *opened, size_t size, enum hc_status status);
    void (*client_received)(struct honest_players *players, unsigned client, const uint8_t *opened,
                            size_t size, enum hc_status status);

    void (*client_event)(struct honest_players *players, unsigned client,
                         const struct hc_client_event *event);
    void *context;
};

/// The configuration of `clients` clients, and slots for `guests` more, over links of `latency_ms`
/// each way.
struct hc_sim_config honest_config(unsigned clients, unsigned guests, uint32_t latency_ms,
                                   uint64_t seed);

/// Creates them with their simulation, whose hooks they own.
struct honest_players *honest_create(const struct hc_sim_config *config);
void honest_destroy(struct honest_players *players);

/// Connects all clients, a few milliseconds apart, and runs until each plays, at most 10 s.
void honest_join_all(struct attack *attack, struct honest_players *players);

/// Counts the clients that play.
unsigned honest_playing(const struct honest_players *players);

/// Draws the keys that an honest client presses.
void honest_keys(uint32_t seed, unsigned client, hc_tick tick, void *input);

/// Requires that every client but `except` (players->clients: all) plays, never stalled, never lost
/// its connection, never received a state with another hash, and has the server's past; for all
/// clients also that the server forced none of their inputs.
void honest_require_unharmed(struct attack *attack, const struct honest_players *players,
                             unsigned except);
