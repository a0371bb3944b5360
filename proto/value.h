/// Values: what a unit is at a tick, as bits, given what the receiver has of it.
///
///     value   := delta                          told against nothing, or where no changes of the
///                                               owner's input can be listed
///              | 1                              it is as guessed
///              | 0 0 changes                    delta.h's, against the guess
///              | 0 1 listed delta               against the guess with changes of the input
///     listed  := change { 1 change } 0          without the 0 after one at the last tick
///     change  := tick input
///
/// A change's tick is counted from the one after the change before it, at first from the baseline's
/// tick, in as many bits as the farthest that is left takes. Its input is told against the one that
/// the steps are given until then, from which it differs. Whoever tells a value chooses what to
/// list, if anything: what is read is the value in any case.
#pragma once

#include "common/extrapolate.h"
#include "proto/delta.h"

/// What a value is told against, which both sides have alike.
struct hc_value_base {
    struct hc_extrapolator *extrapolator;
    const struct hc_world *world;
    hc_unit unit;
    const struct hc_unit_value *from; ///< of no later tick than the value; NULL: nothing
    const void *referee;              ///< its state at the value's tick; NULL: unknown
    uint8_t *scratch;                 ///< hc_unit_bytes for the guess
};

/// Appends `value`, with `changes` listed if they are neither NULL nor none; each must differ from
/// what the steps are given before it. Adds what it took to `counts`, if not NULL.
void hc_value_put(struct hc_bits_writer *bits, const struct hc_value_base *base,
                  const struct hc_input_changes *changes, const struct hc_unit_value *value,
                  struct hc_delta_counts *counts);

/// Reads it into `out`, whose tick and pointers are set and which may not be `base->from`. Its
/// input is as sanitize_input leaves it. Fails the reader where the bits end, or say what no value
/// is; `out` then has fields that fit.
void hc_value_get(struct hc_bits_reader *bits, const struct hc_value_base *base,
                  struct hc_unit_value *out);
