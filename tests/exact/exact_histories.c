/// The exactness program: random histories in which two timelines and the record must agree.
///
/// history_run.h describes one history. This file runs many of them in several processes, adds up
/// their counts, and fails when an event is too rare.
#define _DEFAULT_SOURCE // NOLINT(readability-identifier-naming): for MAP_ANONYMOUS

#include "tests/exact/history_run.h"

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 64 };

/// With fewer histories no event is required.
enum { REPRESENTATIVE = 1000 };

struct options {
    uint64_t seed;
    uint32_t from, histories, jobs;
};

/// The results of one process, in memory that it shares with the first.
struct job {
    uint32_t running; ///< the number of its newest history
    uint32_t played;  ///< histories without a difference
    uint64_t counts[RUN_COUNTS];
};

static const struct argp_option option_table[] = {
    {"seed", 's', "N", 0, "Draw everything from N (default 1)", 0},
    {"from", 'f', "K", 0, "Begin with history K (default 0)", 0},
    {"histories", 'n', "N", 0, "Play N histories (default 2000)", 0},
    {"jobs", 'j', "J", 0, "Play in J processes (default 1)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    struct options *options = state->input;
    if (key == ARGP_KEY_ARG)
        argp_error(state, "%s: no arguments are taken", text);
    if (key != 's' && key != 'f' && key != 'n' && key != 'j')
        return ARGP_ERR_UNKNOWN;
    char *end = NULL;
    uint64_t value = strtoull(text, &end, 10);
    uint64_t most = key == 's' ? UINT64_MAX : key == 'j' ? JOBS_MAX : INT32_MAX;
    if (*text < '0' || *text > '9' || *end != '\0' || value > most || (key == 'j' && value == 0))
        argp_error(state, "-%c: %s is no number in its range", key, text);
    if (key == 's')
        options->seed = value;
    else if (key == 'f')
        options->from = (uint32_t)value;
    else if (key == 'n')
        options->histories = (uint32_t)value;
    else
        options->jobs = (uint32_t)value;
    return 0;
}

/// Plays every `jobs`-th history, up to the first that differs.
static int play(const struct options *options, uint32_t number, struct job *job) {
    static struct history_run run; // too large for some stacks
    for (uint32_t i = number; i < options->histories; i += options->jobs) {
        job->running = options->from + i;
        if (!run_history(&run, options->seed, job->running))
            return EXIT_FAILURE;
        job->played++;
        for (unsigned c = 0; c < RUN_COUNTS; c++)
            job->counts[c] += run.counts[c];
    }
    return EXIT_SUCCESS;
}

/// Waits for a process; false when a history of it differed or crashed.
static bool collect(const struct options *options, pid_t process, const struct job *job) {
    int status = 0;
    if (process < 0 || waitpid(process, &status, 0) != process)
        return false;
    if (!WIFSIGNALED(status))
        return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    printf("history %" PRIu32 " of seed %" PRIu64 " crashed with signal %d\n"
           "  repeat: exact_histories --seed %" PRIu64 " --from %" PRIu32 " --histories 1\n",
           job->running, options->seed, WTERMSIG(status), options->seed, job->running);
    return false;
}

static bool at_least(const char *what, uint64_t count, uint64_t needed) {
    if (count < needed)
        printf("too few %s: %" PRIu64 ", needed %" PRIu64 "\n", what, count, needed);
    return count >= needed;
}

/// Whether the histories contained enough of every event that can go wrong.
static bool representative(const uint64_t *counts) {
    static const enum run_count some[] = {
        COUNT_IN_TIME, COUNT_LATE_INPUTS, COUNT_OLD_INPUTS, COUNT_DOUBLED,   COUNT_FORCED,
        COUNT_JOINS,   COUNT_LEAVES,      COUNT_STATES,     COUNT_RESTARTS,  COUNT_RETRACTED,
        COUNT_DEATHS,  COUNT_RESPAWNS,    COUNT_PICKUPS,    COUNT_CONTESTED, COUNT_MATCH_ENDS,
    };
    bool enough = true;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        enough = at_least(run_count_names[some[i]], counts[some[i]], 1) && enough;
    uint64_t fifth = counts[COUNT_AUTHORITIES] / 5;
    enough = at_least(run_count_names[COUNT_SPREAD], counts[COUNT_SPREAD], fifth) && enough;
    return at_least(run_count_names[COUNT_DIED_OUT], counts[COUNT_DIED_OUT], fifth) && enough;
}

static void print_table(const struct options *options, uint32_t played, const uint64_t *counts) {
    printf("%12" PRIu32 "  histories without a difference, of %" PRIu32 "; seed %" PRIu64 "\n",
           played, options->histories, options->seed);
    for (unsigned c = 0; c < RUN_COUNTS; c++)
        printf("%12" PRIu64 "  %s\n", counts[c], run_count_names[c]);
    if (counts[COUNT_FULL_STEPS] > 0)
        printf("%11.1f%%  of the steps of full are taken again by selective\n",
               100.0 * (double)counts[COUNT_SELECTIVE_STEPS] / (double)counts[COUNT_FULL_STEPS]);
}

int main(int argc, char **argv) {
    struct options options = {.seed = 1, .histories = 2000, .jobs = 1};
    const struct argp argp = {
        option_table, parse,
        NULL,         "Compares timelines with a plain simulation over random histories.",
        NULL,         NULL,
        NULL};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct job *jobs = mmap(NULL, JOBS_MAX * sizeof *jobs, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (jobs == MAP_FAILED)
        return EXIT_FAILURE;
    // Always in another process, so that the number of a history that aborts is known.
    pid_t processes[JOBS_MAX];
    for (uint32_t j = 0; j < options.jobs; j++) {
        processes[j] = fork();
        if (processes[j] == 0)
            exit(play(&options, j, &jobs[j]));
    }
    bool same = true;
    uint32_t played = 0;
    uint64_t counts[RUN_COUNTS] = {0};
    for (uint32_t j = 0; j < options.jobs; j++) {
        same = collect(&options, processes[j], &jobs[j]) && same;
        played += jobs[j].played;
        for (unsigned c = 0; c < RUN_COUNTS; c++)
            counts[c] += jobs[j].counts[c];
    }
    print_table(&options, played, counts);
    bool enough = options.histories < REPRESENTATIVE || !same || representative(counts);
    return same && enough ? EXIT_SUCCESS : EXIT_FAILURE;
}
