/// Owns the arithmetic modulo 2^255 - 19, and the ladder on Curve25519.
///
/// A number is a sum of ten signed limbs, in turn of 26 and 25 bits (Bernstein 2006): their
/// products fit into 64 bits with all carries left for later.
#include "web/crypto/x25519.h"

#include "web/crypto/bytes.h"

#include <string.h>

enum { LIMBS = 10, BITS = 255 };

typedef int32_t number[LIMBS];

/// Bits of limb `i`.
static unsigned width(unsigned i) {
    return 26 - (i & 1);
}

/// Brings limbs below 2^62 into their range. A carry of the highest counts 19 times at the lowest.
static void carry(number out, int64_t limbs[static LIMBS]) {
    int64_t above = 0;
    for (unsigned pass = 0; pass < 2; pass++, above *= 19)
        for (unsigned i = 0; i < LIMBS; i += 2) {
            limbs[i] += above;
            above = (limbs[i] + (1 << 25)) >> 26;
            limbs[i] -= above * (1 << 26);
            limbs[i + 1] += above;
            above = (limbs[i + 1] + (1 << 24)) >> 25;
            limbs[i + 1] -= above * (1 << 25);
        }
    limbs[0] += above;
    for (unsigned i = 0; i < LIMBS; i++)
        out[i] = (int32_t)limbs[i];
}

static void add(number out, const number a, const number b) {
    for (unsigned i = 0; i < LIMBS; i++)
        out[i] = a[i] + b[i];
}

static void subtract(number out, const number a, const number b) {
    for (unsigned i = 0; i < LIMBS; i++)
        out[i] = a[i] - b[i];
}

/// Multiplies numbers each of which is at most a sum of two reduced ones. Two odd limbs stand a bit
/// lower than their product's limb, and a limb beyond the highest counts 19 times.
static void multiply(number out, const number a, const number b) {
    int64_t product[2 * LIMBS] = {0};
    number doubled;
    for (unsigned j = 0; j < LIMBS; j++)
        doubled[j] = b[j] * (int32_t)(1 + (j & 1));
    for (unsigned i = 0; i < LIMBS; i++) {
        const int32_t *factor = i % 2 == 1 ? doubled : b;
        for (unsigned j = 0; j < LIMBS; j++)
            product[i + j] += (int64_t)a[i] * factor[j];
    }
    for (unsigned i = 0; i < LIMBS; i++)
        product[i] += 19 * product[LIMBS + i];
    carry(out, product);
}

static void multiply_small(number out, const number a, int32_t factor) {
    int64_t product[LIMBS];
    for (unsigned i = 0; i < LIMBS; i++)
        product[i] = (int64_t)a[i] * factor;
    carry(out, product);
}

/// 1 / a, which is a^(p - 2): all bits of the exponent are 1 but two.
static void invert(number out, const number a) {
    number power;
    memcpy(power, a, sizeof power);
    for (unsigned bit = BITS - 1; bit-- > 0;) {
        multiply(power, power, power);
        if (bit != 2 && bit != 4)
            multiply(power, power, a);
    }
    memcpy(out, power, sizeof power);
}

/// Exchanges a and b if `bit` is 1.
static void exchange(number a, number b, uint32_t bit) {
    uint32_t mask = 0u - bit;
    for (unsigned i = 0; i < LIMBS; i++) {
        uint32_t difference = mask & ((uint32_t)a[i] ^ (uint32_t)b[i]);
        a[i] = (int32_t)((uint32_t)a[i] ^ difference);
        b[i] = (int32_t)((uint32_t)b[i] ^ difference);
    }
}

/// Reads 32 bytes, the lowest first; the highest bit is ignored.
static void get(number out, const uint8_t bytes[static HC_WEB_X25519]) {
    uint8_t padded[HC_WEB_X25519 + 8] = {0};
    memcpy(padded, bytes, HC_WEB_X25519);
    padded[HC_WEB_X25519 - 1] &= 0x7f;
    unsigned at = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        uint64_t word = hc_web_get_u64(padded + at / 8) >> at % 8;
        out[i] = (int32_t)(word & (((uint64_t)1 << width(i)) - 1));
        at += width(i);
    }
    hc_web_erase(padded, sizeof padded);
}

/// Writes the number in [0, 2^255 - 19) that equals `a`, whose limbs are reduced.
static void put(uint8_t out[static HC_WEB_X25519], const number a) {
    int64_t limbs[LIMBS];
    int64_t above = (19 * (int64_t)a[LIMBS - 1] + (1 << 24)) >> 25;
    for (unsigned i = 0; i < LIMBS; i++) {
        limbs[i] = a[i];
        above = (a[i] + above) >> width(i); // how often 2^255 - 19 is contained, at the end
    }
    limbs[0] += 19 * above;
    uint64_t bits = 0;
    unsigned held = 0, at = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        if (i + 1 < LIMBS)
            limbs[i + 1] += limbs[i] >> width(i);
        bits |= (uint64_t)(limbs[i] & (((int64_t)1 << width(i)) - 1)) << held;
        for (held += width(i); held >= 8; held -= 8, bits >>= 8)
            out[at++] = (uint8_t)bits;
    }
    out[at] = (uint8_t)bits;
}

/// Two points of the ladder, by the quotients x / z.
struct ladder {
    number x2, z2, x3, z3;
};

/// A step of RFC 7748, section 5.
static void climb(struct ladder *at, const number x1) {
    number a, b, c, d, aa, bb, e, da, cb;
    add(a, at->x2, at->z2);
    subtract(b, at->x2, at->z2);
    add(c, at->x3, at->z3);
    subtract(d, at->x3, at->z3);
    multiply(da, d, a);
    multiply(cb, c, b);
    multiply(aa, a, a);
    multiply(bb, b, b);
    subtract(e, aa, bb);
    multiply(at->x2, aa, bb);
    add(c, da, cb);
    subtract(d, da, cb);
    multiply(at->x3, c, c);
    multiply(d, d, d);
    multiply(at->z3, d, x1);
    multiply_small(c, e, 121665);
    add(c, c, aa);
    multiply(at->z2, e, c);
}

bool hc_web_x25519(uint8_t out[static HC_WEB_X25519], const uint8_t secret[static HC_WEB_X25519],
                   const uint8_t key[static HC_WEB_X25519]) {
    uint8_t scalar[HC_WEB_X25519];
    struct ladder at = {.x2 = {1}, .z3 = {1}};
    number x1;
    memcpy(scalar, secret, sizeof scalar);
    scalar[0] &= 248;
    scalar[31] = (uint8_t)((scalar[31] & 127) | 64);
    get(x1, key);
    memcpy(at.x3, x1, sizeof x1);
    uint32_t before = 0;
    for (unsigned bit = BITS; bit-- > 0;) {
        uint32_t now = scalar[bit / 8] >> bit % 8 & 1;
        exchange(at.x2, at.x3, now ^ before);
        exchange(at.z2, at.z3, now ^ before);
        before = now;
        climb(&at, x1);
    }
    exchange(at.x2, at.x3, before);
    exchange(at.z2, at.z3, before);
    invert(at.z2, at.z2);
    multiply(at.x2, at.x2, at.z2);
    put(out, at.x2);
    hc_web_erase(scalar, sizeof scalar);
    hc_web_erase(&at, sizeof at);
    return !hc_web_is_zero(out, HC_WEB_X25519);
}

void hc_web_x25519_public(uint8_t out[static HC_WEB_X25519],
                          const uint8_t secret[static HC_WEB_X25519]) {
    static const uint8_t base[HC_WEB_X25519] = {9};
    (void)hc_web_x25519(out, secret, base);
}
