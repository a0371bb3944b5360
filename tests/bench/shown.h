/// What clients show of remote players, against what the server ends up with for the moment shown.
///
/// Frames are sampled as they are drawn, right after a client's tick; a sample waits until the
/// server's final tick has passed it. Who is dead or jumps there does not count.
#pragma once

#include "hindcast/histogram.h"
#include "server/host_internal.h"
#include "tests/sim/sim.h"

enum { BENCH_SHOWN_PENDING = 1 << 17 };

struct bench_shown_sample {
    hc_tick tick;
    uint32_t fraction; ///< of the way to the next tick, in 1/65536
    hc_entity entity;
    bool there;   ///< the client shows it
    int64_t x, y; ///< in 1/256 of a unit
};

struct bench_shown {
    struct hc_histogram error; ///< distance, in 1/256 of a unit
    uint64_t unseen;           ///< samples of players in view whom the client did not show
    uint32_t pending;
    struct bench_shown_sample samples[BENCH_SHOWN_PENDING];
};

/// Samples what `client` shows now of all remote players that are in its view.
void bench_shown_take(struct bench_shown *shown, struct hc_sim *sim, unsigned client,
                      const struct hc_sv_peer *peer);

/// Judges the samples of ticks that are final by now.
void bench_shown_judge(struct bench_shown *shown, const struct hc_sv_host *host);
