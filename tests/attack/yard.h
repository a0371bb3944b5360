/// A yard: clients of the arena that play honestly in virtual time, while somebody attacks.
#pragma once

#include "tests/attack/attack.h"
#include "tests/sim/sim.h"

enum {
    YARD_MS = 1000, ///< microseconds
    YARD_S = 1000000,
    YARD_CHAINS = 8192, ///< ticks of which the server's chain hash is remembered
};

struct yard {
    struct hc_sim *sim;
    unsigned clients;
    uint32_t seed; ///< of the keys that are pressed
    hc_tick final;
    uint64_t chains[YARD_CHAINS]; ///< by final tick; 0: not seen

    /// What a row adds; each may be NULL. `sealed` is the datagram as it is on the wire.
    void (*script)(struct yard *yard, unsigned client, hc_tick tick, void *input);
    void (*host_works)(struct yard *yard, enum hc_sim_work work, bool begins);
    void (*host_ticked)(struct yard *yard);
    void (*client_sent)(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size);
    void (*host_sent)(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size);
    void (*host_received)(struct yard *yard, unsigned client, uint16_t port, const uint8_t *opened,
                          size_t size, enum hc_status status);
    void (*client_received)(struct yard *yard, unsigned client, const uint8_t *opened, size_t size,
                            enum hc_status status);
    void (*host_event)(struct yard *yard, const struct hc_sv_event *event);
    void (*client_event)(struct yard *yard, unsigned client, const struct hc_client_event *event);
    void *context;
};

/// `clients` clients, and room for `guests` more, over links of `latency_ms` each way.
struct hc_sim_config yard_config(unsigned clients, unsigned guests, uint32_t latency_ms,
                                 uint64_t seed);

/// The yard of this configuration, whose hooks are its own.
struct yard *yard_create(const struct hc_sim_config *config);
void yard_destroy(struct yard *yard);

/// Connects all clients, a few milliseconds apart, and runs until each of them plays, at most 10 s.
void yard_join_all(struct attack *attack, struct yard *yard);

/// How many of the clients play.
unsigned yard_playing(const struct yard *yard);

/// The keys that an honest client presses.
void yard_keys(uint32_t seed, unsigned client, hc_tick tick, void *input);

/// Requires that every client but `except` (yard->clients: all) plays, has never stalled, lost its
/// connection or seen a state with another hash than the server's, has the server's past, and that
/// the server had all their inputs.
void yard_require_unharmed(struct attack *attack, const struct yard *yard, unsigned except);
