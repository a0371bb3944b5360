/// hc_storm: random matches over bad links, each drawn from one seed.
///
/// plan.h lists the numbers that are drawn, checkers/table.c the invariants.
#define _DEFAULT_SOURCE // NOLINT(readability-identifier-naming): for isatty

#include "tests/storm/processes.h"
#include "tests/storm/marks.h"
#include "tests/storm/shrink.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS_DEFAULT = 1000, LIST_MAX = 100000, SHRINK_S = 240, SLICE = 1000 };

/// Exit statuses.
enum { FINE = 0, INCORRECT = 1, USAGE = 2, CRASHED = 3, STUCK = 4, UNMARKED = 5 };

struct options {
    struct storm_work work;
    bool one, ranged, shrink, histogram, marks;
    uint64_t seed;
    const char *state;
    struct storm_listed list[LIST_MAX]; ///< settings are never freed
    unsigned list_count;
};

enum { KEY_SEEDS = 256, KEY_TRACE, KEY_SHRINK, KEY_HISTOGRAM, KEY_STATE, KEY_MARKS, KEY_LIST };

static const struct argp_option option_table[] = {
    {"seed", 's', "N", 0, "Play seed N alone, and print what it draws", 0},
    {"seeds", KEY_SEEDS, "A..B", 0, "Play seeds A to B (default 1..1000)", 0},
    {"list", KEY_LIST, "FILE", 0,
     "Play the seeds that FILE names, the first word of each line; settings of --set for that one "
     "alone may follow, and then anything",
     0},
    {"minutes", 'm', "M", 0, "Stop after M minutes; without --seeds, go on until then", 0},
    {"jobs", 'j', "J", 0, "Play in J processes (default: one for each processor)", 0},
    {"set", 'S', "KEY=VALUE", 0,
     "Set a number of the plan instead of drawing it: KEY=V of the match, KEY@I=V of client I, "
     "KEY@*=V of all; may be repeated",
     0},
    {"shrink", KEY_SHRINK, NULL, 0, "With --seed: find a smaller match that fails alike", 0},
    {"trace", KEY_TRACE, NULL, 0,
     "Print each seed's trace hash, to compare builds with one another", 0},
    {"histogram", KEY_HISTOGRAM, NULL, 0, "Print what the seeds draw, and play nothing", 0},
    {"state", KEY_STATE, "FILE", 0,
     "Pass over the seeds that were played according to FILE, and add those that are played; "
     "without --seeds, go on after them",
     0},
    {"marks", KEY_MARKS, NULL, 0,
     "Print how often each marked place was passed; fail if one never was", 0},
    {0},
};

static bool number(const char *text, uint64_t *value, char **end) {
    *value = strtoull(text, end, 10);
    return *text >= '0' && *text <= '9';
}

/// Reads one line of a list; a line that begins with no number is a comment.
static void read_listed(struct options *options, const char *line, struct argp_state *state) {
    struct storm_listed listed = {.settings = NULL};
    struct storm_plan plan;
    const char *wrong, *why;
    char *end;
    if (!number(line, &listed.seed, &end) || options->list_count == LIST_MAX)
        return;
    storm_plan_draw(&plan, listed.seed);
    if (storm_plan_set_words(&plan, end, &wrong, &why) == NULL)
        argp_error(state, "--list: seed %" PRIu64 ": %.*s %s", listed.seed,
                   (int)strcspn(wrong, " \t\r\n"), wrong, why);
    listed.settings = strdup(end);
    if (listed.settings == NULL)
        argp_failure(state, USAGE, 0, "--list: no memory");
    options->list[options->list_count++] = listed;
}

static void read_list(struct options *options, const char *path, struct argp_state *state) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    while (file != NULL && getline(&line, &room, file) > 0)
        read_listed(options, line, state);
    free(line);
    if (file == NULL || fclose(file) != 0 || options->list_count == 0)
        argp_error(state, "--list: %s names no seeds", path);
}

static void parse_seeds(struct options *options, const char *text, struct argp_state *state) {
    uint64_t first = 0, last = 0;
    char *end;
    if (!number(text, &first, &end) || strncmp(end, "..", 2) != 0 ||
        !number(end + 2, &last, &end) || *end != '\0' || last < first)
        argp_error(state, "--seeds: %s is not A..B", text);
    options->ranged = true;
    options->work.first = first;
    options->work.end = last + 1;
}

static void parse_set(struct options *options, const char *text, struct argp_state *state) {
    struct storm_plan plan;
    storm_plan_draw(&plan, 0);
    const char *why = storm_plan_set(&plan, text);
    if (why != NULL)
        argp_error(state, "--set: %s %s", text, why);
    if (options->work.set_count == STORM_SETS_MAX)
        argp_error(state, "--set: too many");
    options->work.sets[options->work.set_count++] = text;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct options *options = state->input;
    uint64_t value = 0;
    char *end;
    switch (key) {
    case 's':
        if (!number(text, &options->seed, &end) || *end != '\0')
            argp_error(state, "--seed: %s is no number", text);
        options->one = true;
        return 0;
    case 'j':
        if (!number(text, &value, &end) || *end != '\0' || value < 1 || value > STORM_JOBS_MAX)
            argp_error(state, "--jobs: %s is not in [1, %d]", text, STORM_JOBS_MAX);
        options->work.jobs = (unsigned)value;
        return 0;
    case 'm':
        options->work.seconds = strtod(text, &end) * 60;
        if (*end != '\0' || !(options->work.seconds > 0))
            argp_error(state, "--minutes: %s is no time", text);
        return 0;
    case KEY_SEEDS:
        parse_seeds(options, text, state);
        return 0;
    case KEY_LIST:
        read_list(options, text, state);
        return 0;
    case 'S':
        parse_set(options, text, state);
        return 0;
    case KEY_SHRINK:
        options->shrink = true;
        return 0;
    case KEY_TRACE:
        options->work.trace = true;
        return 0;
    case KEY_HISTOGRAM:
        options->histogram = true;
        return 0;
    case KEY_STATE:
        options->state = text;
        return 0;
    case KEY_MARKS:
        options->marks = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: no arguments are taken", text);
        return 0;
    case ARGP_KEY_END:
        if (options->state != NULL && options->list_count > 0)
            argp_error(state, "--state counts seeds from A to B, not those of --list");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// ---- One seed -----------------------------------------------------------------------------------

static int status_of(const struct storm_totals *totals) {
    if (totals->sum[STORM_TOTAL_CRASHED] > 0)
        return CRASHED;
    if (totals->sum[STORM_TOTAL_WRONG] > 0)
        return INCORRECT;
    return totals->sum[STORM_TOTAL_STUCK] > 0 ? STUCK : FINE;
}

static int play_one(const struct options *options) {
    struct storm_plan plan;
    struct storm_outcome outcome;
    struct storm_options play = {.deep = false};
    struct storm_totals totals = {.sum = {0}};
    storm_work_plan(&options->work, options->seed, &plan);
    if (!options->work.trace)
        storm_plan_print(&plan, stdout);
    if (options->shrink) {
        if (!storm_shrink(&plan, SHRINK_S)) {
            puts("it does not fail");
            return FINE;
        }
        puts("smallest:");
        storm_plan_print(&plan, stdout);
    }
    // In a process of its own, because it may crash.
    play.print = options->shrink ? NULL : stdout;
    storm_processes_try(&plan, &play, &outcome);
    storm_totals_add(&totals, &outcome);
    if (options->work.trace)
        printf("%" PRIu64 " %016" PRIx64 "\n", plan.seed, outcome.trace);
    else
        printf("%u ticks, %.1f s virtual, %" PRIu64 " datagrams, %" PRIu64 " snapshots, %" PRIu64
               " rewinds, trace %016" PRIx64 "\n",
               outcome.ticks, (double)outcome.virtual_us / 1e6, outcome.datagrams,
               outcome.snapshots, outcome.rewinds, outcome.trace);
    if (outcome.verdict.result == STORM_FINE)
        return FINE;
    storm_processes_report(&plan, &outcome);
    return strcmp(outcome.verdict.oracle, "crash") == 0 ? CRASHED : status_of(&totals);
}

// ---- The histogram ------------------------------------------------------------------------------

/// Prints a number's distribution in one line: the share that is neutral, and quartiles of the
/// rest.
static void print_distribution(const struct storm_key *key, int64_t *values, size_t count) {
    size_t odd = 0, neutral = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] == key->neutral)
            neutral++;
        else
            values[odd++] = values[i];
    for (size_t i = 1; i < odd; i++) {
        int64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    printf("%-18s %5.1f %% neutral (%" PRId64 ")", key->name,
           100.0 * (double)neutral / (double)count, key->neutral);
    if (odd > 0)
        printf(", else %" PRId64 " | %" PRId64 " | %" PRId64 " | %" PRId64 " | %" PRId64, values[0],
               values[odd / 4], values[odd / 2], values[odd * 3 / 4], values[odd - 1]);
    putchar('\n');
}

static int print_histogram(const struct options *options) {
    enum { SAMPLE = 2000 };
    uint64_t count = options->work.end - options->work.first;
    size_t n = count < SAMPLE ? (size_t)count : SAMPLE;
    struct storm_plan *plans = malloc(n * sizeof *plans);
    int64_t *values = malloc(n * sizeof *values);
    if (plans == NULL || values == NULL)
        return USAGE;
    for (size_t i = 0; i < n; i++)
        storm_work_plan(&options->work, options->work.first + i, &plans[i]);
    printf("%zu plans; least, quartiles and most of those not neutral:\n", n);
    for (unsigned k = 0; k < STORM_MATCH_KEY_COUNT; k++) {
        for (size_t i = 0; i < n; i++)
            values[i] = plans[i].match[k];
        print_distribution(&storm_match_keys[k], values, n);
    }
    const struct storm_key all = {.name = "all players"}, slots = {.name = "slots in all"};
    for (size_t i = 0; i < n; i++)
        values[i] = storm_plan_players(&plans[i]);
    print_distribution(&all, values, n);
    for (size_t i = 0; i < n; i++)
        values[i] = storm_plan_slots(&plans[i]);
    print_distribution(&slots, values, n);
    puts("of the first client:");
    for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++) {
        for (size_t i = 0; i < n; i++)
            values[i] = plans[i].client[0][k];
        print_distribution(&storm_client_keys[k], values, n);
    }
    free(plans);
    free(values);
    return FINE;
}

// ---- Many seeds ---------------------------------------------------------------------------------

/// Plays all of the work; with a state file slice by slice, so that an interruption loses little. A
/// usage status, or FINE.
static int play_slices(struct options *options, struct storm_result_of_work *all) {
    struct storm_work slice = options->work;
    *all = (struct storm_result_of_work){.end = slice.first};
    for (bool more = true; more; slice.first = all->end) {
        struct storm_result_of_work result;
        slice.end = options->work.end;
        if (options->state != NULL &&
            !storm_totals_missing(options->state, &slice.first, &slice.end)) {
            fprintf(stderr, "hc_storm: --state: %s cannot be read\n", options->state);
            return USAGE;
        }
        if (options->state != NULL && slice.end - slice.first > SLICE)
            slice.end = slice.first + SLICE;
        if (!storm_processes_play(&slice, &result)) {
            fprintf(stderr, "hc_storm: no more processes can be had\n");
            return USAGE;
        }
        storm_totals_merge(&all->totals, &result.totals);
        for (unsigned k = 0; k < sizeof all->marks / sizeof all->marks[0]; k++)
            all->marks[k] += result.marks[k];
        all->end = result.end;
        if (options->state != NULL &&
            !storm_totals_write(options->state, slice.first, result.end, &result.totals)) {
            fprintf(stderr, "hc_storm: --state: %s cannot be written\n", options->state);
            return USAGE;
        }
        double gone_s = (double)result.totals.sum[STORM_TOTAL_WALL_MS] / 1000;
        more = result.end == slice.end && result.end < options->work.end;
        if (slice.seconds > 0) {
            more = more && slice.seconds > gone_s;
            slice.seconds -= gone_s;
        }
    }
    return FINE;
}

static int play_many(struct options *options) {
    struct storm_work *work = &options->work;
    struct storm_result_of_work result;
    struct storm_totals before = {.sum = {0}};
    if (options->list_count > 0) {
        work->list = options->list;
        work->first = 0;
        work->end = options->list_count;
    } else if (!options->ranged) {
        uint64_t next = 1;
        if (options->state != NULL && !storm_totals_read(options->state, &next, &before)) {
            fprintf(stderr, "hc_storm: --state: %s cannot be read\n", options->state);
            return USAGE;
        }
        work->first = next;
        work->end = work->seconds > 0 ? UINT64_MAX : next + SEEDS_DEFAULT;
    }
    work->progress = isatty(STDERR_FILENO) != 0;
    if (play_slices(options, &result) != FINE)
        return USAGE;
    if (!work->trace)
        storm_totals_print(&result.totals, stdout);
    bool marked = !options->marks || storm_marks_print(result.marks, stdout);
    int status = status_of(&result.totals);
    return status != FINE || marked ? status : UNMARKED;
}

int main(int argc, char **argv) {
    static struct options options;
    static const struct argp argp = {
        .options = option_table,
        .parser = parse,
        .doc = "Plays random matches on a simulated network and checks invariants.\v"
               "Exit status: 0 all is well; 1 something was incorrect; 2 wrong usage, or a file or "
               "a process could not be had; 3 a match crashed; 4 something got stuck; 5 a mark was "
               "never passed. Of several kinds of failure the crash counts most, then the "
               "incorrect match."};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    argp_err_exit_status = USAGE;
    options.work.jobs = processors < 1                ? 1
                        : processors > STORM_JOBS_MAX ? STORM_JOBS_MAX
                                                      : (unsigned)processors;
    options.work.first = 1;
    options.work.end = 1 + SEEDS_DEFAULT;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.marks && storm_marks_count() == 0) {
        fprintf(stderr, "hc_storm: --marks: this build has none; configure with -DHC_MARKS=ON\n");
        return USAGE;
    }
    if (options.shrink && !options.one) {
        fprintf(stderr, "hc_storm: --shrink needs --seed\n");
        return USAGE;
    }
    if (options.histogram)
        return print_histogram(&options);
    return options.one ? play_one(&options) : play_many(&options);
}
