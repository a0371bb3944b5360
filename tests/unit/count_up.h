/// Bytes that count up, the inputs of the known answers of secure_vectors.py.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Writes `size` bytes to `out`: first, first + 1, ... modulo 256.
static inline void count_up(uint8_t *out, size_t size, uint8_t first) {
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(first + i);
}
