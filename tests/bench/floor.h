/// The floor of a server or a client: opening the datagrams that it receives and sealing those that
/// it sends, without any game.
///
/// Calls belong in this order: bench_floor_init; bench_floor_receives and bench_floor_sends for
/// each datagram; bench_floor_run as often as wanted; bench_floor_free.
#pragma once

#include "proto/seal.h"
#include "tests/bench/recording.h"

struct bench_floor {
    struct bench_events received, sent; ///< DATA, sealed with the keys below
    struct hc_sealer *sealers;          ///< of each connection, by cid
    uint64_t open_ns, seal_ns;          ///< the shortest times for all of them
};

/// False: no memory.
bool bench_floor_init(struct bench_floor *floor);
void bench_floor_free(struct bench_floor *floor);

/// Copies a datagram; only DATA counts.
void bench_floor_receives(struct bench_floor *floor, const uint8_t *bytes, size_t size);
void bench_floor_sends(struct bench_floor *floor, const uint8_t *bytes, size_t size);

/// Opens and seals all datagrams. False: memory was short before.
bool bench_floor_run(struct bench_floor *floor);

/// Processor time of this thread, ns.
uint64_t bench_cpu_ns(void);
