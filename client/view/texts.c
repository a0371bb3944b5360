/// Owns the order of the texts in a pane, from the top to the bottom.
#include "client/view/texts.h"

enum {
    MARGIN = 10,      ///< pixels from a text to the edge of the pane
    AROUND = 5,       ///< pixels from a box to the edge of the pane, and to the next one
    LINE_HEIGHT = 14, ///< pixels of a line with its ground, in letters of the font's size
    WIDTH_MIN = 60,   ///< pixels of a pane that has any text
    MARK = 2,         ///< pixels of the line below the title of the pane that has the keys
    LOW = 6,          ///< lines of the largest letters that a pane has room for at least
    SCALE_MAX = 4,    ///< of the largest letters
};

static const uint32_t TEXT = 0xf4f6faff, FAINT = 0xa8b0c0ff, BAR = 0x0b0d11c8, MARKED = 0x8ecae6ff,
                      NOTICE = 0x0b0d11f0;
static const char HINT[] = "F2: keys";

/// The largest letters of title and notice in a pane.
static int scale_of(int width, int height) {
    static const int widths[SCALE_MAX] = {0, 600, 1600, 2600}; // from these pixels on
    int scale = 1;
    while (scale < SCALE_MAX && width >= widths[scale] && height >= LOW * LINE_HEIGHT * (scale + 1))
        scale++;
    return scale;
}

/// Places the title, and beside it how to see the list of keys. Returns its height.
static int place_title(const struct hc_cl_texts_wish *wish, int scale,
                       struct hc_cl_labels *labels) {
    const int height = LINE_HEIGHT * scale, wide = wish->width - 2 * MARGIN;
    SDL_Rect room = {MARGIN, 0, wide, height};
    int hint = scale;
    while (hint > 1 &&
           hc_cl_canvas_width(hint, HINT) + hc_cl_canvas_width(hint, wish->title) + 2 * MARGIN >
               wide)
        hint--;
    int hint_width = hc_cl_canvas_width(hint, HINT);
    hc_cl_labels_box(labels, (SDL_Rect){0, 0, wish->width, height}, BAR);
    if (2 * hint_width < wide) {
        room.w -= hint_width + 2 * MARGIN;
        hc_cl_labels_line(labels, (SDL_Rect){MARGIN + wide - hint_width, 0, hint_width, height},
                          hint, HINT, FAINT);
    }
    hc_cl_labels_line(labels, room, scale, wish->title, TEXT);
    if (wish->marked)
        hc_cl_labels_box(labels, (SDL_Rect){0, height, wish->width, MARK}, MARKED);
    return height + MARK;
}

void hc_cl_texts_place(const struct hc_cl_texts_wish *wish, struct hc_cl_labels *labels,
                       struct hc_cl_overlay_layout *overlay) {
    static struct hc_cl_keys_layout keys; // large
    const int scale = scale_of(wish->width, wish->height);
    labels->count = 0;
    *overlay = (struct hc_cl_overlay_layout){.box = {.w = 0}};
    if (wish->height < LOW * LINE_HEIGHT || wish->width < WIDTH_MIN)
        return;
    int top = place_title(wish, scale, labels) + AROUND;
    SDL_Rect line = {AROUND, top, wish->width - 2 * AROUND, LINE_HEIGHT * scale};
    if (wish->notice != NULL)
        hc_cl_labels_boxed_line(labels, line, scale, wish->notice, TEXT, NOTICE);
    top += line.h + AROUND;
    if (wish->server_notice != NULL) {
        SDL_Rect half = {AROUND, top, wish->width - 2 * AROUND, (wish->height - top) / 2};
        int used = hc_cl_labels_boxed_lines(labels, half, scale, wish->server_notice, TEXT, NOTICE);
        top += used > 0 ? used + AROUND : 0;
    }
    SDL_Rect room = {AROUND, top, wish->width - 2 * AROUND, wish->height - AROUND - top};
    if (room.w <= 0 || room.h <= 0)
        return;
    if (wish->figures != NULL)
        *overlay = hc_cl_overlay_layout(room);
    if (wish->keys != NULL) {
        SDL_Rect above = room;
        above.h -= overlay->box.w > 0 ? overlay->box.h + AROUND : 0;
        hc_cl_keys_arrange(wish->keys, wish->key_count, above, &keys);
        if (!keys.whole && overlay->box.w > 0) {
            *overlay = (struct hc_cl_overlay_layout){.box = {.w = 0}};
            hc_cl_keys_arrange(wish->keys, wish->key_count, room, &keys);
        }
        hc_cl_keys_put(wish->keys, &keys, labels);
    }
    if (wish->figures != NULL)
        hc_cl_overlay_put(overlay, wish->figures, labels);
}
