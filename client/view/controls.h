/// The controls of one person, and the input that they give to a game.
///
/// The fields of any game's input are set by their names and widths. The first field "aim" is the
/// angle of the aim, a full turn in its bits. A signed field whose name ends in x follows left and
/// right, and other signed ones follow up and down; a game with a single signed field takes both.
/// Every other field is a button, in the order of the table: 1 while it is pressed, else 0. The
/// client library writes shown ticks (hc_field.shown_ago), which follow nothing.
#pragma once

#include "hindcast/game.h"

enum { HC_CL_CONTROLS_BUTTONS = 4 };

/// The controls at a moment. All zeros: nothing is pressed.
struct hc_cl_controls {
    double x, y;         ///< [-1, 1], to the right and down
    double aim_x, aim_y; ///< direction of the aim; both 0: as before
    bool buttons[HC_CL_CONTROLS_BUTTONS];
};

/// The control that a field of an input follows.
enum hc_cl_control {
    HC_CL_CONTROL_NONE,
    HC_CL_CONTROL_X,
    HC_CL_CONTROL_Y,
    HC_CL_CONTROL_BOTH, ///< the stronger of both
    HC_CL_CONTROL_AIM,
    HC_CL_CONTROL_BUTTON, ///< the first; the next ones are the numbers after it
    HC_CL_CONTROLS = HC_CL_CONTROL_BUTTON + HC_CL_CONTROLS_BUTTONS
};

/// The control that field `index` of the input of `game` follows.
enum hc_cl_control hc_cl_controls_of(const struct hc_game *game, uint8_t index);

/// Changes `input`, the input of `game` (input_size bytes) before, to that of `controls`.
void hc_cl_controls_apply(const struct hc_game *game, const struct hc_cl_controls *controls,
                          void *input);
