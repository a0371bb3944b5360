/// The boxes and texts over a pane, which are placed before they are drawn: a text is cut where its
/// room ends.
#pragma once

#include "client/view/canvas.h"

enum {
    HC_CL_LABELS_MAX = 512, ///< of a pane; more are left out
    HC_CL_LABEL_TEXT = 128, ///< bytes of a text
};

struct hc_cl_label {
    SDL_Rect place;  ///< A box, or the letters of a text, in pixels of the pane.
    uint32_t colour; ///< 0xRRGGBBAA
    int scale;       ///< The letters are so many times the font's size; 0: a box.
    char text[HC_CL_LABEL_TEXT];
};

/// All zeros: none.
struct hc_cl_labels {
    unsigned count;
    struct hc_cl_label at[HC_CL_LABELS_MAX]; ///< [count] in the order in which they are drawn
};

/// Adds a box.
void hc_cl_labels_box(struct hc_cl_labels *labels, SDL_Rect place, uint32_t colour);

/// Adds a text at the upper left corner of `room`, cut to its width; nothing if `room` is lower
/// than a letter. Returns the width of the text.
int hc_cl_labels_put(struct hc_cl_labels *labels, SDL_Rect room, int scale, const char *text,
                     uint32_t colour);

/// Adds a line of text at the left end of `room`, in the middle of its height: in the largest
/// letters up to `scale_max` with which it fits, or cut in the smallest ones.
void hc_cl_labels_line(struct hc_cl_labels *labels, SDL_Rect room, int scale_max, const char *text,
                       uint32_t colour);

/// Adds such a line in the middle of `room`, in a box of the colour `box` as high as `room`.
void hc_cl_labels_boxed_line(struct hc_cl_labels *labels, SDL_Rect room, int scale_max,
                             const char *text, uint32_t colour, uint32_t box);

/// Adds a text in as many lines as it needs, cut where `room` ends, in a box of the colour `box`
/// that is as wide as `room`: in the largest letters up to `scale_max` with which it fits, or in
/// the smallest ones. Returns the height of the box; 0: there is no room for a line.
int hc_cl_labels_boxed_lines(struct hc_cl_labels *labels, SDL_Rect room, int scale_max,
                             const char *text, uint32_t colour, uint32_t box);

/// Draws all.
void hc_cl_labels_draw(const struct hc_cl_labels *labels, const struct hc_cl_canvas *canvas);

/// The height of a letter.
int hc_cl_labels_height(int scale);

/// The bytes of `text` that are its next line of at most `most` letters: it ends before a blank if
/// it can.
unsigned hc_cl_labels_line_length(const char *text, int most);

/// The number of letters of a text.
int hc_cl_labels_letters(const char *text);
