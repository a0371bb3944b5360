/// The authenticator Poly1305 (RFC 8439). No table and no branch depends on the key or the bytes.
/// Calls: hc_web_poly1305_init, hc_web_poly1305_add any number of times, hc_web_poly1305_end.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    HC_WEB_POLY1305_KEY = 32,   ///< bytes of a key, which is used once
    HC_WEB_POLY1305_TAG = 16,   ///< bytes of a tag
    HC_WEB_POLY1305_LIMBS = 5,  ///< limbs of 26 bits
    HC_WEB_POLY1305_BLOCK = 16, ///< bytes
};

struct hc_web_poly1305 {
    uint32_t r[HC_WEB_POLY1305_LIMBS];   ///< factor of each step
    uint32_t sum[HC_WEB_POLY1305_LIMBS]; ///< value so far, below 2^130 and some carries
    uint8_t pad[HC_WEB_POLY1305_TAG];    ///< number that the tag ends with
};

/// Begins a tag with a key, borrowed for the call.
void hc_web_poly1305_init(struct hc_web_poly1305 *mac,
                          const uint8_t key[static HC_WEB_POLY1305_KEY]);

/// Adds `size` bytes, and zeros up to a whole block.
void hc_web_poly1305_add(struct hc_web_poly1305 *mac, const uint8_t *bytes, size_t size);

/// Writes the tag, and erases the state.
void hc_web_poly1305_end(struct hc_web_poly1305 *mac, uint8_t tag[static HC_WEB_POLY1305_TAG]);
