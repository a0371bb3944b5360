/// Processes that play seed after seed; one that dies is replaced, and its seed reported.
#pragma once

#include "tests/storm/totals.h"

enum { STORM_JOBS_MAX = 64, STORM_SETS_MAX = 256, STORM_FAILURES_MAX = 20 };

/// A seed of a list.
struct storm_listed {
    uint64_t seed;
    const char *settings; ///< of it alone, as storm_plan_set_words reads them; a comment follows
};

struct storm_work {
    uint64_t first, end;             ///< seeds [first, end), if `list` is NULL
    const struct storm_listed *list; ///< seeds instead, `end - first` of them; NULL: none
    double seconds;                  ///< stop after so long; 0: never
    unsigned jobs;
    const char *sets[STORM_SETS_MAX]; ///< assignments to every plan
    unsigned set_count;
    bool trace;    ///< print the trace hash of each seed
    bool progress; ///< print a line now and then to standard error
};

struct storm_result_of_work {
    struct storm_totals totals;
    uint64_t end; ///< all seeds before it were played
    uint64_t marks[64];
};

/// The plan of a seed that is not of a list, with the assignments of `work` made.
void storm_work_plan(const struct storm_work *work, uint64_t seed, struct storm_plan *plan);

/// Plays; failures are reported on standard output as they come, and after STORM_FAILURES_MAX no
/// more seeds are begun. False: processes cannot be had.
bool storm_processes_play(const struct storm_work *work, struct storm_result_of_work *result);

/// Reports the failure of a plan in full.
void storm_processes_report(const struct storm_plan *plan, const struct storm_outcome *outcome);

/// Plays a plan in a process of its own, so that a crash, or an endless match, is an outcome too:
/// oracle "crash" or "endless".
void storm_processes_try(const struct storm_plan *plan, const struct storm_options *options,
                         struct storm_outcome *outcome);
