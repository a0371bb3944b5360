/// The table of recorded matches.
#include "tests/bench/replay.h"

#include <stdio.h>

enum { AIM_TICKS = 6 };

static const struct bench_replay_row rows[] = {
    {16, 2800, 180, 600},  {64, 2500, 180, 300}, {64, 0, 180, 240},
    {256, 2500, 120, 120}, {1024, 2500, 90, 60},
};

static json_t *run(const struct bench_replay_row *row, uint16_t places, enum hc_extrapolation how,
                   bench_replay *replay) {
    static struct bench_recording recording;
    static struct bench_match_result match;
    struct bench_match_config config = {.players = row->clients,
                                        .places = places,
                                        .extrapolation = how,
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

/// Whether there is a match of so many clients; 0: all.
static bool has_match(unsigned clients) {
    bool has = clients == 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        has |= rows[i].clients == clients;
    if (!has) {
        fprintf(stderr, "no match of %u clients is recorded, only of", clients);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (i == 0 || rows[i].clients != rows[i - 1].clients)
                fprintf(stderr, " %u", rows[i].clients);
        fprintf(stderr, "\n");
    }
    return has;
}

bool bench_replay_matches(const struct bench_options *options, json_t *json, bench_replay *replay) {
    if (!has_match(options->players))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (options->players != 0 && options->players != rows[i].clients)
            continue;
        uint16_t places[] = {rows[i].clients, (uint16_t)hc_tick_min(options->places, UINT16_MAX)};
        unsigned worlds = options->places > rows[i].clients ? 2 : 1;
        for (unsigned w = 0; w < worlds; w++) {
            json_t *figures = run(&rows[i], places[w], options->extrapolation, replay);
            if (figures == NULL || json_array_append_new(json, figures) != 0)
                return false;
        }
    }
    return true;
}
