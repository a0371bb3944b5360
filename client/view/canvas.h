/// The shapes and letters of hindcast-view on an SDL renderer: a pane of the window, which shows a
/// part of a world.
#pragma once

#include "hindcast/drawing.h"

#include <SDL.h>
#include <stdbool.h>

enum {
    HC_CL_CANVAS_SIZES = 6, ///< of round shapes as bitmaps: 8, 16, ... pixels across
};

/// A canvas. `face` is for drawings, whose `context` is the canvas itself: do not move it.
struct hc_cl_canvas {
    struct hc_canvas face;
    SDL_Renderer *renderer; ///< borrowed
    SDL_Texture *discs[HC_CL_CANVAS_SIZES], *rings[HC_CL_CANVAS_SIZES], *letters;
    SDL_Rect pane;       ///< of the window
    struct hc_area area; ///< of the world, as wide as the pane
    double scale;        ///< pixels of a unit
    bool ghost;          ///< shapes are outlines, and text is left out
};

/// Makes a canvas. False: SDL failed; hc_cl_canvas_free is still needed.
bool hc_cl_canvas_init(struct hc_cl_canvas *canvas, SDL_Renderer *renderer);

/// Frees its bitmaps, before the renderer.
void hc_cl_canvas_free(struct hc_cl_canvas *canvas);

/// Begins to draw in `pane`, pixels of the window, which shows `area` and the world beside it, on a
/// ground of the colour `backdrop`.
void hc_cl_canvas_begin(struct hc_cl_canvas *canvas, const SDL_Rect *pane,
                        const struct hc_area *area, uint32_t backdrop);

/// The place of (x, y) of the world in the pane, in pixels.
SDL_FPoint hc_cl_canvas_place(const struct hc_cl_canvas *canvas, double x, double y);

/// Fills a rectangle of the pane, in pixels.
void hc_cl_canvas_fill(const struct hc_cl_canvas *canvas, SDL_Rect rectangle, uint32_t colour);

/// Writes `text` in letters of `scale` times the font's size, its upper left corner at (x, y), in
/// pixels of the pane. Returns its width.
int hc_cl_canvas_write(const struct hc_cl_canvas *canvas, int x, int y, int scale, const char *text,
                       uint32_t colour);

/// The width that hc_cl_canvas_write would return.
int hc_cl_canvas_width(int scale, const char *text);
