/// Owns BLAKE2b's compression and its padding.
#include "web/crypto/blake2b.h"

#include "web/crypto/bytes.h"

#include <stdbool.h>
#include <string.h>

enum { WORDS = 8, BLOCK = 128, ROUNDS = 12, SCHEDULES = 10 };

static const uint64_t initial[WORDS] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                        0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                        0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/// The order of a block's words in each round.
static const uint8_t schedule[SCHEDULES][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t turn(uint64_t word, unsigned bits) {
    return word >> bits | word << (64 - bits);
}

/// Mixes two words of the block into four of the work.
static inline void mix(uint64_t v[static 2 * WORDS], const uint8_t at[static 4], uint64_t x,
                       uint64_t y) {
    uint64_t a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];
    a += b + x, d = turn(d ^ a, 32), c += d, b = turn(b ^ c, 24);
    a += b + y, d = turn(d ^ a, 16), c += d, b = turn(b ^ c, 63);
    v[at[0]] = a, v[at[1]] = b, v[at[2]] = c, v[at[3]] = d;
}

static void compress(uint64_t h[static WORDS], const uint8_t block[static BLOCK], uint64_t counter,
                     bool last) {
    static const uint8_t places[WORDS][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14},
                                             {3, 7, 11, 15}, {0, 5, 10, 15}, {1, 6, 11, 12},
                                             {2, 7, 8, 13},  {3, 4, 9, 14}};
    uint64_t words[16], v[2 * WORDS];
    for (unsigned i = 0; i < 16; i++)
        words[i] = hc_web_get_u64(block + (size_t)8 * i);
    memcpy(v, h, sizeof initial);
    memcpy(v + WORDS, initial, sizeof initial);
    v[12] ^= counter;
    if (last)
        v[14] = ~v[14];
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint8_t *order = schedule[round % SCHEDULES];
        for (unsigned i = 0; i < WORDS; i++)
            mix(v, places[i], words[order[2 * i]], words[order[2 * i + 1]]);
    }
    for (unsigned i = 0; i < WORDS; i++)
        h[i] ^= v[i] ^ v[WORDS + i];
    hc_web_erase(words, sizeof words);
    hc_web_erase(v, sizeof v);
}

void hc_web_blake2b(uint8_t *out, size_t out_size, const uint8_t *bytes, size_t size,
                    const struct hc_web_blake2b_key *key) {
    uint64_t h[WORDS], counter = 0;
    uint8_t block[BLOCK] = {0};
    memcpy(h, initial, sizeof h);
    h[0] ^= 0x01010000 ^ (uint64_t)key->size << 8 ^ out_size;
    if (key->size > 0) {
        memcpy(block, key->bytes, key->size);
        counter = BLOCK;
        compress(h, block, counter, size == 0);
    }
    while (size > BLOCK) {
        counter += BLOCK;
        compress(h, bytes, counter, false);
        bytes += BLOCK, size -= BLOCK;
    }
    if (size > 0 || key->size == 0) {
        memset(block, 0, sizeof block);
        if (size > 0)
            memcpy(block, bytes, size);
        compress(h, block, counter + size, true);
    }
    for (unsigned i = 0; i < WORDS; i++)
        hc_web_put_u64(block + (size_t)8 * i, h[i]);
    memcpy(out, block, out_size);
    hc_web_erase(h, sizeof h);
    hc_web_erase(block, sizeof block);
}
