/// The window: one or two panes, which are drawn for each frame.
#pragma once

#include "client/programs/options.h"
#include "client/view/canvas.h"
#include "client/view/devices.h"
#include "client/view/pane.h"
#include "client/view/scene.h"
#include "client/view/texts.h"
#include "common/programs/library.h"
#include "hindcast/drawing.h"

enum {
    HC_CL_WINDOW_PANES = 2,
    HC_CL_WINDOW_NOTICE_US = 2000000,         ///< time for which a change is shown
    HC_CL_WINDOW_SERVER_NOTICE_US = 12000000, ///< time for which the words of the server are shown
};

/// A pane as it is drawn.
struct hc_cl_window_pane {
    struct hc_cl_pane client;
    struct hc_cl_overlay overlay;
    struct hc_cl_scene scene;
    char notice[HC_CL_KNOBS_TEXT]; ///< about the newest change
    uint64_t notice_us;            ///< the change was at this time; 0: there was none
    bool has_self;
    SDL_FPoint self; ///< the own player's place in the window, in pixels
};

struct hc_cl_window {
    const struct hc_cl_options *options;
    const struct hc_drawing *drawing;
    struct hc_library drawing_library; ///< of `drawing`, unless it is built in
    struct hc_client_config config;    ///< of each client, but for what knobs decide
    SDL_Window *window;
    SDL_Renderer *renderer;
    struct hc_cl_canvas canvas;
    struct hc_cl_devices devices;
    bool overlay;                                 ///< the overlay is shown
    bool keys;                                    ///< the list of keys is shown
    bool closed;                                  ///< the person has closed the window
    unsigned focus;                               ///< the pane whose knobs the keys change
    struct hc_cl_labels labels;                   ///< of the pane that is being drawn
    struct hc_cl_knobs knobs[HC_CL_WINDOW_PANES]; ///< of each pane, also of the next ones
    unsigned count;
    struct hc_cl_window_pane panes[HC_CL_WINDOW_PANES];
};

/// Opens a window without panes; with --frames it needs no display. Parts of `options` are
/// borrowed. False: failed, and `why` is a sentence; hc_cl_window_close is still needed.
bool hc_cl_window_open(struct hc_cl_window *window, const struct hc_cl_options *options, char *why,
                       size_t why_size);

/// Closes its panes, and opens the drawing of `plugin` as it is now, to whose game the window
/// changes. The caller then unloads the former game. False: `why` is a sentence.
bool hc_cl_window_change_game(struct hc_cl_window *window, const struct hc_plugin *plugin,
                              char *why, size_t why_size);

/// Closes its panes.
void hc_cl_window_close_panes(struct hc_cl_window *window);

/// Closes it, with its panes.
void hc_cl_window_close(struct hc_cl_window *window);

/// Takes in the events of the window and its devices, and gives the clients the input after each of
/// them. A change of a client by keys is logged to standard output. To be called at least once a
/// frame.
void hc_cl_window_events(struct hc_cl_window *window);

/// Draws a frame, without presenting it.
void hc_cl_window_draw(struct hc_cl_window *window, uint64_t now_us);
