/// Owns the figures of an overlay, their intervals, and the ghosts.
#include "client/view/overlay.h"

#include "common/elapsed.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    INTERVAL_US = 2000000, ///< over which figures are counted
    SCALE = 2,             ///< of the letters
    MARGIN = 10,           ///< pixels
    ROWS = 5,              ///< of figures, in columns
    ROW = 21,              ///< pixels from row to row
    COLUMN = 248,          ///< pixels from column to column
    FIGURE = 144,          ///< pixels from a column's names to its figures
    BARS_LEFT = 2 * COLUMN,
    BAR = 1,         ///< pixels of a bar's width
    BARS_DEPTH = 20, ///< ticks of the highest bar
    WIDTH = BARS_LEFT + HC_CL_OVERLAY_BARS * BAR + 2 * MARGIN,
    HEIGHT = ROWS * ROW + 2 * MARGIN,
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

/// The upper left corner of the figures in the box, at the bottom of the pane.
static SDL_Point corner(const struct hc_cl_canvas *canvas) {
    return (SDL_Point){2 * MARGIN, canvas->pane.h - HEIGHT};
}

/// A figure of the box: the columns are filled from the left, each from the top.
__attribute__((format(printf, 4, 5))) static void draw_figure(const struct hc_cl_canvas *canvas,
                                                              int index, const char *name,
                                                              const char *format, ...) {
    char text[48];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    SDL_Point at = corner(canvas);
    at.x += index / ROWS * COLUMN;
    at.y += index % ROWS * ROW;
    hc_cl_canvas_write(canvas, at.x, at.y, SCALE, name, FAINT);
    hc_cl_canvas_write(canvas, at.x + FIGURE, at.y, SCALE, text, TEXT);
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
static void draw_bars(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas) {
    const int highest = ROWS * ROW - MARGIN;
    SDL_Point at = corner(canvas);
    at.x += BARS_LEFT;
    for (unsigned i = 0; i < HC_CL_OVERLAY_BARS; i++) {
        unsigned frame = (overlay->frames + i) % HC_CL_OVERLAY_BARS;
        int height = SDL_min(overlay->depth[frame] * highest / BARS_DEPTH, highest);
        SDL_Rect bar = {at.x + (int)i * BAR, at.y + highest - height, BAR, height};
        hc_cl_canvas_fill(canvas, bar, RED);
    }
    hc_cl_canvas_write(canvas, at.x, at.y + highest + 4, 1, "depth, by frame", FAINT);
    hc_cl_canvas_fill(canvas, (SDL_Rect){at.x, at.y + highest, HC_CL_OVERLAY_BARS * BAR, 1}, FAINT);
}

void hc_cl_overlay_draw(const struct hc_cl_overlay *overlay, const struct hc_cl_canvas *canvas,
                        const struct hc_client *client) {
    const struct hc_client_stats *stats = hc_client_stats(client);
    const struct hc_cl_overlay_counts *from = &overlay->from, *to = &overlay->to;
    struct hc_client_recent recent;
    (void)hc_client_recent(client, &recent); // mostly 0 before the first snapshot
    double sent = rate(overlay, from->sent, to->sent), lost = rate(overlay, from->lost, to->lost);
    SDL_Rect box = {MARGIN, canvas->pane.h - HEIGHT - MARGIN, WIDTH, HEIGHT};
    hc_cl_canvas_fill(canvas, box, BOX);
    draw_figure(canvas, 0, "round trip", "%.0f ms",
                (double)hc_histogram_percentile(&stats->rtt_us, 500) / 1e3);
    draw_figure(canvas, 1, "jitter", "%.0f ms", (double)stats->jitter_us / 1e3);
    draw_figure(canvas, 2, "loss", "%.1f %%", sent > 0 ? 100 * lost / sent : 0);
    draw_figure(canvas, 3, "input delay", "%u ticks", (unsigned)recent.input_delay);
    draw_figure(canvas, 4, "lead", "%u ticks", (unsigned)recent.lead);
    draw_figure(canvas, 5, "predicted", "%u ticks", (unsigned)predicted(client));
    draw_figure(canvas, 6, "rollbacks", "%.0f /s", rate(overlay, from->rollbacks, to->rollbacks));
    draw_figure(canvas, 7, "depth", "%u ticks", mean_depth(from, to));
    draw_figure(canvas, 8, "corrections", "%.0f /s",
                rate(overlay, from->corrections, to->corrections));
    draw_figure(canvas, 9, "others", "%u ticks ago", (unsigned)recent.others_ticks);
    draw_bars(overlay, canvas);
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
