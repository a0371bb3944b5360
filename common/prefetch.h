/// Loads memory into the processor's cache ahead of its use.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Begins to load the lines of the cache that hold the `size` bytes at `at`.
static inline void hc_prefetch(const void *at, size_t size) {
    enum { LINE = 64 };
    const uint8_t *line = (const uint8_t *)at - (uintptr_t)at % LINE;
    for (const uint8_t *end = (const uint8_t *)at + size; line < end; line += LINE)
        __builtin_prefetch(line);
}
