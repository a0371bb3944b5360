/// Owns SipHash-2-4.
#include "web/crypto/siphash.h"

#include "web/crypto/bytes.h"

#include <string.h>

static inline uint64_t turn(uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[static 4], unsigned rounds) {
    while (rounds-- > 0) {
        v[0] += v[1], v[1] = turn(v[1], 13) ^ v[0], v[0] = turn(v[0], 32);
        v[2] += v[3], v[3] = turn(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = turn(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = turn(v[1], 17) ^ v[2], v[2] = turn(v[2], 32);
    }
}

static void take(uint64_t v[static 4], uint64_t word) {
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

uint64_t hc_web_siphash(const uint8_t *bytes, size_t size,
                        const uint8_t key[static HC_WEB_SIPHASH_KEY]) {
    uint64_t low = hc_web_get_u64(key), high = hc_web_get_u64(key + 8);
    uint64_t v[4] = {low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261,
                     high ^ 0x7465646279746573};
    uint8_t rest[8] = {0};
    rest[7] = (uint8_t)size;
    for (; size >= 8; bytes += 8, size -= 8)
        take(v, hc_web_get_u64(bytes));
    if (size > 0)
        memcpy(rest, bytes, size);
    take(v, hc_web_get_u64(rest));
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
