/// The program that runs the benchmarks, each of which compares figures of one run:
/// hc_bench NAME [OPTION VALUE ...]
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct benchmark {
    const char *name, *measures;
    const char *options; ///< names of the options that the benchmark takes
    bool (*run)(const struct bench_options *options, json_t *json);
} benchmarks[] = {
    {"timeline", "steps and resimulated ticks, against the pure steps in place", "",
     bench_timeline},
    {"rubber-band", "own predictions with snapshots of T and of the head", "[--svg FILE]",
     bench_rubber_band},
    {"feel", "when screens show a key, how far off, and when delays follow a change",
     "[--json FILE] [--full] [--table clock|delayed|grid|steady|laggard|changes|congestion|taps]",
     bench_feel},
    {"aim", "the share of shots that hit what is seen, over the latency", "[--json FILE]",
     bench_aim},
    {"snapshots", "their size, cost and effect",
     "[--players N] [--json FILE] [--table sizes|entropy|growth|latency|aims|spread]",
     bench_snapshots},
    {"server", "a tick's work by phases, and its floor",
     "[--clients N] [--places N] [--evict KB] [--extrapolation hold|linear|step] [--json FILE]",
     bench_server},
    {"client", "a client's work by phases, and its floor", "[--clients N] [--json FILE]",
     bench_client},
    {"wire", "a daemon's floor with the kernel: its datagrams without a game",
     "[--clients N] [--up BYTES] [--down BYTES] [--json FILE]", bench_wire},
    {"inspector", "what a match costs while somebody looks at it", "[--json FILE]",
     bench_inspector},
    {"plugin", "the arena as a plugin against the built-in one", "--game FILE [--json FILE]",
     bench_plugin},
    {"rewind", "the cost of rewinds, dense and selective",
     "[--json FILE] [--table redone|late|mixed|selective|single]", bench_rewind},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

bool bench_wants(const struct bench_options *options, const char *table, unsigned players) {
    return (options->table == NULL || strcmp(options->table, table) == 0) &&
           (options->players == 0 || options->players == players);
}

/// Beyond HC_EXTRAPOLATION_STEP: there is none of this name.
static enum hc_extrapolation extrapolation_of(const char *name) {
    static const char *const names[] = {[HC_EXTRAPOLATION_HOLD] = "hold",
                                        [HC_EXTRAPOLATION_LINEAR] = "linear",
                                        [HC_EXTRAPOLATION_STEP] = "step"};
    unsigned how = 0;
    while (how < COUNT(names) && strcmp(name, names[how]) != 0)
        how++;
    return (enum hc_extrapolation)how;
}

static bool parse(const struct benchmark *benchmark, int count, char **arguments,
                  struct bench_options *options) {
    for (int i = 0; i < count; i += 2) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--full") == 0 && strstr(benchmark->options, name) != NULL) {
            options->full = true;
            i--;
            continue;
        }
        if (value == NULL || strncmp(name, "--", 2) != 0 ||
            strstr(benchmark->options, name) == NULL)
            return false;
        if (strcmp(name, "--json") == 0)
            options->json = value;
        else if (strcmp(name, "--table") == 0)
            options->table = value;
        else if (strcmp(name, "--game") == 0)
            options->game = value;
        else if (strcmp(name, "--svg") == 0)
            options->svg = value;
        else if (strcmp(name, "--players") == 0 || strcmp(name, "--clients") == 0)
            options->players = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--places") == 0)
            options->places = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--evict") == 0)
            options->evict_kb = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--extrapolation") == 0)
            options->extrapolation = extrapolation_of(value);
        else if (strcmp(name, "--up") == 0)
            options->up = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--down") == 0)
            options->down = (unsigned)strtoul(value, NULL, 10);
        else
            return false;
    }
    return options->extrapolation <= HC_EXTRAPOLATION_STEP;
}

static int run(const struct benchmark *benchmark, const struct bench_options *options) {
    json_t *json = json_array();
    bool ok = json != NULL && benchmark->run(options, json);
    if (ok && options->json != NULL && json_dump_file(json, options->json, JSON_INDENT(2)) != 0) {
        fprintf(stderr, "%s cannot be written\n", options->json);
        ok = false;
    }
    json_decref(json);
    return ok ? 0 : 1;
}

int main(int argc, char **argv) {
    struct bench_options options = {.extrapolation = HC_EXTRAPOLATION_STEP};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc >= 2 && i < COUNT(benchmarks); i++)
        if (strcmp(argv[1], benchmarks[i].name) == 0 &&
            parse(&benchmarks[i], argc - 2, argv + 2, &options))
            return run(&benchmarks[i], &options);
    fprintf(stderr, "usage: hc_bench NAME [OPTION VALUE ...]\n");
    for (size_t i = 0; i < COUNT(benchmarks); i++)
        fprintf(stderr, "  %-12s %s %s\n", benchmarks[i].name, benchmarks[i].measures,
                benchmarks[i].options);
    return 2;
}
