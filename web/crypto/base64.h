/// Base64 for URLs, without padding (RFC 4648, section 5).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The letters of `size` bytes.
#define HC_WEB_BASE64_SIZE(size) (((size)*8 + 5) / 6)

/// Writes the letters of `size` bytes, and a zero after them, to `text`.
void hc_web_base64_put(char *text, const uint8_t *bytes, size_t size);

/// Reads `text_size` letters to `bytes`, which has room for `room` bytes, and writes their number
/// to
/// `*size`. False: it is no such text, has bits beyond its last byte, or has too many bytes.
bool hc_web_base64_get(uint8_t *bytes, size_t room, const char *text, size_t text_size,
                       size_t *size);
