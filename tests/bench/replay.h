/// The matches that `hc_bench server` and `hc_bench client` record and replay.
#pragma once

#include "tests/bench/bench.h"
#include "tests/bench/bot_match.h"

enum {
    BENCH_REPLAYS = 5, ///< of each match; the best one counts
    BENCH_REPLAY_NEAR_US = 20000,
    BENCH_REPLAY_FAR_US = 150000,
    BENCH_REPLAY_LOSS_PPM = 20000,
};

struct bench_replay_row {
    uint16_t clients;
    uint32_t view; ///< units, with about 8 other players in it on average; 0: everything
    uint32_t warm_up_ticks, ticks;
};

/// Replays and prints a recorded match. Returns its figures as JSON; NULL: no memory, or the replay
/// differed from the recording.
typedef json_t *bench_replay(const struct bench_replay_row *row,
                             const struct bench_recording *recording,
                             const struct bench_match_result *match);

/// Plays and replays the matches that the options want, and adds their figures to `json`; with more
/// places, each of them in a world with a place for each client first. False: one failed.
bool bench_replay_matches(const struct bench_options *options, json_t *json, bench_replay *replay);
