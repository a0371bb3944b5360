/// Owns the sums of many matches, and the file that holds them.
#include "tests/storm/totals.h"

#include <inttypes.h>
#include <string.h>

#define RANGE "played %" SCNu64 " to %" SCNu64

static const char *const names[STORM_TOTAL_COUNT] = {
    "seeds",       "ticks",     "virtual_us",   "rewinds",          "resimulated_ticks",
    "snapshots",   "datagrams", "events_shown", "events_confirmed", "events_cancelled",
    "events_late", "incorrect", "stuck",        "crashed",          "wall_ms"};

/// Takes in the ticks of the shortest match; 0: there is none.
static void take_least(struct storm_totals *totals, uint64_t ticks) {
    if (ticks != 0 && (totals->least_ticks == 0 || ticks < totals->least_ticks))
        totals->least_ticks = ticks;
}

void storm_totals_add(struct storm_totals *totals, const struct storm_outcome *outcome) {
    totals->sum[STORM_TOTAL_SEEDS]++;
    totals->sum[STORM_TOTAL_TICKS] += outcome->ticks;
    totals->sum[STORM_TOTAL_VIRTUAL_US] += outcome->virtual_us;
    totals->sum[STORM_TOTAL_REWINDS] += outcome->rewinds;
    totals->sum[STORM_TOTAL_RESIMULATED] += outcome->resimulated;
    totals->sum[STORM_TOTAL_SNAPSHOTS] += outcome->snapshots;
    totals->sum[STORM_TOTAL_DATAGRAMS] += outcome->datagrams;
    totals->sum[STORM_TOTAL_EVENTS_SHOWN] += outcome->events_shown;
    totals->sum[STORM_TOTAL_EVENTS_CONFIRMED] += outcome->events_confirmed;
    totals->sum[STORM_TOTAL_EVENTS_CANCELLED] += outcome->events_cancelled;
    totals->sum[STORM_TOTAL_EVENTS_LATE] += outcome->events_late;
    totals->sum[STORM_TOTAL_WRONG] += outcome->verdict.result == STORM_WRONG;
    totals->sum[STORM_TOTAL_STUCK] += outcome->verdict.result == STORM_STUCK;
    if (outcome->verdict.result == STORM_FINE)
        take_least(totals, outcome->ticks);
}

void storm_totals_merge(struct storm_totals *totals, const struct storm_totals *more) {
    for (unsigned i = 0; i < STORM_TOTAL_COUNT; i++)
        totals->sum[i] += more->sum[i];
    take_least(totals, more->least_ticks);
}

void storm_totals_print(const struct storm_totals *totals, FILE *out) {
    const uint64_t *sum = totals->sum;
    double wall_s = (double)sum[STORM_TOTAL_WALL_MS] / 1000 + 1e-9;
    double virtual_s = (double)sum[STORM_TOTAL_VIRTUAL_US] / 1e6;
    fprintf(out,
            "%" PRIu64 " seeds, %" PRIu64 " ticks, %.2f virtual hours in %.1f s: %.0f times real "
            "time, %.0f seeds a minute\n"
            "%.0f ticks a match, at least %" PRIu64 "\n"
            "%" PRIu64 " datagrams, %" PRIu64 " snapshots, %" PRIu64 " rewinds, %" PRIu64
            " ticks simulated again\n"
            "%" PRIu64 " game events shown, %" PRIu64 " of them late; %" PRIu64
            " confirmed, %" PRIu64 " cancelled\n"
            "%" PRIu64 " failures: %" PRIu64 " incorrect, %" PRIu64 " stuck, %" PRIu64 " crashed\n",
            sum[STORM_TOTAL_SEEDS], sum[STORM_TOTAL_TICKS], virtual_s / 3600, wall_s,
            virtual_s / wall_s, (double)sum[STORM_TOTAL_SEEDS] / wall_s * 60,
            (double)sum[STORM_TOTAL_TICKS] / ((double)sum[STORM_TOTAL_SEEDS] + 1e-9),
            totals->least_ticks, sum[STORM_TOTAL_DATAGRAMS], sum[STORM_TOTAL_SNAPSHOTS],
            sum[STORM_TOTAL_REWINDS], sum[STORM_TOTAL_RESIMULATED], sum[STORM_TOTAL_EVENTS_SHOWN],
            sum[STORM_TOTAL_EVENTS_LATE], sum[STORM_TOTAL_EVENTS_CONFIRMED],
            sum[STORM_TOTAL_EVENTS_CANCELLED],
            sum[STORM_TOTAL_WRONG] + sum[STORM_TOTAL_STUCK] + sum[STORM_TOTAL_CRASHED],
            sum[STORM_TOTAL_WRONG], sum[STORM_TOTAL_STUCK], sum[STORM_TOTAL_CRASHED]);
}

bool storm_totals_read(const char *path, uint64_t *next_seed, struct storm_totals *totals) {
    FILE *file = fopen(path, "r");
    char line[128], name[64];
    uint64_t a, b;
    *next_seed = 1;
    *totals = (struct storm_totals){.sum = {0}};
    if (file == NULL)
        return true;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, RANGE, &a, &b) == 2)
            *next_seed = b + 1 > *next_seed ? b + 1 : *next_seed;
        else if (sscanf(line, "least_ticks %" SCNu64, &a) == 1)
            take_least(totals, a);
        else if (sscanf(line, "%63s %" SCNu64, name, &a) == 2)
            for (unsigned i = 0; i < STORM_TOTAL_COUNT; i++)
                if (strcmp(names[i], name) == 0)
                    totals->sum[i] = a;
    }
    bool fine = ferror(file) == 0;
    fclose(file);
    return fine;
}

bool storm_totals_missing(const char *path, uint64_t *first, uint64_t *end) {
    FILE *file = fopen(path, "r");
    char line[128];
    uint64_t a, b, from;
    if (file == NULL)
        return true;
    do { // until no range holds the first
        from = *first;
        rewind(file);
        while (fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, RANGE, &a, &b) == 2 && a <= *first && *first <= b)
                *first = b + 1;
    } while (*first != from);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, RANGE, &a, &b) == 2 && a > *first && a < *end)
            *end = a;
    if (*first > *end)
        *first = *end;
    bool fine = ferror(file) == 0;
    fclose(file);
    return fine;
}

/// The lines of `path` that name ranges, to `out`.
static void copy_ranges(const char *path, FILE *out) {
    FILE *file = fopen(path, "r");
    char line[128];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "played ", 7) == 0)
            fputs(line, out);
    if (file != NULL)
        fclose(file);
}

bool storm_totals_write(const char *path, uint64_t first, uint64_t end,
                        const struct storm_totals *run) {
    char fresh[4096];
    uint64_t next;
    struct storm_totals totals;
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", path) >= sizeof fresh ||
        !storm_totals_read(path, &next, &totals))
        return false;
    storm_totals_merge(&totals, run);
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        return false;
    copy_ranges(path, file);
    if (end > first)
        fprintf(file, "played %" PRIu64 " to %" PRIu64 "\n", first, end - 1);
    for (unsigned i = 0; i < STORM_TOTAL_COUNT; i++)
        fprintf(file, "%s %" PRIu64 "\n", names[i], totals.sum[i]);
    fprintf(file, "least_ticks %" PRIu64 "\n", totals.least_ticks);
    bool fine = ferror(file) == 0;
    fine = fclose(file) == 0 && fine;
    return fine && rename(fresh, path) == 0;
}
