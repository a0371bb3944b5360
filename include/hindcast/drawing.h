/// The drawing of a game, for hindcast-view: a shared library, which --drawing FILE.so loads beside
/// the game's plugin.
///
/// One C file with a `const struct hc_drawing hindcast_drawing` is a drawing. It is linked with no
/// library, and is no part of the game: it may use floating point, and servers never load it.
///
///     cc -std=c11 -O2 -fPIC -shared $(pkg-config --cflags hindcast) -o drawing.so drawing.c
#pragma once

#include "hindcast/client.h"

HC_C_BEGIN

/// The version of this header's structs and of struct hc_client_shown. hindcast-view loads only
/// drawings of its own version.
#define HC_DRAWING_ABI 2

/// A surface for shapes, which hindcast-view passes. Lengths and places are in units of the game, x
/// to the right and y down. Colours are 0xRRGGBBAA; AA 0 is invisible. Later shapes cover earlier
/// ones.
struct hc_canvas {
    void *context; ///< data of hindcast-view; not for the drawing
    /// Fills the rectangle with its centre at (x, y).
    void (*rectangle)(const struct hc_canvas *canvas, double x, double y, double width,
                      double height, uint32_t colour);
    /// Fills the circle with its centre at (x, y).
    void (*disc)(const struct hc_canvas *canvas, double x, double y, double radius,
                 uint32_t colour);
    /// Writes letters about `height` high, centred at (x, y). `text` is UTF-8, borrowed for the
    /// call. Accents are left out, and other characters beyond ASCII are written as '?'.
    void (*text)(const struct hc_canvas *canvas, double x, double y, double height,
                 const char *text, uint32_t colour);
};

/// A part of the world, in units of the game.
struct hc_area {
    double left, top, width, height;
};

enum { HC_FRAME_EVENT_MS = 500 }; ///< time after which a frame no longer has a game event

/// A game event that the client showed a moment ago.
struct hc_frame_event {
    struct hc_client_game_event event; ///< predicted or late; one that was cancelled is left out
    double age;                        ///< seconds since then
};

/// A frame to be drawn; borrowed for the call.
struct hc_frame {
    const struct hc_canvas *canvas;
    const struct hc_world *world;
    struct hc_area area;      ///< the part of the world that is visible
    hc_player own;            ///< the player of this client, or HC_NO_PLAYER
    const char *const *names; ///< [world->players] see hc_client_player_name; NULL: unknown
    const struct hc_frame_event *events; ///< [event_count] the newest 64 at most, oldest first
    uint32_t event_count;
};

/// A drawing. For each frame hindcast-view calls `area`, `background`, and `entity` for each
/// visible entity: first those without an owner, then the referee, at last those of players, each
/// in ascending order.
struct hc_drawing {
    uint32_t abi;      ///< HC_DRAWING_ABI
    const char *game;  ///< hc_game.name of its game
    uint32_t backdrop; ///< colour of a pane before anything is drawn
    /// The part of the world to show: it is fitted into the pane, which shows more at two sides.
    /// `own` is the player of this client; NULL: it is not visible. NULL: all places at which
    /// entities were so far.
    struct hc_area (*area)(const struct hc_world *world, const struct hc_client_shown *own);
    void (*background)(const struct hc_frame *frame); ///< NULL: none
    void (*entity)(const struct hc_frame *frame, const struct hc_client_shown *shown);
};

/// The only symbol that hindcast-view looks up in a drawing.
extern HC_EXPORT const struct hc_drawing hindcast_drawing;

HC_C_END
