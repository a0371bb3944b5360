/// The sums of many matches, over several runs of the program if wanted.
#pragma once

#include "tests/storm/match.h"

enum storm_total {
    STORM_TOTAL_SEEDS,
    STORM_TOTAL_TICKS,
    STORM_TOTAL_VIRTUAL_US,
    STORM_TOTAL_REWINDS,
    STORM_TOTAL_RESIMULATED,
    STORM_TOTAL_SNAPSHOTS,
    STORM_TOTAL_DATAGRAMS,
    STORM_TOTAL_EVENTS_SHOWN,
    STORM_TOTAL_EVENTS_CONFIRMED,
    STORM_TOTAL_EVENTS_CANCELLED,
    STORM_TOTAL_EVENTS_LATE,
    STORM_TOTAL_WRONG,
    STORM_TOTAL_STUCK,
    STORM_TOTAL_CRASHED,
    STORM_TOTAL_WALL_MS,
    STORM_TOTAL_COUNT
};

struct storm_totals {
    uint64_t sum[STORM_TOTAL_COUNT];
    uint64_t least_ticks; ///< of a match in which nothing was wrong; 0: there is none
};

/// Adds one match.
void storm_totals_add(struct storm_totals *totals, const struct storm_outcome *outcome);

/// Adds all of `more`.
void storm_totals_merge(struct storm_totals *totals, const struct storm_totals *more);

/// Prints them for a reader.
void storm_totals_print(const struct storm_totals *totals, FILE *out);

/// Reads a file that storm_totals_write has left: the seed after the greatest that has been played,
/// and the totals so far. A file that is not there is a beginning. False: it cannot be read.
bool storm_totals_read(const char *path, uint64_t *next_seed, struct storm_totals *totals);

/// Narrows [*first, *end) to its first part that the file does not have; it becomes empty if the
/// file has all. False: the file cannot be read.
bool storm_totals_missing(const char *path, uint64_t *first, uint64_t *end);

/// Adds the seeds [first, end) and the totals to the file; false: it cannot be written.
bool storm_totals_write(const char *path, uint64_t first, uint64_t end,
                        const struct storm_totals *run);
