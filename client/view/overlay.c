/// Owns the places of an overlay, its intervals and its bars.
#include "client/view/overlay.h"

#include "common/elapsed.h"

enum {
    INTERVAL_US = 2000000, ///< over which figures are counted
    BARS_HEIGHT = 48,      ///< pixels, in letters of the font's size, as are those below
    BARS_DEPTH = 20,       ///< ticks of the highest bar
    CAPTION = 12,          ///< pixels for the caption below the bars
};

static const uint32_t TEXT = 0xf4f6faff, FAINT = 0xa8b0c0ff, BOX = 0x0b0d11e0, RED = 0xef476fff;

void hc_cl_overlay_count(struct hc_cl_overlay *overlay, const struct hc_client *client,
                         uint64_t now_us) {
    struct hc_cl_figures_counts counts = hc_cl_figures_count(client, now_us);
    unsigned depth = hc_cl_figures_depth(&overlay->frame, &counts);
    overlay->depth[overlay->frames++ % HC_CL_OVERLAY_BARS] =
        (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX);
    overlay->frame = counts;
    if (hc_since(overlay->to.now_us, now_us) >= INTERVAL_US) {
        overlay->from = overlay->to;
        overlay->to = counts;
    }
}

// ---- Places -------------------------------------------------------------------------------------

/// The place of the bars.
enum bars { BESIDE, BELOW, NOWHERE };

/// Lays out figures and bars in a box of at most this size, with letters of `scale`. False: there
/// is no room for all.
static bool arrange(struct hc_cl_overlay_layout *layout, int scale, enum bars bars, int width,
                    int height) {
    SDL_Rect place = {0, 0, HC_CL_OVERLAY_BARS * scale, (BARS_HEIGHT + CAPTION) * scale};
    int beside = bars == BESIDE ? place.w + HC_CL_GRID_INSIDE : 0;
    int below = bars == BELOW ? place.h + HC_CL_GRID_INSIDE : 0;
    *layout = (struct hc_cl_overlay_layout){
        .grid = {
            .scale = scale, .name = HC_CL_FIGURES_NAME, .value = HC_CL_FIGURES_USUAL, .gap = 1}};
    if (!hc_cl_grid_fit(&layout->grid, HC_CL_FIGURE_COUNT, width - beside, height - below))
        return false;
    layout->box.w = hc_cl_grid_width(&layout->grid) + beside;
    layout->box.h = hc_cl_grid_height(&layout->grid) + below;
    if (bars == NOWHERE)
        return true;
    place.x = bars == BESIDE ? layout->box.w - HC_CL_GRID_INSIDE - place.w : HC_CL_GRID_INSIDE;
    place.y = bars == BESIDE ? HC_CL_GRID_INSIDE : layout->box.h - HC_CL_GRID_INSIDE - place.h;
    layout->box.h = SDL_max(layout->box.h, place.y + place.h + HC_CL_GRID_INSIDE);
    layout->bars = place;
    return layout->box.h <= height && place.x + place.w + HC_CL_GRID_INSIDE <= layout->box.w;
}

/// Lays out as many figures as have room, without bars.
static void cut(struct hc_cl_overlay_layout *layout, const SDL_Rect *room) {
    *layout = (struct hc_cl_overlay_layout){
        .grid = {.scale = 1, .name = HC_CL_FIGURES_NAME, .value = HC_CL_FIGURES_USUAL, .gap = 1}};
    hc_cl_grid_cut(&layout->grid, HC_CL_FIGURE_COUNT, room->w, room->h);
    if (layout->grid.shown == 0)
        return;
    layout->box.w = hc_cl_grid_width(&layout->grid);
    layout->box.h = hc_cl_grid_height(&layout->grid);
}

/// Tries a box of at most `height`: with bars rather than without, in the largest letters.
static bool try(struct hc_cl_overlay_layout *layout, int width, int height) {
    for (enum bars bars = BESIDE; bars <= NOWHERE; bars++)
        for (int scale = HC_CL_OVERLAY_SCALE; scale > 0; scale--)
            if (arrange(layout, scale, bars, width, height))
                return true;
    return false;
}

struct hc_cl_overlay_layout hc_cl_overlay_layout(SDL_Rect room) {
    static const int percents[] = {40, 50, 67, 100}; // of the room that the box may be high
    struct hc_cl_overlay_layout layout;
    bool has_room = false;
    for (unsigned i = 0; !has_room && i < sizeof(percents) / sizeof(*percents); i++)
        has_room = try(&layout, room.w, room.h * percents[i] / 100);
    if (!has_room)
        cut(&layout, &room);
    layout.box.x = room.x;
    layout.box.y = room.y + room.h - layout.box.h;
    layout.grid.left = layout.box.x + HC_CL_GRID_INSIDE;
    layout.grid.top = layout.box.y + HC_CL_GRID_INSIDE;
    layout.bars.x += layout.box.x;
    layout.bars.y += layout.box.y;
    return layout;
}

static SDL_Rect caption_of(const struct hc_cl_overlay_layout *layout) {
    SDL_Rect place = layout->bars;
    place.y += (BARS_HEIGHT + 3) * layout->grid.scale;
    place.h -= (BARS_HEIGHT + 3) * layout->grid.scale;
    return place;
}

void hc_cl_overlay_put(const struct hc_cl_overlay_layout *layout,
                       const struct hc_cl_figure figures[HC_CL_FIGURE_COUNT],
                       struct hc_cl_labels *labels) {
    const struct hc_cl_grid *grid = &layout->grid;
    if (layout->box.w == 0)
        return;
    hc_cl_labels_box(labels, layout->box, BOX);
    for (int i = 0; i < grid->shown; i++) {
        hc_cl_labels_put(labels, hc_cl_grid_name(grid, i), grid->scale, figures[i].name, FAINT);
        hc_cl_labels_put(labels, hc_cl_grid_value(grid, i), grid->scale, figures[i].value, TEXT);
    }
    if (layout->bars.w > 0)
        hc_cl_labels_put(labels, caption_of(layout), grid->scale, "depth / frame", FAINT);
}

/// The depths of the last frames' rollbacks, as bars.
void hc_cl_overlay_bars(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas,
                        const struct hc_cl_overlay_layout *layout) {
    const SDL_Rect *at = &layout->bars;
    const int scale = layout->grid.scale, whole = BARS_HEIGHT * scale;
    if (at->w == 0)
        return;
    for (unsigned i = 0; i < HC_CL_OVERLAY_BARS; i++) {
        unsigned frame = (overlay->frames + i) % HC_CL_OVERLAY_BARS;
        int height = SDL_min(overlay->depth[frame] * whole / BARS_DEPTH, whole);
        SDL_Rect bar = {at->x + (int)i * scale, at->y + whole - height, scale, height};
        hc_cl_canvas_fill(canvas, bar, RED);
    }
    hc_cl_canvas_fill(canvas, (SDL_Rect){at->x, at->y + whole, at->w, 1}, FAINT);
}
