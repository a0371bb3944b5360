/// The game events of the last moments, for drawings.
#pragma once

#include "hindcast/drawing.h"

enum { HC_CL_SHOWN_EVENTS = 64 }; ///< at once; of more the oldest are left out

struct hc_cl_shown_events {
    struct hc_frame_event at[HC_CL_SHOWN_EVENTS]; ///< oldest first; the ages are not kept
    uint64_t since_us[HC_CL_SHOWN_EVENTS];        ///< when each came
    uint32_t count;
};

/// Takes what the client reports at `now_us`: adds an event that happens, removes one that did not
/// happen after all.
void hc_cl_shown_events_note(struct hc_cl_shown_events *events,
                             const struct hc_client_game_event *event, uint64_t now_us);

/// Removes the events that are too old at `now_us`, and sets the ages of the others.
void hc_cl_shown_events_age(struct hc_cl_shown_events *events, uint64_t now_us);
