/// The list of keys: those of the game by the fields of its input, and those of the window.
#pragma once

#include "client/programs/window_keys.h"
#include "client/view/controls.h"
#include "client/view/grid.h"
#include "client/view/labels.h"

enum {
    HC_CL_KEYS_ROWS = HC_CL_WINDOW_KEY_COUNT + HC_FIELDS_MAX, ///< at most
    HC_CL_KEYS_LINES = 4 * HC_CL_KEYS_ROWS,                   ///< at most; more are left out
};

/// A row of the list.
struct hc_cl_keys_row {
    const char *name; ///< field of the input, or key of the window
    bool is_key;      ///< `name` is the key, and `text` its effect
    char text[HC_CL_LABEL_TEXT];
};

/// A line of the list: the whole text of a row, or a part of it.
struct hc_cl_keys_line {
    unsigned row;
    unsigned from, length; ///< bytes of the text
};

/// The places of the list in a pane.
struct hc_cl_keys_layout {
    SDL_Rect box;           ///< in pixels; a width of 0: there is no room
    struct hc_cl_grid grid; ///< of the lines
    unsigned count;
    struct hc_cl_keys_line lines[HC_CL_KEYS_LINES]; ///< [count]
    bool whole;                                     ///< all lines have room
};

/// The window's key that an event presses; HC_CL_WINDOW_KEY_COUNT: none.
enum hc_cl_window_key hc_cl_keys_pressed(const SDL_Event *event);

/// Writes the rows for client `index` of `count`. Returns their number.
unsigned hc_cl_keys_list(const struct hc_game *game, unsigned index, unsigned count,
                         struct hc_cl_keys_row rows[HC_CL_KEYS_ROWS]);

/// Places `count` rows in the upper middle of `room`: in the largest letters with which all have
/// room, or else as many as have. Long texts go on in the next line.
void hc_cl_keys_arrange(const struct hc_cl_keys_row *rows, unsigned count, SDL_Rect room,
                        struct hc_cl_keys_layout *layout);

/// Adds the box and the texts of a layout of these rows.
void hc_cl_keys_put(const struct hc_cl_keys_row *rows, const struct hc_cl_keys_layout *layout,
                    struct hc_cl_labels *labels);
