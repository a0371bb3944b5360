/// Owns how a failing plan is made smaller.
#define _DEFAULT_SOURCE // NOLINT(readability-identifier-naming): for clock_gettime

#include "tests/storm/shrink.h"

#include "tests/storm/processes.h"

#include <string.h>
#include <time.h>

struct shrink {
    struct storm_plan *plan;
    char oracle[32];
    double until_s;
};

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/// Whether `candidate` still fails in the same way; it becomes the plan if so.
static bool accept(struct shrink *shrink, const struct storm_plan *candidate) {
    struct storm_outcome outcome;
    struct storm_options options = {.deep = false};
    if (now_s() > shrink->until_s || memcmp(candidate, shrink->plan, sizeof *candidate) == 0)
        return false;
    storm_processes_try(candidate, &options, &outcome);
    if (outcome.verdict.result == STORM_FINE || strcmp(outcome.verdict.oracle, shrink->oracle) != 0)
        return false;
    *shrink->plan = *candidate;
    fputc('.', stderr);
    return true;
}

/// Tries smaller values for one number of the match, or of a client (-1: of all clients at once).
static bool shrink_number(struct shrink *shrink, const struct storm_key *key, bool of_match,
                          unsigned index, int client) {
    unsigned clients = (unsigned)shrink->plan->match[STORM_clients];
    bool any = false;
    for (int64_t step = 0; step < 12; step++) {
        struct storm_plan candidate = *shrink->plan;
        bool changed = false;
        for (unsigned i = 0; i < (of_match ? 1 : clients); i++) {
            int64_t *value = of_match ? &candidate.match[index] : &candidate.client[i][index];
            if (!of_match && client >= 0 && i != (unsigned)client)
                continue;
            // All of the way first, then half of it, then a quarter ...
            int64_t wanted = step == 0 ? key->neutral : key->neutral + (*value - key->neutral) / 2;
            if (of_match && (index == STORM_clients || index == STORM_ticks))
                wanted = step == 0 ? key->min : key->min + (*value - key->min) / 2;
            changed = changed || wanted != *value;
            *value = wanted;
        }
        if (!changed || !accept(shrink, &candidate))
            return any;
        any = true;
        if (step == 0)
            return true;
    }
    return any;
}

/// Takes client `gone` out: those after it move up.
static bool drop_client(struct shrink *shrink, unsigned gone) {
    struct storm_plan candidate = *shrink->plan;
    unsigned clients = (unsigned)candidate.match[STORM_clients];
    if (clients < 2)
        return false;
    memmove(&candidate.client[gone], &candidate.client[gone + 1],
            (clients - 1 - gone) * sizeof candidate.client[0]);
    candidate.match[STORM_clients]--;
    return accept(shrink, &candidate);
}

static bool pass(struct shrink *shrink) {
    bool any = false;
    for (unsigned i = (unsigned)shrink->plan->match[STORM_clients]; i-- > 0;)
        any = drop_client(shrink, i) || any;
    for (unsigned k = 0; k < STORM_MATCH_KEY_COUNT; k++)
        any = shrink_number(shrink, &storm_match_keys[k], true, k, -1) || any;
    for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++)
        any = shrink_number(shrink, &storm_client_keys[k], false, k, -1) || any;
    for (unsigned i = 0; i < (unsigned)shrink->plan->match[STORM_clients]; i++)
        for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++)
            any = shrink_number(shrink, &storm_client_keys[k], false, k, (int)i) || any;
    return any;
}

bool storm_shrink(struct storm_plan *plan, double seconds) {
    struct storm_outcome outcome;
    struct storm_options options = {.deep = false};
    storm_processes_try(plan, &options, &outcome);
    if (outcome.verdict.result == STORM_FINE)
        return false;
    struct shrink shrink = {.plan = plan, .until_s = now_s() + seconds};
    memcpy(shrink.oracle, outcome.verdict.oracle, sizeof shrink.oracle);
    while (now_s() < shrink.until_s && pass(&shrink))
        continue;
    fputc('\n', stderr);
    return true;
}
