/// Reads snapshots: from bits, and what was told before, to values. All of a snapshot is read
/// before anything of it is believed; it is then either all there, or refused and nothing has
/// changed. Later ones are told against one only once it is kept, which whoever acknowledges it
/// does.
///
/// The session has one; whoever wants to know what a server says may have another.
#pragma once

#include "client/baselines.h"
#include "common/extrapolate.h"
#include "proto/snapshot.h"

enum {
    HC_CL_READER_INPUTS = 4096,         ///< told in one snapshot
    HC_CL_READER_ROSTER_CHANGES = 1024, ///< told in one snapshot
    HC_CL_READER_FORCED = 64,           ///< told in one snapshot
};

/// What a snapshot tells of a unit.
struct hc_cl_received_value {
    hc_unit unit;
    bool dropped;               ///< the client no longer knows it; there is no value
    bool correction;            ///< of a tick before the snapshot's
    struct hc_unit_value value; ///< in the reader's memory
};

struct hc_cl_received_input {
    hc_player player;
    hc_tick tick;
    uint8_t input[HC_INPUT_MAX]; ///< sanitized
};

/// What a snapshot says, until the next is read.
struct hc_cl_received {
    struct hc_snapshot head;
    uint32_t value_count, input_count, roster_count, forced_count;
    struct hc_cl_received_value *told; ///< units in ascending order, then corrections, newest first
    struct hc_cl_received_input *inputs;
    struct hc_snapshot_roster *roster_changes;
    struct hc_snapshot_forced *forced;
};

struct hc_cl_snapshot_reader;

/// Bytes that it takes.
size_t hc_cl_snapshot_reader_memory(const struct hc_world *world);

/// For `world`, which is borrowed; its allocator is used. NULL when memory is short.
struct hc_cl_snapshot_reader *hc_cl_snapshot_reader_create(const struct hc_world *world,
                                                           uint8_t own_count);

/// Gives its memory back to the world's allocator, and with it all that it had said; NULL is fine.
void hc_cl_snapshot_reader_destroy(struct hc_cl_snapshot_reader *reader);

/// Reads the SNAPSHOT that is the present message of `body`; `near` is a tick within 32767 of its
/// head. HC_OK, and *said is what it says. HC_MALFORMED; HC_TOO_OLD: it was told against what is
/// not here, or so long ago that it cannot be kept, or one of that head is kept already;
/// HC_INVALID: it does not have its hash.
enum hc_status hc_cl_snapshot_reader_decode(struct hc_cl_snapshot_reader *reader,
                                            const struct hc_body *body, hc_tick near,
                                            const struct hc_cl_received **said);

/// Keeps what hc_cl_snapshot_reader_decode gave last, with HC_OK and once, for later ones to be
/// told against.
void hc_cl_snapshot_reader_accept(struct hc_cl_snapshot_reader *reader);

/// What the last hc_cl_snapshot_reader_decode that gave HC_OK gave, until the next one.
const struct hc_cl_received *
hc_cl_snapshot_reader_newest(const struct hc_cl_snapshot_reader *reader);

/// Looks, and keeps what is HC_OK: for those who acknowledge it in any case.
enum hc_status hc_cl_snapshot_reader_read(struct hc_cl_snapshot_reader *reader,
                                          const struct hc_body *body, hc_tick near,
                                          const struct hc_cl_received **said);
