/// Owns the order of key, encryption and tag.
#include "web/crypto/aead.h"

#include "web/crypto/bytes.h"

#include <string.h>

/// The key and the nonce of RFC 8439.
struct plain_key {
    uint8_t key[HC_WEB_CHACHA_KEY], nonce[HC_WEB_CHACHA_NONCE];
};

static void derive(const struct hc_web_aead *aead, struct plain_key *out) {
    memset(out, 0, sizeof *out);
    if (aead->extended) {
        hc_web_hchacha20(aead->key, aead->nonce, out->key);
        memcpy(out->nonce + 4, aead->nonce + HC_WEB_HCHACHA_NONCE, 8);
    } else {
        memcpy(out->key, aead->key, sizeof out->key);
        memcpy(out->nonce, aead->nonce, sizeof out->nonce);
    }
}

/// The tag of `size` encrypted bytes.
static void authenticate(const struct hc_web_aead *aead, const struct plain_key *key,
                         const uint8_t *sealed, size_t size,
                         uint8_t tag[static HC_WEB_POLY1305_TAG]) {
    uint8_t once[HC_WEB_POLY1305_KEY] = {0}, sizes[16];
    struct hc_web_poly1305 mac;
    hc_web_chacha20(key->key, key->nonce, 0, once, once, sizeof once);
    hc_web_poly1305_init(&mac, once);
    hc_web_poly1305_add(&mac, aead->clear, aead->clear_size);
    hc_web_poly1305_add(&mac, sealed, size);
    hc_web_put_u64(sizes, aead->clear_size);
    hc_web_put_u64(sizes + 8, size);
    hc_web_poly1305_add(&mac, sizes, sizeof sizes);
    hc_web_poly1305_end(&mac, tag);
    hc_web_erase(once, sizeof once);
}

void hc_web_aead_seal(const struct hc_web_aead *aead, const uint8_t *text, size_t size,
                      uint8_t *out, uint8_t tag[static HC_WEB_POLY1305_TAG]) {
    struct plain_key key;
    derive(aead, &key);
    hc_web_chacha20(key.key, key.nonce, 1, text, out, size);
    authenticate(aead, &key, out, size, tag);
    hc_web_erase(&key, sizeof key);
}

bool hc_web_aead_open(const struct hc_web_aead *aead, const uint8_t *text, size_t size,
                      const uint8_t tag[static HC_WEB_POLY1305_TAG], uint8_t *out) {
    struct plain_key key;
    uint8_t expected[HC_WEB_POLY1305_TAG];
    derive(aead, &key);
    authenticate(aead, &key, text, size, expected);
    bool right = hc_web_equal(expected, tag, sizeof expected);
    if (right)
        hc_web_chacha20(key.key, key.nonce, 1, text, out, size);
    else if (size > 0)
        memset(out, 0, size);
    hc_web_erase(&key, sizeof key);
    hc_web_erase(expected, sizeof expected);
    return right;
}
