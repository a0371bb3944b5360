/// Bytes that count up: the inputs of known answers, as secure_vectors.py has them.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Writes first, first + 1, ... modulo 256.
static inline void count_up(uint8_t *out, size_t size, uint8_t first) {
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(first + i);
}
