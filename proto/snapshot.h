/// SNAPSHOT and the messages that follow it in its datagram: what the server says of the world.
///
///     SNAPSHOT   [3, as_of, phase_us, ack_delay_us, as_of - tick, as_of - refusal,
///                 as_of - final, chain, hash, [A + 1 - tick, ...], [state ...]]
///     INPUTS     [4, player, first - tick, count, run]
///     CONTROL    [5, player, at - tick, control]
///     FORCED     [6, player, tick - first, count]
///     CORRECTION [7, tick - at, entity, state ...]
///
/// `tick` is always that of the SNAPSHOT before. An entity's state is nil: not told, `false`:
/// absent, or its fields in table order, each an integer. SNAPSHOT tells the entities 0, 1, 2 ...
/// in order; those after its end are not told.
///
/// A datagram is filled in this order until it is full: SNAPSHOT; for every player its newest known
/// input before `tick` (the prediction base: an INPUTS that starts before `tick`); FORCED; CONTROL
/// from `tick` on; INPUTS nearest `tick`; CORRECTION, newest first. Puts and gets behave as
/// message.h says.
#pragma once

#include "common/game.h"
#include "common/timeline.h"
#include "proto/body.h"
#include "proto/datagram.h"
#include "proto/input_run.h"
#include "proto/message.h"

#include <stdalign.h>

enum {
    /// How far INPUTS, CONTROL and FORCED may lie from the snapshot's tick, either way: a base may
    /// be as old as a connection, and half a year of ticks still takes five bytes.
    HC_SNAPSHOT_SPAN_MAX = (1 << 30) - 1,
};

struct hc_snapshot {
    hc_tick as_of;         ///< the server's head when it was sent
    uint32_t phase_us;     ///< since that tick was due, [0, HC_PHASE_MAX_US]
    uint32_t ack_delay_us; ///< since the datagram named by `ack` came, [0, HC_ACK_DELAY_MAX_US]
    hc_tick tick;          ///< T, the tick shown; as_of - tick in [0, HC_HISTORY_MAX]
    hc_tick refusal;       ///< own inputs before it are refused; as_of - it in [0, HC_HISTORY_MAX]
    hc_tick final;         ///< F; as_of - final in [0, HC_HISTORY_MAX]
    uint64_t chain;        ///< the chain hash at F
    uint32_t hash;         ///< low 32 bits of hc_world_hash over what is told, the rest unknown
    uint8_t own_count;     ///< [0, HC_OWN_PLAYERS_MAX]
    hc_tick complete[HC_OWN_PLAYERS_MAX]; ///< A of each own player, in WELCOME's order; all at
                                          ///< least tick - 1, at most tick + HC_SNAPSHOT_SPAN_MAX
};

/// A run of known inputs of a player.
struct hc_snapshot_inputs {
    hc_player player;
    hc_tick first;           ///< may lie before the snapshot's tick
    uint32_t count;          ///< ticks, [1, HC_INPUT_RUN_MAX]
    struct hc_input_run run; ///< yields them, borrowed from the datagram
};

/// A join or a leave.
struct hc_snapshot_control {
    hc_player player;
    hc_tick tick;
    enum hc_control control; ///< never HC_CONTROL_NONE
};

/// Inputs of an own player that the server did without.
struct hc_snapshot_forced {
    hc_player player;
    hc_tick first;  ///< at most the snapshot's tick
    uint32_t count; ///< ticks, [1, HC_INPUT_RUN_MAX]
};

/// An entity at a tick before the snapshot's, as it is after the rewind. `state` is the whole
/// struct in host byte order, zeros unless HC_ALIVE.
struct hc_snapshot_correction {
    hc_tick tick; ///< snapshot's tick - it in [1, HC_HISTORY_MAX]
    hc_entity entity;
    uint8_t presence; ///< HC_ABSENT or HC_ALIVE
    alignas(max_align_t) uint8_t state[HC_STATE_MAX];
};

/// The most bytes that a SNAPSHOT of `world` can take, with every entity alive and every value at
/// its longest; it must be at most HC_DATA_BODY_MAX for the world to be served.
size_t hc_snapshot_worst(const struct hc_world *world);

/// The chain hash at t from the one at t - 1 (0 at tick 0) and hc_world_hash at t.
uint64_t hc_snapshot_chain(uint64_t previous, uint64_t world_hash);

/// Appends SNAPSHOT with `presence[entities]` (HC_UNKNOWN: not told) and `states`, `stride` apart.
bool hc_snapshot_put(struct hc_writer *body, const struct hc_world *world,
                     const struct hc_snapshot *snapshot, const uint8_t *presence,
                     const uint8_t *states);

/// Reads SNAPSHOT; fills `presence[entities]` and `states[entities * stride]`, zeros where not
/// alive. Whether `hash` is that of what was told is left to the caller.
enum hc_status hc_snapshot_get(const struct hc_body *body, const struct hc_world *world,
                               struct hc_snapshot *out, uint8_t *presence, uint8_t *states);

/// Appends INPUTS for up to `count` ticks, [1, HC_INPUT_RUN_MAX], of `player` from `first` on, at
/// most HC_SNAPSHOT_SPAN_MAX from `tick`. Returns how many ticks went in, oldest first; 0: none,
/// nothing changed. `source` is called with player 0.
uint32_t hc_snapshot_put_inputs(struct hc_writer *body, const struct hc_world *world, hc_tick tick,
                                hc_player player, hc_tick first, uint32_t count,
                                hc_input_source *source, void *context);

/// Reads INPUTS; `tick` is that of the snapshot before.
enum hc_status hc_snapshot_get_inputs(const struct hc_body *body, const struct hc_world *world,
                                      hc_tick tick, struct hc_snapshot_inputs *out);

/// Appends CONTROL.
bool hc_snapshot_put_control(struct hc_writer *body, hc_tick tick,
                             const struct hc_snapshot_control *control);

/// Reads CONTROL.
enum hc_status hc_snapshot_get_control(const struct hc_body *body, const struct hc_world *world,
                                       hc_tick tick, struct hc_snapshot_control *out);

/// Appends FORCED.
bool hc_snapshot_put_forced(struct hc_writer *body, hc_tick tick,
                            const struct hc_snapshot_forced *forced);

/// Reads FORCED.
enum hc_status hc_snapshot_get_forced(const struct hc_body *body, const struct hc_world *world,
                                      hc_tick tick, struct hc_snapshot_forced *out);

/// Appends CORRECTION: `entity` at `at` < `tick`; `state` is read only when HC_ALIVE.
bool hc_snapshot_put_correction(struct hc_writer *body, const struct hc_world *world, hc_tick tick,
                                hc_tick at, hc_entity entity, enum hc_presence presence,
                                const void *state);

/// Reads CORRECTION.
enum hc_status hc_snapshot_get_correction(const struct hc_body *body, const struct hc_world *world,
                                          hc_tick tick, struct hc_snapshot_correction *out);
