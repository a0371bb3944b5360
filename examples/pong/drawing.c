/// Pong as hindcast-view draws it.
#include "pong.h"

#include <hindcast/drawing.h>

#include <stdio.h>

enum { KIND_PADDLE = 1, KIND_BALL = 2, THICK = 8 };

static struct hc_area area(const struct hc_world *world, const struct hc_client_shown *own) {
    (void)world, (void)own;
    return (struct hc_area){-20, -40, PONG_WIDTH + 40, PONG_HEIGHT + 60};
}

static void background(const struct hc_frame *frame) {
    const struct hc_canvas *canvas = frame->canvas;
    double x = PONG_WIDTH / 2.0, y = PONG_HEIGHT / 2.0;
    canvas->rectangle(canvas, x, y, PONG_WIDTH + 12, PONG_HEIGHT + 12, 0x3a5a40ff);
    canvas->rectangle(canvas, x, y, PONG_WIDTH + 4, PONG_HEIGHT + 4, 0x1b2e22ff);
    for (int dash = 9; dash < PONG_HEIGHT; dash += 18)
        canvas->rectangle(canvas, x, dash, 3, 10, 0x3a5a40ff);
}

static void draw_paddle(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    uint32_t colour = shown->owner == frame->own ? 0x4cc9f0ff : 0xff9f1cff;
    double x = HC_SHOWN(shown, struct pong_paddle, x);
    char score[8];
    snprintf(score, sizeof score, "%.0f", HC_SHOWN(shown, struct pong_paddle, score));
    frame->canvas->rectangle(frame->canvas, x, HC_SHOWN(shown, struct pong_paddle, y), THICK,
                             2 * PONG_PADDLE, colour);
    frame->canvas->text(frame->canvas, PONG_WIDTH / 4.0 + x / 2, 40, 32, score, colour);
}

static void entity(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    if (shown->kind == KIND_PADDLE)
        draw_paddle(frame, shown);
    else if (shown->kind == KIND_BALL)
        frame->canvas->rectangle(frame->canvas, HC_SHOWN(shown, struct pong_ball, x),
                                 HC_SHOWN(shown, struct pong_ball, y), 2 * PONG_BALL, 2 * PONG_BALL,
                                 0xf4f6faff);
}

const struct hc_drawing hindcast_drawing = {HC_DRAWING_ABI, "pong",     0x10161aff,
                                            area,           background, entity};
