/// Owns numbers as bytes, and what must take the same time for all bytes.
#include "web/crypto/bytes.h"

uint32_t hc_web_get_u32(const uint8_t bytes[static 4]) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint64_t hc_web_get_u64(const uint8_t bytes[static 8]) {
    return hc_web_get_u32(bytes) | (uint64_t)hc_web_get_u32(bytes + 4) << 32;
}

void hc_web_put_u32(uint8_t bytes[static 4], uint32_t number) {
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
}

void hc_web_put_u64(uint8_t bytes[static 8], uint64_t number) {
    hc_web_put_u32(bytes, (uint32_t)number);
    hc_web_put_u32(bytes + 4, (uint32_t)(number >> 32));
}

/// The bits that differ. Bytes that are read as volatile let no compiler end the loop early.
static uint8_t difference(const volatile uint8_t *a, const volatile uint8_t *b, size_t size) {
    uint8_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = (uint8_t)(bits | (a[i] ^ b[i]));
    return bits;
}

bool hc_web_equal(const void *a, const void *b, size_t size) {
    return difference(a, b, size) == 0;
}

bool hc_web_is_zero(const void *bytes, size_t size) {
    const volatile uint8_t *at = bytes;
    uint8_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = (uint8_t)(bits | at[i]);
    return bits == 0;
}

void hc_web_erase(void *bytes, size_t size) {
    volatile uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        at[i] = 0;
}
