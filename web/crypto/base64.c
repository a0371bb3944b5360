/// Owns Base64 for URLs.
#include "web/crypto/base64.h"

/// A letter for 6 bits, computed rather than looked up, because a cache would show where.
static char letter(uint32_t bits) {
    int32_t value = (int32_t)bits;
    int32_t from = 'A';
    from += ((25 - value) >> 31) & ('a' - 'Z' - 1);
    from += ((51 - value) >> 31) & ('0' - 'z' - 1);
    from += ((61 - value) >> 31) & ('-' - '9' - 1);
    from += ((62 - value) >> 31) & ('_' - '-' - 1);
    return (char)(from + value);
}

/// All ones if `low` <= letter <= `high`, else 0.
static int32_t between(int32_t found, int32_t low, int32_t high) {
    return ~(((found - low) | (high - found)) >> 31);
}

/// The 6 bits of a letter; -1: it is none.
static int32_t bits_of(char read) {
    int32_t found = (unsigned char)read;
    int32_t bits = between(found, 'A', 'Z') & (found - 'A' + 1);
    bits |= between(found, 'a', 'z') & (found - 'a' + 27);
    bits |= between(found, '0', '9') & (found - '0' + 53);
    bits |= between(found, '-', '-') & 63;
    bits |= between(found, '_', '_') & 64;
    return bits - 1;
}

void hc_web_base64_put(char *text, const uint8_t *bytes, size_t size) {
    uint32_t held = 0;
    unsigned count = 0;
    for (size_t i = 0; i < size; i++) {
        held = (held << 8 | bytes[i]) & 0xffff;
        for (count += 8; count >= 6; count -= 6)
            *text++ = letter(held >> (count - 6) & 63);
    }
    if (count > 0)
        *text++ = letter(held << (6 - count) & 63);
    *text = '\0';
}

bool hc_web_base64_get(uint8_t *bytes, size_t room, const char *text, size_t text_size,
                       size_t *size) {
    uint32_t held = 0;
    unsigned count = 0;
    *size = 0;
    for (size_t i = 0; i < text_size; i++) {
        int32_t bits = bits_of(text[i]);
        if (bits < 0)
            return false;
        held = (held << 6 | (uint32_t)bits) & 0xffff;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        if (*size == room)
            return false;
        bytes[(*size)++] = (uint8_t)(held >> count);
    }
    return count < 6 && (held & ((1u << count) - 1)) == 0;
}
