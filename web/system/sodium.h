/// The functions of libsodium that the cores call, by web/crypto, for builds to WebAssembly alone.
///
/// This folder is among those of the system's headers there. Names and results are libsodium's;
/// tests/unit/test_web_crypto.c compares them.
#pragma once

#include "web/crypto/aead.h"
#include "web/crypto/base64.h"
#include "web/crypto/blake2b.h"
#include "web/crypto/bytes.h"
#include "web/crypto/siphash.h"
#include "web/crypto/x25519.h"

// NOLINTBEGIN(readability-identifier-naming): libsodium's names
enum {
    crypto_aead_chacha20poly1305_ietf_KEYBYTES = HC_WEB_CHACHA_KEY,
    crypto_aead_chacha20poly1305_ietf_NPUBBYTES = HC_WEB_CHACHA_NONCE,
    crypto_aead_chacha20poly1305_ietf_ABYTES = HC_WEB_POLY1305_TAG,
    crypto_aead_xchacha20poly1305_ietf_KEYBYTES = HC_WEB_CHACHA_KEY,
    crypto_aead_xchacha20poly1305_ietf_NPUBBYTES = HC_WEB_XCHACHA_NONCE,
    crypto_aead_xchacha20poly1305_ietf_ABYTES = HC_WEB_POLY1305_TAG,
    crypto_generichash_BYTES_MIN = 16,
    crypto_generichash_BYTES_MAX = HC_WEB_BLAKE2B_MAX,
    crypto_scalarmult_BYTES = HC_WEB_X25519,
    crypto_scalarmult_SCALARBYTES = HC_WEB_X25519,
    crypto_shorthash_BYTES = 8,
    crypto_shorthash_KEYBYTES = HC_WEB_SIPHASH_KEY,
    sodium_base64_VARIANT_URLSAFE_NO_PADDING = 7, ///< the only one
};

// The cores pass NULL for the sizes of tags, and for secret nonces, which these ciphers lack.
#define crypto_aead_chacha20poly1305_ietf_encrypt_detached(c, mac, mac_size, m, size, ad, ad_size, \
                                                           nsec, nonce, key)                       \
    (hc_web_aead_seal(&(struct hc_web_aead){key, nonce, false, ad, ad_size}, m, size, c, mac), 0)
#define crypto_aead_xchacha20poly1305_ietf_encrypt_detached(c, mac, mac_size, m, size, ad,         \
                                                            ad_size, nsec, nonce, key)             \
    (hc_web_aead_seal(&(struct hc_web_aead){key, nonce, true, ad, ad_size}, m, size, c, mac), 0)
#define crypto_aead_chacha20poly1305_ietf_decrypt_detached(m, nsec, c, size, mac, ad, ad_size,     \
                                                           nonce, key)                             \
    (hc_web_aead_open(&(struct hc_web_aead){key, nonce, false, ad, ad_size}, c, size, mac, m) - 1)
#define crypto_aead_xchacha20poly1305_ietf_decrypt_detached(m, nsec, c, size, mac, ad, ad_size,    \
                                                            nonce, key)                            \
    (hc_web_aead_open(&(struct hc_web_aead){key, nonce, true, ad, ad_size}, c, size, mac, m) - 1)

/// There is nothing to prepare.
static inline int sodium_init(void) {
    return 0;
}

/// Fills `size` bytes from the system's source of random numbers, which in a browser is
/// crypto.getRandomValues.
void randombytes_buf(void *bytes, size_t size);

/// BLAKE2b; `key` may be NULL.
static inline int crypto_generichash(uint8_t *out, size_t out_size, const uint8_t *in,
                                     unsigned long long size, const uint8_t *key, size_t key_size) {
    struct hc_web_blake2b_key of = {key, key == NULL ? 0 : key_size};
    hc_web_blake2b(out, out_size, in, (size_t)size, &of);
    return 0;
}

/// SipHash-2-4.
static inline int crypto_shorthash(uint8_t *out, const uint8_t *in, unsigned long long size,
                                   const uint8_t *key) {
    hc_web_put_u64(out, hc_web_siphash(in, (size_t)size, key));
    return 0;
}

/// X25519; -1: the shared key is 0.
static inline int crypto_scalarmult(uint8_t *out, const uint8_t *secret, const uint8_t *key) {
    return hc_web_x25519(out, secret, key) ? 0 : -1;
}

/// The public key of X25519.
static inline int crypto_scalarmult_base(uint8_t *out, const uint8_t *secret) {
    hc_web_x25519_public(out, secret);
    return 0;
}

/// 0 if the bytes are equal, else -1.
static inline int sodium_memcmp(const void *a, const void *b, size_t size) {
    return hc_web_equal(a, b, size) ? 0 : -1;
}

/// 1 if all bytes are 0, else 0.
static inline int sodium_is_zero(const uint8_t *bytes, size_t size) {
    return hc_web_is_zero(bytes, size);
}

/// Erases bytes.
static inline void sodium_memzero(void *bytes, size_t size) {
    hc_web_erase(bytes, size);
}

/// Writes Base64 to `text`, which has room for `room` bytes; NULL: there is too little.
static inline char *sodium_bin2base64(char *text, size_t room, const uint8_t *bytes, size_t size,
                                      int variant) {
    (void)variant;
    if (room <= HC_WEB_BASE64_SIZE(size))
        return NULL;
    hc_web_base64_put(text, bytes, size);
    return text;
}

// The cores ignore no letters, and ask for no end.
#define sodium_base642bin(bytes, room, text, text_size, ignored, size, end, variant)               \
    (hc_web_base64_get(bytes, room, text, text_size, size) - 1)
// NOLINTEND(readability-identifier-naming)
