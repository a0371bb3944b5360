/// A match: the simulator, played as a plan says, under the eyes of all oracles.
#pragma once

#include "tests/storm/plan.h"
#include "tests/storm/verdict.h"

struct storm_options {
    bool deep;   ///< look at everything at every tick, and keep worlds to say what differs
    bool tame;   ///< hostile clients play as honest ones do: the same match without attacks
    FILE *print; ///< with `deep`: where what happened last goes when the match fails; NULL: nowhere
};

/// What a client has counted, over all its connects.
struct storm_client_counts {
    uint64_t stalls, stalled_ticks, inputs_sampled, inputs_forced, restarts, snapshots, events;
};

struct storm_outcome {
    struct storm_verdict verdict;
    uint32_t ticks;      ///< of the server
    uint64_t virtual_us; ///< simulated
    uint64_t trace;      ///< hc_sim_trace
    uint64_t rewinds, snapshots, datagrams, resimulated;
    uint32_t joins, denials; ///< of honest clients at the server
    uint64_t places;         ///< hash of the player slots that honest clients were given, and of
                             ///< whether somebody was still to leave them
    struct storm_client_counts clients[STORM_CLIENTS_MAX];
};

/// Plays a match to its end, or up to the first thing that is wrong.
void storm_match_play(const struct storm_plan *plan, const struct storm_options *options,
                      struct storm_outcome *outcome);

/// Plays a match, and if its plan says so plays it again without its attacks, to see that they have
/// hurt nobody; and in a share of the seeds for the same trace. All oracles' verdict.
void storm_match_judge(const struct storm_plan *plan, const struct storm_options *options,
                       struct storm_outcome *outcome);
