/// Fields: the changed fields of a struct with a field table, as bits.
///
/// A mask names the fields that differ from the receiver's; each of these has a residual. Where at
/// least one of some flags is known to be set, or not to be, the last one is left out if it follows
/// from the others.
///
///     mask     := group ..., of four fields each, in the table's order
///     group    := any:1 later:1, then, if any, all:1, or 0 flags    of the group, of a later one
///
/// After a `later`, a group without any implies another `later`, and `any` of the last group is
/// left out. `later` is left out of the last group, and `all` of a group of one field.
///
/// A residual is the difference modulo 2^bits that is nearest to 0. It is never 0, and is numbered
/// from 0 on: -1, 1, -2, 2 ... The number is written in exponential Golomb code: in ranges of 2^k,
/// 2^(k+1) ... numbers. Each range has one more 1 before it and then a 0; the last has no 0.
///
///     k        := bits / 2 - 1   of interpolated fields: they move in small steps
///                 bits - 1       of other signed ones, such as speeds: all values are as likely
///                 bits - 3       of the rest; and 0 of up to 3 bits, 2 if signed
///
/// Every mask and residual has one encoding; the reader refuses any other.
#pragma once

#include "common/bits.h"
#include "hindcast/game.h"

/// Appends `count` flags, in [1, 32]. At least one is set and, if `proper`, at least one is not.
void hc_fields_put_some(struct hc_bits_writer *bits, uint32_t flags, unsigned count, bool proper);

/// Reads them.
uint32_t hc_fields_get_some(struct hc_bits_reader *bits, unsigned count, bool proper);

/// Appends the mask of the changed ones of `count` fields, bit i for field i; it may be 0.
void hc_fields_put_mask(struct hc_bits_writer *bits, uint32_t mask, unsigned count);

/// Reads it.
uint32_t hc_fields_get_mask(struct hc_bits_reader *bits, unsigned count);

/// Which of the fields differ between two structs.
uint32_t hc_fields_compare(const struct hc_field *fields, unsigned count, const void *a,
                           const void *b);

/// Appends the residuals of the fields in `mask`, which must differ.
void hc_fields_put(struct hc_bits_writer *bits, const struct hc_field *fields, unsigned count,
                   uint32_t mask, const void *from, const void *to);

/// Reads them: turns `state`, the one that the fields were encoded against, into the sent one.
/// Fails the reader where the bits are no residual; the fields fit in any case.
void hc_fields_get(struct hc_bits_reader *bits, const struct hc_field *fields, unsigned count,
                   uint32_t mask, void *state);

/// Stores `value` modulo 2^bits, within the field's range.
void hc_fields_wrap(const struct hc_field *field, void *state, int64_t value);
