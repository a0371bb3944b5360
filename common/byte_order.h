/// The machine's byte order, and the byte order of what is hashed.
#pragma once

#include "hindcast/game.h"

#include <string.h>

#if !defined(__BYTE_ORDER__) ||                                                                    \
    (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "the compiler names no byte order, or one that this code does not know"
#endif

/// 1 on a machine that stores the highest byte of a number first; 0: the lowest byte.
#define HC_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/// Copies a struct of `size` bytes, which the fields cover in order, to `out` with every field
/// little-endian; and such a copy to the struct again.
static inline void hc_copy_little_endian(const struct hc_field *fields, uint32_t count, size_t size,
                                         const uint8_t *from, uint8_t *out) {
    if (!HC_BIG_ENDIAN) {
        memcpy(out, from, size);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = fields[i].offset, end = at + fields[i].size;
        for (uint32_t byte = at; byte < end; byte++)
            out[byte] = from[end - 1 - (byte - at)];
    }
}
