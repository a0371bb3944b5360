/// The encoder: the deltas of snapshots, stored ones or new ones.
///
/// The extrapolation of the baseline is most of the cost of an encoding, so extrapolations are
/// stored as runs (common/runs.h), which all clients share.
///
/// A delta may list the input changes of the owner between the baseline and the value: those of
/// keys, without the other fields. A second list, with them, costs another extrapolation, so few
/// deltas try it where it has saved little lately.
#pragma once

#include "common/bits.h"
#include "common/runs.h"
#include "proto/value.h"
#include "server/replication/deltas.h"
#include "server/replication/extrapolation_budget.h"
#include "server/replication/input_changes.h"
#include "server/replication/values.h"

enum { HC_SV_DELTA_MAX = 2048 }; ///< bytes that one delta takes at most

/// The shortest delta so far, and memory for one more and for its input changes.
struct hc_sv_encoding {
    uint8_t data[2][HC_SV_DELTA_MAX];
    unsigned best;                 ///< of the two
    uint32_t bits;                 ///< of the best; UINT32_MAX: none yet
    struct hc_input_changes all;   ///< of the owner since the baseline
    struct hc_input_changes alone; ///< changes of keys, without the fields that are no keys
    struct hc_input_changes whole; ///< changes of keys, with the fields that are no keys
};

/// The part that the encoders of all snapshots share.
struct hc_sv_encoder_shared {
    const struct hc_world *world;
    struct hc_value_codec codec;
    struct hc_sv_deltas deltas;
    struct hc_sv_input_changes input_changes;
    struct hc_runs runs;
    struct hc_sv_encoding *encoding;
    /// Bits that a second list of input changes saved lately, a running mean in parts, and deltas
    /// that did not try one since: where only the player itself differs, and where others do.
    struct hc_sv_second_list {
        uint32_t saved, untried;
    } second[2];
};

/// The deltas of one snapshot: what they share, the steps that its extrapolations may take, and
/// counts.
struct hc_sv_encoder {
    struct hc_sv_encoder_shared *shared;
    const struct hc_timeline *timeline;
    hc_tick since;             ///< the timeline has the inputs from it on
    enum hc_extrapolation how; ///< of all baselines
    hc_sv_value_id referee_id; ///< of its value at the tick shown
    const void *referee;       ///< state of the referee at the tick shown; NULL unless it is alive
    struct hc_sv_extrapolation_cost cost;
    uint32_t encoded, reused, steps; ///< deltas, and ticks that their extrapolations simulated
};

/// A delta as bits, borrowed until the next one. `data` has whole words of 4 bytes.
struct hc_sv_delta {
    const uint8_t *data;
    uint32_t bits;
};

/// Lays everything out from `base` (NULL: only measures) for `each` stored deltas of a unit;
/// returns the bytes needed. The memory is zeroed. `world` and `extrapolator` are borrowed.
size_t hc_sv_encoder_layout(struct hc_sv_encoder_shared *shared, const struct hc_world *world,
                            struct hc_extrapolator *extrapolator, uint32_t each, uint8_t *base);

/// Begins without deltas and runs, for one unit.
void hc_sv_encoder_share(struct hc_sv_encoder_shared *shared);

/// Begins the deltas of a snapshot whose referee has this value, which is borrowed.
void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, const struct hc_sv_value *referee);

/// Ticks that the extrapolation `how` from `from` to `to` simulates; 0 beyond
/// HC_EXTRAPOLATE_TICKS_MAX, where the value is held.
static inline uint32_t hc_sv_encoder_steps(enum hc_extrapolation how, hc_tick from, hc_tick to) {
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
