/// Compares the remote players that clients show with the server's final states for that moment.
///
/// Samples are taken right after a client's tick, and wait until the server's final tick has passed
/// them. Dead and teleported players do not count.
#pragma once

#include "hindcast/histogram.h"
#include "server/state.h"
#include "tests/sim/sim.h"

enum { BENCH_DISPLAY_PENDING = 1 << 17 };

struct bench_display_error_sample {
    hc_tick tick;
    uint32_t fraction; ///< of the way to the next tick, in 1/65536
    hc_entity entity;
    bool there;  ///< the client shows the player
    double x, y; ///< as it shows it; meaningful while `there`
};

struct bench_display_error {
    struct hc_histogram error; ///< distance, in 1/256 of a unit
    uint64_t unseen;           ///< samples of players in view that the client did not show
    uint32_t pending;
    struct bench_display_error_sample samples[BENCH_DISPLAY_PENDING];
};

/// Samples all remote players that are in the view of `client`, as it shows them now.
void bench_display_error_sample(struct bench_display_error *display_error, struct hc_sim *sim,
                                unsigned client, const struct hc_sv_peer *peer);

/// Compares the samples of ticks that are final by now.
void bench_display_error_judge(struct bench_display_error *display_error,
                               const struct hc_server *host);
