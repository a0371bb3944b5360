/// Owns the canvas that calls the page.
#include "web/painter.h"

#include "client/view/dots.h"
#include "client/view/scene.h"

#include <math.h>
#include <stdlib.h>

#define IMPORT(name) __attribute__((import_module("canvas"), import_name(name)))

IMPORT("begin")
extern void import_begin(double left, double top, double scale, uint32_t backdrop);
IMPORT("ghosts") extern void import_ghosts(uint32_t on);
IMPORT("rectangle")
extern void import_rectangle(double x, double y, double width, double height, uint32_t colour);
IMPORT("disc") extern void import_disc(double x, double y, double radius, uint32_t colour);
IMPORT("text")
extern void import_text(double x, double y, double height, const char *text, uint32_t colour);

struct hc_web_painter {
    struct hc_cl_scene scene;
};

static void draw_rectangle(const struct hc_canvas *canvas, double x, double y, double width,
                           double height, uint32_t colour) {
    (void)canvas;
    import_rectangle(x, y, width, height, colour);
}

static void draw_disc(const struct hc_canvas *canvas, double x, double y, double radius,
                      uint32_t colour) {
    (void)canvas;
    import_disc(x, y, radius, colour);
}

static void draw_text(const struct hc_canvas *canvas, double x, double y, double height,
                      const char *text, uint32_t colour) {
    (void)canvas;
    import_text(x, y, height, text, colour);
}

static const struct hc_canvas page = {NULL, draw_rectangle, draw_disc, draw_text};

struct hc_web_painter *hc_web_painter_create(const struct hc_client *client,
                                             const struct hc_drawing *drawing) {
    struct hc_web_painter *painter = calloc(1, sizeof *painter);
    if (painter == NULL)
        return NULL;
    painter->scene.client = client;
    painter->scene.drawing = drawing != NULL ? drawing : &hc_cl_dots_drawing;
    return painter;
}

void hc_web_painter_destroy(struct hc_web_painter *painter) {
    free(painter);
}

void hc_web_painter_note(struct hc_web_painter *painter, const struct hc_client_game_event *event,
                         uint64_t now_us) {
    hc_cl_scene_note(&painter->scene, event, now_us);
}

/// Widens the area on two sides to the shape of the canvas.
static void fit(struct hc_web_place *place, const struct hc_area *wanted) {
    place->scale = fmin(place->width / wanted->width, place->height / wanted->height);
    place->area.width = place->width / place->scale;
    place->area.height = place->height / place->scale;
    place->area.left = wanted->left + (wanted->width - place->area.width) / 2;
    place->area.top = wanted->top + (wanted->height - place->area.height) / 2;
}

bool hc_web_painter_draw(struct hc_web_painter *painter, struct hc_web_place *place,
                         uint64_t now_us) {
    struct hc_cl_scene *scene = &painter->scene;
    hc_tick tick, as_of;
    place->self = false;
    if (!hc_client_snapshot(scene->client, &tick, &as_of))
        return false;
    struct hc_area wanted = hc_cl_scene_area(scene, now_us);
    fit(place, &wanted);
    import_begin(place->area.left, place->area.top, place->scale, scene->drawing->backdrop);
    hc_cl_scene_begin(scene, &page, &place->area, now_us);
    hc_cl_scene_background(scene);
    if (place->ghosts) {
        import_ghosts(true);
        hc_cl_scene_ghosts(scene, 1 / place->scale);
        import_ghosts(false);
    }
    hc_cl_scene_entities(scene);
    place->self = hc_cl_scene_self(scene, &place->self_x, &place->self_y);
    return true;
}
