/// Counts of a snapshot: its bits by purpose, and the work that it took. The replication fills them
/// in; its caller sums them up.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The bits of snapshots by purpose; the rest of a datagram is overhead.
struct hc_sv_snapshot_bits {
    uint64_t header;      ///< the header, forced inputs, joins and leaves, and the number of units
    uint64_t names;       ///< of units: which, and against which baseline
    uint64_t own, others; ///< values of the client's own players, and of others
    uint64_t unowned;     ///< values of the referee and of unowned entities
    uint64_t inputs;      ///< from the tick shown on
    uint64_t corrections; ///< of past ticks, with their names
};

struct hc_sv_snapshot_counts {
    struct hc_sv_snapshot_bits bits;
    bool rewound;                           ///< it shows a tick that the newest rewind recomputed
    uint32_t corrections;                   ///< units of past ticks
    uint32_t deltas_encoded, deltas_reused; ///< of units
    uint32_t extrapolation_steps;           ///< ticks that their extrapolations simulated
    uint32_t units_examined;                ///< for the selection, and for each past tick
    uint32_t longest_unsent_ticks;          ///< since a unit in the client's view was last sent
};
