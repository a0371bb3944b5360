/// The hash BLAKE2b (RFC 7693), with or without a key.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HC_WEB_BLAKE2B_MAX = 64 }; ///< bytes of a hash, and of a key

/// The key of a hash; `size` 0: none.
struct hc_web_blake2b_key {
    const uint8_t *bytes; ///< [size]
    size_t size;          ///< [0, HC_WEB_BLAKE2B_MAX]
};

/// Writes the hash, of `out_size` bytes in [1, HC_WEB_BLAKE2B_MAX], of `size` bytes at `bytes`.
void hc_web_blake2b(uint8_t *out, size_t out_size, const uint8_t *bytes, size_t size,
                    const struct hc_web_blake2b_key *key);
