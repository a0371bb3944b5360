/// Sealing: ChaCha20-Poly1305 with a nonce of 12 bytes (RFC 8439), and XChaCha20-Poly1305 with one
/// of 24 (draft-irtf-cfrg-xchacha-03).
#pragma once

#include "web/crypto/chacha20.h"
#include "web/crypto/poly1305.h"

#include <stdbool.h>

enum { HC_WEB_XCHACHA_NONCE = 24 }; ///< bytes

/// The key of a sealing, and the bytes that its tag covers beside the text; borrowed.
struct hc_web_aead {
    const uint8_t *key;   ///< [HC_WEB_CHACHA_KEY]
    const uint8_t *nonce; ///< [HC_WEB_CHACHA_NONCE], or [HC_WEB_XCHACHA_NONCE] if `extended`
    bool extended;        ///< XChaCha20
    const uint8_t *clear; ///< [clear_size] not encrypted
    size_t clear_size;
};

/// Encrypts `size` bytes at `text` to `out`, which may be `text`, and writes the tag.
void hc_web_aead_seal(const struct hc_web_aead *aead, const uint8_t *text, size_t size,
                      uint8_t *out, uint8_t tag[static HC_WEB_POLY1305_TAG]);

/// Decrypts `size` bytes at `text` to `out`, which may be `text`. False: the tag is wrong, and
/// `out` is filled with zeros.
bool hc_web_aead_open(const struct hc_web_aead *aead, const uint8_t *text, size_t size,
                      const uint8_t tag[static HC_WEB_POLY1305_TAG], uint8_t *out);
