/// Pre-check: one walk over msgpack bytes with bounded depth and number of values.
#include "proto/precheck.h"

#include <stdbool.h>

/// A walk through the bytes; its memory does not grow with them.
struct walk {
    const uint8_t *at;
    size_t left;
    uint32_t nodes;
    uint32_t depth;
    uint32_t open[HC_PRECHECK_DEPTH_MAX]; ///< values left in each open array
};

/// Big-endian length of `width` bytes after the tag at `at`.
static size_t length_at(const uint8_t *at, unsigned width) {
    return width == 1 ? at[1] : (size_t)at[1] << 8 | at[2];
}

/// Bytes of the character at `at`; 0: not in RFC 3629's table.
static size_t utf8_character(const uint8_t *at, size_t left) {
    uint8_t lead = at[0];
    if (lead < 0x80)
        return 1;
    size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < size)
        return 0;
    // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

static bool utf8_valid(const uint8_t *at, size_t size) {
    while (size > 0) {
        size_t used = utf8_character(at, size);
        if (used == 0)
            return false;
        at += used;
        size -= used;
    }
    return true;
}

/// Skips `header` bytes of tag and length and `payload` bytes after them.
static enum hc_status skip(struct walk *walk, size_t header, size_t payload, bool text) {
    if (walk->left < header || walk->left - header < payload)
        return HC_TRUNCATED;
    if (text && !utf8_valid(walk->at + header, payload))
        return HC_MALFORMED;
    walk->at += header + payload;
    walk->left -= header + payload;
    return HC_OK;
}

static enum hc_status open_array(struct walk *walk, size_t header, size_t count) {
    if (walk->left < header || walk->left - header < count)
        return HC_TRUNCATED;
    if (walk->depth == HC_PRECHECK_DEPTH_MAX)
        return HC_MALFORMED;
    walk->open[walk->depth++] = (uint32_t)count;
    return skip(walk, header, 0, false);
}

/// Reads a string, binary or array whose length follows the tag in `width` bytes.
static enum hc_status sized_value(struct walk *walk, uint8_t tag, unsigned width) {
    if (walk->left < 1 + width)
        return HC_TRUNCATED;
    size_t length = length_at(walk->at, width);
    if (tag == 0xdc)
        return open_array(walk, 3, length);
    return skip(walk, 1 + width, length, tag == 0xd9 || tag == 0xda);
}

/// Bytes of a nil, a boolean or an integer, by its tag; 0: another type.
static size_t plain_size(uint8_t tag) {
    if (tag <= 0x7f || tag >= 0xe0) // fixint
        return 1;
    if (tag >= 0xcc && tag <= 0xd3) // uint 8 to 64, int 8 to 64
        return 1 + ((size_t)1 << (tag & 3));
    return tag == 0xc0 || tag == 0xc2 || tag == 0xc3 ? 1 : 0; // nil, false, true
}

static enum hc_status value(struct walk *walk) {
    if (walk->left == 0)
        return HC_TRUNCATED;
    if (++walk->nodes > HC_PRECHECK_NODES_MAX)
        return HC_MALFORMED;
    uint8_t tag = *walk->at;
    if (plain_size(tag) > 0)
        return skip(walk, plain_size(tag), 0, false);
    if (tag >= 0x90 && tag <= 0x9f) // fixarray
        return open_array(walk, 1, tag & 0x0f);
    if (tag >= 0xa0 && tag <= 0xbf) // fixstr
        return skip(walk, 1, tag & 0x1f, true);
    switch (tag) {
    case 0xc4: // bin 8
    case 0xd9: // str 8
        return sized_value(walk, tag, 1);
    case 0xc5: // bin 16
    case 0xda: // str 16
    case 0xdc: // array 16
        return sized_value(walk, tag, 2);
    default:
        return HC_MALFORMED;
    }
}

/// Skips the plain values that come next in the innermost array, up to the first faulty one: most
/// values are plain.
static void pass_plain(struct walk *walk) {
    uint32_t *open = &walk->open[walk->depth - 1], most = HC_PRECHECK_NODES_MAX - walk->nodes;
    uint32_t passed = 0;
    size_t at = 0, size;
    most = most < *open ? most : *open;
    for (; passed < most && at < walk->left; passed++, at += size) {
        size = plain_size(walk->at[at]);
        if (size == 0 || size > walk->left - at)
            break;
    }
    walk->at += at;
    walk->left -= at;
    walk->nodes += passed;
    *open -= passed;
}

enum hc_status hc_precheck(const uint8_t *bytes, size_t size, size_t *used) {
    struct walk walk = {.at = bytes, .left = size};
    do {
        enum hc_status status = value(&walk);
        if (status != HC_OK)
            return status;
        if (walk.depth > 0)
            pass_plain(&walk);
        while (walk.depth > 0 && walk.open[walk.depth - 1] == 0)
            walk.depth--;
        if (walk.depth > 0)
            walk.open[walk.depth - 1]--;
        else
            break;
    } while (true);
    *used = size - walk.left;
    return HC_OK;
}
