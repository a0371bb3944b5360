/// The stream cipher ChaCha20 (RFC 8439), and HChaCha20, which derives a key from a longer nonce
/// (draft-irtf-cfrg-xchacha-03). No table and no branch depends on a key or on a text.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    HC_WEB_CHACHA_KEY = 32,    ///< bytes of a key
    HC_WEB_CHACHA_NONCE = 12,  ///< bytes of a nonce
    HC_WEB_CHACHA_BLOCK = 64,  ///< bytes of a block of the stream
    HC_WEB_HCHACHA_NONCE = 16, ///< bytes of HChaCha20's nonce
};

/// Writes `size` bytes at `in`, XORed with the stream from block `counter` on, to `out`, which may
/// be `in`.
void hc_web_chacha20(const uint8_t key[static HC_WEB_CHACHA_KEY],
                     const uint8_t nonce[static HC_WEB_CHACHA_NONCE], uint32_t counter,
                     const uint8_t *in, uint8_t *out, size_t size);

/// Writes the key that HChaCha20 derives to `out`, which may be `key`.
void hc_web_hchacha20(const uint8_t key[static HC_WEB_CHACHA_KEY],
                      const uint8_t nonce[static HC_WEB_HCHACHA_NONCE],
                      uint8_t out[static HC_WEB_CHACHA_KEY]);
