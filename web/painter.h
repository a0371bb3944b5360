/// A client's world on the canvas of a page, by the drawings of hindcast-view.
#pragma once

#include "hindcast/drawing.h"

struct hc_web_painter;

/// The canvas of a frame.
struct hc_web_place {
    double width, height; ///< pixels
    bool ghosts;          ///< outlines of the newest received state are drawn too
    // Written by hc_web_painter_draw:
    struct hc_area area;   ///< the part of the world that the canvas shows
    double scale;          ///< pixels of a unit of the game
    bool self;             ///< the own player is visible
    double self_x, self_y; ///< its place in the world
};

/// Creates a painter of a client, both borrowed; the caller frees it with hc_web_painter_destroy,
/// before the client. `drawing` NULL: dots. NULL: memory is short.
HC_EXPORT struct hc_web_painter *hc_web_painter_create(const struct hc_client *client,
                                                       const struct hc_drawing *drawing);

/// Frees a painter; NULL is allowed.
HC_EXPORT void hc_web_painter_destroy(struct hc_web_painter *painter);

/// Takes a game event that the client delivered at `now_us`, for drawings that show it for a while.
HC_EXPORT void hc_web_painter_note(struct hc_web_painter *painter,
                                   const struct hc_client_game_event *event, uint64_t now_us);

/// Draws a frame by imported functions. False: the client has received no state yet, and nothing
/// was drawn.
HC_EXPORT bool hc_web_painter_draw(struct hc_web_painter *painter, struct hc_web_place *place,
                                   uint64_t now_us);
