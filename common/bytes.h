/// Little-endian numbers and raw bytes in a bounded buffer, for headers and other fixed layouts.
///
/// A failure sticks: the caller makes all its calls and checks `failed` once at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Reads from a borrowed buffer. A read past its end fails and consumes nothing.
struct hc_reader {
    const uint8_t *data;
    size_t size; ///< bytes in `data`
    size_t at;   ///< bytes read so far, at most `size`
    bool failed; ///< once true, every read gives 0 and consumes nothing
};

/// Writes to a borrowed buffer. A write past its end fails and writes nothing.
struct hc_writer {
    uint8_t *data;
    size_t size; ///< bytes in `data`
    size_t at;   ///< bytes written so far, at most `size`
    bool failed; ///< once true, every write is dropped
};

/// A reader of the `size` bytes at `data`, which may be NULL when `size` is 0.
struct hc_reader hc_bytes_reader(const void *data, size_t size);

/// The next byte; 0 on failure.
uint8_t hc_bytes_get_u8(struct hc_reader *reader);

/// The number in the next 2 bytes, little-endian; 0 on failure.
uint16_t hc_bytes_get_u16(struct hc_reader *reader);

/// The number in the next 4 bytes, little-endian; 0 on failure.
uint32_t hc_bytes_get_u32(struct hc_reader *reader);

/// The number in the next 8 bytes, little-endian; 0 on failure.
uint64_t hc_bytes_get_u64(struct hc_reader *reader);

/// Copies the next `size` bytes to `out`; zeros on failure.
void hc_bytes_get(struct hc_reader *reader, void *out, size_t size);

/// The next `size` bytes in place, borrowed from the buffer; NULL on failure.
const uint8_t *hc_bytes_take(struct hc_reader *reader, size_t size);

/// Bytes not read yet; 0 after a failure.
size_t hc_bytes_left(const struct hc_reader *reader);

/// A writer to the `size` bytes at `data`, which may be NULL when `size` is 0.
struct hc_writer hc_bytes_writer(void *data, size_t size);

/// Appends one byte; without room for it the writer fails.
void hc_bytes_put_u8(struct hc_writer *writer, uint8_t value);

/// Appends 2 bytes, little-endian, all or none of them.
void hc_bytes_put_u16(struct hc_writer *writer, uint16_t value);

/// Appends 4 bytes, little-endian, all or none of them.
void hc_bytes_put_u32(struct hc_writer *writer, uint32_t value);

/// Appends 8 bytes, little-endian, all or none of them.
void hc_bytes_put_u64(struct hc_writer *writer, uint64_t value);

/// Appends `size` bytes, all or none of them.
void hc_bytes_put(struct hc_writer *writer, const void *bytes, size_t size);
