/// A fleet of bots in one process and on one event loop, from the ramp to the end. Each bot is a
/// libhindcast client with its own socket and network simulation.
#pragma once

#include "client/bots/due.h"
#include "client/programs/next_server.h"
#include "client/programs/tokens.h"
#include "client/programs/udp.h"
#include "common/programs/counters.h"
#include "hindcast/network_sim.h"
#include "hindcast/client.h"
#include "hindcast/plugin.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_cl_fleet;

/// The state of a fleet, for a line on a terminal.
struct hc_cl_fleet_progress {
    uint64_t elapsed_us;
    uint32_t playing, stalled, connecting; ///< clients
    uint64_t rtt_us;                       ///< sum of the playing clients' medians
    uint64_t rollbacks, stalls, inputs_forced;
    uint64_t bytes_in, bytes_out; ///< headers included
    uint64_t lost;                ///< datagrams dropped by the simulated loss
    uint64_t snapshots;
    uint64_t late_us; ///< longest lateness since the last progress
    uint64_t cpu_us;  ///< of the processes
};

struct hc_cl_fleet_config {
    const char *program;               ///< name of the program in messages
    const char *server_name;           ///< as the user wrote it
    struct hc_cl_udp_peer server;      ///< resolved
    uint32_t clients;                  ///< full ones of the whole run
    uint32_t first, count;             ///< those of this fleet
    uint32_t lights;                   ///< light clients of the whole run; of both at least one
    uint32_t first_light, count_light; ///< those of this fleet
    uint32_t sources;                  ///< source addresses of light clients; 0: one for each
    uint32_t activity_percent;         ///< of the time in which users press keys
    double churn_per_s;                ///< clients of this fleet that leave and join again
    uint32_t storm;                    ///< clients of this fleet that do so at once, halfway
    uint32_t snapshot_rate;            ///< Hz, that is due to each client; 0: the tick rate
    bool announces;                    ///< print a line for each client that begins to play
    uint64_t ramp_us;                  ///< from the first client's start to the last one's
    uint64_t duration_us;              ///< of play, after the ramp; 0: until a signal
    struct hc_network_sim_config link; ///< each direction
    uint32_t latency_to_us;            ///< latencies are spread from the link's up to this one
    uint64_t seed;                     ///< of the network simulations and the bots
    struct hc_client_config client;    ///< of each; the fleet sets its credential
    hc_bot_think *think;               ///< of the game; NULL: inputs are random
    /// Borrowed: those of full clients, of light clients, and spare ones. A client that joins again
    /// with a token of the feed replaces its own.
    struct hc_credential *tokens;
    uint32_t spare_first, spare_end;      ///< tokens of this fleet for clients that join again
    const struct hc_cl_tokens_wish *feed; ///< request such tokens when they are needed; NULL: never
    /// The search for a server that was started anew; it has the fleet's tokens. NULL: none.
    struct hc_cl_next_server *next_server;
    /// Called once a second; NULL: never.
    void (*progress)(void *context, const struct hc_cl_fleet_progress *progress);
    void *progress_context;
};

/// Counts of the clients by how they ended.
struct hc_cl_fleet_ends {
    HC_CL_ENDS_COUNTERS(HC_COUNTER_MEMBER)
    uint32_t denied_by_reason[HC_DENY_REASONS_END]; ///< by the server; 0: unknown reasons
};

/// How well the program itself kept its time.
struct hc_cl_fleet_self {
    HC_CL_SELF_COUNTERS(HC_COUNTER_MEMBER)
};

/// The counts of a run over all clients. All zeros but `first`, HC_NO_TICK, is an empty result.
struct hc_cl_fleet_result {
    struct hc_cl_fleet_ends ends;
    char desync[HC_DIFFERENCE_TEXT_MAX]; ///< where the first one differed; empty: none did
    uint64_t duration_us;                ///< of the whole run
    uint64_t client_us;                  ///< of play, summed over the clients
    uint16_t tick_rate;                  ///< Hz; 0: no client was accepted
    hc_tick first, last;                 ///< server ticks of snapshots; HC_NO_TICK, 0: none
    struct hc_client_stats full;         ///< over the full clients; histograms merged
    struct hc_client_stats light;        ///< over the light clients
    struct hc_client_stats all;          ///< both, see hc_cl_fleet_sum
    struct hc_cl_due_snapshots snapshots;
    HC_CL_RUN_COUNTERS(HC_COUNTER_MEMBER)
    struct hc_cl_udp_stats udp;
    struct hc_cl_fleet_self self;
};

extern const struct hc_counters hc_cl_fleet_counters;     ///< of struct hc_cl_fleet_result
extern const struct hc_counters hc_cl_fleet_udp_counters; ///< of struct hc_cl_udp_stats

/// Makes a fleet that is ready to run, and copies `config`. NULL: failed, and `why` is a sentence.
struct hc_cl_fleet *hc_cl_fleet_create(const struct hc_cl_fleet_config *config, char *why,
                                       size_t why_size);

/// Frees it; NULL is allowed.
void hc_cl_fleet_destroy(struct hc_cl_fleet *fleet);

/// Plays until the duration has passed, SIGINT or SIGTERM arrives, or no client is left; then makes
/// all clients leave. Prints to standard error why clients ended before.
void hc_cl_fleet_run(struct hc_cl_fleet *fleet);

/// Writes the counts to `*result`; after hc_cl_fleet_run.
void hc_cl_fleet_result(const struct hc_cl_fleet *fleet, struct hc_cl_fleet_result *result);

/// The conditions of a client's link: latencies are spread evenly over the clients.
struct hc_network_sim_config hc_cl_fleet_link(const struct hc_cl_fleet_config *config,
                                              uint32_t number);

/// Adds a datagram that a client sends once a tick, of which there are `tick_rate` a second, and
/// that was sent `late_us` late. Of several that are due at once a client sends only one, but each
/// was due at a time of its own: a load test that was stopped for a second has 60 late datagrams
/// and not one.
void hc_cl_fleet_add_lateness(struct hc_cl_fleet_self *self, uint64_t late_us, uint32_t tick_rate);

/// Adds the counts of a client.
void hc_cl_fleet_add_stats(struct hc_client_stats *sum, const struct hc_client_stats *one);

/// Adds the counts of another fleet of the same run.
void hc_cl_fleet_merge(struct hc_cl_fleet_result *result, const struct hc_cl_fleet_result *other);

/// Sums the counts of all clients, once all fleets are merged.
void hc_cl_fleet_sum(struct hc_cl_fleet_result *result);

/// Adds the progress of another fleet of the same run.
void hc_cl_fleet_merge_progress(struct hc_cl_fleet_progress *progress,
                                const struct hc_cl_fleet_progress *other);
