/// Values and deltas: every value of a unit that a snapshot sent to any client, stored once for
/// all, and every delta between two of them, encoded once for all clients that need it.
///
/// A rewind rewrites ticks, so a unit can have several values at one tick. Every one that is sent
/// gets a number, and the rest of the server remembers that number for each client. The values lie
/// in a ring: a new one replaces the oldest, whose number then finds nothing. A value that is
/// needed for longer is pinned: copied to a place of its own.
///
/// A world may have room for many more units than play. So the ring in use, and the table of
/// deltas, grow with the units that have had a value: those of the others would be read from memory
/// that is too large for the processor's caches. The low bits of a number are its value's place in
/// the whole ring, the others count how often the ring in use was filled. Numbers wrap after hours
/// at the soonest.
///
/// The key of a delta names the baseline, the value, the extrapolation, and the referee's value
/// that it used, so a delta that is stored is found without reading values. The store is a table
/// of two-way sets. A delta longer than an entry is not stored. Each set is overwritten thousands
/// of times before numbers of values wrap.
///
/// The extrapolation of the baseline is most of the cost of an encoding, so extrapolations are
/// stored as runs (common/runs.h), which all clients share.
///
/// A delta may list the input changes of the owner between the baseline and the value. It lists
/// the changes of keys (fields of few bits). A field that changes all the time, as an aim does,
/// matters little but at the end; its value at those changes is listed where that saves more bits
/// than it costs. This second list costs another extrapolation, so few deltas try it where it has
/// saved little lately.
#pragma once

#include "common/bits.h"
#include "common/runs.h"
#include "common/timeline.h"
#include "common/unit.h"
#include "proto/value.h"
#include "server/replication/extrapolation_budget.h"
#include "server/replication/sent_log.h"

// ---- Values -------------------------------------------------------------------------------------

/// A stored value.
struct hc_sv_value {
    hc_sv_value_id id; ///< greater than those of the values stored before; 0: free
    uint32_t hash;     ///< low 32 bits of the sum of hc_unit_entity_hash of its entities
    uint64_t states;   ///< hc_runs_hash of it
    struct hc_unit_value unit;
};

/// The newest known value of a unit at a tick.
struct hc_sv_newest {
    hc_sv_value_id id;
    hc_tick compared; ///< the head at which it was last compared, plus 1; up to the tick: the entry
                      ///< is of an earlier tick
    hc_tick changed;  ///< the head at which it became the newest
};

struct hc_sv_values {
    const struct hc_world *world;
    uint32_t rows;     ///< ticks whose newest values are known
    uint32_t each;     ///< values in the ring for a unit
    uint32_t capacity; ///< values in the whole ring, a power of two
    uint32_t in_use;   ///< the first of its places, which values take in turn
    uint32_t units;    ///< that have had a value
    size_t size;       ///< bytes of a value
    hc_sv_value_id next;
    uint8_t *ring;               ///< [capacity * size] by place
    uint8_t *pins;               ///< [pins * size] by place
    struct hc_sv_newest *newest; ///< [rows][units] of (tick % rows, unit)
    bool *has;                   ///< [units] the unit has had a value
};

/// The values of one tick, at one head.
struct hc_sv_values_row {
    struct hc_sv_values *values;
    const struct hc_timeline *timeline;
    hc_tick tick, head;
    const uint8_t *presence, *states; ///< of the whole world
    struct hc_sv_newest *newest;      ///< [units]
};

/// Lays the arrays out from `base` (NULL: only measures) for a window of `rows` ticks, `each`
/// values of a unit, and places for `pins` pinned ones; returns the bytes needed. The memory is
/// zeroed; most of it stays untouched until it is used. `world` is borrowed.
size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t each, uint32_t pins, uint8_t *base);

/// Begins without values, in memory that is unused; the first number is 1.
void hc_sv_values_begin(struct hc_sv_values *values);

/// The row of `tick`, which the timeline must still hold; valid until the timeline changes.
struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick);

/// The number of the value that the timeline now has of `unit` at the row's tick: that of the
/// newest value of the tick if they are equal, else a new one, so that it stays for at least a
/// quarter of the ring. It compares once per head, so the timeline may not change between two calls
/// at one head.
hc_sv_value_id hc_sv_values_put(const struct hc_sv_values_row *row, hc_unit unit);

/// The value with this number, in the ring: borrowed until it is replaced, see hc_sv_values_put.
/// NULL: it was replaced, or the number is 0.
const struct hc_sv_value *hc_sv_values_get(const struct hc_sv_values *values, hc_sv_value_id id);

/// Begins to load the value with this number into the processor's cache, if it is in the ring.
void hc_sv_values_prefetch(const struct hc_sv_values *values, hc_sv_value_id id);

/// Whether two stored values of `unit`, of one tick, have the same states; their inputs may differ,
/// because a client shows nothing of them. False: one of them was replaced.
bool hc_sv_values_alike(const struct hc_sv_values *values, hc_unit unit, hc_sv_value_id a,
                        hc_sv_value_id b);

/// Pins the value of `unit` with the number `id` at the place `pin`, instead of the one there; if
/// the ring has replaced it, nothing is pinned there.
void hc_sv_values_pin(struct hc_sv_values *values, uint32_t pin, hc_unit unit, hc_sv_value_id id);

/// The value with this number, pinned at the place `pin` or in the ring; NULL: in neither.
const struct hc_sv_value *hc_sv_values_pinned(const struct hc_sv_values *values, uint32_t pin,
                                              hc_sv_value_id id);

// ---- Deltas -------------------------------------------------------------------------------------

enum {
    HC_SV_DELTA_STORED = 44, ///< bytes of the longest delta stored
    HC_SV_DELTA_MAX = 2048,  ///< bytes that one delta takes at most
};

struct hc_sv_delta_key {
    hc_sv_value_id base;    ///< 0: none
    hc_sv_value_id value;   ///< never 0: a drop needs no delta
    hc_sv_value_id referee; ///< 0: unknown, or not read
    hc_unit unit;
    enum hc_extrapolation how; ///< of the baseline; HC_EXTRAPOLATION_HOLD without one
};

struct hc_sv_delta_entry {
    struct hc_sv_delta_key key; ///< value 0: free
    uint16_t bits;              ///< in `data`
    uint8_t data[HC_SV_DELTA_STORED];
};

/// The shortest delta so far, and memory for one more and for its input changes.
struct hc_sv_encoding {
    uint8_t data[2][HC_SV_DELTA_MAX];
    unsigned best;                 ///< of the two
    uint32_t bits;                 ///< of the best; UINT32_MAX: none yet
    struct hc_input_changes all;   ///< of the owner since the baseline
    struct hc_input_changes alone; ///< of keys, without the fields that are no keys,
    struct hc_input_changes whole; ///< and with them
};

/// An input as words, for comparisons and choices of whole fields.
struct hc_sv_input_words {
    uint64_t at[HC_INPUT_MAX / 8];
};

/// The ticks at which a player's effective input differs from that of the tick before.
struct hc_sv_turns {
    hc_tick head;     ///< at which they were last renewed
    hc_tick settled;  ///< up to this tick the inputs no longer change
    uint64_t changed; ///< of the 64 ticks before that head, bit t % 64 for tick t
};

struct hc_sv_deltas {
    const struct hc_world *world;
    struct hc_value_codec codec;
    uint32_t each;                     ///< stored deltas for a unit
    uint32_t units;                    ///< that have deltas
    uint32_t sets;                     ///< in use, a power of two
    struct hc_sv_delta_entry *entries; ///< [sets][2], the newer of each set first
    struct hc_runs runs;
    struct hc_sv_encoding *encoding;
    struct hc_sv_turns *turns;     ///< [players]
    struct hc_sv_input_words keys; ///< ones in the fields of the input that count as keys
    /// Bits that a second list of input changes saved lately, a running mean in parts, and deltas
    /// that did not try one since: where only the player itself differs, and where others do.
    struct hc_sv_second_list {
        uint32_t saved, untried;
    } second[2];
};

/// The deltas of one snapshot: what they share, the steps that its extrapolations may take, and
/// counts.
struct hc_sv_encoder {
    struct hc_sv_deltas *deltas;
    const struct hc_timeline *timeline;
    hc_tick since;             ///< the timeline has the inputs from it on
    enum hc_extrapolation how; ///< of all baselines
    hc_sv_value_id referee_id; ///< of its value at the tick shown
    const void *referee;       ///< its state there; NULL unless it is alive
    struct hc_sv_extrapolation_cost cost;
    uint32_t encoded, reused, steps; ///< deltas, and ticks that their extrapolations simulated
};

/// Begins the deltas of a snapshot whose referee has this value, which is borrowed.
void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, const struct hc_sv_value *referee);

/// A delta as bits, borrowed until the next one. `data` has whole words of 4 bytes.
struct hc_sv_delta {
    const uint8_t *data;
    uint32_t bits;
};

/// Lays everything out from `base` (NULL: only measures) for `each` stored deltas of a unit,
/// rounded up to a power of two of all; returns the bytes needed. The memory is zeroed. `world` and
/// `extrapolator` are borrowed.
size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world,
                           struct hc_extrapolator *extrapolator, uint32_t each, uint8_t *base);

/// Begins without deltas and runs, for one unit.
void hc_sv_deltas_begin(struct hc_sv_deltas *deltas);

/// Stores the deltas of so many units from now on, if they are more than before; the deltas stored
/// so far may be lost then.
void hc_sv_deltas_serve(struct hc_sv_deltas *deltas, uint32_t units);

/// Whether the keys of two inputs (input_size bytes) differ.
bool hc_sv_deltas_keys_differ(const struct hc_sv_deltas *deltas, const uint8_t *a,
                              const uint8_t *b);

/// The stored delta of `key`, borrowed until the next hc_sv_deltas_put; NULL: there is none.
const struct hc_sv_delta_entry *hc_sv_deltas_find(const struct hc_sv_deltas *deltas,
                                                  const struct hc_sv_delta_key *key);

/// Stores the `bits` bits at `data`, as a bits writer leaves them, for `key`. They replace the
/// older entry of its set.
void hc_sv_deltas_put(struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key,
                      const uint8_t *data, uint32_t bits);

/// Ticks that the extrapolation `how` from `from` to `to` simulates; 0 beyond
/// HC_EXTRAPOLATE_TICKS_MAX, where the value is held.
static inline uint32_t hc_sv_deltas_steps(enum hc_extrapolation how, hc_tick from, hc_tick to) {
    return how == HC_EXTRAPOLATION_STEP && to - from <= HC_EXTRAPOLATE_TICKS_MAX ? to - from : 0;
}

/// Begins to load the delta of the value numbered `value` against the one numbered `base` (0: none)
/// into the processor's cache, if it is stored.
void hc_sv_encoder_prefetch(const struct hc_sv_encoder *encoder, hc_unit unit, hc_sv_value_id base,
                            hc_sv_value_id value);

/// Whether the delta of `value` against `base` (NULL: none) exceeds the extrapolation budget: it is
/// not stored, and its extrapolation takes more steps than are left. A client that acks late, at
/// times of its own, has old baselines that no other client has, and each would be extrapolated for
/// it alone.
bool hc_sv_encoder_too_dear(const struct hc_sv_encoder *encoder, hc_unit unit,
                            const struct hc_sv_value *base, const struct hc_sv_value *value);

/// The delta of `value` against `base`, stored or encoded and stored; `pays`: an extrapolation is
/// taken from the budget.
struct hc_sv_delta hc_sv_encoder_delta(struct hc_sv_encoder *encoder, hc_unit unit,
                                       const struct hc_sv_value *base,
                                       const struct hc_sv_value *value, bool pays);
