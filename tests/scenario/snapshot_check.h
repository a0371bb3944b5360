/// Checks every snapshot twice: against the server's timeline when it is sent, and against the
/// client's timeline when it is applied.
#pragma once

#include "tests/scenario/scenario.h"

struct snapshot_check;

/// Creates a check for all clients of `scenario`, which observes its simulation: what the host
/// sends, and what the clients have applied. It fails the test unless
///   - each snapshot is of the expected tick, is the only one of its head, and has the server's
///   states
///     and newest inputs;
///   - the client then holds every unit that was sent, and no unit that was dropped.
struct snapshot_check *snapshot_check_create(struct scenario *scenario);

void snapshot_check_destroy(struct snapshot_check *check);

/// Whether the snapshot of the head `as_of`, one of the newest sent to the client, left the unit
/// out because of its turn: the snapshot's tick is of the other turn, and the unit was in the one
/// before or is new in view.
bool snapshot_check_waits(const struct snapshot_check *check, unsigned client, hc_tick as_of,
                          hc_unit unit);

/// Counts of one client since the last snapshot_check_restart.
struct snapshot_count {
    uint64_t snapshots;                   ///< applied, with all units as they were sent
    uint64_t past;                        ///< of those, of a tick before the head
    uint64_t units, corrections, dropped; ///< in them
    uint64_t inexact;    ///< snapshots after which some unit in view was not the server's
    uint32_t unsent;     ///< most snapshots in a row without some unit in view
    uint64_t exact_us;   ///< when the newest snapshot was applied that was not inexact
    uint64_t inexact_us; ///< when the newest inexact one was applied
};
struct snapshot_count snapshot_check_count(const struct snapshot_check *check, unsigned client);

/// Resets the counts.
void snapshot_check_restart(struct snapshot_check *check);
