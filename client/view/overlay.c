/// Owns the figures of an overlay, their intervals, and the ghosts.
#include "client/view/overlay.h"

#include "common/elapsed.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    INTERVAL_US = 2000000, ///< over which figures are counted
    SCALE_MAX = 2,         ///< of the letters
    COLUMNS_MAX = 2,
    AROUND = 5,  ///< pixels from the box to the pane
    INSIDE = 10, ///< pixels from the figures to the box
    NAME = 12,   ///< letters from a figure's name to its value
    VALUE = 9,   ///< letters of a value
    BAR = 1,     ///< pixels of a bar's width
    BARS_HEIGHT = 85,
    BARS_DEPTH = 20, ///< ticks of the highest bar
    CAPTION = 12,    ///< pixels for the caption below the bars
};

static const uint32_t TEXT = 0xf4f6faff, FAINT = 0xa8b0c0ff, BOX = 0x0b0d11c8, RED = 0xef476fff;

static struct hc_cl_overlay_counts counts_of(const struct hc_client *client, uint64_t now_us) {
    const struct hc_client_stats *stats = hc_client_stats(client);
    return (struct hc_cl_overlay_counts){.now_us = now_us,
                                         .sent = stats->datagrams_out,
                                         .lost = stats->datagrams_lost,
                                         .corrections = stats->corrections,
                                         .rollbacks = stats->rollback_depth.count,
                                         .depth = stats->rollback_depth.sum};
}

/// The mean depth of the rollbacks between two moments, in ticks, rounded; 0: there were none.
static unsigned mean_depth(const struct hc_cl_overlay_counts *from,
                           const struct hc_cl_overlay_counts *to) {
    uint64_t count = to->rollbacks - from->rollbacks;
    return count == 0 ? 0 : (unsigned)((to->depth - from->depth + count / 2) / count);
}

void hc_cl_overlay_count(struct hc_cl_overlay *overlay, const struct hc_client *client,
                         uint64_t now_us) {
    struct hc_cl_overlay_counts counts = counts_of(client, now_us);
    unsigned depth = mean_depth(&overlay->frame, &counts);
    overlay->depth[overlay->frames++ % HC_CL_OVERLAY_BARS] =
        (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX);
    overlay->frame = counts;
    if (hc_since(overlay->to.now_us, now_us) >= INTERVAL_US) {
        overlay->from = overlay->to;
        overlay->to = counts;
    }
}

// ---- Figures ------------------------------------------------------------------------------------

/// Lays out the figures in so many columns, with the bars beside them or below, from the upper left
/// corner. `box` gets the size of all.
static struct hc_cl_overlay_layout arrange(int scale, int columns, bool beside) {
    struct hc_cl_overlay_layout layout = {.scale = scale};
    const int rows = (HC_CL_OVERLAY_FIGURES + columns - 1) / columns, gap = 6 * scale;
    const int row = 7 * scale + 7, column = hc_cl_canvas_width(scale, " ") * (NAME + VALUE) + gap;
    for (int i = 0; i < HC_CL_OVERLAY_FIGURES; i++)
        layout.figures[i] = (SDL_Rect){INSIDE + i / rows * column, INSIDE + i % rows * row,
                                       column - gap, 8 * scale};
    const int width = columns * column - gap, height = rows * row;
    layout.bars = (SDL_Rect){INSIDE + (beside ? width + gap : 0), INSIDE + (beside ? 0 : height),
                             HC_CL_OVERLAY_BARS * BAR, BARS_HEIGHT + CAPTION};
    layout.box.w = SDL_max(INSIDE + width, layout.bars.x + layout.bars.w) + INSIDE;
    layout.box.h = SDL_max(INSIDE + height, layout.bars.y + layout.bars.h) + INSIDE;
    return layout;
}

struct hc_cl_overlay_layout hc_cl_overlay_layout(int width, int height) {
    for (int scale = SCALE_MAX; scale > 0; scale--)
        for (int columns = COLUMNS_MAX; columns > 0; columns--)
            for (int below = 0; below < 2; below++) {
                struct hc_cl_overlay_layout layout = arrange(scale, columns, below == 0);
                const int left = AROUND, top = height - AROUND - layout.box.h;
                if (left + layout.box.w + AROUND > width || top < AROUND)
                    continue;
                layout.box.x = left;
                layout.box.y = top;
                for (int i = 0; i < HC_CL_OVERLAY_FIGURES; i++) {
                    layout.figures[i].x += left;
                    layout.figures[i].y += top;
                }
                layout.bars.x += left;
                layout.bars.y += top;
                return layout;
            }
    return (struct hc_cl_overlay_layout){.scale = 0};
}

/// Writes a figure. A value is cut where its place ends.
__attribute__((format(printf, 5, 6))) static void
draw_figure(const struct hc_cl_canvas *canvas, const struct hc_cl_overlay_layout *layout, int index,
            const char *name, const char *format, ...) {
    char text[VALUE + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const SDL_Rect *at = &layout->figures[index];
    hc_cl_canvas_write(canvas, at->x, at->y, layout->scale, name, FAINT);
    hc_cl_canvas_write(canvas, at->x + NAME * hc_cl_canvas_width(layout->scale, " "), at->y,
                       layout->scale, text, TEXT);
}

/// How often a count grew in a second of the newest interval.
static double rate(const struct hc_cl_overlay *overlay, uint64_t from, uint64_t to) {
    uint64_t us = hc_since(overlay->from.now_us, overlay->to.now_us);
    return overlay->from.now_us == 0 || us == 0 ? 0 : (double)(to - from) * 1e6 / (double)us;
}

/// Ticks that the client has predicted beyond the newest received state.
static uint32_t predicted(const struct hc_client *client) {
    hc_tick shown, as_of;
    if (!hc_client_snapshot(client, &shown, &as_of))
        return 0;
    hc_tick head = hc_timeline_head(hc_client_timeline(client));
    return head > shown ? head - shown : 0;
}

/// The depths of the last frames' rollbacks, as bars.
static void draw_bars(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas,
                      const SDL_Rect *at) {
    for (unsigned i = 0; i < HC_CL_OVERLAY_BARS; i++) {
        unsigned frame = (overlay->frames + i) % HC_CL_OVERLAY_BARS;
        int height = SDL_min(overlay->depth[frame] * BARS_HEIGHT / BARS_DEPTH, BARS_HEIGHT);
        SDL_Rect bar = {at->x + (int)i * BAR, at->y + BARS_HEIGHT - height, BAR, height};
        hc_cl_canvas_fill(canvas, bar, RED);
    }
    hc_cl_canvas_write(canvas, at->x, at->y + BARS_HEIGHT + 4, 1, "depth / frame", FAINT);
    hc_cl_canvas_fill(canvas, (SDL_Rect){at->x, at->y + BARS_HEIGHT, at->w, 1}, FAINT);
}

void hc_cl_overlay_draw(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas,
                        const struct hc_client *client) {
    const struct hc_client_stats *stats = hc_client_stats(client);
    const struct hc_cl_overlay_counts *from = &overlay->from, *to = &overlay->to;
    const struct hc_cl_overlay_layout at = hc_cl_overlay_layout(canvas->pane.w, canvas->pane.h);
    struct hc_client_recent recent;
    if (at.scale == 0)
        return;
    (void)hc_client_recent(client, &recent); // mostly 0 before the first snapshot
    double sent = rate(overlay, from->sent, to->sent), lost = rate(overlay, from->lost, to->lost);
    hc_cl_canvas_fill(canvas, at.box, BOX);
    draw_figure(canvas, &at, 0, "round trip", "%.0f ms",
                (double)hc_histogram_percentile(&stats->rtt_us, 500) / 1e3);
    draw_figure(canvas, &at, 1, "jitter", "%.0f ms", (double)stats->jitter_us / 1e3);
    draw_figure(canvas, &at, 2, "loss", "%.1f %%", sent > 0 ? 100 * lost / sent : 0);
    draw_figure(canvas, &at, 3, "input delay", "%u ticks", (unsigned)recent.input_delay);
    draw_figure(canvas, &at, 4, "lead", "%u ticks", (unsigned)recent.lead);
    draw_figure(canvas, &at, 5, "predicted", "%u ticks", (unsigned)predicted(client));
    draw_figure(canvas, &at, 6, "rollbacks", "%.0f /s",
                rate(overlay, from->rollbacks, to->rollbacks));
    draw_figure(canvas, &at, 7, "depth", "%u ticks", mean_depth(from, to));
    draw_figure(canvas, &at, 8, "corrections", "%.0f /s",
                rate(overlay, from->corrections, to->corrections));
    draw_figure(canvas, &at, 9, "others' age", "%u ticks", (unsigned)recent.others_ticks);
    draw_figure(canvas, &at, 10, "margin", recent.margin_known ? "%.0f ms" : "-",
                recent.margin_min_us / 1e3);
    draw_figure(canvas, &at, 11, "state's age", "%.0f ms", (double)recent.snapshot_age_us / 1e3);
    draw_bars(overlay, canvas, &at.bars);
}

// ---- Ghosts -------------------------------------------------------------------------------------

/// An entity as it is in the timeline at `tick`. False: it is not alive there.
static bool recorded(const struct hc_client *client, hc_tick tick, hc_entity entity,
                     struct hc_client_shown *shown) {
    const struct hc_world *world = hc_client_world(client);
    const struct hc_timeline *timeline = hc_client_timeline(client);
    if (hc_timeline_presence(timeline, tick)[entity] != HC_ALIVE)
        return false;
    const uint8_t *state = hc_timeline_states(timeline, tick) + (size_t)entity * world->stride;
    shown->entity = entity;
    shown->owner = world->owner_of[entity];
    shown->kind = world->kind_of[entity];
    shown->table = hc_world_kind(world, entity);
    for (uint16_t f = 0; f < shown->table->field_count; f++)
        shown->values[f] = (double)hc_field_get(&shown->table->fields[f], state);
    return true;
}

/// Whether an entity is drawn elsewhere than at its ghost, by a pixel or more.
static bool elsewhere(const struct hc_cl_canvas *canvas, const struct hc_client *client,
                      const struct hc_client_shown *ghost, uint64_t now_us) {
    struct hc_client_shown shown;
    int x = hc_kind_field(ghost->table, ghost->table->x);
    int y = hc_kind_field(ghost->table, ghost->table->y);
    if (x < 0)
        return false;
    if (!hc_client_show(client, now_us, ghost->entity, &shown))
        return true;
    double away = hypot(shown.values[x] - ghost->values[x], shown.values[y] - ghost->values[y]);
    return away * canvas->scale >= 1;
}

void hc_cl_overlay_ghosts(struct hc_cl_canvas *canvas, const struct hc_client *client,
                          const struct hc_drawing *drawing, const struct hc_frame *frame,
                          uint64_t now_us) {
    const struct hc_timeline *timeline = hc_client_timeline(client);
    struct hc_client_shown ghost;
    hc_tick tick, as_of;
    if (!hc_client_snapshot(client, &tick, &as_of) || tick < hc_timeline_oldest(timeline) ||
        tick > hc_timeline_head(timeline))
        return;
    struct hc_frame still = *frame;
    still.event_count = 0; // of the players themselves, not of their ghosts
    canvas->ghost = true;
    for (uint32_t e = 0; e < frame->world->entities; e++)
        if (recorded(client, tick, (hc_entity)e, &ghost) &&
            elsewhere(canvas, client, &ghost, now_us))
            drawing->entity(&still, &ghost);
    canvas->ghost = false;
}
