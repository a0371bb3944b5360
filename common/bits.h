/// Bit-packed numbers in a bounded buffer, for states encoded by their field table.
///
/// The first bit is the lowest of the first byte; a number's low bits come first. Writer:
///   1. hc_bits_writer; 2. any number of puts; 3. hc_bits_finish, which pads with zero bits.
/// A failure sticks: the caller makes all its calls and checks `failed` once at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Writes to a borrowed buffer. A put past its end fails and drops the whole number.
struct hc_bits_writer {
    uint8_t *data;
    size_t size;      ///< bytes in `data`
    size_t at;        ///< bytes stored so far
    uint64_t pending; ///< bits put but not stored yet, low bits first
    unsigned count;   ///< pending bits; below 32 between calls
    bool failed;      ///< once true, every put is dropped
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

/// Appends the low `bits` bits, in [0, 32], of `value`, which must be below 2^bits.
void hc_bits_put(struct hc_bits_writer *writer, uint32_t value, unsigned bits);

/// Appends `value` as a two's complement of `bits` bits, in [0, 32]; it must fit. Only 0 fits in 0
/// bits.
void hc_bits_put_signed(struct hc_bits_writer *writer, int32_t value, unsigned bits);

/// Appends the first `bits` bits at `data`, which another writer wrote.
void hc_bits_append(struct hc_bits_writer *writer, const uint8_t *data, size_t bits);

/// Stores the pending bits. Returns the bytes used; 0 when the writer has failed.
size_t hc_bits_finish(struct hc_bits_writer *writer);

/// Bits put so far.
size_t hc_bits_written(const struct hc_bits_writer *writer);

/// A reader of the `size` bytes at `data`, which may be NULL when `size` is 0.
struct hc_bits_reader hc_bits_reader(const void *data, size_t size);

/// The next `bits` bits as a number; 0 on failure. More than 32 is a failure.
uint32_t hc_bits_get(struct hc_bits_reader *reader, unsigned bits);

/// The next `bits` bits as a two's complement; 0 on failure. More than 32 is a failure.
int32_t hc_bits_get_signed(struct hc_bits_reader *reader, unsigned bits);

/// Skips the next `bits` bits.
void hc_bits_skip(struct hc_bits_reader *reader, unsigned bits);

/// Whether no get has failed and only the padding of hc_bits_finish is left, less than a byte of
/// zero bits. With this check a sequence has only one encoding.
bool hc_bits_done(const struct hc_bits_reader *reader);
