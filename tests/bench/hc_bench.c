// Benchmarks, each a ratio inside one run: hc_bench timeline
#include "tests/bench/bench.h"

#include <stdio.h>
#include <string.h>

static const struct benchmark {
    const char *name, *what;
    int (*run)(void);
} benchmarks[] = {
    {"timeline", "steps and resimulated ticks, against the pure steps in place", bench_timeline},
};

int main(int argc, char **argv) {
    size_t count = sizeof benchmarks / sizeof benchmarks[0];
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(argv[1], benchmarks[i].name) == 0)
            return benchmarks[i].run();
    fprintf(stderr, "usage: hc_bench NAME, where NAME is one of\n");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %-10s %s\n", benchmarks[i].name, benchmarks[i].what);
    return 2;
}
