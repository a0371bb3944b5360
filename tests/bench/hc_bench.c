/// The program that runs the benchmarks, each of which compares figures of one run:
/// hc_bench NAME [FILE.svg], hc_bench snapshots [OPTION ...]
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

int main(int argc, char **argv) {
    size_t count = sizeof benchmarks / sizeof benchmarks[0];
    if (argc >= 2 && strcmp(argv[1], "snapshots") == 0)
        return bench_snapshots(argc - 2, argv + 2);
    for (size_t i = 0; (argc == 2 || argc == 3) && i < count; i++)
        if (strcmp(argv[1], benchmarks[i].name) == 0)
            return benchmarks[i].run(argc == 3 ? argv[2] : NULL);
    fprintf(stderr, "usage: hc_bench NAME [FILE.svg], where NAME is one of\n");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %-12s %s\n", benchmarks[i].name, benchmarks[i].measures);
    fprintf(stderr, "  %-12s %s\n", "snapshots",
            "their size, cost and effect; [--table NAME] [--players N] [--json FILE]");
    return 2;
}
