/// Deltas: the encoded values of one world's units, so that each is encoded once for all clients
/// that need it.
///
/// The key of a delta names the baseline, the value, and the referee's value that the extrapolation
/// used, so a delta that is stored is found without reading values. The store is a fixed table of
/// two-way sets. A delta longer than an entry is not stored. Numbers of values wrap after days; an
/// entry is overwritten within seconds.
///
/// The extrapolation of the baseline is most of the cost of an encoding. Extrapolations from
/// different baselines often reach the same state of a unit at the same tick. So each simulated
/// tick of a unit is stored: the key hashes the states before, the input and the referee's fields
/// that any step has read; the entry holds the states after.
///
/// A delta may list the input changes of the owner between the baseline and the value. It lists
/// them where that saves more bits than it costs: all of them, or only changes of keys (fields of
/// few bits). A field that changes all the time, as an aim does, matters little but at the end.
#pragma once

#include "common/bits.h"
#include "common/timeline.h"
#include "proto/value.h"
#include "server/replication/extrapolation_budget.h"
#include "server/replication/values.h"

enum {
    HC_SV_DELTA_STORED = 44, ///< bytes of the longest delta stored
    HC_SV_DELTA_MAX = 2048,  ///< bytes that one delta takes at most
    HC_SV_STEP_TICKS = 64,   ///< simulated ticks that are stored of each unit,
    HC_SV_STEP_WAYS = 4,     ///< and of each tick: from different states, or with different inputs
};

struct hc_sv_delta_key {
    hc_sv_value_id base;    ///< 0: none
    hc_sv_value_id value;   ///< never 0: a drop needs no delta
    hc_sv_value_id referee; ///< 0: unknown
    hc_unit unit;
};

struct hc_sv_delta_entry {
    struct hc_sv_delta_key key; ///< value 0: free
    uint16_t bits;              ///< in `data`
    uint8_t data[HC_SV_DELTA_STORED];
};

/// The input changes that a delta lists.
enum hc_sv_way { HC_SV_WAY_NONE, HC_SV_WAY_ALL, HC_SV_WAY_KEYS, HC_SV_WAY_KEYS_ALONE, HC_SV_WAYS };

/// A simulated tick of a unit; its presence and states after it lie apart, because a walk over many
/// ticks needs only the last ones.
struct hc_sv_step {
    uint64_t key;   ///< hash of all that the step reads; 0: free
    uint64_t after; ///< hc_sv_values_hash of the states after it
};

/// The shortest delta so far, and memory for one more and for its input changes.
struct hc_sv_encoding {
    uint8_t data[2][HC_SV_DELTA_MAX];
    unsigned best; ///< of the two
    uint32_t bits; ///< of the best; UINT32_MAX: none yet
    struct hc_input_changes changes[HC_SV_WAYS];
};

struct hc_sv_deltas {
    const struct hc_world *world;
    struct hc_extrapolator *extrapolator; ///< borrowed
    uint32_t sets;                        ///< a power of two
    struct hc_sv_delta_entry *entries;    ///< [sets][2], the newer of each set first
    struct hc_sv_step *steps; ///< [units][HC_SV_STEP_TICKS][HC_SV_STEP_WAYS], the tick by its
                              ///< remainder
    uint8_t *step_states;     ///< [the same] of hc_unit_bytes
    uint32_t step_way;        ///< the way that the next step replaces
    struct hc_sv_encoding *encoding;
    uint8_t *scratch; ///< one unit's value
    uint8_t groups;   ///< of the referee, that any step has read
};

/// The deltas of one snapshot: what they share, the steps that its extrapolations may take, and
/// counts.
struct hc_sv_encoder {
    struct hc_sv_deltas *deltas;
    const struct hc_timeline *timeline;
    hc_tick since;             ///< the timeline has the inputs from it on
    hc_sv_value_id referee_id; ///< of its value at the tick shown
    const void *referee;       ///< its state there; NULL unless it is alive
    uint64_t referee_hash;     ///< of the fields that any step has read
    struct hc_sv_extrapolation_cost cost;
    uint32_t encoded, reused, steps; ///< deltas, and ticks that their extrapolations simulated
};

/// Begins the deltas of a snapshot whose referee has this value and state.
void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, hc_sv_value_id referee_id,
                         const void *referee);

/// A delta as bits, borrowed until the next one.
struct hc_sv_delta {
    const uint8_t *data;
    uint32_t bits;
};

/// Lays everything out from `base` (NULL: only measures) for `entries` stored deltas, rounded up to
/// a power of two; returns the bytes needed. `world` and `extrapolator` are borrowed.
size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world,
                           struct hc_extrapolator *extrapolator, uint32_t entries, uint8_t *base);

/// Forgets everything.
void hc_sv_deltas_clear(struct hc_sv_deltas *deltas);

/// The stored delta of `key`, borrowed until the next hc_sv_deltas_put; NULL: there is none.
const struct hc_sv_delta_entry *hc_sv_deltas_find(const struct hc_sv_deltas *deltas,
                                                  const struct hc_sv_delta_key *key);

/// Stores the `bits` bits at `data`, as a bits writer leaves them, for `key`. They replace the
/// older entry of its set.
void hc_sv_deltas_put(struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key,
                      const uint8_t *data, uint32_t bits);

/// Ticks that an extrapolation from `from` to `to` simulates; 0 beyond HC_EXTRAPOLATE_TICKS_MAX,
/// where the value is held.
static inline uint32_t hc_sv_deltas_steps(hc_tick from, hc_tick to) {
    return to - from <= HC_EXTRAPOLATE_TICKS_MAX ? to - from : 0;
}

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
