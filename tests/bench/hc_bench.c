/// The program that runs the benchmarks, each of which compares figures of one run:
/// hc_bench NAME [FILE.svg], hc_bench NAME [OPTION ...]
#include "tests/bench/bench.h"

#include <stdio.h>
#include <string.h>

static const struct benchmark {
    const char *name, *measures;
    int (*run)(const char *path);
} benchmarks[] = {
    {"timeline", "steps and resimulated ticks, against the pure steps in place", bench_timeline},
    {"rubber-band", "own predictions with snapshots of T and of the head; draws them to FILE.svg",
     bench_rubber_band},
};

/// Benchmarks with options of their own.
static const struct {
    const char *name, *measures;
    int (*run)(int count, char **arguments);
} others[] = {
    {"snapshots", "their size, cost and effect; [--table NAME] [--players N] [--json FILE]",
     bench_snapshots},
    {"server", "a tick's work by phases, and its floor; [--clients N] [--json FILE]", bench_server},
    {"client", "a client's work by phases, and its floor; [--clients N] [--json FILE]",
     bench_client},
    {"rewind", "the cost of rewinds, dense and selective; [--table NAME] [--json FILE]",
     bench_rewind},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

int main(int argc, char **argv) {
    for (size_t i = 0; argc >= 2 && i < COUNT(others); i++)
        if (strcmp(argv[1], others[i].name) == 0)
            return others[i].run(argc - 2, argv + 2);
    for (size_t i = 0; (argc == 2 || argc == 3) && i < COUNT(benchmarks); i++)
        if (strcmp(argv[1], benchmarks[i].name) == 0)
            return benchmarks[i].run(argc == 3 ? argv[2] : NULL);
    fprintf(stderr, "usage: hc_bench NAME [FILE.svg], where NAME is one of\n");
    for (size_t i = 0; i < COUNT(benchmarks); i++)
        fprintf(stderr, "  %-12s %s\n", benchmarks[i].name, benchmarks[i].measures);
    for (size_t i = 0; i < COUNT(others); i++)
        fprintf(stderr, "  %-12s %s\n", others[i].name, others[i].measures);
    return 2;
}
