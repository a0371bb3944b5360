/// The knobs of a client, which keys change while it plays: its simulated link, input delay and
/// lead, and the ticks that it shows.
#pragma once

#include "client/programs/options.h"
#include "client/programs/window_keys.h"
#include "client/view/simulated_link.h"

enum {
    HC_CL_KNOBS_TEXT = 96,          ///< bytes of a text about a change
    HC_CL_KNOBS_INPUT_DELAY = 10,   ///< ticks, the greatest fixed input delay of the keys
    HC_CL_KNOBS_DISPLAY_OFFSET = 8, ///< ticks, the greatest display offset of the keys
};

struct hc_cl_knobs {
    struct hc_cl_simulated_link link;
    struct hc_client_timing timing;
    uint32_t auto_max; ///< The greatest automatic input delay, in ticks.
    struct hc_client_display display;
};

/// The part of the client that a key has changed.
enum hc_cl_knobs_change {
    HC_CL_KNOBS_NOTHING,
    HC_CL_KNOBS_LINK,
    HC_CL_KNOBS_TIMING,
    HC_CL_KNOBS_DISPLAY,
};

/// The knobs of pane `index`, as the command line sets them; parts of `options` are borrowed.
struct hc_cl_knobs hc_cl_knobs_begin(const struct hc_cl_options *options, unsigned index);

/// Sets the members of a client's configuration that the knobs decide.
void hc_cl_knobs_configure(const struct hc_cl_knobs *knobs, struct hc_client_config *config);

/// Does what a key does to the knobs of a client that plays `game`, and writes a text about it to
/// `text`, which is empty for a key that is none of theirs.
enum hc_cl_knobs_change hc_cl_knobs_press(struct hc_cl_knobs *knobs, enum hc_cl_window_key key,
                                          const struct hc_game *game, char text[HC_CL_KNOBS_TEXT]);

/// Copies what `key` changes from `from`.
void hc_cl_knobs_copy(struct hc_cl_knobs *knobs, enum hc_cl_window_key key,
                      const struct hc_cl_knobs *from);
