/// Owns the keys of the window, and the list of all keys.
#include "client/view/keys.h"

#include "client/view/devices.h"

#include <stdio.h>
#include <string.h>

enum {
    SCALE_MAX = 3,
    COLUMNS_MAX = 3,
    NAME_MAX_LETTERS = 16, ///< longer names are cut
    NAME_GAP = 2,          ///< letters
    VALUE_MAX = 44,        ///< letters of a line's text
    VALUE_USUAL = 26,      ///< letters that a line has, unless the pane is narrow
    VALUE_MIN = 8,
    GAP = 3, ///< letters between two columns
};

static const uint32_t TEXT = 0xf4f6faff, FAINT = 0xa8b0c0ff, BOX = 0x0b0d11f0;

/// The keys of the window, as SDL names them, and their effects.
#define ROW(name, key, effect, ...) {key, effect},
static const struct {
    const char *key, *effect;
} own[HC_CL_WINDOW_KEY_COUNT] = {HC_CL_WINDOW_KEYS(ROW)};

enum hc_cl_window_key hc_cl_keys_pressed(const SDL_Event *event) {
    unsigned key = 0;
    if (event->type != SDL_KEYDOWN || event->key.repeat != 0)
        return HC_CL_WINDOW_KEY_COUNT;
    while (key < HC_CL_WINDOW_KEY_COUNT &&
           SDL_GetKeyFromName(own[key].key) != event->key.keysym.sym)
        key++;
    return (enum hc_cl_window_key)key;
}

unsigned hc_cl_keys_list(const struct hc_game *game, unsigned index, unsigned count,
                         struct hc_cl_keys_row rows[HC_CL_KEYS_ROWS]) {
    unsigned size = 0;
    for (uint8_t f = 0; f < game->input_field_count; f++) {
        struct hc_cl_keys_row *row = &rows[size];
        row->name = game->input_fields[f].name;
        row->is_key = false;
        hc_cl_devices_name(hc_cl_controls_of(game, f), index, count, row->text, sizeof(row->text));
        size += row->text[0] != '\0';
    }
    for (unsigned i = 0; i < HC_CL_WINDOW_KEY_COUNT; i++) {
        if (i == HC_CL_WINDOW_KEY_focus && count < 2)
            continue;
        rows[size].name = own[i].key;
        rows[size].is_key = true;
        snprintf(rows[size++].text, sizeof(rows->text), "%s", own[i].effect);
    }
    if (count < 2)
        return size;
    rows[size].name = "Left Shift";
    rows[size].is_key = true;
    snprintf(rows[size++].text, sizeof(rows->text), "with a key: both panes");
    return size;
}

// ---- Places -------------------------------------------------------------------------------------

/// Breaks the rows into lines of at most `most` letters.
static void break_lines(const struct hc_cl_keys_row *rows, unsigned count, int most,
                        struct hc_cl_keys_layout *layout) {
    layout->count = 0;
    for (unsigned row = 0; row < count; row++) {
        const char *text = rows[row].text;
        unsigned from = 0;
        do {
            from += text[from] == ' ';
            unsigned length = hc_cl_labels_line_length(text + from, most);
            layout->lines[layout->count++] = (struct hc_cl_keys_line){row, from, length};
            from += length;
        } while (text[from] != '\0' && layout->count < HC_CL_KEYS_LINES);
        if (layout->count == HC_CL_KEYS_LINES)
            return;
    }
}

/// The letters of the longest name, and of the longest text.
static int longest(const struct hc_cl_keys_row *rows, unsigned count, bool text) {
    int most = 0;
    for (unsigned i = 0; i < count; i++)
        most = SDL_max(most, hc_cl_labels_letters(text ? rows[i].text : rows[i].name));
    return most;
}

/// Lays out the lines in letters of `scale`. False: they have no room.
static bool try(const struct hc_cl_keys_row *rows, unsigned count, const SDL_Rect *room, int scale,
                struct hc_cl_keys_layout *layout) {
    struct hc_cl_grid *grid = &layout->grid;
    int text = SDL_min(longest(rows, count, true), VALUE_MAX);
    for (int columns = 1; columns <= COLUMNS_MAX; columns++) {
        *grid = (struct hc_cl_grid){.scale = scale, .gap = GAP};
        grid->name = SDL_min(longest(rows, count, false), NAME_MAX_LETTERS) + NAME_GAP;
        grid->value = SDL_min(hc_cl_grid_letters(grid, columns, room->w) - grid->name, text);
        if (grid->value < SDL_min(text, scale > 1 || columns > 1 ? VALUE_USUAL : VALUE_MIN))
            return false;
        break_lines(rows, count, grid->value, layout);
        if (hc_cl_grid_fit(grid, (int)layout->count, room->w, room->h) && grid->columns <= columns)
            return true;
    }
    return false;
}

/// Lays out the lines that have room, in the smallest letters.
static void cut(const struct hc_cl_keys_row *rows, unsigned count, const SDL_Rect *room,
                struct hc_cl_keys_layout *layout) {
    struct hc_cl_grid *grid = &layout->grid;
    *grid = (struct hc_cl_grid){.scale = 1, .gap = GAP};
    grid->name = SDL_min(longest(rows, count, false), NAME_MAX_LETTERS) + NAME_GAP;
    grid->value = SDL_min(hc_cl_grid_letters(grid, 1, room->w) - grid->name, VALUE_MAX);
    layout->count = 0;
    if (grid->value < VALUE_MIN)
        return;
    break_lines(rows, count, grid->value, layout);
    hc_cl_grid_cut(grid, (int)layout->count, room->w, room->h);
}

void hc_cl_keys_arrange(const struct hc_cl_keys_row *rows, unsigned count, SDL_Rect room,
                        struct hc_cl_keys_layout *layout) {
    struct hc_cl_grid *grid = &layout->grid;
    layout->whole = false;
    for (int scale = SCALE_MAX; scale > 0 && !layout->whole; scale--)
        layout->whole = try(rows, count, &room, scale, layout);
    if (!layout->whole)
        cut(rows, count, &room, layout);
    layout->box = (SDL_Rect){room.x, room.y, 0, 0};
    if (grid->shown == 0)
        return;
    layout->box.w = hc_cl_grid_width(grid);
    layout->box.h = hc_cl_grid_height(grid);
    layout->box.x += (room.w - layout->box.w) / 2;
    grid->left = layout->box.x + HC_CL_GRID_INSIDE;
    grid->top = layout->box.y + HC_CL_GRID_INSIDE;
}

void hc_cl_keys_put(const struct hc_cl_keys_row *rows, const struct hc_cl_keys_layout *layout,
                    struct hc_cl_labels *labels) {
    const struct hc_cl_grid *grid = &layout->grid;
    char text[HC_CL_LABEL_TEXT];
    if (layout->box.w == 0)
        return;
    hc_cl_labels_box(labels, layout->box, BOX);
    for (int i = 0; i < grid->shown; i++) {
        const struct hc_cl_keys_line *line = &layout->lines[i];
        const struct hc_cl_keys_row *row = &rows[line->row];
        SDL_Rect name = hc_cl_grid_name(grid, i);
        name.w -= NAME_GAP * hc_cl_canvas_width(grid->scale, " ");
        snprintf(text, sizeof(text), "%.*s", (int)line->length, row->text + line->from);
        if (line->from == 0)
            hc_cl_labels_put(labels, name, grid->scale, row->name, row->is_key ? TEXT : FAINT);
        hc_cl_labels_put(labels, hc_cl_grid_value(grid, i), grid->scale, text,
                         row->is_key ? FAINT : TEXT);
    }
}
