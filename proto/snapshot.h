/// SNAPSHOT: what the server says of the world, bit-packed into one binary.
///
///     SNAPSHOT [3, bits]
///     bits := head  forced ...  controls ...  names  { value [inputs] } ...  corrections
///
///     head       := as_of:16  number8(phase_us)  number8(ack_delay_us)  number4(as_of - tick)
///                   number5(as_of - refusal)  number4(as_of - final)  hash:32
///                   has_chain:1 [chain:64]  has_base:1 [base_age]
///                   number3(A + 1 - tick) for each own player
///     base_age   := as_of - base - 1 : 6, or 63:6 number8(as_of - base - 64)
///     forced     := 1 own:2 number5(tick - first) number3(count - 1) forced   | 0
///     controls   := 1 number6(player) number4(zigzag(at - tick)) leave:1 controls | 0
///     names      := [again] number4(count) { number4(units left out before it) from }
///     again      := 1                 all that the newest base told, against that; left out where
///                                     there is no base, or it told nothing
///                 | 0 number3(told)  { number2(left out - 1) number3(told - 1) } ...
///     from       := 1 age:6           against what the snapshot of head base - 1 - age told of it
///                 | 01                against nothing
///                 | 00                the client no longer knows it
///     value      := value.h's, of the unit at `tick`; then, of a player, inputs
///     inputs     := number1(runs), each number1(ticks left out) number2(ticks - 1) and every input
///                   against the one before it, the first against the value's
///     corrections:= 1 number3(at's distance to the tick before it - 1) number3(count - 1)
///                   { number2(units left out) has:1 [age:7 same:1] value.h's } corrections | 0
///
/// `number`N is delta.h's number in groups of N bits. A correction is told against what the
/// snapshot of head as_of - 1 - age told of that unit, at that very tick if `same`, else at the
/// tick that it showed; or against nothing. The first one's distance counts from `tick`. What a
/// value is told against is guessed forward to its tick by common/extrapolate.h with the referee of
/// this snapshot, which is told first.
///
/// The runs of `again` go through what the newest base told, in order, until its end, told and left
/// out by turns. What is named after them is not told against the newest base. The values of all
/// but those that are no longer known follow, in the order of their units.
///
/// A datagram is filled in this order, up to what its budget allows. Reading never trusts a number:
/// whatever the bits are, a read gives values in their ranges or fails.
#pragma once

#include "common/bits.h"
#include "common/timeline.h"
#include "common/unit.h"
#include "proto/body.h"
#include "proto/datagram.h"
#include "proto/message.h"

#include <stdalign.h>

enum {
    /// Ticks from the one shown on of which inputs can be known to a server.
    HC_SNAPSHOT_INPUTS_MAX = HC_HISTORY_MAX + HC_FUTURE_MAX + 1,
    HC_SNAPSHOT_OVERHEAD = 5, ///< bytes of msgpack around the bits
    HC_CHAIN_KEY_SIZE = 16,   ///< bytes
};

struct hc_snapshot {
    hc_tick as_of;         ///< the server's head when it was sent
    uint32_t phase_us;     ///< since that tick was due, [0, HC_PHASE_MAX_US]
    uint32_t ack_delay_us; ///< since the datagram named by `ack` came, [0, HC_ACK_DELAY_MAX_US]
    hc_tick tick;          ///< T, the tick shown; as_of - tick in [0, HC_HISTORY_MAX]
    hc_tick late_limit;    ///< own inputs before it are refused; as_of - it in [0, HC_HISTORY_MAX]
    hc_tick final;         ///< F; as_of - final in [0, HC_HISTORY_MAX]
    bool has_chain;
    uint64_t chain;    ///< the chain hash at F, if it is told
    uint32_t hash;     ///< low 32 bits of the sum of hc_unit_entity_hash over what is told
    hc_tick base;      ///< head of the newest snapshot that the client has acknowledged;
                       ///< as_of - base in [1, HC_SNAPSHOT_SPAN_MAX]; HC_NO_TICK: none
    uint8_t own_count; ///< [0, HC_OWN_PLAYERS_MAX], known from WELCOME
    hc_tick complete[HC_OWN_PLAYERS_MAX]; ///< A of each own player, in WELCOME's order; all at
                                          ///< least tick - 1
};

/// A join or a leave.
struct hc_snapshot_roster {
    hc_player player;
    hc_tick tick;
    enum hc_roster roster_change; ///< never HC_ROSTER_NONE
};

/// Inputs of an own player that the server did without.
struct hc_snapshot_forced {
    uint8_t own;    ///< index among the own players
    hc_tick first;  ///< at most the snapshot's tick
    uint32_t count; ///< ticks, [1, HC_INPUT_RUN_MAX]
};

/// What a value is told against.
enum hc_snapshot_from {
    HC_SNAPSHOT_BASE,    ///< the newest base
    HC_SNAPSHOT_OLDER,   ///< an older one, named
    HC_SNAPSHOT_NOTHING, ///< nothing
    HC_SNAPSHOT_DROPPED, ///< it is not told, but forgotten
};

struct hc_snapshot_unit {
    hc_unit unit;
    enum hc_snapshot_from from;
    hc_tick as_of; ///< with HC_SNAPSHOT_OLDER: head of the snapshot that told it; base - it in
                   ///< [1, HC_SNAPSHOT_AGE_MAX]
};

/// What a snapshot told of the tick that it showed: units, in ascending order.
struct hc_snapshot_set {
    uint32_t count;
    hc_unit units[HC_SNAPSHOT_UNITS_MAX];
};

struct hc_snapshot_correction {
    hc_unit unit;
    hc_tick as_of; ///< head of the snapshot that told what it is told against, HC_NO_TICK: nothing
    bool same;     ///< what that told was of the very tick; else it is what that showed
};

/// The chain hash at t from the one at t - 1 (0 at tick 0) and hc_world_hash at t: SipHash-2-4,
/// keyed, so that it confirms nobody's guess of a world without the key.
uint64_t hc_snapshot_chain(const uint8_t key[static HC_CHAIN_KEY_SIZE], uint64_t previous,
                           uint64_t world_hash);

// ---- Writing ------------------------------------------------------------------------------------
// 1. begin; 2. forced; 3. controls; 4. names, then for each hc_value_put and inputs;
// 5. correction ticks, each followed by its units and their values; 6. end. What does not fit fails
// the bits; whoever wants to stop before that measures first.

/// Writes the head.
void hc_snapshot_put(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot);

/// One more of the forced ranges of the snapshot that shows `tick`; it begins there or earlier.
void hc_snapshot_put_forced(struct hc_bits_writer *bits, hc_tick tick,
                            const struct hc_snapshot_forced *forced);

/// One more of the controls of the snapshot that shows `tick`, before which it may lie or after.
void hc_snapshot_put_roster(struct hc_bits_writer *bits, hc_tick tick,
                            const struct hc_snapshot_roster *roster_change);

/// Ends the list of the forced or of the controls or of the corrections.
void hc_snapshot_put_end(struct hc_bits_writer *bits);

/// The most units of `world` that one snapshot can tell of the tick that it shows.
static inline uint32_t hc_snapshot_units_most(const struct hc_world *world) {
    uint32_t units = hc_unit_total(world);
    return units < HC_SNAPSHOT_UNITS_MAX ? units : HC_SNAPSHOT_UNITS_MAX;
}

/// Names `count` units, at most HC_SNAPSHOT_UNITS_MAX, in ascending order; those that are told
/// against the newest base are in `base`, what that told (empty without one). A value follows for
/// each that is not dropped.
void hc_snapshot_put_names(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot,
                           const struct hc_snapshot_set *base, const struct hc_snapshot_unit *units,
                           uint32_t count);

/// The known inputs of `player` in [value->tick, end), as the timeline has them.
void hc_snapshot_put_inputs(struct hc_bits_writer *bits, const struct hc_timeline *timeline,
                            const struct hc_game *game, hc_player player,
                            const struct hc_unit_value *value, hc_tick end);

/// `count` corrections of `at` follow; `before` is the last tick that was told, at first the
/// snapshot's.
void hc_snapshot_put_correction_tick(struct hc_bits_writer *bits, hc_tick before, hc_tick at,
                                     uint32_t count);

/// One of them, its value follows.
void hc_snapshot_put_correction(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot,
                                hc_unit next, const struct hc_snapshot_correction *correction);

/// Appends SNAPSHOT with the `size` bytes of finished bits at `packed` to a body.
bool hc_snapshot_put_message(struct hc_writer *body, const uint8_t *packed, size_t size);

// ---- Reading ------------------------------------------------------------------------------------
// In the same order. A failure sticks in the bits, and every read gives what is harmless then.

/// The bits of the present message of a body.
enum hc_status hc_snapshot_get_message(const struct hc_body *body, struct hc_bits_reader *bits);

/// Reads the head. `near` is a tick within 32767 of as_of; `own_count` is WELCOME's. Fails beyond
/// HC_SNAPSHOT_TICK_MAX.
void hc_snapshot_get(struct hc_bits_reader *bits, hc_tick near, uint8_t own_count,
                     struct hc_snapshot *out);

/// The next of the forced ranges into *out; false at the list's end, and when the bits fail: an own
/// player that there is not, or a range out of its bounds.
bool hc_snapshot_get_forced(struct hc_bits_reader *bits, const struct hc_snapshot *snapshot,
                            struct hc_snapshot_forced *out);

/// The next of the controls of a snapshot that shows `tick` into *out; false at the list's end, and
/// when the bits fail: a player that `world` has not, or a tick out of its bounds.
bool hc_snapshot_get_roster(struct hc_bits_reader *bits, const struct hc_world *world, hc_tick tick,
                            struct hc_snapshot_roster *out);

/// The units named, in ascending order, and what each is told against: with HC_SNAPSHOT_BASE or
/// HC_SNAPSHOT_OLDER there is a base. Returns how many; 0 when it fails.
uint32_t hc_snapshot_get_names(struct hc_bits_reader *bits, const struct hc_world *world,
                               const struct hc_snapshot *snapshot,
                               const struct hc_snapshot_set *base,
                               struct hc_snapshot_unit out[HC_SNAPSHOT_UNITS_MAX]);

/// How many runs of inputs follow, in [0, HC_SNAPSHOT_INPUTS_MAX]; 0 when the bits fail.
uint32_t hc_snapshot_get_runs(struct hc_bits_reader *bits);

/// The head of a run: its first tick, at least `next`, into *first. Returns how many inputs follow,
/// in [1, HC_INPUT_RUN_MAX], each to be read by hc_delta_get_input; 1 when the bits fail.
uint32_t hc_snapshot_get_run(struct hc_bits_reader *bits, hc_tick next, hc_tick *first);

/// The next tick with corrections, before `before`, and how many; false at the end.
bool hc_snapshot_get_correction_tick(struct hc_bits_reader *bits, hc_tick before, hc_tick *at,
                                     uint32_t *count);

/// One of them: its unit, at least `next`, and what its value is told against.
void hc_snapshot_get_correction(struct hc_bits_reader *bits, const struct hc_world *world,
                                const struct hc_snapshot *snapshot, hc_unit next,
                                struct hc_snapshot_correction *out);
