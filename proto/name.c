/// Names: the check of their characters, and escaping for logs.
#include "proto/name.h"

#include "hindcast/check.h"
#include "proto/marks.h"

#include <stdbool.h>
#include <string.h>

/// Unicode 15: the general categories Cc, Cf, Zl, Zp and Zs without U+0020, which hold all
/// controls, bidi and zero-width characters and blanks; Default_Ignorable_Code_Point;
/// noncharacters; and the characters of other categories that are blank. Ascending. The last two of
/// every plane are noncharacters too.
static const struct range {
    uint32_t first, last;
} refused[] = {
    {0x0000, 0x001f},   // C0
    {0x007f, 0x00a0},   // DEL, C1, no-break space
    {0x00ad, 0x00ad},   // soft hyphen
    {0x034f, 0x034f},   // combining grapheme joiner
    {0x0600, 0x0605},   // Arabic number signs
    {0x061c, 0x061c},   // Arabic letter mark: bidi
    {0x06dd, 0x06dd},   // end of ayah
    {0x070f, 0x070f},   // Syriac abbreviation mark
    {0x0890, 0x0891},   // Arabic currency marks
    {0x08e2, 0x08e2},   // disputed end of ayah
    {0x115f, 0x1160},   // Hangul fillers
    {0x1680, 0x1680},   // Ogham space
    {0x17b4, 0x17b5},   // Khmer inherent vowels
    {0x180b, 0x180f},   // Mongolian selectors and vowel separator
    {0x2000, 0x200f},   // spaces; zero-width space and joiners; bidi marks
    {0x2028, 0x202f},   // line and paragraph separators; bidi controls; a space
    {0x205f, 0x206f},   // a space, word joiner, invisible operators; bidi isolates; controls
    {0x2800, 0x2800},   // blank braille
    {0x3000, 0x3000},   // ideographic space
    {0x3164, 0x3164},   // Hangul filler
    {0xfdd0, 0xfdef},   // noncharacters
    {0xfe00, 0xfe0f},   // variation selectors
    {0xfeff, 0xfeff},   // zero-width no-break space
    {0xffa0, 0xffa0},   // half-width Hangul filler
    {0xfff0, 0xfffb},   // unassigned ignorables, interlinear annotation
    {0x110bd, 0x110bd}, // Kaithi number signs
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, // hieroglyphic format controls
    {0x13441, 0x13442},                     // blank hieroglyphs
    {0x16fe4, 0x16fe4},                     // Khitan filler
    {0x1bca0, 0x1bca3},                     // shorthand format controls
    {0x1d159, 0x1d159},                     // musical null notehead
    {0x1d173, 0x1d17a},                     // musical beams and slurs
    {0xe0000, 0xe0fff},                     // tags, more variation selectors
};

static bool is_refused(uint32_t point) {
    if ((point & 0xfffe) == 0xfffe)
        return true;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0] && point >= refused[i].first; i++)
        if (point <= refused[i].last)
            return true;
    return false;
}

/// Reads the character at `at`, with `left` >= 1 bytes, to `*point`.
static enum hc_status decode(const uint8_t *at, size_t left, uint32_t *point, size_t *used) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; // below: overlong
    uint8_t lead = at[0];
    size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4)
        return HC_MALFORMED;
    uint32_t value = size == 1 ? lead : lead & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (i == left)
            return HC_TRUNCATED;
        if ((at[i] & 0xc0) != 0x80)
            return HC_MALFORMED;
        value = value << 6 | (at[i] & 0x3fu);
    }
    if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return HC_MALFORMED;
    *point = value;
    *used = size;
    return HC_OK;
}

size_t hc_name_size(const uint8_t padded[static HC_NAME_MAX]) {
    size_t size = HC_NAME_MAX;
    while (size > 0 && padded[size - 1] == 0)
        size--;
    return size;
}

enum hc_status hc_name_check(const uint8_t *bytes, size_t size) {
    return size == 0 || size > HC_NAME_MAX ? HC_INVALID : hc_text_check(bytes, size);
}

enum hc_status hc_text_check(const uint8_t *bytes, size_t size) {
    uint32_t before = ' '; // nothing can be seen there
    for (size_t at = 0, used = 0; at < size; at += used) {
        uint32_t point;
        enum hc_status status = decode(bytes + at, size - at, &point, &used);
        if (status != HC_OK)
            return status;
        if (is_refused(point) || (before == ' ' && hc_is_mark(point)) || (at == 0 && point == ' '))
            return HC_UNEXPECTED;
        before = point;
    }
    return before == ' ' ? HC_UNEXPECTED : HC_OK;
}

static bool is_printed(uint8_t byte) {
    return byte >= 0x20 && byte <= 0x7e && byte != '\\' && byte != '"' && byte != '%' &&
           byte != '$';
}

size_t hc_name_escape(const void *bytes, size_t size, char *out, size_t room) {
    HC_ASSERT(room >= 1);
    static const char digits[] = "0123456789abcdef";
    const uint8_t *from = bytes;
    size_t written = 0;
    for (size_t left = room - 1; written < size; written++) {
        uint8_t byte = from[written];
        size_t width = is_printed(byte) ? 1 : 4;
        if (width > left)
            break;
        left -= width;
        if (width == 1) {
            *out++ = (char)byte;
            continue;
        }
        *out++ = '\\';
        *out++ = 'x';
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    *out = '\0';
    return written;
}
