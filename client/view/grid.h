/// The places of a table in a box: cells in rows and columns, each with a name and a value, at one
/// size of letters.
#pragma once

#include "client/view/canvas.h"

enum {
    HC_CL_GRID_INSIDE = 10, ///< pixels from the cells to the edge of their box
    HC_CL_GRID_ROW = 12,    ///< pixels from row to row, in letters of the font's size
};

/// All zeros: no cell has a place.
struct hc_cl_grid {
    int scale;         ///< of the letters
    int columns, rows; ///< The cells fill column after column.
    int name, value;   ///< letters of each cell
    int gap;           ///< letters between two columns
    int shown;         ///< cells that have a place
    int left, top;     ///< the upper left corner of the first cell, in pixels
};

/// The width of a box around the cells, in pixels.
int hc_cl_grid_width(const struct hc_cl_grid *grid);

/// The height of that box, in pixels.
int hc_cl_grid_height(const struct hc_cl_grid *grid);

/// The letters of each cell in so many columns of a box of this width, with `gap` and `scale` as
/// they are; at most 0: there is no room.
int hc_cl_grid_letters(const struct hc_cl_grid *grid, int columns, int width);

/// Chooses columns and rows for so many cells, with the letters and `scale` as they are: the
/// fewest columns that are wide and low enough. False: the box would be wider or higher than that.
bool hc_cl_grid_fit(struct hc_cl_grid *grid, int cells, int width, int height);

/// Chooses columns and rows for as many of the cells as have room.
void hc_cl_grid_cut(struct hc_cl_grid *grid, int cells, int width, int height);

/// The place of the name of cell `index`, which is shown.
SDL_Rect hc_cl_grid_name(const struct hc_cl_grid *grid, int index);

/// The place of its value, behind the name.
SDL_Rect hc_cl_grid_value(const struct hc_cl_grid *grid, int index);
