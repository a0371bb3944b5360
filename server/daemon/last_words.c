/// Owns what a handler of a crash does for the daemon. All of it is safe in a handler: it reads,
/// and calls sendto and poll.
#include "server/daemon/last_words.h"

#include "common/programs/crash.h"
#include "server/daemon/farewells.h"
#include "server/daemon/here.h"

#include <poll.h>
#include <stddef.h>

enum {
    ROUNDS = 3,   ///< each client is sent its farewell so often, against losses
    ROUND_MS = 20 ///< pause between two rounds: a burst of losses may be over
};

/// A handler has no other argument than its number.
static struct hc_sv_worker *volatile all;

static unsigned describe(struct hc_crash_fact facts[static HC_CRASH_FACTS_MAX]) {
    struct hc_sv_here here = hc_sv_here_now();
    unsigned count = 0;
    if (here.match == 0)
        return 0;
    facts[count++] = (struct hc_crash_fact){.name = "match", .number = here.match};
    facts[count++] = (struct hc_crash_fact){.name = "tick", .number = here.tick};
    if (here.steps)
        facts[count++] = (struct hc_crash_fact){.name = "entity", .number = here.entity};
    facts[count++] = (struct hc_crash_fact){.name = "phase", .word = here.phase};
    return count;
}

/// Sends the farewells of a match.
static void farewell(const struct hc_sv_match *match, const struct hc_sv_doors *doors) {
    uint32_t count;
    const struct hc_server_farewell *farewells = hc_sv_farewells_read(&match->farewells, &count);
    for (uint32_t i = 0; i < count; i++)
        hc_sv_doors_send_now(doors, &farewells[i].to, farewells[i].bytes[1], farewells[i].sizes[1]);
}

static void farewell_all(void) {
    struct hc_sv_worker *workers = all;
    if (workers == NULL)
        return;
    const struct hc_sv_options *options = workers->setting->options;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round > 0)
            (void)poll(NULL, 0, ROUND_MS);
        for (unsigned number = 1; number <= options->matches; number++)
            farewell(hc_sv_worker_match(workers, number),
                 workers[hc_sv_worker_of(number, options->workers)].runner->doors);
    }
}

void hc_sv_last_words_open(struct hc_sv_worker *workers) {
    all = workers;
    hc_crash_call(describe, farewell_all);
}

void hc_sv_last_words_forget(void) {
    all = NULL;
}
