/// A snapshot that is being made, and the deltas of units that it is made of.
#pragma once

#include "server/host_internal.h"
#include "server/replication/encode.h"

/// A snapshot that is being made.
struct hc_sv_builder {
    struct hc_sv_host *host;
    struct hc_sv_peer *peer;
    struct hc_snapshot head;
    struct hc_bits_writer bits;
    struct hc_snapshot_set base;        ///< what the newest base told
    struct hc_sv_sent_values_row shown; ///< of the tick shown
    hc_sv_value_id referee_version;
    const void *referee; ///< its state at the tick shown; NULL unless it is alive
    uint32_t selections; ///< in host->choices, ascending units
    bool ordered;        ///< host->candidates are; else in the order of the choices
    struct hc_sv_extrapolation_cost extrapolation; ///< what its extrapolations take
    uint32_t own_steps;                            ///< of that, for its own units
    uint32_t inputs; ///< ticks of inputs from the one shown on that are told
    struct hc_sv_snapshot_bits spent;
};

/// A delta as bits: kept from when somebody else needed it, or in the caller's scratch memory.
struct hc_sv_builder_bits {
    const uint8_t *data; ///< borrowed until the next one
    uint32_t bits;
    bool reused;
};

/// The value of a version of the unit that the client has acknowledged, in `*out`; NULL: it is
/// gone.
const struct hc_unit_value *hc_sv_builder_held(const struct hc_sv_builder *builder, hc_unit unit,
                                               hc_sv_value_id value_id, struct hc_unit_value *out);

/// Ticks that an extrapolation from `from` to `to` simulates; 0 beyond HC_EXTRAPOLATE_TICKS_MAX,
/// where none is made.
uint32_t hc_sv_builder_steps(hc_tick from, hc_tick to);

/// Writes the delta of `value` against `base`, 0: nothing. `counts` as in hc_sv_encode_value.
void hc_sv_builder_write(struct hc_sv_builder *builder, hc_unit unit, hc_sv_value_id base,
                         hc_sv_value_id value, struct hc_bits_writer *bits,
                         struct hc_delta_counts *counts);

/// Whether the delta would have to be encoded, and takes more than is left of the snapshot's share
/// of guesses: a client that acknowledges late, at times of its own, has baselines that are old and
/// nobody else's, and each of them would have to be extrapolated for it alone.
bool hc_sv_builder_too_dear(struct hc_sv_builder *builder, hc_unit unit, hc_sv_value_id base,
                            hc_sv_value_id value, hc_tick tick);

/// The delta of `value` against `base`, which is kept for other clients.
struct hc_sv_builder_bits hc_sv_builder_delta(struct hc_sv_builder *builder, hc_unit unit,
                                              hc_sv_value_id base, hc_sv_value_id value,
                                              uint8_t scratch[static HC_SV_ENCODE_BYTES]);

/// The same, and counts whether it had to be encoded or was reused.
struct hc_sv_builder_bits hc_sv_builder_counted(struct hc_sv_builder *builder, hc_unit unit,
                                                hc_sv_value_id base, hc_sv_value_id value,
                                                uint8_t scratch[static HC_SV_ENCODE_BYTES]);
