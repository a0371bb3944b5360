/// The letters of hindcast-view, as bitmaps.
#pragma once

#include <stdint.h>

enum {
    HC_CL_FONT_FIRST = ' ',
    HC_CL_FONT_LETTERS = 95, ///< up to '~'
    HC_CL_FONT_COLUMNS = 5,  ///< pixels
    HC_CL_FONT_ROWS = 8,     ///< pixels; the last one is below the baseline
};

/// Takes the next character of a UTF-8 text, which is not at its end, and returns the letter that
/// stands for it: itself, the same without its accent, or '?'.
char hc_cl_font_next(const char **text);

/// The bitmap of a letter: HC_CL_FONT_ROWS rows from the top, bit HC_CL_FONT_COLUMNS - 1 of each at
/// the left. That of '?' for letters that are not printable ASCII.
const uint8_t *hc_cl_font_letter(char letter);
