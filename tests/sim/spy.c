#include "tests/sim/spy.h"

#include "hindcast/check.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { ID_SIZE = 16, SLOTS = 2 * HC_SPY_MAX };

/// An open-addressing set of digests, none of which is zero.
struct set {
    uint32_t count;
    uint8_t ids[SLOTS][ID_SIZE];
};

static struct set pairs, keys;
static struct hc_spy seen;
static bool stopped;

/// Adds the digest of `size` bytes; whether it was new.
static bool add(struct set *set, const uint8_t *bytes, size_t size) {
    uint8_t id[ID_SIZE];
    int failed = crypto_generichash(id, sizeof id, bytes, size, NULL, 0);
    HC_ASSERT(!failed && !sodium_is_zero(id, sizeof id));
    uint32_t at;
    memcpy(&at, id, sizeof at);
    for (at %= SLOTS; !sodium_is_zero(set->ids[at], ID_SIZE); at = (at + 1) % SLOTS)
        if (memcmp(set->ids[at], id, ID_SIZE) == 0)
            return false;
    HC_ASSERT(set->count < HC_SPY_MAX);
    set->count++;
    memcpy(set->ids[at], id, ID_SIZE);
    return true;
}

static void look(const unsigned char *key, const unsigned char *nonce, size_t nonce_size) {
    // Every cipher here has keys of 32 bytes; nonces of two lengths cannot be taken for each other.
    uint8_t pair[32 + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    if (stopped)
        return;
    memcpy(pair, key, 32);
    memcpy(pair + 32, nonce, nonce_size);
    seen.sealed++;
    seen.keys += add(&keys, key, 32);
    seen.repeats += !add(&pairs, pair, 32 + nonce_size);
}

void hc_spy_reset(void) {
    memset(&pairs, 0, sizeof pairs);
    memset(&keys, 0, sizeof keys);
    memset(&seen, 0, sizeof seen);
    stopped = false;
}

void hc_spy_stop(void) {
    stopped = true;
}

struct hc_spy hc_spy_seen(void) {
    return seen;
}

// The linker turns calls of `f` into calls of `__wrap_f`, and `__real_f` into the library's `f`.
#define WATCH(function, nonce_size)                                                                \
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
        look(key, nonce, nonce_size);                                                              \
        return __real_##function(c, mac, mac_size, m, size, ad, ad_size, nsec, nonce, key);        \
    }

WATCH(crypto_aead_chacha20poly1305_ietf_encrypt_detached,
      crypto_aead_chacha20poly1305_ietf_NPUBBYTES)
WATCH(crypto_aead_xchacha20poly1305_ietf_encrypt_detached,
      crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)

int __real_crypto_scalarmult(unsigned char *q, const unsigned char *n, const unsigned char *p);
int __wrap_crypto_scalarmult(unsigned char *q, const unsigned char *n, const unsigned char *p);
int __real_crypto_scalarmult_base(unsigned char *q, const unsigned char *n);
int __wrap_crypto_scalarmult_base(unsigned char *q, const unsigned char *n);

int __wrap_crypto_scalarmult(unsigned char *q, const unsigned char *n, const unsigned char *p) {
    seen.curve++;
    return __real_crypto_scalarmult(q, n, p);
}

int __wrap_crypto_scalarmult_base(unsigned char *q, const unsigned char *n) {
    seen.curve++;
    return __real_crypto_scalarmult_base(q, n);
}
