/// The overlay of a pane: figures of its client's connection and prediction, and ghosts.
#pragma once

#include "client/view/canvas.h"
#include "hindcast/client.h"

enum {
    HC_CL_OVERLAY_BARS = 80, ///< frames whose rollbacks are plotted
    HC_CL_OVERLAY_FIGURES = 12,
};

/// The places of an overlay in a pane, in pixels.
struct hc_cl_overlay_layout {
    int scale;                               ///< of the letters; 0: the pane is too small for any
    SDL_Rect box;                            ///< around all else, at the bottom of the pane
    SDL_Rect figures[HC_CL_OVERLAY_FIGURES]; ///< names and values
    SDL_Rect bars;                           ///< with their caption
};

/// The places in a pane of this size: the largest letters that fit, in as many columns as fit.
struct hc_cl_overlay_layout hc_cl_overlay_layout(int width, int height);

/// Counts of a client at one moment.
struct hc_cl_overlay_counts {
    uint64_t now_us;
    uint64_t sent, lost, corrections;
    uint64_t rollbacks, depth; ///< depth: of all rollbacks, in ticks
};

/// The counts behind an overlay. All zeros: none yet.
struct hc_cl_overlay {
    struct hc_cl_overlay_counts from, to; ///< of the newest whole interval
    struct hc_cl_overlay_counts frame;    ///< of the newest frame
    uint8_t depth[HC_CL_OVERLAY_BARS];    ///< mean of the rollbacks of each frame, ticks; a ring
    unsigned frames;                      ///< counted
};

/// Counts a frame; once for each, also while the overlay is hidden.
void hc_cl_overlay_count(struct hc_cl_overlay *overlay, const struct hc_client *client,
                         uint64_t now_us);

/// Draws the figures.
void hc_cl_overlay_draw(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas,
                        const struct hc_client *client);

/// Draws outlines of the entities as they are in the newest received state, where they are drawn at
/// another place.
void hc_cl_overlay_ghosts(struct hc_cl_canvas *canvas, const struct hc_client *client,
                          const struct hc_drawing *drawing, const struct hc_frame *frame,
                          uint64_t now_us);
