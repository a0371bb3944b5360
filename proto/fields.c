/// Fields: masks of the changed fields, and their residuals in exponential Golomb code.
#include "proto/fields.h"

#include "hindcast/check.h"

#include <string.h>

enum { GROUP = 4 };

static uint32_t ones(unsigned count) {
    return (uint32_t)((UINT64_C(1) << count) - 1);
}

void hc_fields_put_some(struct hc_bits_writer *bits, uint32_t flags, unsigned count, bool proper) {
    HC_ASSERT(flags != 0 && !(proper && flags == ones(count)));
    uint32_t before = flags & ones(count - 1);
    bool last = before != 0 && !(proper && before == ones(count - 1));
    hc_bits_put(bits, last ? flags : before, last ? count : count - 1);
}

uint32_t hc_fields_get_some(struct hc_bits_reader *bits, unsigned count, bool proper) {
    uint32_t before = hc_bits_get(bits, count - 1), last = before == 0;
    if (before != 0 && !(proper && before == ones(count - 1)))
        last = hc_bits_get(bits, 1);
    return before | last << (count - 1);
}

void hc_fields_put_mask(struct hc_bits_writer *bits, uint32_t mask, unsigned count) {
    bool sure = false; // the rest is known not to be empty
    for (unsigned left = count; left > 0 && (mask != 0 || !sure); sure = true) {
        unsigned size = left < GROUP ? left : GROUP;
        uint32_t group = mask & ones(size);
        bool later = mask >> size != 0;
        if (!sure || left > size)
            hc_bits_put(bits, group != 0, 1);
        if (left > size && (!sure || group != 0))
            hc_bits_put(bits, later, 1);
        if (group != 0 && size > 1)
            hc_bits_put(bits, group == ones(size), 1);
        if (group != 0 && group != ones(size))
            hc_fields_put_some(bits, group, size, true);
        left -= size;
        mask = later ? mask >> size : 0;
    }
}

uint32_t hc_fields_get_mask(struct hc_bits_reader *bits, unsigned count) {
    uint32_t mask = 0;
    bool sure = false, later = true;
    for (unsigned first = 0; later; first += GROUP, sure = true) {
        unsigned left = count - first, size = left < GROUP ? left : GROUP;
        bool any = (sure && left == size) || hc_bits_get(bits, 1) != 0;
        later = left > size && ((sure && !any) || hc_bits_get(bits, 1) != 0);
        bool all = any && (size == 1 || hc_bits_get(bits, 1) != 0);
        if (any)
            mask |= (all ? ones(size) : hc_fields_get_some(bits, size, true)) << first;
    }
    return mask;
}

/// The Golomb parameter k of a field, in [0, bits).
static unsigned golomb(const struct hc_field *field) {
    if (field->bits <= (field->is_signed ? 2 : 3))
        return 0;
    if (field->interpolate == HC_LINEAR)
        return field->bits / 2u - 1;
    return field->is_signed ? field->bits - 1u : field->bits - 3u;
}

/// The number of the last range, counted from 0.
static unsigned last_range(const struct hc_field *field, unsigned k) {
    return k > 0 ? field->bits - k : field->bits - 1u;
}

static void put_residual(struct hc_bits_writer *bits, const struct hc_field *field,
                         int64_t difference) {
    int64_t range = INT64_C(1) << field->bits;
    difference &= range - 1;
    HC_ASSERT(difference != 0);
    uint64_t number = (uint64_t)(difference < range / 2 ? 2 * difference - 1 // 1, 2 ...
                                                        : 2 * (range - difference) - 2);
    unsigned k = golomb(field), n = 0;
    number += UINT64_C(1) << k;
    while (number >> (k + n) > 1)
        n++;
    number -= UINT64_C(1) << (k + n);
    // The last range has at most 2^k - 1 numbers.
    unsigned before = n + (n < last_range(field, k)), size = k + n == field->bits ? k : k + n;
    if (before + size <= 32) {
        hc_bits_put(bits, (uint32_t)(number << before) | ones(n), before + size);
        return;
    }
    hc_bits_put(bits, ones(n), before);
    hc_bits_put(bits, (uint32_t)number, size);
}

static int64_t get_residual(struct hc_bits_reader *bits, const struct hc_field *field) {
    unsigned k = golomb(field), n = 0;
    while (n < last_range(field, k) && hc_bits_get(bits, 1) != 0)
        n++;
    uint64_t number = (UINT64_C(1) << (k + n)) - (UINT64_C(1) << k);
    number += hc_bits_get(bits, k + n == field->bits ? k : k + n);
    bits->failed |= number + 1 >= UINT64_C(1) << field->bits;
    int64_t magnitude = (int64_t)(number / 2 + 1);
    return number % 2 == 0 ? -magnitude : magnitude;
}

static bool differs(const struct hc_field *field, const void *a, const void *b) {
    const uint8_t *x = (const uint8_t *)a + field->offset, *y = (const uint8_t *)b + field->offset;
    switch (field->size) {
    case 1:
        return *x != *y;
    case 2:
        return memcmp(x, y, 2) != 0;
    default:
        return memcmp(x, y, 4) != 0;
    }
}

uint32_t hc_fields_compare(const struct hc_field *fields, unsigned count, const void *a,
                           const void *b) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < count; i++)
        mask |= (uint32_t)differs(&fields[i], a, b) << i;
    return mask;
}

void hc_fields_put(struct hc_bits_writer *bits, const struct hc_field *fields, unsigned count,
                   uint32_t mask, const void *from, const void *to) {
    for (unsigned i = 0; i < count; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        put_residual(bits, &fields[i],
                     hc_field_get(&fields[i], to) - hc_field_get(&fields[i], from));
    }
}

void hc_fields_get(struct hc_bits_reader *bits, const struct hc_field *fields, unsigned count,
                   uint32_t mask, void *state) {
    for (unsigned i = 0; i < count; i++)
        if ((mask >> i & 1) != 0)
            hc_fields_wrap(&fields[i], state,
                           hc_field_get(&fields[i], state) + get_residual(bits, &fields[i]));
}

void hc_fields_wrap(const struct hc_field *field, void *state, int64_t value) {
    int64_t range = INT64_C(1) << field->bits;
    value &= range - 1;
    hc_field_set(field, state, field->is_signed && value >= range / 2 ? value - range : value);
}
