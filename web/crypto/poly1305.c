/// Owns Poly1305's arithmetic modulo 2^130 - 5, in limbs of 26 bits.
#include "web/crypto/poly1305.h"

#include "web/crypto/bytes.h"

#include <string.h>

enum { LIMBS = HC_WEB_POLY1305_LIMBS, LIMB_BITS = 26, BLOCK = HC_WEB_POLY1305_BLOCK };

static const uint32_t LIMB = (1u << LIMB_BITS) - 1;

/// The limbs of 16 bytes as a number.
static void split(uint32_t out[static LIMBS], const uint8_t bytes[static BLOCK]) {
    uint64_t low = hc_web_get_u64(bytes), high = hc_web_get_u64(bytes + 8);
    out[0] = (uint32_t)low & LIMB;
    out[1] = (uint32_t)(low >> 26) & LIMB;
    out[2] = (uint32_t)(low >> 52 | high << 12) & LIMB;
    out[3] = (uint32_t)(high >> 14) & LIMB;
    out[4] = (uint32_t)(high >> 40);
}

void hc_web_poly1305_init(struct hc_web_poly1305 *mac,
                          const uint8_t key[static HC_WEB_POLY1305_KEY]) {
    uint8_t r[BLOCK];
    memcpy(r, key, sizeof r);
    for (unsigned i = 3; i < BLOCK; i += 4)
        r[i] &= 15;
    for (unsigned i = 4; i < BLOCK; i += 4)
        r[i] &= 252;
    split(mac->r, r);
    memset(mac->sum, 0, sizeof mac->sum);
    memcpy(mac->pad, key + BLOCK, sizeof mac->pad);
    hc_web_erase(r, sizeof r);
}

/// Multiplies the sum by r. A limb beyond the highest counts five times at the lowest.
static void multiply(struct hc_web_poly1305 *mac) {
    uint64_t product[LIMBS] = {0}, carry = 0;
    for (unsigned i = 0; i < LIMBS; i++)
        for (unsigned j = 0; j < LIMBS; j++) {
            uint32_t factor = i + j < LIMBS ? mac->r[j] : 5 * mac->r[j];
            product[(i + j) % LIMBS] += (uint64_t)mac->sum[i] * factor;
        }
    for (unsigned i = 0; i < LIMBS; i++) {
        product[i] += carry;
        mac->sum[i] = (uint32_t)product[i] & LIMB;
        carry = product[i] >> LIMB_BITS;
    }
    uint64_t lowest = mac->sum[0] + 5 * carry;
    mac->sum[0] = (uint32_t)lowest & LIMB;
    mac->sum[1] += (uint32_t)(lowest >> LIMB_BITS);
}

void hc_web_poly1305_add(struct hc_web_poly1305 *mac, const uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size; at += BLOCK) {
        uint8_t block[BLOCK] = {0};
        uint32_t limbs[LIMBS];
        memcpy(block, bytes + at, size - at < BLOCK ? size - at : BLOCK);
        split(limbs, block);
        limbs[LIMBS - 1] |= 1u << 24; // the bit after a whole block
        for (unsigned i = 0; i < LIMBS; i++)
            mac->sum[i] += limbs[i];
        multiply(mac);
    }
}

/// Carries from limb to limb; what leaves the highest.
static uint32_t carry_all(uint32_t limbs[static LIMBS], uint32_t carry) {
    for (unsigned i = 0; i < LIMBS; i++) {
        limbs[i] += carry;
        carry = limbs[i] >> LIMB_BITS;
        limbs[i] &= LIMB;
    }
    return carry;
}

/// Subtracts 2^130 - 5 if the sum is not below it. Twice, because a first carry wraps.
static void reduce(uint32_t sum[static LIMBS]) {
    uint32_t less[LIMBS];
    uint32_t above = carry_all(sum, 0);
    above = carry_all(sum, 5 * above);
    sum[0] += 5 * above;
    memcpy(less, sum, sizeof less);
    uint32_t mask = 0u - carry_all(less, 5); // all ones if the sum plus 5 reaches 2^130
    for (unsigned i = 0; i < LIMBS; i++)
        sum[i] = (less[i] & mask) | (sum[i] & ~mask);
}

void hc_web_poly1305_end(struct hc_web_poly1305 *mac, uint8_t tag[static HC_WEB_POLY1305_TAG]) {
    reduce(mac->sum);
    const uint32_t *sum = mac->sum;
    uint32_t words[4] = {sum[0] | sum[1] << 26, sum[1] >> 6 | sum[2] << 20,
                         sum[2] >> 12 | sum[3] << 14, sum[3] >> 18 | sum[4] << 8};
    uint64_t carry = 0;
    for (unsigned i = 0; i < 4; i++) {
        carry += (uint64_t)words[i] + hc_web_get_u32(mac->pad + (size_t)4 * i);
        hc_web_put_u32(tag + (size_t)4 * i, (uint32_t)carry);
        carry >>= 32;
    }
    hc_web_erase(words, sizeof words);
    hc_web_erase(mac, sizeof *mac);
}
