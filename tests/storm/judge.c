/// Compares a match with itself: without its attacks, and played again.
#include "tests/storm/match_internal.h"

#include <inttypes.h>
#include <string.h>

/// A count with and without attacks.
#define BOTH "%" PRIu64 " (%" PRIu64 ")"

/// An attacker may make snapshots for the honest longer, and inputs that depend on what a client
/// sees. Lengths matter only where a rate is limited, a link's or the server's own, and at
/// addresses that are not validated.
bool storm_match_compared(const struct storm_plan *plan) {
    if (plan->match[STORM_tame] == 0 || plan->match[STORM_hostile] == 0 ||
        plan->match[STORM_matches] != 0 || plan->match[STORM_clients] < 2 ||
        plan->match[STORM_shared] != 0 ||
        plan->match[STORM_client_rate] != storm_match_keys[STORM_client_rate].neutral)
        return false;
    for (unsigned i = 0; i < plan->match[STORM_clients]; i++)
        if (!storm_plan_hostile(plan, i) &&
            (plan->client[i][STORM_C_down_rate] != 0 || plan->client[i][STORM_C_dip_tick] != 0 ||
             plan->client[i][STORM_C_rebind_ticks] != 0 ||
             (plan->client[i][STORM_C_up_rate] != 0 && storm_keys_look(plan, i))))
            return false;
    return true;
}

static void compare_tame(const struct storm_plan *plan, const struct storm_options *options,
                         struct storm_outcome *outcome) {
    struct storm_outcome tame;
    struct storm_options without = *options;
    without.tame = true;
    storm_match_play(plan, &without, &tame);
    if (tame.verdict.result != STORM_FINE) {
        outcome->verdict = tame.verdict;
        return;
    }
    // An attacker may leave its slot at another time than an honest client does. Then a new client
    // may get another slot, or join a tick later because the slot's owner has not left yet. On a
    // full server it may be denied, or admitted at another time. Such matches are not compared.
    if (outcome->denials > 0 || tame.denials > 0 ||
        (outcome->places != tame.places && outcome->joins >= tame.joins))
        return;
    for (unsigned i = 0; i < plan->match[STORM_clients] && !storm_plan_hostile(plan, i); i++) {
        const struct storm_client_counts *a = &outcome->clients[i], *b = &tame.clients[i];
        struct storm_client_counts more = *b;
        // While two addresses of a client are in use, nothing bounds its bytes in flight; and which
        // snapshots wait for such a bound depends on when each datagram came.
        if (a->snapshots + b->snapshots / 8 >= b->snapshots)
            more.snapshots = a->snapshots;
        if (memcmp(a, &more, sizeof *a) != 0)
            storm_fail(&outcome->verdict, STORM_WRONG, "hurt", 0,
                       "attacks change client %u: stalls " BOTH ", stalled ticks " BOTH
                       ", inputs " BOTH ", forced " BOTH ", restarts " BOTH ", snapshots " BOTH
                       ", events " BOTH,
                       i, a->stalls, b->stalls, a->stalled_ticks, b->stalled_ticks,
                       a->inputs_sampled, b->inputs_sampled, a->inputs_forced, b->inputs_forced,
                       a->restarts, b->restarts, a->snapshots, b->snapshots, a->events, b->events);
    }
}

void storm_match_judge(const struct storm_plan *plan, const struct storm_options *options,
                       struct storm_outcome *outcome) {
    storm_match_play(plan, options, outcome);
    if (outcome->verdict.result != STORM_FINE)
        return;
    if (storm_match_compared(plan))
        compare_tame(plan, options, outcome);
    if (outcome->verdict.result == STORM_FINE && plan->seed % 32 == 5) {
        struct storm_outcome again;
        storm_match_play(plan, options, &again);
        if (again.trace != outcome->trace)
            storm_fail(&outcome->verdict, STORM_WRONG, "determinism", 0,
                       "two runs leave the traces %016" PRIx64 " and %016" PRIx64, outcome->trace,
                       again.trace);
    }
}
