/// Owns the list of keys.
#include "client/view/keys.h"

#include "client/view/devices.h"

#include <stdio.h>

enum {
    SCALE_MAX = 2,
    LINE = 12,   ///< pixels from line to line, at scale 1
    BORDER = 12, ///< pixels around the lines
    TOP = 33,    ///< pixels above the list, where the title is
};

static const uint32_t TEXT = 0xf4f6faff, FAINT = 0xa8b0c0ff, BOX = 0x0b0d11e8;

unsigned hc_cl_keys_list(const struct hc_game *game, unsigned index, unsigned count,
                         struct hc_cl_keys_line lines[HC_CL_KEYS_LINES]) {
    static const char *const own[][2] = {
        {"figures, ghosts", "F1"}, {"this list", "F2"}, {"leave", "Escape"}};
    unsigned size = 0;
    for (uint8_t f = 0; f < game->input_field_count; f++) {
        struct hc_cl_keys_line *line = &lines[size];
        line->what = game->input_fields[f].name;
        hc_cl_devices_name(hc_cl_controls_of(game, f), index, count, line->keys,
                           sizeof(line->keys));
        size += line->keys[0] != '\0';
    }
    for (unsigned i = 0; i < sizeof(own) / sizeof(*own); i++) {
        lines[size].what = own[i][0];
        snprintf(lines[size++].keys, sizeof(lines->keys), "%s", own[i][1]);
    }
    return size;
}

void hc_cl_keys_draw(const struct hc_cl_canvas *canvas, const struct hc_game *game, unsigned index,
                     unsigned count) {
    static struct hc_cl_keys_line lines[HC_CL_KEYS_LINES];
    unsigned size = hc_cl_keys_list(game, index, count, lines);
    int names = 0, keys = 0, scale = SCALE_MAX;
    for (unsigned i = 0; i < size; i++) {
        names = SDL_max(names, hc_cl_canvas_width(1, lines[i].what) + BORDER);
        keys = SDL_max(keys, hc_cl_canvas_width(1, lines[i].keys));
    }
    while (scale > 1 && (scale * (names + keys) + 2 * BORDER > canvas->pane.w ||
                         (int)size * scale * LINE + 2 * BORDER > canvas->pane.h - TOP))
        scale--;
    SDL_Rect box = {0, 0, scale * (names + keys) + 2 * BORDER,
                    (int)size * scale * LINE + 2 * BORDER};
    box.x = (canvas->pane.w - box.w) / 2;
    box.y = TOP;
    hc_cl_canvas_fill(canvas, box, BOX);
    for (unsigned i = 0; i < size; i++) {
        int y = box.y + BORDER + (int)i * scale * LINE + 2 * scale;
        hc_cl_canvas_write(canvas, box.x + BORDER, y, scale, lines[i].what, FAINT);
        hc_cl_canvas_write(canvas, box.x + BORDER + scale * names, y, scale, lines[i].keys, TEXT);
    }
}
