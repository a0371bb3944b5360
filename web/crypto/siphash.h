/// The short hash SipHash-2-4 (Aumasson and Bernstein 2012).
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HC_WEB_SIPHASH_KEY = 16 }; ///< bytes

/// The hash of `size` bytes with a key.
uint64_t hc_web_siphash(const uint8_t *bytes, size_t size,
                        const uint8_t key[static HC_WEB_SIPHASH_KEY]);
