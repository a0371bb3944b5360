/// A match: the simulator, played as a plan says, with all checkers.
#pragma once

#include "tests/storm/plan.h"
#include "tests/storm/verdict.h"

struct storm_options {
    bool deep;   ///< look at everything at every tick, and keep worlds to name what differs
    bool tame;   ///< hostile clients play as honest ones do: the same match without attacks
    FILE *print; ///< with `deep`: receives the last events of a failed match; NULL: nothing does
};

/// The counters of a client, over all its connects.
struct storm_client_counts {
    uint64_t stalls, stalled_ticks, inputs_sampled, inputs_forced, restarts, snapshots;
    uint64_t events; ///< except those of other players
};

struct storm_outcome {
    struct storm_verdict verdict;
    uint32_t ticks;      ///< of the server
    uint64_t virtual_us; ///< simulated
    uint64_t trace;      ///< hc_sim_trace
    uint64_t rewinds, snapshots, datagrams, resimulated;
    uint64_t events_shown, events_confirmed, events_cancelled, events_late; ///< game events
    uint32_t joins, denials; ///< of honest clients at the server
    uint64_t places;         ///< hash of the player slots that honest clients were given, and of
                             ///< whether their owners were still to leave them
    struct storm_client_counts clients[STORM_CLIENTS_MAX];
};

/// Plays a match to its end, or up to its first failure.
void storm_match_play(const struct storm_plan *plan, const struct storm_options *options,
                      struct storm_outcome *outcome);

/// Plays a match. If its plan says so, plays it again without its attacks, which must hurt no
/// client; and with a share of the seeds again for the same trace. The verdict of all that.
void storm_match_judge(const struct storm_plan *plan, const struct storm_options *options,
                       struct storm_outcome *outcome);
