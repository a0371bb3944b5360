/// A play: a simulation with its ledger, its stamps and its players' keys, for scenario tests.
#pragma once

#include "common/unit.h"
#include "tests/scenario/ledger.h"
#include "tests/scenario/stamps.h"
#include "tests/sim/sim.h"

enum {
    PLAY_CLIENTS_MAX = 64,
    PLAY_TICKS = 4096, ///< no play lasts longer
    PLAY_MS = 1000,    ///< microseconds
    PLAY_S = 1000000,  ///< microseconds
};

struct play {
    struct hc_sim *sim;
    struct sent_log *sent_log;
    /// [client][local player], of the clients' first connects.
    struct stamps *stamps[PLAY_CLIENTS_MAX][HC_OWN_PLAYERS_MAX];
    hc_tick joined[PLAY_CLIENTS_MAX]; ///< [player of the world] its newest join, or HC_NO_TICK
    hc_tick scanned;                  ///< controls before it are in `joined`
    bool hands_off;                   ///< from now on nobody touches a key
    uint32_t seed;                    ///< of the keys

    /// What a test adds; each may be NULL.
    void (*host_ticked)(struct play *play);
    void (*client_changed)(struct play *play, unsigned client);
    void (*host_sent)(struct play *play, unsigned client, const uint8_t *bytes, size_t size);
    void (*client_sent)(struct play *play, unsigned client, const uint8_t *bytes, size_t size);
    void *context;
};

/// `clients` clients that play `game`, with as many player slots, over links of `latency_ms` each
/// way; everything else as hc_sim_config_default says.
struct hc_sim_config play_config(const struct hc_game *game, unsigned clients, uint32_t latency_ms,
                                 uint64_t seed);

/// The same of the arena, for a simulation without a play: its clients hold keys by themselves, by
/// `seed`, and the hooks and their context are the test's own. Worlds are not traced.
struct hc_sim_config play_config_bare(unsigned clients, uint32_t latency_ms, uint64_t seed);

/// Conditions of a link: one-way latency, and shares lost in percent.
struct hc_network_sim_config play_link(uint32_t latency_ms, uint32_t loss_percent);

/// A play of this configuration, whose hooks are the play's own; fails the test when it is invalid.
struct play *play_create(const struct hc_sim_config *config);

void play_destroy(struct play *play);

/// Keeps no stamps: for clients that connect more than once.
void play_without_stamps(struct play *play);

/// Lets all clients connect and runs until each is playing; fails the test after 10 s.
void play_join_all(struct play *play);

/// Sets both directions of every client's link.
void play_set_links(struct play *play, struct hc_network_sim_config link);

/// The random keys that `client` holds at `tick`, into `input` of `game`: each for a while.
void play_keys(const struct hc_game *game, uint32_t seed, unsigned client, unsigned index,
               hc_tick tick, void *input);

/// The state of the client, HC_CLIENT_CLOSED where there is none.
enum hc_client_state play_state(const struct play *play, unsigned client);

/// How many datagrams a client, or the host, has refused.
uint64_t play_client_rejected(const struct play *play, unsigned client);
uint64_t play_host_rejected(const struct play *play);

/// Whether, in a world of these states, an alive entity of `unit` is within `range` of an own
/// player of `client`, or its own, or the referee, or the client sees everything.
bool play_in_view(const struct play *play, unsigned client, hc_unit unit, const uint8_t *presence,
                  const uint8_t *states, uint32_t range);

/// Fails the test unless the client has the server's chain hash at the final tick it was told, and
/// at that tick (or the oldest that it holds, which is final as well) of every unit either all
/// states as they are in the ledger or nothing at all. Nothing is right unless the unit has been in
/// view for a second, and necessary when it has been far out of view for two. Returns the tick.
hc_tick play_check_final(const struct play *play, unsigned client);

/// Fails the test when any snapshot did not have the hash that it named.
void play_check_hashes(const struct play *play);
