/// The table of recorded matches, and the options that choose from it.
#include "tests/bench/replay.h"

#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AIM_TICKS = 6 };

static const struct bench_replay_row rows[] = {
    {16, 2800, 180, 600},
    {64, 2500, 180, 300},
    {256, 2500, 120, 120},
    {1024, 2500, 90, 60},
};

struct options {
    unsigned clients; ///< 0: all rows
    const char *json; ///< NULL: none
};

static bool parse(int count, char **arguments, struct options *options) {
    for (int i = 0; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (value == NULL)
            return false;
        if (strcmp(arguments[i], "--json") == 0)
            options->json = value;
        else if (strcmp(arguments[i], "--clients") == 0)
            options->clients = (unsigned)strtoul(value, NULL, 10);
        else
            return false;
    }
    return true;
}

static json_t *run(const struct bench_replay_row *row, bench_replay *replay) {
    static struct bench_recording recording;
    static struct bench_match_result match;
    struct bench_match_config config = {.players = row->clients,
                                        .view = row->view,
                                        .snapshot_rate = BENCH_TICK_RATE,
                                        .near_us = BENCH_REPLAY_NEAR_US,
                                        .far_us = BENCH_REPLAY_FAR_US,
                                        .loss_ppm = BENCH_REPLAY_LOSS_PPM,
                                        .warm_up_ticks = row->warm_up_ticks,
                                        .ticks = row->ticks,
                                        .aim_ticks = AIM_TICKS,
                                        .recording = &recording};
    recording = (struct bench_recording){.recorded = row->clients / 2u};
    json_t *figures = NULL;
    if (bench_match(&config, &match) && !recording.host.failed && !recording.client.failed)
        figures = replay(row, &recording, &match);
    bench_recording_free(&recording);
    if (figures == NULL)
        fprintf(stderr, "the match of %u clients could not be played twice alike\n", row->clients);
    fflush(stdout);
    return figures;
}

int bench_replay_matches(const char *name, int count, char **arguments, bench_replay *replay) {
    struct options options = {0};
    if (!parse(count, arguments, &options)) {
        fprintf(stderr, "usage: hc_bench %s [--clients N] [--json FILE]\n", name);
        return 2;
    }
    json_t *json = json_array();
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof rows / sizeof rows[0]; i++) {
        if (options.clients != 0 && rows[i].clients != options.clients)
            continue;
        json_t *figures = run(&rows[i], replay);
        ok = figures != NULL && json_array_append_new(json, figures) == 0;
    }
    if (ok && options.json != NULL && json_dump_file(json, options.json, JSON_INDENT(2)) != 0) {
        fprintf(stderr, "%s cannot be written\n", options.json);
        ok = false;
    }
    json_decref(json);
    return ok ? 0 : 1;
}
