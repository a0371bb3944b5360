/// Owns the places of boxes and texts, and where a text is cut.
#include "client/view/labels.h"

#include "client/view/font.h"

#include <stdio.h>
#include <string.h>

enum {
    BESIDE = 10,  ///< pixels from a boxed line to the ends of its box
    SPACING = 14, ///< pixels of a line among others, in letters of the font's size
};

int hc_cl_labels_height(int scale) {
    return scale * HC_CL_FONT_ROWS;
}

int hc_cl_labels_letters(const char *text) {
    return hc_cl_canvas_width(1, text) / hc_cl_canvas_width(1, " ");
}

unsigned hc_cl_labels_line_length(const char *text, int most) {
    const char *at = text, *end = NULL;
    for (int letters = 0; letters < most && *at != '\0'; letters++) {
        (void)hc_cl_font_next(&at);
        if (*at == ' ' || *at == '\0')
            end = at;
    }
    return (unsigned)((end != NULL ? end : at) - text);
}

static struct hc_cl_label *add(struct hc_cl_labels *labels, SDL_Rect place, uint32_t colour) {
    if (labels->count == HC_CL_LABELS_MAX)
        return NULL;
    struct hc_cl_label *label = &labels->at[labels->count++];
    *label = (struct hc_cl_label){.place = place, .colour = colour};
    return label;
}

void hc_cl_labels_box(struct hc_cl_labels *labels, SDL_Rect place, uint32_t colour) {
    (void)add(labels, place, colour);
}

/// Writes the first letters of `text`, at most `most`. Two points stand for the rest.
static void cut(char out[static HC_CL_LABEL_TEXT], const char *text, int most) {
    const char *at = text, *end = text;
    int letters = 0;
    bool points = hc_cl_labels_letters(text) > most && most > 2;
    for (; *at != '\0' && letters < (points ? most - 2 : most); letters++) {
        (void)hc_cl_font_next(&at);
        if ((size_t)(at - text) > HC_CL_LABEL_TEXT - sizeof(".."))
            break;
        end = at;
    }
    snprintf(out, HC_CL_LABEL_TEXT, "%.*s%s", (int)(end - text), text, points ? ".." : "");
}

int hc_cl_labels_put(struct hc_cl_labels *labels, SDL_Rect room, int scale, const char *text,
                     uint32_t colour) {
    int letter = hc_cl_canvas_width(scale, " "), most = room.w / letter;
    if (room.h < hc_cl_labels_height(scale) || most < 1 || *text == '\0')
        return 0;
    struct hc_cl_label *label = add(labels, room, colour);
    if (label == NULL)
        return 0;
    label->scale = scale;
    cut(label->text, text, most);
    label->place.w = hc_cl_canvas_width(scale, label->text);
    label->place.h = hc_cl_labels_height(scale);
    return label->place.w;
}

/// The largest letters up to `scale_max` with which a text fits into `room`, or the smallest.
static int scale_in(SDL_Rect room, int scale_max, const char *text) {
    int scale = scale_max;
    while (scale > 1 &&
           (hc_cl_canvas_width(scale, text) > room.w || hc_cl_labels_height(scale) > room.h))
        scale--;
    return scale;
}

void hc_cl_labels_line(struct hc_cl_labels *labels, SDL_Rect room, int scale_max, const char *text,
                       uint32_t colour) {
    int scale = scale_in(room, scale_max, text), height = hc_cl_labels_height(scale);
    SDL_Rect place = {room.x, room.y + (room.h - height) / 2, room.w, height};
    if (height <= room.h)
        hc_cl_labels_put(labels, place, scale, text, colour);
}

void hc_cl_labels_boxed_line(struct hc_cl_labels *labels, SDL_Rect room, int scale_max,
                             const char *text, uint32_t colour, uint32_t box) {
    SDL_Rect inner = {room.x + BESIDE, room.y, room.w - 2 * BESIDE, room.h};
    int scale = scale_in(inner, scale_max, text), letter = hc_cl_canvas_width(scale, " ");
    int width = SDL_min(hc_cl_canvas_width(scale, text), inner.w / letter * letter);
    if (width <= 0 || hc_cl_labels_height(scale) > room.h)
        return;
    inner.x += (inner.w - width) / 2;
    inner.w = width;
    hc_cl_labels_box(labels, (SDL_Rect){inner.x - BESIDE, room.y, width + 2 * BESIDE, room.h}, box);
    hc_cl_labels_line(labels, inner, scale, text, colour);
}

/// Writes the next line of a text to `line`, of at most `most` letters, and goes on to the one
/// after it. False: the text is at its end.
static bool next_line(const char **text, int most, char line[static HC_CL_LABEL_TEXT]) {
    *text += strspn(*text, " ");
    unsigned length = hc_cl_labels_line_length(*text, most);
    while (length >= HC_CL_LABEL_TEXT) // letters of several bytes
        length = hc_cl_labels_line_length(*text, --most);
    snprintf(line, HC_CL_LABEL_TEXT, "%.*s", (int)length, *text);
    *text += length;
    return length > 0;
}

static int count_lines(const char *text, int most) {
    char line[HC_CL_LABEL_TEXT];
    int count = 0;
    while (next_line(&text, most, line))
        count++;
    return count;
}

int hc_cl_labels_boxed_lines(struct hc_cl_labels *labels, SDL_Rect room, int scale_max,
                             const char *text, uint32_t colour, uint32_t box) {
    char line[HC_CL_LABEL_TEXT];
    const int wide = room.w - 2 * BESIDE;
    int scale = scale_max, count = 0;
    for (; scale > 1; scale--) {
        count = count_lines(text, wide / hc_cl_canvas_width(scale, " "));
        if (count > 0 && count * SPACING * scale <= room.h)
            break;
    }
    int most = wide / hc_cl_canvas_width(scale, " "), height = SPACING * scale;
    if (scale == 1)
        count = count_lines(text, most);
    count = SDL_min(count, room.h / height);
    if (count <= 0)
        return 0;
    hc_cl_labels_box(labels, (SDL_Rect){room.x, room.y, room.w, count * height}, box);
    for (int i = 0; i < count && next_line(&text, most, line); i++) {
        SDL_Rect place = {room.x + BESIDE, room.y + i * height, wide, height};
        bool whole = i + 1 < count || *(text + strspn(text, " ")) == '\0';
        int letters = hc_cl_labels_letters(line);
        if (!whole && letters > 2)
            snprintf(line + hc_cl_labels_line_length(line, letters - 2), sizeof(".."), "..");
        hc_cl_labels_line(labels, place, scale, line, colour);
    }
    return count * height;
}

void hc_cl_labels_draw(const struct hc_cl_labels *labels, const struct hc_cl_canvas *canvas) {
    for (unsigned i = 0; i < labels->count; i++) {
        const struct hc_cl_label *label = &labels->at[i];
        if (label->scale == 0)
            hc_cl_canvas_fill(canvas, label->place, label->colour);
        else
            hc_cl_canvas_write(canvas, label->place.x, label->place.y, label->scale, label->text,
                               label->colour);
    }
}
