/// Wrappers of libsodium's functions that remember keys and nonces.
#include "tests/sim/crypto_calls.h"

#include "hindcast/check.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { ID_SIZE = 16, SLOTS = 2 * HC_CRYPTO_CALLS_MAX };

/// An open-addressing set of digests, none of which is zero.
struct set {
    uint32_t count;
    uint8_t ids[SLOTS][ID_SIZE];
};

static struct set pairs, keys;
static struct hc_crypto_calls counts;
static bool stopped;

/// Adds the digest of `size` bytes; true: it was new.
static bool add(struct set *set, const uint8_t *bytes, size_t size) {
    uint8_t id[ID_SIZE];
    int failed = crypto_generichash(id, sizeof id, bytes, size, NULL, 0);
    HC_ASSERT(!failed && !sodium_is_zero(id, sizeof id));
    uint32_t at;
    memcpy(&at, id, sizeof at);
    for (at %= SLOTS; !sodium_is_zero(set->ids[at], ID_SIZE); at = (at + 1) % SLOTS)
        if (memcmp(set->ids[at], id, ID_SIZE) == 0)
            return false;
    HC_ASSERT(set->count < HC_CRYPTO_CALLS_MAX);
    set->count++;
    memcpy(set->ids[at], id, ID_SIZE);
    return true;
}

static void note_sealing(const unsigned char *key, const unsigned char *nonce, size_t nonce_size) {
    // Every cipher here has keys of 32 bytes, and nonces of different lengths never collide.
    uint8_t pair[32 + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    if (stopped)
        return;
    memcpy(pair, key, 32);
    memcpy(pair + 32, nonce, nonce_size);
    counts.sealed++;
    counts.keys += add(&keys, key, 32);
    counts.repeats += !add(&pairs, pair, 32 + nonce_size);
}

void hc_crypto_calls_reset(void) {
    memset(&pairs, 0, sizeof pairs);
    memset(&keys, 0, sizeof keys);
    memset(&counts, 0, sizeof counts);
    stopped = false;
}

void hc_crypto_calls_stop(void) {
    stopped = true;
}

struct hc_crypto_calls hc_crypto_calls(void) {
    return counts;
}

// The linker turns calls of `f` into calls of `__wrap_f`, and `__real_f` into the library's `f`.
#define WRAP(function, nonce_size)                                                                 \
    int __real_##function(unsigned char *c, unsigned char *mac, unsigned long long *mac_size,      \
                          const unsigned char *m, unsigned long long size,                         \
                          const unsigned char *ad, unsigned long long ad_size,                     \
                          const unsigned char *nsec, const unsigned char *nonce,                   \
                          const unsigned char *key);                                               \
    int __wrap_##function(unsigned char *c, unsigned char *mac, unsigned long long *mac_size,      \
                          const unsigned char *m, unsigned long long size,                         \
                          const unsigned char *ad, unsigned long long ad_size,                     \
                          const unsigned char *nsec, const unsigned char *nonce,                   \
                          const unsigned char *key);                                               \
    int __wrap_##function(unsigned char *c, unsigned char *mac, unsigned long long *mac_size,      \
                          const unsigned char *m, unsigned long long size,                         \
                          const unsigned char *ad, unsigned long long ad_size,                     \
                          const unsigned char *nsec, const unsigned char *nonce,                   \
                          const unsigned char *key) {                                              \
        note_sealing(key, nonce, nonce_size);                                                      \
        return __real_##function(c, mac, mac_size, m, size, ad, ad_size, nsec, nonce, key);        \
    }

WRAP(crypto_aead_chacha20poly1305_ietf_encrypt_detached,
     crypto_aead_chacha20poly1305_ietf_NPUBBYTES)
WRAP(crypto_aead_xchacha20poly1305_ietf_encrypt_detached,
     crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)

int __real_crypto_scalarmult(unsigned char *q, const unsigned char *n, const unsigned char *p);
int __wrap_crypto_scalarmult(unsigned char *q, const unsigned char *n, const unsigned char *p);
int __real_crypto_scalarmult_base(unsigned char *q, const unsigned char *n);
int __wrap_crypto_scalarmult_base(unsigned char *q, const unsigned char *n);

int __wrap_crypto_scalarmult(unsigned char *q, const unsigned char *n, const unsigned char *p) {
    counts.curve++;
    return __real_crypto_scalarmult(q, n, p);
}

int __wrap_crypto_scalarmult_base(unsigned char *q, const unsigned char *n) {
    counts.curve++;
    return __real_crypto_scalarmult_base(q, n);
}
