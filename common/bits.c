/// The reader and the writer of bit-packed numbers.
#include "common/bits.h"

#include "hindcast/check.h"

/// A mask of the low `bits` bits, in [0, 32].
static uint32_t mask(unsigned bits) {
    return (uint32_t)((UINT64_C(1) << bits) - 1);
}

static uint32_t get_u32(const uint8_t *data) {
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

struct hc_bits_writer hc_bits_writer(void *data, size_t size) {
    HC_ASSERT(data != NULL || size == 0);
    return (struct hc_bits_writer){.data = data, .size = size};
}

void hc_bits_put(struct hc_bits_writer *writer, uint32_t value, unsigned bits) {
    HC_ASSERT(bits <= 32 && (uint64_t)value >> bits == 0);
    unsigned count = writer->count + bits;
    // Pending bits count as used, so that storing them later cannot fail.
    if (writer->failed || count > (writer->size - writer->at) * 8) {
        writer->failed = true;
        return;
    }
    uint64_t pending = writer->pending | (uint64_t)value << writer->count;
    if (count >= 32) {
        uint8_t *out = writer->data + writer->at;
        for (unsigned i = 0; i < 4; i++)
            out[i] = (uint8_t)(pending >> 8 * i);
        writer->at += 4;
        pending >>= 32;
        count -= 32;
    }
    writer->pending = pending;
    writer->count = count;
}

void hc_bits_put_signed(struct hc_bits_writer *writer, int32_t value, unsigned bits) {
    HC_ASSERT(bits <= 32);
    int64_t half = bits == 0 ? 0 : INT64_C(1) << (bits - 1);
    HC_ASSERT(value == 0 || (value >= -half && value < half));
    hc_bits_put(writer, (uint32_t)value & mask(bits), bits);
}

void hc_bits_append(struct hc_bits_writer *writer, const uint8_t *data, size_t bits) {
    for (; bits >= 32; bits -= 32, data += 4)
        hc_bits_put(writer, get_u32(data), 32);
    uint32_t rest = 0;
    for (unsigned i = 0; 8 * i < bits; i++)
        rest |= (uint32_t)data[i] << 8 * i;
    hc_bits_put(writer, rest & mask((unsigned)bits), (unsigned)bits);
}

size_t hc_bits_finish(struct hc_bits_writer *writer) {
    if (writer->failed)
        return 0;
    while (writer->count > 0) {
        HC_ASSERT(writer->at < writer->size);
        writer->data[writer->at++] = (uint8_t)writer->pending;
        writer->pending >>= 8;
        writer->count = writer->count > 8 ? writer->count - 8 : 0;
    }
    return writer->at;
}

size_t hc_bits_written(const struct hc_bits_writer *writer) {
    return writer->at * 8 + writer->count;
}

struct hc_bits_reader hc_bits_reader(const void *data, size_t size) {
    HC_ASSERT(data != NULL || size == 0);
    return (struct hc_bits_reader){.data = data, .size = size};
}

/// Loads up to four bytes; fewer than 32 bits must be pending.
static void refill(struct hc_bits_reader *reader) {
    for (unsigned i = 0; i < 4 && reader->at < reader->size; i++) {
        reader->pending |= (uint64_t)reader->data[reader->at++] << reader->count;
        reader->count += 8;
    }
}

uint32_t hc_bits_get(struct hc_bits_reader *reader, unsigned bits) {
    if (bits <= 32 && reader->count < bits)
        refill(reader);
    if (reader->failed || bits > 32 || reader->count < bits) {
        reader->failed = true;
        return 0;
    }
    uint32_t value = (uint32_t)reader->pending & mask(bits);
    reader->pending >>= bits;
    reader->count -= bits;
    return value;
}

void hc_bits_skip(struct hc_bits_reader *reader, unsigned bits) {
    for (; bits > 32; bits -= 32)
        (void)hc_bits_get(reader, 32);
    (void)hc_bits_get(reader, bits);
}

int32_t hc_bits_get_signed(struct hc_bits_reader *reader, unsigned bits) {
    int64_t value = hc_bits_get(reader, bits);
    if (reader->failed || bits == 0)
        return 0;
    int64_t sign = INT64_C(1) << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

bool hc_bits_done(const struct hc_bits_reader *reader) {
    return !reader->failed && reader->at == reader->size && reader->count < 8 &&
           reader->pending == 0;
}
