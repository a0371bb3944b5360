/// The texts over a pane: title, notice, words of the server, list of keys and figures, none of
/// them over another.
#pragma once

#include "client/view/keys.h"
#include "client/view/overlay.h"

/// The texts that a pane is to show; all are borrowed.
struct hc_cl_texts_wish {
    int width, height;                  ///< of the pane, pixels
    const char *title;                  ///< the conditions of the link
    const char *notice;                 ///< a sentence below the title; NULL: none
    const char *server_notice;          ///< what the server tells its players; NULL: nothing
    bool marked;                        ///< The pane has the keys, and not the other one.
    const struct hc_cl_figure *figures; ///< [HC_CL_FIGURE_COUNT] NULL: hidden
    const struct hc_cl_keys_row *keys;  ///< [key_count] NULL: hidden
    unsigned key_count;
};

/// Places all texts; none in a tiny pane. `*overlay` gets the places of the figures, which are left
/// out if the list of keys has no room beside them.
void hc_cl_texts_place(const struct hc_cl_texts_wish *wish, struct hc_cl_labels *labels,
                       struct hc_cl_overlay_layout *overlay);
