/// SNAPSHOT: the values of a client's units at one tick, bit-packed into one binary.
///
///     SNAPSHOT [3, bits]
///     bits := header  forced ...  roster ...  names  { value [inputs] } ...  corrections
///
///     header     := as_of:16  number8(phase_us)  number8(ack_delay_us)  number4(as_of - tick)
///                   number5(as_of - refused_before)  number4(as_of - final)  hash:32
///                   has_chain:1 [chain:64]  has_base:1 [base_age how:2]
///                   number3(A + 1 - tick) for each own player  has_margin:1 [margin]
///                   number2(ticks before `tick` from which on inputs are sent)
///     base_age   := as_of - base - 1 : 6, or 63:6 number8(as_of - base - 64)
///     margin     := number4(samples)  [number5(zigzag(low)) number5(median - low)]; without
///     samples
///                   nothing follows
///     forced     := 1 own:2 number5(tick - first) number3(count - 1) forced   | 0
///     roster     := 1 number6(player) number4(zigzag(at - tick)) leave:1 roster       | 0
///     names      := [again] number4(count) { number4(units skipped before it) from }
///     again      := 1                 all units of the newest baseline; left out where there is no
///                                     baseline, or it has no units
///                 | 0 number3(sent)  { number2(skipped - 1) number3(sent - 1) } ...
///     from       := 1 age:6           encoded against the snapshot of head base - 1 - age
///                 | 01                encoded against nothing
///                 | 00                dropped: the client no longer knows it
///     value      := value.h's, of the unit at `tick`; then, of a player, inputs
///     inputs     := number1(runs), each number1(ticks skipped) number2(ticks - 1) and every input
///                   against the one before it, the first against the value's; from the header's
///                   first tick of inputs on
///     corrections:= 1 number3(at's distance to the tick before it - 1) number3(count - 1)
///                   { number2(units skipped) has:1 [age:7 same:1] value.h's } corrections | 0
///
/// `number`N is common/bits.h's number in groups of N bits. A correction's baseline is in the
/// snapshot of head as_of - 1 - age: the unit's value at the same tick if `same`, else at the tick
/// that the snapshot showed; without `has` there is no baseline. The first distance counts from
/// `tick`.
/// common/extrapolate.h extrapolates a baseline by `how`, an enum hc_extrapolation, to the tick of
/// the value with the referee of this snapshot, whose value comes first. Without a base no value is
/// encoded against a baseline.
///
/// The runs of `again` go through the units of the newest baseline in order: sent ones against it
/// and skipped ones alternate. The units that are named after them have other baselines. The values
/// follow in the order of their units; a dropped unit has none.
///
/// A datagram is filled in this order, as its bandwidth allows. Any bits read as values in their
/// ranges, or fail.
#pragma once

#include "common/bits.h"
#include "common/timeline.h"
#include "common/unit.h"
#include "proto/body.h"
#include "proto/datagram.h"
#include "proto/message.h"
#include "proto/value.h"

#include <stdalign.h>

enum {
    /// Ticks from the one shown on at which a server can know inputs.
    HC_SNAPSHOT_INPUTS_MAX = HC_HISTORY_MAX + HC_FUTURE_MAX + 1,
    HC_SNAPSHOT_OVERHEAD = 5, ///< bytes of msgpack around the bits
    HC_CHAIN_KEY_SIZE = 16,   ///< bytes
};

/// The margin of a client's inputs over HC_MARGIN_WINDOW_US: how long before its tick began at the
/// server the newest input of a DATA came, negative if it came later. In units of
/// HC_MARGIN_UNIT_US, rounded down.
struct hc_margin {
    uint16_t samples; ///< DATA in that time, [0, HC_MARGIN_SAMPLES]; 0: the margin is unknown
    int16_t low;      ///< the least but the worst HC_MARGIN_WORST_PERCENT; 0 without samples
    int16_t median;   ///< the lower median, at least `low`; 0 without samples
};

struct hc_snapshot {
    hc_tick as_of;          ///< head of the snapshot: the server tick when it was sent
    uint32_t phase_us;      ///< since that tick was due, [0, HC_PHASE_MAX_US]
    uint32_t ack_delay_us;  ///< since the datagram `ack` was received, [0, HC_ACK_DELAY_MAX_US]
    hc_tick tick;           ///< T, the tick shown; as_of - tick in [0, HC_HISTORY_MAX]
    hc_tick refused_before; ///< own inputs before this tick are refused; as_of - refused_before in
                            ///< [0, HC_HISTORY_MAX]
    hc_tick final;          ///< F; as_of - final in [0, HC_HISTORY_MAX]
    bool has_chain;
    uint64_t chain;            ///< the chain hash at F, with has_chain
    uint32_t hash;             ///< low 32 bits of the sum of hc_unit_entity_hash of its values
    hc_tick base;              ///< head of a snapshot that the client has acked, lately;
                               ///< as_of - base in [1, HC_SNAPSHOT_SPAN_MAX]; HC_NO_TICK: none
    enum hc_extrapolation how; ///< of its baselines; without a base HC_EXTRAPOLATION_HOLD
    uint8_t own_count;         ///< [0, HC_OWN_PLAYERS_MAX], known from WELCOME
    hc_tick inputs_through[HC_OWN_PLAYERS_MAX]; ///< A of each own player, in WELCOME's order; all
                                                ///< at least tick - 1
    bool has_margin;
    struct hc_margin margin; ///< with has_margin; without it the report before goes on
    uint32_t inputs_before;  ///< Inputs are sent from so many ticks before `tick` on; at most
                             ///< HC_SNAPSHOT_INPUTS_BEFORE, and `tick`.
};

/// The inputs that go with the value of a player's unit, of ticks in [first, end).
struct hc_snapshot_inputs {
    hc_player player;
    uint32_t before;    ///< The header's inputs_before.
    hc_tick first, end; ///< From `before` ticks before the value's on.
};

/// A roster change: a join or a leave.
struct hc_snapshot_roster {
    hc_player player;
    hc_tick tick;
    enum hc_roster roster_change; ///< never HC_ROSTER_NONE
};

/// A range of forced inputs of an own player.
struct hc_snapshot_forced {
    uint8_t own;    ///< index among the own players
    hc_tick first;  ///< at most the snapshot's tick
    uint32_t count; ///< ticks, [1, HC_INPUT_RUN_MAX]
};

/// The lists before the units of a snapshot.
struct hc_snapshot_lists {
    const struct hc_snapshot_forced *forced;  ///< borrowed
    const struct hc_snapshot_roster *changes; ///< borrowed
    uint32_t forced_count, change_count;
    uint32_t forced_written, changes_written; ///< of these, by hc_snapshot_put_lists
};

/// The baseline of a unit's value.
enum hc_snapshot_from {
    HC_SNAPSHOT_BASE,    ///< the value in the newest baseline
    HC_SNAPSHOT_OLDER,   ///< one in an older snapshot
    HC_SNAPSHOT_NOTHING, ///< none
    HC_SNAPSHOT_DROPPED, ///< the client forgets the unit, which has no value
};

struct hc_snapshot_unit {
    hc_unit unit;
    enum hc_snapshot_from from;
    hc_tick as_of; ///< with HC_SNAPSHOT_OLDER: head of the baseline's snapshot; base - as_of in
                   ///< [1, HC_SNAPSHOT_AGE_MAX]
};

/// The units of a snapshot, without corrections, in ascending order.
struct hc_snapshot_set {
    uint32_t count;
    hc_unit units[HC_SNAPSHOT_UNITS_MAX];
};

struct hc_snapshot_correction {
    hc_unit unit;
    hc_tick as_of; ///< head of the baseline's snapshot; HC_NO_TICK: no baseline
    bool same;     ///< the baseline is of the same tick; else of the one that the snapshot showed

    // For writers.
    const uint8_t *value; ///< encoded, borrowed
    uint32_t bits;        ///< of it; 0: the caller appends it
};

/// The chain hash at t, from the one at t - 1 (0 at tick 0) and hc_world_hash at t: SipHash-2-4,
/// keyed, so that nobody without the key can confirm an assumed world by it.
uint64_t hc_snapshot_chain(const uint8_t key[static HC_CHAIN_KEY_SIZE], uint64_t previous,
                           uint64_t world_hash);

// ---- Writing ------------------------------------------------------------------------------------
// 1. header; 2. lists; 3. names, then for each hc_value_put and inputs; 4. corrections, tick by
// tick;
// 5. a 0 bit, which ends them. The bits fail when something does not fit; the caller measures
// first.

/// Writes the header.
void hc_snapshot_put(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot);

/// Appends the lists of a snapshot that shows `tick`, as many entries of each as are sure to fit
/// into `most` bits of the snapshot. A forced range begins at the tick or earlier; a roster change
/// may lie before or after it.
void hc_snapshot_put_lists(struct hc_bits_writer *bits, hc_tick tick, size_t most,
                           struct hc_snapshot_lists *lists);

/// The most units of `world` in one snapshot, without corrections.
static inline uint32_t hc_snapshot_units_most(const struct hc_world *world) {
    uint32_t units = hc_unit_total(world);
    return units < HC_SNAPSHOT_UNITS_MAX ? units : HC_SNAPSHOT_UNITS_MAX;
}

/// Names `count` units, at most HC_SNAPSHOT_UNITS_MAX, in ascending order. `base` has the units of
/// the newest baseline, none without one; a unit with HC_SNAPSHOT_BASE is among them. A value
/// follows for each unit that is not dropped.
void hc_snapshot_put_names(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot,
                           const struct hc_snapshot_set *base, const struct hc_snapshot_unit *units,
                           uint32_t count);

/// Appends those of `inputs` that the timeline knows, but for the newest one before the value's
/// tick, which the value has.
void hc_snapshot_put_inputs(struct hc_bits_writer *bits, const struct hc_timeline *timeline,
                            const struct hc_value_codec *codec, const struct hc_unit_value *value,
                            const struct hc_snapshot_inputs *inputs);

/// Appends `count` corrections of the tick `at`, in ascending units; `before` is the tick of those
/// before them, at first the snapshot's.
void hc_snapshot_put_corrections(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot,
                                 hc_tick before, hc_tick at,
                                 const struct hc_snapshot_correction *corrections, uint32_t count);

/// Appends SNAPSHOT with the `size` bytes of finished bits at `packed` to a body.
bool hc_snapshot_put_message(struct hc_writer *body, const uint8_t *packed, size_t size);

// ---- Reading ------------------------------------------------------------------------------------
// In the same order. A failure sticks in the bits; every read then returns harmless values.

/// The bits of the current message of a body.
enum hc_status hc_snapshot_get_message(const struct hc_body *body, struct hc_bits_reader *bits);

/// Reads the header. `near` is a tick within 32767 of as_of; `own_count` is WELCOME's. The bits
/// fail beyond HC_SNAPSHOT_TICK_MAX.
void hc_snapshot_get(struct hc_bits_reader *bits, hc_tick near, uint8_t own_count,
                     struct hc_snapshot *out);

/// Reads the next forced range into *out; false at the end, and when the bits fail: no such own
/// player, or a range out of its bounds.
bool hc_snapshot_get_forced(struct hc_bits_reader *bits, const struct hc_snapshot *snapshot,
                            struct hc_snapshot_forced *out);

/// Reads the next roster change of a snapshot that shows `tick` into *out; false at the end, and
/// when the bits fail: no such player in `world`, or a tick out of its bounds.
bool hc_snapshot_get_roster(struct hc_bits_reader *bits, const struct hc_world *world, hc_tick tick,
                            struct hc_snapshot_roster *out);

/// Reads the named units, in ascending order, each with its baseline: with HC_SNAPSHOT_BASE and
/// HC_SNAPSHOT_OLDER snapshot->base is a tick. Returns their number; 0 when the bits fail.
uint32_t hc_snapshot_get_names(struct hc_bits_reader *bits, const struct hc_world *world,
                               const struct hc_snapshot *snapshot,
                               const struct hc_snapshot_set *base,
                               struct hc_snapshot_unit out[HC_SNAPSHOT_UNITS_MAX]);

/// Reads the number of runs of inputs, in [0, HC_SNAPSHOT_INPUTS_MAX]; 0 when the bits fail.
uint32_t hc_snapshot_get_runs(struct hc_bits_reader *bits);

/// Reads the start of a run: its first tick, at least `next`, into *first. Returns the number of
/// its inputs, in [1, HC_INPUT_RUN_MAX], 1 when the bits fail. hc_value_get_input reads each.
uint32_t hc_snapshot_get_run(struct hc_bits_reader *bits, hc_tick next, hc_tick *first);

/// Reads the next tick with corrections, before `before`, and their number; false at the end.
bool hc_snapshot_get_correction_tick(struct hc_bits_reader *bits, hc_tick before, hc_tick *at,
                                     uint32_t *count);

/// Reads one of them: its unit, at least `next`, and its baseline.
void hc_snapshot_get_correction(struct hc_bits_reader *bits, const struct hc_world *world,
                                const struct hc_snapshot *snapshot, hc_unit next,
                                struct hc_snapshot_correction *out);
