/// Owns the look of the arena: its walls, players, shots and pickups, and the clock of its round.
#include "client/view/arena.h"

#include "common/arena/map.h"
#include "hindcast/arena.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN = 448 * HC_ARENA_PIXEL, ///< side of the area
    GRID = 2 * HC_ARENA_PIXEL,    ///< width of the lines between tiles
    CLOCK = 16 * HC_ARENA_PIXEL,  ///< height of the letters of the round's clock
    NAME = 10 * HC_ARENA_PIXEL,   ///< height of the letters of a player's name
};

static const uint32_t FLOOR = 0x222731ff, LINE = 0x2a303bff, WALL = 0x566074ff, EDGE = 0x6f7b93ff,
                      WHITE = 0xf4f6faff, SHOT = 0xffe066ff, TRAIL = 0xffe06650, OWN = 0x4cc9f0ff;

static const double FLASH_S = 0.25; ///< of a player that was struck

/// Colours of other players, by number.
static const uint32_t others[] = {0xf72585ff, 0xff9f1cff, 0x9b5de5ff, 0xef476fff,
                                  0x80ed99ff, 0xf15bb5ff, 0xc9ada7ff, 0xffd6a5ff};

static double within(double value, double low, double high) {
    return high < low ? (low + high) / 2 : value < low ? low : value > high ? high : value;
}

/// The surroundings of the own player, within the map.
static struct hc_area area(const struct hc_world *world, const struct hc_client_shown *own) {
    double side = hc_arena_side(world) * (double)HC_ARENA_TILE, x = side / 2, y = side / 2;
    if (own != NULL) {
        x = HC_SHOWN(own, struct hc_arena_player, x);
        y = HC_SHOWN(own, struct hc_arena_player, y);
    }
    double half = SHOWN / 2.0;
    return (struct hc_area){within(x, half, side - half) - half,
                            within(y, half, side - half) - half, SHOWN, SHOWN};
}

static void draw_wall(const struct hc_frame *frame, int32_t tx, int32_t ty) {
    double x = (tx + 0.5) * HC_ARENA_TILE, y = (ty + 0.5) * HC_ARENA_TILE;
    frame->canvas->rectangle(frame->canvas, x, y, HC_ARENA_TILE, HC_ARENA_TILE, WALL);
    if (ty > 0 && !hc_arena_wall(frame->world, tx, ty - 1))
        frame->canvas->rectangle(frame->canvas, x, y - HC_ARENA_TILE / 2.0 + GRID, HC_ARENA_TILE,
                                 2 * GRID, EDGE);
}

static void background(const struct hc_frame *frame) {
    const struct hc_canvas *canvas = frame->canvas;
    int32_t tiles = hc_arena_side(frame->world);
    double side = tiles * (double)HC_ARENA_TILE;
    canvas->rectangle(canvas, side / 2, side / 2, side, side, FLOOR);
    for (int32_t i = 1; i < tiles; i++) {
        canvas->rectangle(canvas, i * (double)HC_ARENA_TILE, side / 2, GRID, side, LINE);
        canvas->rectangle(canvas, side / 2, i * (double)HC_ARENA_TILE, side, GRID, LINE);
    }
    const struct hc_area *seen = &frame->area;
    int32_t left = (int32_t)fmax(0, seen->left / HC_ARENA_TILE);
    int32_t top = (int32_t)fmax(0, seen->top / HC_ARENA_TILE);
    for (int32_t ty = top; ty < tiles && ty * HC_ARENA_TILE < seen->top + seen->height; ty++)
        for (int32_t tx = left; tx < tiles && tx * HC_ARENA_TILE < seen->left + seen->width; tx++)
            if (hc_arena_wall(frame->world, tx, ty))
                draw_wall(frame, tx, ty);
}

/// Flashes a player that a shot has just struck.
static void draw_struck(const struct hc_frame *frame, hc_player player, double x, double y) {
    for (uint32_t i = 0; i < frame->event_count; i++) {
        const struct hc_frame_event *shown = &frame->events[i];
        bool strikes =
            shown->event.kind == HC_ARENA_EVENT_HIT || shown->event.kind == HC_ARENA_EVENT_KILL;
        double fade = 1 - shown->age / FLASH_S;
        if (strikes && shown->event.number == player && fade > 0)
            frame->canvas->disc(frame->canvas, x, y, HC_ARENA_RADIUS * (1.6 - 0.4 * fade),
                                (WHITE & ~0xffu) | (uint32_t)(200 * fade));
    }
}

static void draw_player(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    const struct hc_canvas *canvas = frame->canvas;
    double x = HC_SHOWN(shown, struct hc_arena_player, x);
    double y = HC_SHOWN(shown, struct hc_arena_player, y);
    double turns = HC_SHOWN(shown, struct hc_arena_player, aim) / 256;
    double health = HC_SHOWN(shown, struct hc_arena_player, health) / HC_ARENA_HEALTH;
    double angle = turns * 2 * acos(-1), bar = 2.0 * HC_ARENA_RADIUS, radius = HC_ARENA_RADIUS;
    uint32_t colour = shown->owner == frame->own
                          ? OWN
                          : others[shown->owner % (sizeof(others) / sizeof(*others))];
    char score[16];
    draw_struck(frame, shown->owner, x, y);
    if (health <= 0) { // dead
        canvas->disc(canvas, x, y, radius * 0.6, (colour & ~0xffu) | 0x50);
        return;
    }
    canvas->disc(canvas, x + cos(angle) * radius, y + sin(angle) * radius, radius * 0.4, WHITE);
    canvas->disc(canvas, x, y, radius, colour);
    canvas->disc(canvas, x, y, radius * 0.55, 0x00000038);
    snprintf(score, sizeof(score), "%.0f", HC_SHOWN(shown, struct hc_arena_player, score));
    canvas->text(canvas, x, y, 10.0 * HC_ARENA_PIXEL, score, WHITE);
    double bar_y = y - radius * 1.5;
    canvas->rectangle(canvas, x, bar_y, bar, 3.0 * HC_ARENA_PIXEL, 0x00000080);
    canvas->rectangle(canvas, x - bar / 2 * (1 - health), bar_y, bar * health, 3.0 * HC_ARENA_PIXEL,
                      health > 0.5 ? 0x80ed99ff : 0xef476fff);
    if (frame->names[shown->owner] != NULL)
        canvas->text(canvas, x, bar_y - NAME, NAME, frame->names[shown->owner], WHITE);
}

static void draw_shot(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    double x = HC_SHOWN(shown, struct hc_arena_shot, x);
    double y = HC_SHOWN(shown, struct hc_arena_shot, y);
    double angle = HC_SHOWN(shown, struct hc_arena_shot, angle) / 128 * acos(-1);
    for (int i = 3; i >= 0; i--)
        frame->canvas->disc(frame->canvas, x - cos(angle) * 40 * i, y - sin(angle) * 40 * i,
                            (36 - 6 * i), i == 0 ? SHOT : TRAIL);
}

static void draw_pickup(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    const struct hc_canvas *canvas = frame->canvas;
    double x = HC_SHOWN(shown, struct hc_arena_pickup, x);
    double y = HC_SHOWN(shown, struct hc_arena_pickup, y);
    bool taken = HC_SHOWN(shown, struct hc_arena_pickup, refill) > 0;
    bool health = (int)HC_SHOWN(shown, struct hc_arena_pickup, gift) == HC_ARENA_GIFT_HEALTH;
    uint32_t colour = health ? 0x80ed99ff : 0xff9f1cff;
    if (taken)
        colour = (colour & ~0xffu) | 0x28;
    canvas->rectangle(canvas, x, y, 128, 128, 0x00000050);
    if (health) { // a cross
        canvas->rectangle(canvas, x, y, 96, 32, colour);
        canvas->rectangle(canvas, x, y, 32, 96, colour);
    } else { // three shots
        for (int i = -1; i <= 1; i++)
            canvas->disc(canvas, x + 34.0 * i, y - 22.0 * i, 20, colour);
    }
}

/// The phase and the clock of the round, above all but the players.
static void draw_referee(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    int phase = (int)HC_SHOWN(shown, struct hc_arena_referee, phase);
    int seconds = (int)(HC_SHOWN(shown, struct hc_arena_referee, clock) / frame->world->tick_rate);
    char text[48];
    if (phase == HC_ARENA_WAITING)
        snprintf(text, sizeof(text), "waiting for a second player");
    else
        snprintf(text, sizeof(text), "%s%d:%02d", phase == HC_ARENA_OVER ? "next round in " : "",
                 seconds / 60, seconds % 60);
    double x = frame->area.left + frame->area.width / 2;
    double y = frame->area.top + 2.4 * CLOCK, letter = CLOCK * 0.8;
    frame->canvas->rectangle(frame->canvas, x, y, letter * (double)(strlen(text) + 1), CLOCK * 1.4,
                             0x0b0d11c8);
    frame->canvas->text(frame->canvas, x, y, CLOCK, text, WHITE);
}

static void entity(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    switch (shown->kind) {
    case HC_ARENA_KIND_REFEREE:
        draw_referee(frame, shown);
        break;
    case HC_ARENA_KIND_PLAYER:
        draw_player(frame, shown);
        break;
    case HC_ARENA_KIND_SHOT:
        draw_shot(frame, shown);
        break;
    default:
        draw_pickup(frame, shown);
        break;
    }
}

const struct hc_drawing hc_cl_arena_drawing = {
    .abi = HC_DRAWING_ABI,
    .game = "arena",
    .backdrop = 0x14171dff,
    .area = area,
    .background = background,
    .entity = entity,
};
