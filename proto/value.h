/// Values: a unit's value at a tick as bits, encoded against a baseline.
///
///     value   := delta                          without a baseline, or where the extrapolation
///                                               takes no input changes
///              | 1                              equal to the extrapolation
///              | 0 0 parts                      against the extrapolation
///              | 0 1 listed delta               against the extrapolation with input changes
///     listed  := change { 1 change } 0          without the 0 after one at the last tick
///     change  := tick input
///
/// The tick of an input change counts from the tick after the one before it, at first from the
/// baseline's tick, in as many bits as the last possible tick takes. Its input is encoded against
/// the one that the steps get until then; it differs from that. The encoder chooses the input
/// changes: the decoder gets the same value in any case.
///
/// A delta is the difference of a value from the extrapolation, which both ends compute. Without a
/// baseline every entity of that is absent.
///
///     delta   := same:1, or 0 parts
///     parts   := which, then owner, then each entity that has changed
///     which   := some of owner first others; then some of the others, if others
///     owner   := age, then same:1, or 0 input; without `same` when the age is the extrapolated one
///     input   := some of its fields, residual ...
///     entity  := mask, residual ...
///
/// `first` is the player itself, and `others` are the slots that it owns, if any. An unowned entity
/// has neither `which` nor owner: its parts are one entity. The age is that of the newest known
/// input, 0: none. It is written as a number: twice its excess over the extrapolation's, or twice
/// what it falls short by, less one.
///
/// If the entity is alive in the extrapolation, an empty mask makes it absent. If it is absent
/// there, the mask makes it alive. If it is unknown there, a bit comes first, and the mask follows
/// if it is alive. Fields are encoded against the extrapolation, with two exceptions:
///   - an entity that is not alive there is encoded against the fields of the same names of the
///     unit's first entity (a shot appears at its owner), other fields against zeros;
///   - if a field of the player equals the one of the same name in its extrapolated input (its
///     aim), it is encoded against that field of the sent input.
///
/// A mask names the fields that differ; each of these has a residual, its difference modulo 2^bits.
/// Numbers, some flags, masks and residuals are those of common/bits.h. A residual's k is
///
///     bits / 2 - 1   of interpolated fields: they move in small steps
///     bits - 1       of other signed ones, such as speeds: all values are as likely
///     bits - 3       of the rest; and 0 of up to 3 bits, 2 if signed
///
/// Every delta and every input has one encoding; the reader refuses any other bits.
#pragma once

#include "common/bits.h"
#include "common/runs.h"

// ---- The codec of a world -----------------------------------------------------------------------

enum { HC_VALUE_NO_FIELD = UINT8_MAX };

/// A field, with all that its residuals need.
struct hc_value_field {
    uint8_t at, size; ///< place and size of the field in the struct, in bytes
    uint8_t bits;
    bool is_signed;
    uint8_t golomb;   ///< k, in [0, bits)
    uint8_t namesake; ///< the field of the player's kind with its name, or HC_VALUE_NO_FIELD
};

/// The fields of a kind, or of the input.
struct hc_value_table {
    uint8_t count;
    uint16_t size;                  ///< bytes of the struct
    uint8_t field_at[HC_STATE_MAX]; ///< the field of each byte
    struct hc_value_field fields[HC_FIELDS_MAX];
};

/// The field tables of a world's game, compiled once for all values.
struct hc_value_codec {
    const struct hc_world *world; ///< borrowed
    struct hc_value_table kinds[HC_KINDS_MAX], input;
};

/// Compiles the tables of `world`, which must outlive the codec.
void hc_value_codec_init(struct hc_value_codec *codec, const struct hc_world *world);

// ---- Values -------------------------------------------------------------------------------------

/// The baseline of a value, and the context of its extrapolation. Both ends have the same.
struct hc_value_base {
    const struct hc_value_codec *codec;
    struct hc_extrapolator *extrapolator; ///< of the codec's world; unused without a baseline
    enum hc_extrapolation how;
    hc_unit unit;
    const struct hc_unit_value *from; ///< the baseline, of no later tick than the value; NULL: none
    const void *referee;              ///< state of the referee at the value's tick; NULL: unknown
    struct hc_runs *runs;             ///< of the extrapolator, with this referee, along which
                                      ///< hc_value_get extrapolates; NULL: none
};

/// Appends `value` with the input changes `changes`, if any; each must differ from the input that
/// the steps get before it. Fails the writer when it is full.
void hc_value_put(struct hc_bits_writer *bits, const struct hc_value_base *base,
                  const struct hc_input_changes *changes, const struct hc_unit_value *value);

/// As hc_value_put, with the extrapolation of the baseline with these input changes to the value's
/// tick, or hc_extrapolate_absent's without a baseline. Returns the entities that
/// differ from it, bit i for entity i of the unit.
uint32_t hc_value_put_extrapolated(struct hc_bits_writer *bits, const struct hc_value_base *base,
                                   const struct hc_input_changes *changes,
                                   const struct hc_unit_value *extrapolated,
                                   const struct hc_unit_value *value);

/// The bits of the shortest value at the tick `end` that lists these input changes.
uint32_t hc_value_listed_bits(const struct hc_value_base *base,
                              const struct hc_input_changes *changes, hc_tick end);

/// Reads it into `out`, whose tick and pointers are set and which is not `base->from`. Its input is
/// sanitized. Fails the reader where the bits end or are no value; the fields of `out` fit in any
/// case.
void hc_value_get(struct hc_bits_reader *bits, const struct hc_value_base *base,
                  struct hc_unit_value *out);

// ---- Inputs -------------------------------------------------------------------------------------

/// Appends an input against the one before it: 0 when it is the same, else 1 and its fields.
void hc_value_put_input(struct hc_bits_writer *bits, const struct hc_value_codec *codec,
                        const uint8_t *before, const uint8_t *input);

/// Reads an input into `out`, which may be `before`. Its fields fit in any case.
void hc_value_get_input(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                        const uint8_t *before, uint8_t *out);
