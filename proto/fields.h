/// Fields: what has changed of a struct that a field table describes, as bits.
///
/// A mask says which fields differ from what the receiver takes them to be, then each of those has
/// a residual. Flags of which one is known to be set, or not to be, leave out the last where it
/// follows from those before it.
///
///     mask     := group ..., of four fields each, in the table's order
///     group    := any:1 later:1, then, if any, all:1, or 0 flags    of the group, of a later one
///
/// Once it is known that more follows, a group without any implies a later one, and the last group
/// is no question. `later` is left out of the last group, and `all` where the group has one field.
///
/// A residual is the difference modulo 2^bits, in the way nearest to 0 and never 0, counted as -1,
/// 1, -2, 2 ... from 0 on; in exponential Golomb code: in ranges of 2^k, 2^(k+1) ... of them, each
/// with one more 1 before it and then a 0, which the last range does without.
///
///     k        := bits / 2 - 1   of interpolated fields: what is shown so moves little by little
///                 bits - 1       of other signed ones, speeds and the like: any value is as likely
///                 bits - 3       of the rest; and 0 of up to 3 bits, 2 if signed
///
/// Everything has one encoding, and no other is read.
#pragma once

#include "common/bits.h"
#include "hindcast/game.h"

/// Appends `count` flags, in [1, 32], of which one at least is set and, if `proper`, one is not.
void hc_fields_put_some(struct hc_bits_writer *bits, uint32_t flags, unsigned count, bool proper);

/// Reads them.
uint32_t hc_fields_get_some(struct hc_bits_reader *bits, unsigned count, bool proper);

/// Appends which of `count` fields have changed, bit i for field i; there may be none.
void hc_fields_put_mask(struct hc_bits_writer *bits, uint32_t mask, unsigned count);

/// Reads it.
uint32_t hc_fields_get_mask(struct hc_bits_reader *bits, unsigned count);

/// Which of the fields differ between two structs.
uint32_t hc_fields_compare(const struct hc_field *fields, unsigned count, const void *a,
                           const void *b);

/// Appends the residuals of the fields in `mask`, which must differ; adds the bits that each took
/// to `taken[count]`, if not NULL.
void hc_fields_put(struct hc_bits_writer *bits, const struct hc_field *fields, unsigned count,
                   uint32_t mask, const void *from, const void *to, uint64_t *taken);

/// Reads them: brings `state`, what the fields are told against, to what was told. Fails the reader
/// where the bits say what no residual is; the fields fit in any case.
void hc_fields_get(struct hc_bits_reader *bits, const struct hc_field *fields, unsigned count,
                   uint32_t mask, void *state);

/// Stores `value` modulo 2^bits, within the field's range.
void hc_fields_wrap(const struct hc_field *field, void *state, int64_t value);
