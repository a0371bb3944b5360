/// Owns ChaCha20's block, its stream, and HChaCha20.
#include "web/crypto/chacha20.h"

#include "web/crypto/bytes.h"

#include <string.h>

enum { WORDS = HC_WEB_CHACHA_BLOCK / 4, KEY_AT = 4, COUNTER_AT = 12, DOUBLE_ROUNDS = 10 };

static inline uint32_t turn(uint32_t word, unsigned bits) {
    return word << bits | word >> (32 - bits);
}

#define QUARTER(a, b, c, d)                                                                        \
    do {                                                                                           \
        (a) += (b), (d) = turn((d) ^ (a), 16);                                                     \
        (c) += (d), (b) = turn((b) ^ (c), 12);                                                     \
        (a) += (b), (d) = turn((d) ^ (a), 8);                                                      \
        (c) += (d), (b) = turn((b) ^ (c), 7);                                                      \
    } while (0)

static void mix(uint32_t w[static WORDS]) {
    for (unsigned round = 0; round < DOUBLE_ROUNDS; round++) {
        QUARTER(w[0], w[4], w[8], w[12]);
        QUARTER(w[1], w[5], w[9], w[13]);
        QUARTER(w[2], w[6], w[10], w[14]);
        QUARTER(w[3], w[7], w[11], w[15]);
        QUARTER(w[0], w[5], w[10], w[15]);
        QUARTER(w[1], w[6], w[11], w[12]);
        QUARTER(w[2], w[7], w[8], w[13]);
        QUARTER(w[3], w[4], w[9], w[14]);
    }
}

/// The words of the constant and of the key.
static void begin(uint32_t words[static WORDS], const uint8_t key[static HC_WEB_CHACHA_KEY]) {
    static const uint8_t constant[16] = {'e', 'x', 'p', 'a', 'n', 'd', ' ', '3',
                                         '2', '-', 'b', 'y', 't', 'e', ' ', 'k'};
    for (unsigned i = 0; i < KEY_AT; i++)
        words[i] = hc_web_get_u32(constant + (size_t)4 * i);
    for (unsigned i = KEY_AT; i < COUNTER_AT; i++)
        words[i] = hc_web_get_u32(key + (size_t)4 * (i - KEY_AT));
}

void hc_web_chacha20(const uint8_t key[static HC_WEB_CHACHA_KEY],
                     const uint8_t nonce[static HC_WEB_CHACHA_NONCE], uint32_t counter,
                     const uint8_t *in, uint8_t *out, size_t size) {
    uint32_t from[WORDS], words[WORDS];
    uint8_t block[HC_WEB_CHACHA_BLOCK];
    begin(from, key);
    from[COUNTER_AT] = counter;
    for (unsigned i = 0; i < 3; i++)
        from[COUNTER_AT + 1 + i] = hc_web_get_u32(nonce + (size_t)4 * i);
    for (size_t at = 0; at < size; at += sizeof block) {
        size_t part = size - at < sizeof block ? size - at : sizeof block;
        memcpy(words, from, sizeof words);
        mix(words);
        for (unsigned i = 0; i < WORDS; i++)
            hc_web_put_u32(block + (size_t)4 * i, words[i] + from[i]);
        for (size_t i = 0; i < part; i++)
            out[at + i] = in[at + i] ^ block[i];
        from[COUNTER_AT]++;
    }
    hc_web_erase(from, sizeof from);
    hc_web_erase(words, sizeof words);
    hc_web_erase(block, sizeof block);
}

void hc_web_hchacha20(const uint8_t key[static HC_WEB_CHACHA_KEY],
                      const uint8_t nonce[static HC_WEB_HCHACHA_NONCE],
                      uint8_t out[static HC_WEB_CHACHA_KEY]) {
    uint32_t words[WORDS];
    begin(words, key);
    for (unsigned i = 0; i < 4; i++)
        words[COUNTER_AT + i] = hc_web_get_u32(nonce + (size_t)4 * i);
    mix(words);
    for (unsigned i = 0; i < 4; i++) {
        hc_web_put_u32(out + (size_t)4 * i, words[i]);
        hc_web_put_u32(out + 16 + (size_t)4 * i, words[COUNTER_AT + i]);
    }
    hc_web_erase(words, sizeof words);
}
