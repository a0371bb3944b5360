/// A fleet of bots in one process: each a libhindcast client with a socket and a link of its own,
/// all on one event loop, from the ramp to the goodbyes.
#pragma once

#include "client/bots/udp.h"
#include "common/network_sim.h"
#include "hindcast/client.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_cl_fleet;

/// How a fleet does, for a line on a terminal.
struct hc_cl_fleet_progress {
    uint64_t elapsed_us;
    uint32_t playing, stalled, connecting; ///< clients
    uint64_t rtt_us;                       ///< sum of the medians of those that play
    uint64_t rollbacks, stalls;
};

struct hc_cl_fleet_config {
    const char *program;                ///< named in messages
    const char *server_name;            ///< as the user wrote it
    struct hc_cl_udp_peer server;       ///< resolved
    uint32_t clients;                   ///< of the whole run, >= 1
    uint32_t first, count;              ///< those of them that are in this fleet
    bool announces;                     ///< a line for each client that begins to play
    uint64_t ramp_us;                   ///< from the first client's start to the last one's
    uint64_t duration_us;               ///< of play, after the ramp; 0: until a signal
    struct hc_network_sim_config link;  ///< each direction
    uint64_t seed;                      ///< of links and bots
    struct hc_client_config client;     ///< of each; its log and credential are set here
    const struct hc_credential *tokens; ///< [clients] borrowed
    /// Called once a second; NULL: never.
    void (*progress)(void *context, const struct hc_cl_fleet_progress *progress);
    void *progress_context;
};

/// What became of the clients.
struct hc_cl_fleet_ends {
    uint32_t accepted; ///< were given a place
    uint32_t left;     ///< played to the end, and said goodbye
    uint32_t cut_off;  ///< had a place, but received nothing any more when the end came
    uint32_t denied;   ///< the server refused, or is of another build
    uint32_t denied_by_reason[HC_DENY_REASONS_END]; ///< those that the server refused
    uint32_t closed;                                ///< the server said goodbye
    uint32_t timeout;                               ///< the server fell silent, or never answered
    uint32_t failed;                                ///< there was no memory for it
};

/// How well the load test itself kept its time.
struct hc_cl_fleet_self {
    uint32_t processes;
    uint64_t cpu_us;                 ///< user and system, of all processes
    uint64_t due, sent;              ///< datagrams of clients in the game
    struct hc_histogram lateness_us; ///< from when a client had something to do to when it did
};

/// All that a run has counted, over all clients. All zeros but for `first` is an empty one.
struct hc_cl_fleet_result {
    struct hc_cl_fleet_ends ends;
    uint64_t duration_us;       ///< of the whole run
    uint64_t client_us;         ///< in the game, summed over the clients
    uint16_t tick_rate;         ///< Hz; 0: no client was accepted
    hc_tick first, last;        ///< of the server, that snapshots showed; HC_NO_TICK, 0: none
    struct hc_client_stats sum; ///< of the clients; histograms merged
    uint64_t jitter_us;         ///< summed over the clients that measured one
    uint32_t jitters;           ///< how many these are
    struct hc_cl_udp_stats udp;
    struct hc_cl_fleet_self self;
};

/// A fleet that is ready to start; NULL: it cannot be had, and `why` says why. `config` is copied.
struct hc_cl_fleet *hc_cl_fleet_create(const struct hc_cl_fleet_config *config, char *why,
                                       size_t why_size);

/// Frees it; NULL is allowed.
void hc_cl_fleet_destroy(struct hc_cl_fleet *load);

/// Plays until the duration has passed, SIGINT or SIGTERM comes, or no client is left, and says
/// goodbye. Writes to standard error what became of clients that did not get so far.
void hc_cl_fleet_run(struct hc_cl_fleet *load);

/// What was counted, to `*result`; after hc_cl_fleet_run.
void hc_cl_fleet_result(const struct hc_cl_fleet *load, struct hc_cl_fleet_result *result);

/// Adds what another fleet of the same run has counted.
void hc_cl_fleet_merge(struct hc_cl_fleet_result *result, const struct hc_cl_fleet_result *other);

/// Adds the progress of another fleet of the same run.
void hc_cl_fleet_merge_progress(struct hc_cl_fleet_progress *progress,
                                const struct hc_cl_fleet_progress *other);
