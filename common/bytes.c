/// The reader and the writer of little-endian bytes.
#include "common/bytes.h"

#include "hindcast/check.h"

#include <string.h>

struct hc_reader hc_bytes_reader(const void *data, size_t size) {
    HC_ASSERT(data != NULL || size == 0);
    return (struct hc_reader){.data = data, .size = size};
}

const uint8_t *hc_bytes_take(struct hc_reader *reader, size_t size) {
    if (reader->failed || size > reader->size - reader->at) {
        reader->failed = true;
        return NULL;
    }
    // An empty buffer may be NULL, but NULL means failure.
    static const uint8_t empty[1];
    if (size == 0)
        return empty;
    const uint8_t *taken = reader->data + reader->at;
    reader->at += size;
    return taken;
}

static uint64_t get(struct hc_reader *reader, unsigned size) {
    const uint8_t *bytes = hc_bytes_take(reader, size);
    if (bytes == NULL)
        return 0;
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

uint8_t hc_bytes_get_u8(struct hc_reader *reader) {
    return (uint8_t)get(reader, 1);
}

uint16_t hc_bytes_get_u16(struct hc_reader *reader) {
    return (uint16_t)get(reader, 2);
}

uint32_t hc_bytes_get_u32(struct hc_reader *reader) {
    return (uint32_t)get(reader, 4);
}

uint64_t hc_bytes_get_u64(struct hc_reader *reader) {
    return get(reader, 8);
}

void hc_bytes_get(struct hc_reader *reader, void *out, size_t size) {
    const uint8_t *bytes = hc_bytes_take(reader, size);
    if (size == 0)
        return;
    if (bytes == NULL)
        memset(out, 0, size);
    else
        memcpy(out, bytes, size);
}

size_t hc_bytes_left(const struct hc_reader *reader) {
    return reader->failed ? 0 : reader->size - reader->at;
}

struct hc_writer hc_bytes_writer(void *data, size_t size) {
    HC_ASSERT(data != NULL || size == 0);
    return (struct hc_writer){.data = data, .size = size};
}

void hc_bytes_put(struct hc_writer *writer, const void *bytes, size_t size) {
    if (writer->failed || size > writer->size - writer->at) {
        writer->failed = true;
        return;
    }
    if (size == 0)
        return;
    memcpy(writer->data + writer->at, bytes, size);
    writer->at += size;
}

static void put(struct hc_writer *writer, uint64_t value, unsigned size) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    hc_bytes_put(writer, bytes, size);
}

void hc_bytes_put_u8(struct hc_writer *writer, uint8_t value) {
    put(writer, value, 1);
}

void hc_bytes_put_u16(struct hc_writer *writer, uint16_t value) {
    put(writer, value, 2);
}

void hc_bytes_put_u32(struct hc_writer *writer, uint32_t value) {
    put(writer, value, 4);
}

void hc_bytes_put_u64(struct hc_writer *writer, uint64_t value) {
    put(writer, value, 8);
}
