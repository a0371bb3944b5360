/// The benchmarks of hc_bench; no test depends on their times.
#pragma once

#include "hindcast/client.h"

#include <jansson.h>
#include <stdbool.h>

/// The options of a benchmark. Each benchmark has some of them.
struct bench_options {
    const char *table; ///< the only table to print; NULL: all of them
    unsigned players;  ///< plays only matches of so many; 0: of any number
    unsigned places;   ///< places of the world for players, at least; 0: one for each client
    unsigned evict_kb; ///< of other memory that is read before each tick
    enum hc_extrapolation extrapolation; ///< the clients' best
    unsigned up, down;                   ///< bytes of a datagram; 0: the default
    const char *game;                    ///< a plugin; NULL: none
    bool full;                           ///< plays all of a table, not a slice of it
    const char *svg;                     ///< the file of the picture; NULL: none
    const char *json;                    ///< the file of the figures; NULL: none
};

/// Whether the options want a match of `players` in a table.
bool bench_wants(const struct bench_options *options, const char *table, unsigned players);

// Each benchmark prints its figures, and may add them to the array `json`. False: it could not run,
// or its runs did not end alike; it has printed why.

/// The size of snapshots, their cost and their effect.
bool bench_snapshots(const struct bench_options *options, json_t *json);

/// The cost of rewinds: of whole worlds against copies and steps by hand, and of selective ones
/// against full ones.
bool bench_rewind(const struct bench_options *options, json_t *json);

/// The cost of a step and of a resimulated tick of the timeline.
bool bench_timeline(const struct bench_options *options, json_t *json);

/// The error of a client's predictions of itself with snapshots of T and with those of the head;
/// draws a part to `options->svg`.
bool bench_rubber_band(const struct bench_options *options, json_t *json);

/// The feel of a game in virtual time: the error of simulated time, the short taps that count, and
/// what screens show when, each beside its bound. False also if a figure is beyond ten times it.
bool bench_feel(const struct bench_options *options, json_t *json);

/// The share of shots that hit what their shooters see, over the latency.
bool bench_aim(const struct bench_options *options, json_t *json);

/// The work of a server's and of a client's tick by phases, in matches of several sizes, and its
/// ratio to the work of opening and sealing the same datagrams.
bool bench_server(const struct bench_options *options, json_t *json);
bool bench_client(const struct bench_options *options, json_t *json);

/// The cost of the arena as a plugin, `options->game`, against the one that is built in.
bool bench_plugin(const struct bench_options *options, json_t *json);

/// The cost of the inspector, while somebody looks at a match of 64.
bool bench_inspector(const struct bench_options *options, json_t *json);

/// The floor of a daemon with the kernel: datagrams of these sizes, sealed, without a game.
bool bench_wire(const struct bench_options *options, json_t *json);
