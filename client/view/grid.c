/// Owns the arithmetic of tables in boxes.
#include "client/view/grid.h"

#include "client/view/font.h"

static int letters_width(int scale, int letters) {
    return letters * hc_cl_canvas_width(scale, " ");
}

/// Pixels from column to column.
static int pitch(const struct hc_cl_grid *grid) {
    return letters_width(grid->scale, grid->name + grid->value + grid->gap);
}

int hc_cl_grid_width(const struct hc_cl_grid *grid) {
    return 2 * HC_CL_GRID_INSIDE + grid->columns * pitch(grid) -
           letters_width(grid->scale, grid->gap);
}

int hc_cl_grid_height(const struct hc_cl_grid *grid) {
    return 2 * HC_CL_GRID_INSIDE + grid->rows * grid->scale * HC_CL_GRID_ROW;
}

int hc_cl_grid_letters(const struct hc_cl_grid *grid, int columns, int width) {
    int letters = (width - 2 * HC_CL_GRID_INSIDE) / letters_width(grid->scale, 1);
    return (letters + grid->gap) / columns - grid->gap;
}

bool hc_cl_grid_fit(struct hc_cl_grid *grid, int cells, int width, int height) {
    for (grid->columns = 1; grid->columns <= cells; grid->columns++) {
        grid->rows = (cells + grid->columns - 1) / grid->columns;
        grid->shown = cells;
        if (hc_cl_grid_width(grid) > width)
            break;
        if (hc_cl_grid_height(grid) <= height)
            return true;
    }
    return false;
}

void hc_cl_grid_cut(struct hc_cl_grid *grid, int cells, int width, int height) {
    grid->rows = (height - 2 * HC_CL_GRID_INSIDE) / (grid->scale * HC_CL_GRID_ROW);
    grid->columns = 1;
    grid->shown = 0;
    if (grid->rows < 1 || hc_cl_grid_width(grid) > width)
        return;
    while (grid->columns * grid->rows < cells) {
        grid->columns++;
        if (hc_cl_grid_width(grid) > width) {
            grid->columns--;
            break;
        }
    }
    grid->rows = SDL_min(grid->rows, (cells + grid->columns - 1) / grid->columns);
    grid->shown = SDL_min(cells, grid->columns * grid->rows);
}

SDL_Rect hc_cl_grid_name(const struct hc_cl_grid *grid, int index) {
    return (SDL_Rect){grid->left + index / grid->rows * pitch(grid),
                      grid->top + index % grid->rows * grid->scale * HC_CL_GRID_ROW,
                      letters_width(grid->scale, grid->name), grid->scale * HC_CL_FONT_ROWS};
}

SDL_Rect hc_cl_grid_value(const struct hc_cl_grid *grid, int index) {
    SDL_Rect place = hc_cl_grid_name(grid, index);
    place.x += place.w;
    place.w = letters_width(grid->scale, grid->value);
    return place;
}
