/// Bit-packed numbers, flags and differences in a bounded buffer.
///
/// The first bit is the lowest of the first byte; a number's low bits come first. Writer:
///   1. hc_bits_writer; 2. any number of puts; 3. hc_bits_finish, which pads with zero bits.
/// A failure sticks: the caller makes all its calls and checks once at the end whether one failed.
#pragma once

#include "hindcast/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Writes to a borrowed buffer. A put past its end fails; the numbers so far are then of no use.
struct hc_bits_writer {
    uint8_t *data;
    size_t size;      ///< bytes in `data`
    size_t at;        ///< bytes stored so far
    uint64_t pending; ///< bits put but not stored yet, low bits first
    unsigned count;   ///< pending bits; below 32 between calls
    bool full;        ///< pending bits were dropped, because they had no room
};

/// Reads from a borrowed buffer. A get past its end fails and gives 0.
struct hc_bits_reader {
    const uint8_t *data;
    size_t size;      ///< bytes in `data`
    size_t at;        ///< bytes loaded so far
    uint64_t pending; ///< bits loaded but not read yet, low bits first
    unsigned count;   ///< pending bits
    bool failed;      ///< once true, every get gives 0
};

/// A writer to the `size` bytes at `data`, which may be NULL when `size` is 0.
struct hc_bits_writer hc_bits_writer(void *data, size_t size);

/// Whether a put has failed.
static inline bool hc_bits_failed(const struct hc_bits_writer *writer) {
    return writer->full || writer->count > (writer->size - writer->at) * 8;
}

/// Stores the lowest 32 pending bits, or drops them.
static inline void hc_bits_store(struct hc_bits_writer *writer) {
    if (writer->size - writer->at < 4) {
        writer->full = true;
    } else {
        uint8_t *out = writer->data + writer->at;
        for (unsigned i = 0; i < 4; i++)
            out[i] = (uint8_t)(writer->pending >> 8 * i);
        writer->at += 4;
    }
    writer->pending >>= 32;
    writer->count -= 32;
}

/// Appends the low `bits` bits, in [0, 32], of `value`, which must be below 2^bits.
static inline void hc_bits_put(struct hc_bits_writer *writer, uint32_t value, unsigned bits) {
    HC_ASSERT(bits <= 32 && (uint64_t)value >> bits == 0);
    writer->pending |= (uint64_t)value << writer->count;
    writer->count += bits;
    if (writer->count >= 32)
        hc_bits_store(writer);
}

/// Appends a number, best a small one: groups of `group` bits, in [1, 16], each behind a 1, and a 0
/// at the end. Every number has one encoding, because digits count from 1.
void hc_bits_put_number(struct hc_bits_writer *writer, uint32_t value, unsigned group);

/// Appends `value` as a two's complement of `bits` bits, in [0, 32]; it must fit. Only 0 fits in 0
/// bits.
void hc_bits_put_signed(struct hc_bits_writer *writer, int32_t value, unsigned bits);

/// Appends `value` in 64 bits.
void hc_bits_put_u64(struct hc_bits_writer *writer, uint64_t value);

/// Appends the first `bits` bits at `data`, which another writer wrote. It reads whole words of 4
/// bytes: up to 3 bytes at the end are readable and do not matter.
void hc_bits_append(struct hc_bits_writer *writer, const uint8_t *data, size_t bits);

/// Stores the pending bits. Returns the bytes used; 0 when the writer has failed.
size_t hc_bits_finish(struct hc_bits_writer *writer);

/// Bits put so far, unless a put has failed.
size_t hc_bits_written(const struct hc_bits_writer *writer);

/// A reader of the `size` bytes at `data`, which may be NULL when `size` is 0.
struct hc_bits_reader hc_bits_reader(const void *data, size_t size);

/// The next `bits` bits as a number; 0 on failure. More than 32 is a failure.
uint32_t hc_bits_get(struct hc_bits_reader *reader, unsigned bits);

/// The next number that hc_bits_put_number wrote; 0 on failure. One of more than 32 bits is a
/// failure.
uint32_t hc_bits_get_number(struct hc_bits_reader *reader, unsigned group);

/// The next `bits` bits as a two's complement; 0 on failure. More than 32 is a failure.
int32_t hc_bits_get_signed(struct hc_bits_reader *reader, unsigned bits);

/// The next 64 bits as a number; 0 on failure.
uint64_t hc_bits_get_u64(struct hc_bits_reader *reader);

/// Skips the next `bits` bits.
void hc_bits_skip(struct hc_bits_reader *reader, unsigned bits);

/// Whether a bit follows that is 1. So an optional end of a sequence, which begins with a 1, takes
/// no bit where it is left out.
bool hc_bits_more(const struct hc_bits_reader *reader);

/// Whether no get has failed and only the padding of hc_bits_finish is left, less than a byte of
/// zero bits. With this check a sequence has only one encoding.
bool hc_bits_done(const struct hc_bits_reader *reader);

// ---- Flags and residuals ------------------------------------------------------------------------
// Each has one encoding; the reader fails at any other.

/// Appends `count` flags, in [1, 32], at least one of them set. The last is left out where it
/// follows from the others.
void hc_bits_put_some(struct hc_bits_writer *writer, uint32_t flags, unsigned count);

/// Reads them; at least one is set in any case.
uint32_t hc_bits_get_some(struct hc_bits_reader *reader, unsigned count);

/// Appends `count` flags, in [1, 32], of which few or all of a group are set, or none.
///
///     mask    := group ..., of four flags each
///     group   := any:1 later:1, then, if any, all:1, or 0 some    of the group, of a later one
///
/// After a `later`, a group without any implies another `later`, and `any` of the last group is
/// left out. `later` is left out of the last group, and `all` of a group of one flag. Where not all
/// are set, the last flag is also left out if all others are.
void hc_bits_put_mask(struct hc_bits_writer *writer, uint64_t mask, unsigned count);

/// Reads them.
uint64_t hc_bits_get_mask(struct hc_bits_reader *reader, unsigned count);

/// Appends a difference modulo 2^bits, `bits` in [1, 32], which is not 0. Those nearest to 0 are
/// numbered from 0 on: -1, 1, -2, 2 ... The number is written in exponential Golomb code: in ranges
/// of 2^k, 2^(k+1) ... numbers, `k` in [0, bits). Each range has one more 1 before it and then a 0;
/// the last has no 0.
void hc_bits_put_residual(struct hc_bits_writer *writer, uint32_t difference, unsigned bits,
                          unsigned k);

/// Reads it, modulo 2^32.
uint32_t hc_bits_get_residual(struct hc_bits_reader *reader, unsigned bits, unsigned k);
