/// Numbers as bytes, and comparisons and erasures whose time does not depend on what the bytes
/// hold.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The number of 4 bytes, the lowest first.
uint32_t hc_web_get_u32(const uint8_t bytes[static 4]);

/// The number of 8 bytes, the lowest first.
uint64_t hc_web_get_u64(const uint8_t bytes[static 8]);

/// Writes a number as 4 bytes, the lowest first.
void hc_web_put_u32(uint8_t bytes[static 4], uint32_t number);

/// Writes a number as 8 bytes, the lowest first.
void hc_web_put_u64(uint8_t bytes[static 8], uint64_t number);

/// Whether `size` bytes at `a` and at `b` are equal. The time depends on `size` alone.
bool hc_web_equal(const void *a, const void *b, size_t size);

/// Whether `size` bytes are all 0. The time depends on `size` alone.
bool hc_web_is_zero(const void *bytes, size_t size);

/// Overwrites `size` bytes with zeros; no compiler leaves it out.
void hc_web_erase(void *bytes, size_t size);
