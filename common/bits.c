/// The reader and the writer of bit-packed numbers, flags and differences.
#include "common/bits.h"

#include "hindcast/check.h"

/// A number of `count` ones, in [0, 32].
static uint32_t ones(unsigned count) {
    return (uint32_t)((UINT64_C(1) << count) - 1);
}

static uint32_t get_u32(const uint8_t *data) {
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

// ---- Writing ------------------------------------------------------------------------------------

struct hc_bits_writer hc_bits_writer(void *data, size_t size) {
    HC_ASSERT(data != NULL || size == 0);
    return (struct hc_bits_writer){.data = data, .size = size};
}

void hc_bits_put_signed(struct hc_bits_writer *writer, int32_t value, unsigned bits) {
    HC_ASSERT(bits <= 32);
    int64_t half = bits == 0 ? 0 : INT64_C(1) << (bits - 1);
    HC_ASSERT(value == 0 || (value >= -half && value < half));
    hc_bits_put(writer, (uint32_t)value & ones(bits), bits);
}

void hc_bits_put_u64(struct hc_bits_writer *writer, uint64_t value) {
    hc_bits_put(writer, (uint32_t)value, 32);
    hc_bits_put(writer, (uint32_t)(value >> 32), 32);
}

void hc_bits_put_number(struct hc_bits_writer *writer, uint32_t value, unsigned group) {
    HC_ASSERT(group >= 1 && group <= 16);
    for (; value > 0; value = (value - 1) >> group)
        hc_bits_put(writer, ((value - 1) & ones(group)) << 1 | 1, group + 1);
    hc_bits_put(writer, 0, 1);
}

void hc_bits_append(struct hc_bits_writer *writer, const uint8_t *data, size_t bits) {
    for (; bits > 32; bits -= 32, data += 4)
        hc_bits_put(writer, get_u32(data), 32);
    if (bits > 0)
        hc_bits_put(writer, get_u32(data) & ones((unsigned)bits), (unsigned)bits);
}

size_t hc_bits_finish(struct hc_bits_writer *writer) {
    if (hc_bits_failed(writer))
        return 0;
    while (writer->count > 0) {
        writer->data[writer->at++] = (uint8_t)writer->pending;
        writer->pending >>= 8;
        writer->count = writer->count > 8 ? writer->count - 8 : 0;
    }
    return writer->at;
}

size_t hc_bits_written(const struct hc_bits_writer *writer) {
    return writer->at * 8 + writer->count;
}

// ---- Reading ------------------------------------------------------------------------------------

struct hc_bits_reader hc_bits_reader(const void *data, size_t size) {
    HC_ASSERT(data != NULL || size == 0);
    return (struct hc_bits_reader){.data = data, .size = size};
}

uint32_t hc_bits_get(struct hc_bits_reader *reader, unsigned bits) {
    bool loads = bits <= 32 && reader->count < bits;
    for (unsigned i = 0; loads && i < 4 && reader->at < reader->size; i++) {
        reader->pending |= (uint64_t)reader->data[reader->at++] << reader->count;
        reader->count += 8;
    }
    if (reader->failed || bits > 32 || reader->count < bits) {
        reader->failed = true;
        return 0;
    }
    uint32_t value = (uint32_t)reader->pending & ones(bits);
    reader->pending >>= bits;
    reader->count -= bits;
    return value;
}

int32_t hc_bits_get_signed(struct hc_bits_reader *reader, unsigned bits) {
    int64_t value = hc_bits_get(reader, bits);
    if (reader->failed || bits == 0)
        return 0;
    int64_t sign = INT64_C(1) << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

uint64_t hc_bits_get_u64(struct hc_bits_reader *reader) {
    uint64_t low = hc_bits_get(reader, 32), high = hc_bits_get(reader, 32);
    return reader->failed ? 0 : low | high << 32;
}

uint32_t hc_bits_get_number(struct hc_bits_reader *reader, unsigned group) {
    HC_ASSERT(group >= 1 && group <= 16);
    uint64_t value = 0;
    for (unsigned shift = 0; hc_bits_get(reader, 1) != 0; shift += group) {
        if (shift < 32)
            value += ((uint64_t)hc_bits_get(reader, group) + 1) << shift;
        if (shift >= 32 || value > UINT32_MAX)
            reader->failed = true;
    }
    return reader->failed ? 0 : (uint32_t)value;
}

void hc_bits_skip(struct hc_bits_reader *reader, unsigned bits) {
    for (; bits > 32; bits -= 32)
        (void)hc_bits_get(reader, 32);
    (void)hc_bits_get(reader, bits);
}

bool hc_bits_more(const struct hc_bits_reader *reader) {
    struct hc_bits_reader ahead = *reader;
    return hc_bits_get(&ahead, 1) == 1;
}

bool hc_bits_done(const struct hc_bits_reader *reader) {
    return !reader->failed && reader->at == reader->size && reader->count < 8 &&
           reader->pending == 0;
}

// ---- Flags and residuals ------------------------------------------------------------------------

enum { GROUP = 4 }; ///< flags of a group of a mask

/// Appends `count` flags, in [1, 32]. At least one is set and, if `proper`, at least one is not.
static void put_some(struct hc_bits_writer *writer, uint32_t flags, unsigned count, bool proper) {
    HC_ASSERT(flags != 0 && !(proper && flags == ones(count)));
    uint32_t before = flags & ones(count - 1);
    bool last = before != 0 && !(proper && before == ones(count - 1));
    hc_bits_put(writer, last ? flags : before, last ? count : count - 1);
}

static uint32_t get_some(struct hc_bits_reader *reader, unsigned count, bool proper) {
    uint32_t before = hc_bits_get(reader, count - 1), last = before == 0;
    if (before != 0 && !(proper && before == ones(count - 1)))
        last = hc_bits_get(reader, 1);
    return before | last << (count - 1);
}

void hc_bits_put_some(struct hc_bits_writer *writer, uint32_t flags, unsigned count) {
    put_some(writer, flags, count, false);
}

uint32_t hc_bits_get_some(struct hc_bits_reader *reader, unsigned count) {
    return get_some(reader, count, false);
}

void hc_bits_put_mask(struct hc_bits_writer *writer, uint64_t mask, unsigned count) {
    bool sure = false; // the rest is known not to be empty
    for (unsigned left = count; left > 0 && (mask != 0 || !sure); sure = true) {
        unsigned size = left < GROUP ? left : GROUP;
        uint32_t group = (uint32_t)mask & ones(size);
        bool later = mask >> size != 0;
        if (!sure || left > size)
            hc_bits_put(writer, group != 0, 1);
        if (left > size && (!sure || group != 0))
            hc_bits_put(writer, later, 1);
        if (group != 0 && size > 1)
            hc_bits_put(writer, group == ones(size), 1);
        if (group != 0 && group != ones(size))
            put_some(writer, group, size, true);
        left -= size;
        mask = later ? mask >> size : 0;
    }
}

uint64_t hc_bits_get_mask(struct hc_bits_reader *reader, unsigned count) {
    uint64_t mask = 0;
    bool sure = false, later = true;
    for (unsigned first = 0; later; first += GROUP, sure = true) {
        unsigned left = count - first, size = left < GROUP ? left : GROUP;
        bool any = (sure && left == size) || hc_bits_get(reader, 1) != 0;
        later = left > size && ((sure && !any) || hc_bits_get(reader, 1) != 0);
        bool all = any && (size == 1 || hc_bits_get(reader, 1) != 0);
        if (any)
            mask |= (uint64_t)(all ? ones(size) : get_some(reader, size, true)) << first;
    }
    return mask;
}

/// The number of a residual's last range, counted from 0.
static unsigned last_range(unsigned bits, unsigned k) {
    return k > 0 ? bits - k : bits - 1;
}

void hc_bits_put_residual(struct hc_bits_writer *writer, uint32_t difference, unsigned bits,
                          unsigned k) {
    HC_ASSERT((difference & ones(bits)) != 0 && k < bits && bits <= 32);
    // -1, -2 ... become 0, 2 ..., and 1, 2 ... become 1, 3 ...
    int32_t nearest = (int32_t)(difference << (32 - bits)) >> (32 - bits), sign = nearest >> 31;
    uint64_t number = (uint64_t)(uint32_t)(nearest ^ sign) * 2 - 1 - (uint64_t)sign;
    number += UINT64_C(1) << k;
    unsigned top = 63 - (unsigned)__builtin_clzll(number), n = top - k;
    number -= UINT64_C(1) << top;
    // The last range has at most 2^k - 1 numbers.
    unsigned before = n + (n < last_range(bits, k)), size = top == bits ? k : top;
    if (before + size <= 32) {
        hc_bits_put(writer, (uint32_t)(number << before) | ones(n), before + size);
        return;
    }
    hc_bits_put(writer, ones(n), before);
    hc_bits_put(writer, (uint32_t)number, size);
}

uint32_t hc_bits_get_residual(struct hc_bits_reader *reader, unsigned bits, unsigned k) {
    unsigned n = 0;
    while (n < last_range(bits, k) && hc_bits_get(reader, 1) != 0)
        n++;
    uint64_t number = (UINT64_C(1) << (k + n)) - (UINT64_C(1) << k);
    number += hc_bits_get(reader, k + n == bits ? k : k + n);
    reader->failed |= number + 1 >= UINT64_C(1) << bits;
    uint32_t magnitude = (uint32_t)(number / 2 + 1);
    return number % 2 == 0 ? 0 - magnitude : magnitude;
}
