/// The overlay of a pane: figures of its client's connection and prediction.
#pragma once

#include "client/view/figures.h"
#include "client/view/grid.h"
#include "client/view/labels.h"

enum {
    HC_CL_OVERLAY_BARS = 80, ///< frames whose rollbacks are plotted
    HC_CL_OVERLAY_SCALE = 4, ///< the largest letters
};

/// The places of an overlay in a pane, in pixels.
struct hc_cl_overlay_layout {
    SDL_Rect box;           ///< around all else; a width of 0: the pane has no room for a figure
    struct hc_cl_grid grid; ///< of the figures
    SDL_Rect bars;          ///< with their caption; a width of 0: there are none
};

/// The places in the lower part of `room`: the largest letters with which the box is low, or else
/// all figures have room. Without room for all, the bars are left out, and then the last figures.
struct hc_cl_overlay_layout hc_cl_overlay_layout(SDL_Rect room);

/// The counts behind an overlay. All zeros: none yet.
struct hc_cl_overlay {
    struct hc_cl_figures_counts from, to; ///< of the newest whole interval
    struct hc_cl_figures_counts frame;    ///< of the newest frame
    uint8_t depth[HC_CL_OVERLAY_BARS];    ///< mean of the rollbacks of each frame, ticks; a ring
    unsigned frames;                      ///< counted
};

/// Counts a frame; once for each, also while the overlay is hidden.
void hc_cl_overlay_count(struct hc_cl_overlay *overlay, const struct hc_client *client,
                         uint64_t now_us);

/// Places the figures.
void hc_cl_overlay_put(const struct hc_cl_overlay_layout *layout,
                       const struct hc_cl_figure figures[HC_CL_FIGURE_COUNT],
                       struct hc_cl_labels *labels);

/// Draws the bars in their place, over the box.
void hc_cl_overlay_bars(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas,
                        const struct hc_cl_overlay_layout *layout);
