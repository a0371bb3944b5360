/// Values: a unit's value at a tick as bits, encoded against a baseline.
///
///     value   := delta                          without a baseline, or where the extrapolation
///                                               takes no input changes
///              | 1                              equal to the extrapolation
///              | 0 0 changes                    delta.h's, against the extrapolation
///              | 0 1 listed delta               against the extrapolation with input changes
///     listed  := change { 1 change } 0          without the 0 after one at the last tick
///     change  := tick input
///
/// The tick of an input change counts from the tick after the one before it, at first from the
/// baseline's tick, in as many bits as the last possible tick takes. Its input is encoded against
/// the one that the steps get until then; it differs from that. The encoder chooses the input
/// changes: the decoder gets the same value in any case.
#pragma once

#include "common/extrapolate.h"
#include "proto/delta.h"

/// The baseline of a value, and the context of its extrapolation. Both ends have the same.
struct hc_value_base {
    struct hc_extrapolator *extrapolator;
    const struct hc_world *world;
    hc_unit unit;
    const struct hc_unit_value *from; ///< the baseline, of no later tick than the value; NULL: none
    const void *referee;              ///< its state at the value's tick; NULL: unknown
    uint8_t *scratch;                 ///< hc_unit_bytes for the extrapolation
};

/// Appends `value` with the input changes `changes`, if any; each must differ from the input that
/// the steps get before it.
void hc_value_put(struct hc_bits_writer *bits, const struct hc_value_base *base,
                  const struct hc_input_changes *changes, const struct hc_unit_value *value);

/// As hc_value_put, with the extrapolation of the baseline with these input changes to the value's
/// tick, or hc_extrapolate_absent's without a baseline.
void hc_value_put_extrapolated(struct hc_bits_writer *bits, const struct hc_value_base *base,
                               const struct hc_input_changes *changes,
                               const struct hc_unit_value *extrapolated,
                               const struct hc_unit_value *value);

/// Reads it into `out`, whose tick and pointers are set and which is not `base->from`. Its input is
/// sanitized. Fails the reader where the bits end or are no value; the fields of `out` fit in any
/// case.
void hc_value_get(struct hc_bits_reader *bits, const struct hc_value_base *base,
                  struct hc_unit_value *out);
