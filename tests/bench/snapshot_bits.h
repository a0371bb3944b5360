/// The bits of snapshots by purpose, as their builder holds them once they are sent.
#pragma once

#include "server/replication/builder.h"

struct bench_snapshot_bits {
    uint64_t header;      ///< the header, and the ends of two empty lists
    uint64_t names;       ///< of units: which, and against which baseline
    uint64_t own, others; ///< values of the client's own players, and of others
    uint64_t unowned;     ///< values of the referee and of unowned entities
    uint64_t inputs;      ///< from the tick shown on
    uint64_t corrections; ///< of past ticks, with their names; and forced inputs, joins and leaves
    uint64_t all;         ///< of these, with the padding
};

/// Adds the bits of the snapshot that was built last.
void bench_snapshot_bits_add(struct bench_snapshot_bits *bits, const struct hc_sv_builder *builder);
