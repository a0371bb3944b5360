/// Matches of the arena over narrow links: queues of round trips, and when all play again after
/// dips of the rate, in virtual time.
///
/// Order of calls: hc_congestion_begin; hc_congestion_dips, or hc_sim_run and hc_congestion_held;
/// hc_congestion_end.
#pragma once

#include "tests/sim/players.h"

enum {
    HC_CONGESTION_UP = 1,
    HC_CONGESTION_DOWN = 2,
    HC_CONGESTION_BOTH = HC_CONGESTION_UP | HC_CONGESTION_DOWN,
    HC_CONGESTION_DIPS = 3,
    HC_CONGESTION_NARROW = 7, ///< narrow links
    HC_CONGESTION_FREE = 7,   ///< free links
    HC_CONGESTION_CLIENTS_MAX = 10,

    // The bounds.
    HC_CONGESTION_QUEUE_MS = 100,  ///< of the round trip: nineteen of twenty
    HC_CONGESTION_AGAIN_MS = 5000, ///< from the end of a dip until all play, with such round trips
    HC_CONGESTION_OVER_MS = 1000,  ///< for so long more than twice the offer of a link is sent
};

/// A link that is too narrow for what an end would send.
struct hc_congestion_case {
    const char *name;
    unsigned clients;
    bool shares; ///< All clients have one link; false: each has its own.
    uint32_t bytes_per_s;
    uint32_t ways;     ///< Set of HC_CONGESTION_UP and HC_CONGESTION_DOWN.
    uint32_t queue_ms; ///< The length of the queue; 0: 64 kB.
    uint32_t loss_percent;
};

extern const struct hc_congestion_case hc_congestion_cases[HC_CONGESTION_NARROW];

/// Links without a limit, each way.
extern const struct hc_network_sim_config hc_congestion_free[HC_CONGESTION_FREE];

/// The lengths of the dips, in milliseconds. In one a link carries 1 kB/s, a shared one ten times
/// as much.
extern const uint32_t hc_congestion_dips_ms[HC_CONGESTION_DIPS];

struct hc_congestion_result {
    uint32_t queue_p50_ms, queue_p95_ms;   ///< What round trips exceed the least one by.
    uint32_t again_ms[HC_CONGESTION_DIPS]; ///< After each dip; UINT32_MAX: not within 6 s.
    uint32_t over_ms; ///< The longest time in which more than twice the offer was sent.
    uint64_t round_trips, lost, forced, held_back, mismatches;
    uint64_t snapshots_least, snapshots_most; ///< The snapshots of a client.
};

struct hc_congestion;

/// Begins a match; `config` is of hc_sim_config_players, with at most HC_CONGESTION_CLIENTS_MAX
/// clients. `up` and `down`: the rates whose double is watched, bytes a second. NULL: it cannot be
/// created.
struct hc_congestion *hc_congestion_begin(const struct hc_sim_config *config, uint32_t up,
                                          uint32_t down);
void hc_congestion_end(struct hc_congestion *play);

struct hc_sim *hc_congestion_sim(struct hc_congestion *play);

/// Datagrams that waited because of the bounds of both ends.
uint64_t hc_congestion_held(const struct hc_congestion *play);

/// The bytes that a client was sent in the last second.
uint64_t hc_congestion_sent_down(const struct hc_congestion *play, unsigned client);

/// Plays on narrow links for 20 s, and then through the dips. False: it cannot be played.
bool hc_congestion_dips(const struct hc_congestion_case *of, uint64_t seed,
                        struct hc_congestion_result *result);
