/// Deltas: what a unit is, as bits, given what the receiver takes it to be.
///
/// One table drives both directions: the fields of the game's kinds and of its input. See
/// proto/fields.h for masks, residuals, and flags of which some must be set.
///
///     delta   := same:1, or 0 changes
///     changes := which, then owner, then each entity that has changed
///     which   := some of owner first others; then some of the others, if others
///     owner   := age, then same:1, or 0 input; without `same` when the age is the guessed one
///     input   := some of its fields, residual ...
///     entity  := mask, residual ...
///
/// `first` is the player itself and `others` are the slots that it owns, if it owns any; of what
/// has no owner there are no changes, owner nor others, but its one entity. An age is that of the
/// newest known input, 0: none, and a number: twice what it exceeds the guess by, or twice what it
/// falls short by, less one.
///
/// Where the guess is that an entity is alive, a mask of none says that it is absent; where it is
/// that it is absent, the mask says that it is alive, and where it is unknown a bit says that
/// first, and a mask follows if so. Fields are told against the guess, with two exceptions. Those
/// of an entity that is not alive there are told against those of the same names of the unit's
/// first entity (a shot appears at its owner), else against zeros. And where the guess is that a
/// field of the player equals the one of the same name in its input (where it aims), it is taken to
/// equal that of the told input.
///
/// Every value has one encoding, and no other is read: bits that hc_delta_get takes are those that
/// hc_delta_put writes.
#pragma once

#include "common/bits.h"
#include "common/unit.h"

/// Bits that the fields have taken so far, for those who ask what costs.
struct hc_delta_counts {
    uint64_t field[HC_KINDS_MAX][HC_FIELDS_MAX]; ///< of each field of each kind
    uint64_t input[HC_FIELDS_MAX];
    uint64_t total; ///< with all flags and ages
};

/// Appends `value`, given `guess`, of the same tick, and adds what it took to `counts`, if not
/// NULL. Fails the writer when it is full.
void hc_delta_put(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                  const struct hc_unit_value *guess, const struct hc_unit_value *value,
                  struct hc_delta_counts *counts);

/// Reads into `out` (pointers set, may not be `guess`) what hc_delta_put wrote for the same guess.
/// Fails the reader where the bits end, or say what no value is; `out` then has fields that fit.
void hc_delta_get(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                  const struct hc_unit_value *guess, struct hc_unit_value *out);

/// Whether there is nothing to tell: the value is what the guess leads to.
bool hc_delta_same(const struct hc_world *world, hc_unit unit, const struct hc_unit_value *guess,
                   const struct hc_unit_value *value);

/// The same without the bit that says whether it is, of one that is not.
void hc_delta_put_changes(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                          const struct hc_unit_value *guess, const struct hc_unit_value *value,
                          struct hc_delta_counts *counts);

/// Reads what comes after that bit.
void hc_delta_get_changes(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                          bool same, const struct hc_unit_value *guess, struct hc_unit_value *out);

/// Appends an input that differs from the one before it, and adds what its fields took to `counts`.
void hc_delta_put_other_input(struct hc_bits_writer *bits, const struct hc_game *game,
                              const uint8_t *before, const uint8_t *input,
                              struct hc_delta_counts *counts);

/// Reads it into `out`, which may be `before`.
void hc_delta_get_other_input(struct hc_bits_reader *bits, const struct hc_game *game,
                              const uint8_t *before, uint8_t *out);

/// Appends an input against the one before it: 0 when it is the same, else 1 and its fields.
void hc_delta_put_input(struct hc_bits_writer *bits, const struct hc_game *game,
                        const uint8_t *before, const uint8_t *input);

/// Reads what hc_delta_put_input wrote into `out`, which may be `before`.
void hc_delta_get_input(struct hc_bits_reader *bits, const struct hc_game *game,
                        const uint8_t *before, uint8_t *out);

/// Appends a number that is small more often than not: in groups of `group` bits, in [1, 16], each
/// after a bit that says that there are more. One encoding each: digits count from 1.
void hc_delta_put_number(struct hc_bits_writer *bits, uint32_t value, unsigned group);

/// Reads it; fails the reader beyond 32 bits.
uint32_t hc_delta_get_number(struct hc_bits_reader *bits, unsigned group);
