/// Duel as hindcast-view draws it.
#include "duel.h"

#include <hindcast/drawing.h>

#include <math.h>

enum { KIND_PLAYER = 1, BEAM = 12 };

static struct hc_area area(const struct hc_world *world, const struct hc_client_shown *own) {
    (void)world, (void)own;
    return (struct hc_area){-DUEL_TILE / 4.0, -DUEL_TILE / 4.0, DUEL_WIDTH + DUEL_TILE / 2.0,
                            DUEL_HEIGHT + DUEL_TILE / 2.0};
}

static void background(const struct hc_frame *frame) {
    const struct hc_canvas *canvas = frame->canvas;
    canvas->rectangle(canvas, DUEL_WIDTH / 2.0, DUEL_HEIGHT / 2.0, DUEL_WIDTH, DUEL_HEIGHT,
                      0x20262fff);
    for (int y = DUEL_TILE / 2; y < DUEL_HEIGHT; y += DUEL_TILE)
        for (int x = DUEL_TILE / 2; x < DUEL_WIDTH; x += DUEL_TILE)
            if (duel_wall(frame->world->game, x, y))
                canvas->rectangle(canvas, x, y, DUEL_TILE, DUEL_TILE, 0x59677aff);
}

static void entity(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    if (shown->kind != KIND_PLAYER || HC_SHOWN(shown, struct duel_player, health) <= 0)
        return;
    const struct hc_canvas *canvas = frame->canvas;
    uint32_t colour = shown->owner == frame->own ? 0x4cc9f0ff : 0xff9f1cff;
    double x = HC_SHOWN(shown, struct duel_player, x), y = HC_SHOWN(shown, struct duel_player, y);
    double angle = HC_SHOWN(shown, struct duel_player, aim) * 2 * 3.14159265358979 / 1024;
    double health = HC_SHOWN(shown, struct duel_player, health) / DUEL_HEALTH;
    int beam = HC_SHOWN(shown, struct duel_player, shooting) > 0 ? BEAM : 2;
    for (int i = 1; i <= beam; i++) // the barrel, and a shot for some ticks
        canvas->disc(canvas, x + cos(angle) * i * DUEL_RADIUS * 0.8,
                     y + sin(angle) * i * DUEL_RADIUS * 0.8, DUEL_RADIUS * 0.2, 0xf4f6faff);
    canvas->disc(canvas, x, y, DUEL_RADIUS, colour);
    canvas->rectangle(canvas, x, y - 1.5 * DUEL_RADIUS, 2 * DUEL_RADIUS * health, DUEL_RADIUS * 0.3,
                      0x7ae582ff);
}

const struct hc_drawing hindcast_drawing = {HC_DRAWING_ABI, "duel",     0x10161aff,
                                            area,           background, entity};
