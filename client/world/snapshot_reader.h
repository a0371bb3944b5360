/// Reads snapshots: decodes bits, against baselines, to values. All of a snapshot is read before
/// any of it is used; it is then complete, or it is refused and nothing has changed. A snapshot
/// becomes a baseline of later ones once it is accepted, and is acked only then.
#pragma once

#include "client/world/baselines.h"
#include "common/extrapolate.h"
#include "proto/compare.h"
#include "proto/snapshot.h"

/// A unit in a snapshot.
struct hc_cl_received_value {
    hc_unit unit;
    bool dropped;               ///< the client no longer knows the unit; there is no value
    bool correction;            ///< of a tick before the snapshot's
    hc_tick base_as_of;         ///< of the snapshot with its baseline; HC_NO_TICK: it has none
    struct hc_unit_value value; ///< in the reader's memory
};

struct hc_cl_received_input {
    hc_player player;
    hc_tick tick;
    uint8_t input[HC_INPUT_MAX]; ///< sanitized
};

/// A game event.
struct hc_cl_received_event {
    hc_tick tick;
    hc_entity entity;
    hc_game_event event;
};

/// A tick that is not final yet, whose game events the snapshot lists.
struct hc_cl_received_early {
    hc_tick tick;
    uint32_t end; ///< The events of the tick end at this place of `events`.
};

/// A decoded snapshot, until the next is decoded.
struct hc_cl_received {
    struct hc_snapshot header;
    uint32_t value_count, input_count, roster_count, forced_count;
    struct hc_cl_received_value *values; ///< units in ascending order, corrections from new to old
    struct hc_cl_received_input *inputs;
    struct hc_snapshot_roster *roster_changes;
    struct hc_snapshot_forced *forced;
    hc_tick events_first;                ///< the first final tick whose events the snapshot lists
    uint32_t event_ticks, event_count;   ///< number of these ticks, and of all their events
    struct hc_cl_received_event *events; ///< [event_count], then those of the early ticks
    uint32_t early_count;
    struct hc_cl_received_early early[HC_GAME_EVENTS_EARLY]; ///< [early_count] newest tick first
};

struct hc_cl_snapshot_reader;

/// Bytes of a reader for `world`.
size_t hc_cl_snapshot_reader_memory(const struct hc_world *world);

/// Creates a reader for a client of `own_count` players, with the allocator of `world`, which is
/// borrowed. NULL when memory is short.
struct hc_cl_snapshot_reader *hc_cl_snapshot_reader_create(const struct hc_world *world,
                                                           uint8_t own_count);

/// Releases its memory, decoded snapshots included; NULL is allowed.
void hc_cl_snapshot_reader_destroy(struct hc_cl_snapshot_reader *reader);

/// Decodes the SNAPSHOT that is the present message of `body` to *snapshot; `near` is a tick within
/// 32767 of its server tick. HC_MALFORMED. HC_TOO_OLD: a baseline of it is not here, or it is too
/// old to become one, or one of its server tick was accepted already. HC_INVALID: its hash is
/// wrong.
enum hc_status hc_cl_snapshot_reader_decode(struct hc_cl_snapshot_reader *reader,
                                            const struct hc_body *body, hc_tick near,
                                            const struct hc_cl_received **snapshot);

/// Makes the snapshot that hc_cl_snapshot_reader_decode returned last with HC_OK a baseline. Once
/// for each.
void hc_cl_snapshot_reader_accept(struct hc_cl_snapshot_reader *reader);

// The following are for the snapshot for which hc_cl_snapshot_reader_decode has returned HC_INVALID
// last, until the next is decoded.

/// Names a suspect. The hash covers the whole snapshot, so it can only be the first field that the
/// client's own step has changed since the baseline of its unit: all other values are as the server
/// sent them.
struct hc_difference hc_cl_snapshot_reader_suspect(const struct hc_cl_snapshot_reader *reader);

/// Writes the hashes of its units for COMPARE, HC_COMPARE_HASH_BYTES each; returns their number.
uint32_t hc_cl_snapshot_reader_hashes(const struct hc_cl_snapshot_reader *reader, uint8_t *out);

/// Compares it with the server's answer; writes the first difference. False: there is none.
bool hc_cl_snapshot_reader_compare(const struct hc_cl_snapshot_reader *reader,
                                   const struct hc_differs *differs, struct hc_difference *out);

/// The snapshot decoded last with HC_OK, until the next is decoded.
const struct hc_cl_received *
hc_cl_snapshot_reader_newest(const struct hc_cl_snapshot_reader *reader);

/// Decodes a snapshot and accepts it if it is HC_OK.
enum hc_status hc_cl_snapshot_reader_read(struct hc_cl_snapshot_reader *reader,
                                          const struct hc_body *body, hc_tick near,
                                          const struct hc_cl_received **snapshot);
