/// The keys of hindcast-view itself, each in one row: their handling (client/view), the list of F2,
/// --help and the table in docs/TIMING.md follow from it.
///
/// X(name, key, effect, sentence): `key` as SDL names it; `effect` stands in the list of F2.
#pragma once

#define HC_CL_WINDOW_KEYS(X)                                                                       \
    X(figures, "F1", "figures and ghosts",                                                         \
      "Show or hide figures of the connection, and outlines of the newest received state")         \
    X(keys, "F2", "this list", "Show or hide the list of all keys, also those of the game")        \
    X(preset_link, "F3", "link: none, good, ok, bad, awful",                                       \
      "Take the next preset of the simulated link: none, good, ok, bad, awful")                    \
    X(condition, "F4", "what F5 and F6 change",                                                    \
      "Choose what F5 and F6 change of the link: latency, jitter, loss, bandwidth up or "          \
      "bandwidth down")                                                                            \
    X(less, "F5", "less of it", "Lower it by a step")                                              \
    X(more, "F6", "more of it", "Raise it by a step")                                              \
    X(preset_timing, "F7", "timing: rewind, balanced, ahead",                                      \
      "Take the next preset of input delay and lead: rewind, balanced, ahead")                     \
    X(input_delay, "F8", "input delay: auto, 0 to 10",                                             \
      "Take the next input delay: auto, or 0 to 10 ticks")                                         \
    X(others, "F9", "others: predicted, received",                                                 \
      "Show the other players predicted, or as received")                                          \
    X(display_offset, "F10", "display offset: 0 to 8",                                             \
      "Take the next display offset: 0 to 8 ticks")                                                \
    X(focus, "Tab", "the other pane",                                                              \
      "Give F3 to F10 to the other client of --split; with the left Shift key they act on both, "  \
      "which then have the same")                                                                  \
    X(leave, "Escape", "leave", "End")

enum hc_cl_window_key {
#define HC_CL_WINDOW_KEY(name, ...) HC_CL_WINDOW_KEY_##name,
    HC_CL_WINDOW_KEYS(HC_CL_WINDOW_KEY) HC_CL_WINDOW_KEY_COUNT
#undef HC_CL_WINDOW_KEY
};
