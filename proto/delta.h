/// Deltas: a unit's value as bits, encoded against the receiver's extrapolation.
///
/// One table drives both directions: the fields of the game's kinds and of its input. See
/// proto/fields.h for masks, residuals, and flags of which some must be set.
///
///     delta   := same:1, or 0 changes
///     changes := which, then owner, then each entity that has changed
///     which   := some of owner first others; then some of the others, if others
///     owner   := age, then same:1, or 0 input; without `same` when the age is the extrapolated one
///     input   := some of its fields, residual ...
///     entity  := mask, residual ...
///
/// `first` is the player itself, and `others` are the slots that it owns, if any. An unowned entity
/// has neither `which` nor owner: its changes are one entity. The age is that of the newest known
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
/// Every value has one encoding: hc_delta_get accepts only bits that hc_delta_put writes.
#pragma once

#include "common/bits.h"
#include "common/unit.h"

/// Appends `value` against `extrapolated`, of the same tick. Fails the writer when it is full.
void hc_delta_put(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                  const struct hc_unit_value *extrapolated, const struct hc_unit_value *value);

/// Reads a delta against the same `extrapolated` into `out`, another value with its pointers set.
/// Fails the reader where the bits end or are no value; the fields of `out` fit in any case.
void hc_delta_get(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                  const struct hc_unit_value *extrapolated, struct hc_unit_value *out);

/// Whether the delta is empty: `value` is what the extrapolation leads to.
bool hc_delta_same(const struct hc_world *world, hc_unit unit,
                   const struct hc_unit_value *extrapolated, const struct hc_unit_value *value);

/// As hc_delta_put without its first bit, for a value that is not the same.
void hc_delta_put_changes(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                          const struct hc_unit_value *extrapolated,
                          const struct hc_unit_value *value);

/// Reads the bits after the first one, which was `same`.
void hc_delta_get_changes(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                          bool same, const struct hc_unit_value *extrapolated,
                          struct hc_unit_value *out);

/// Appends an input that differs from the one before it.
void hc_delta_put_other_input(struct hc_bits_writer *bits, const struct hc_game *game,
                              const uint8_t *before, const uint8_t *input);

/// Reads it into `out`, which may be `before`.
void hc_delta_get_other_input(struct hc_bits_reader *bits, const struct hc_game *game,
                              const uint8_t *before, uint8_t *out);

/// Appends an input against the one before it: 0 when it is the same, else 1 and its fields.
void hc_delta_put_input(struct hc_bits_writer *bits, const struct hc_game *game,
                        const uint8_t *before, const uint8_t *input);

/// Reads an input into `out`, which may be `before`.
void hc_delta_get_input(struct hc_bits_reader *bits, const struct hc_game *game,
                        const uint8_t *before, uint8_t *out);

/// Appends a number, best a small one: groups of `group` bits, in [1, 16], each behind a 1, and a 0
/// at the end. Every number has one encoding, because digits count from 1.
void hc_delta_put_number(struct hc_bits_writer *bits, uint32_t value, unsigned group);

/// Reads it; fails the reader where it exceeds 32 bits.
uint32_t hc_delta_get_number(struct hc_bits_reader *bits, unsigned group);
