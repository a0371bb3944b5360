/// The list of keys: those of the window, and those of the game by the fields of its input.
#pragma once

#include "client/view/canvas.h"
#include "client/view/controls.h"

enum {
    HC_CL_KEYS_LINES = 4 + HC_FIELDS_MAX, ///< at most
    HC_CL_KEYS_TEXT = 128,                ///< bytes of what a line says is pressed
};

/// A line of the list.
struct hc_cl_keys_line {
    const char *what;           ///< effect of the keys, or field of the input
    char keys[HC_CL_KEYS_TEXT]; ///< keys, or inputs of other devices
};

/// Writes the lines for client `index` of `count`. Returns their number.
unsigned hc_cl_keys_list(const struct hc_game *game, unsigned index, unsigned count,
                         struct hc_cl_keys_line lines[HC_CL_KEYS_LINES]);

/// Draws the list for client `index` of `count`, with letters that fit the pane.
void hc_cl_keys_draw(const struct hc_cl_canvas *canvas, const struct hc_game *game, unsigned index,
                     unsigned count);
