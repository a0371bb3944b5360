/// Owns the area of a scene, the order of its entities, and its ghosts.
#include "client/view/scene.h"

#include <math.h>

void hc_cl_scene_note(struct hc_cl_scene *scene, const struct hc_client_game_event *event,
                      uint64_t now_us) {
    hc_cl_shown_events_note(&scene->events, event, now_us);
}

// ---- The area -----------------------------------------------------------------------------------

/// Writes the place of an entity; false: its kind has none.
static bool place_of(const struct hc_client_shown *shown, double *x, double *y) {
    if (shown->table->x == NULL)
        return false;
    *x = shown->values[hc_kind_field(shown->table, shown->table->x)];
    *y = shown->values[hc_kind_field(shown->table, shown->table->y)];
    return true;
}

/// Widens the bounds to a place.
static void widen(struct hc_cl_scene *scene, double x, double y) {
    struct hc_area *bounds = &scene->bounds;
    if (!scene->has_bounds)
        *bounds = (struct hc_area){x, y, 1, 1};
    scene->has_bounds = true;
    double right = fmax(bounds->left + bounds->width, x), left = fmin(bounds->left, x);
    double bottom = fmax(bounds->top + bounds->height, y), top = fmin(bounds->top, y);
    *bounds = (struct hc_area){left, top, right - left, bottom - top};
}

struct hc_area hc_cl_scene_area(struct hc_cl_scene *scene, uint64_t now_us) {
    const struct hc_world *world = hc_client_world(scene->client);
    struct hc_client_shown shown;
    double x, y;
    if (scene->drawing->area != NULL) {
        hc_entity own = hc_world_player(world, hc_client_player(scene->client, 0));
        bool visible = hc_client_show(scene->client, now_us, own, &shown);
        return scene->drawing->area(world, visible ? &shown : NULL);
    }
    for (hc_entity next = 0; hc_client_show_next(scene->client, now_us, &next, &shown);)
        if (place_of(&shown, &x, &y))
            widen(scene, x, y);
    double margin = 0.05 * fmax(scene->bounds.width, scene->bounds.height) + 1;
    return (struct hc_area){scene->bounds.left - margin, scene->bounds.top - margin,
                            scene->bounds.width + 2 * margin, scene->bounds.height + 2 * margin};
}

// ---- A frame ------------------------------------------------------------------------------------

void hc_cl_scene_begin(struct hc_cl_scene *scene, const struct hc_canvas *canvas,
                       const struct hc_area *area, uint64_t now_us) {
    const struct hc_world *world = hc_client_world(scene->client);
    for (hc_player p = 0; p < world->players; p++)
        scene->names[p] = hc_client_player_name(scene->client, p);
    hc_cl_shown_events_age(&scene->events, now_us);
    scene->now_us = now_us;
    scene->frame = (struct hc_frame){.canvas = canvas,
                                     .world = world,
                                     .area = *area,
                                     .own = hc_client_player(scene->client, 0),
                                     .names = scene->names,
                                     .events = scene->events.at,
                                     .event_count = scene->events.count};
}

void hc_cl_scene_background(const struct hc_cl_scene *scene) {
    if (scene->drawing->background != NULL)
        scene->drawing->background(&scene->frame);
}

/// In the order in which they are drawn.
enum layer { WITHOUT_OWNER, REFEREE, OF_PLAYERS, LAYERS };

static enum layer layer_of(const struct hc_client_shown *shown) {
    if (shown->entity == HC_REFEREE)
        return REFEREE;
    return shown->owner == HC_NO_PLAYER ? WITHOUT_OWNER : OF_PLAYERS;
}

void hc_cl_scene_entities(const struct hc_cl_scene *scene) {
    struct hc_client_shown shown;
    for (enum layer layer = WITHOUT_OWNER; layer < LAYERS; layer++)
        for (hc_entity next = 0; hc_client_show_next(scene->client, scene->now_us, &next, &shown);)
            if (layer_of(&shown) == layer)
                scene->drawing->entity(&scene->frame, &shown);
}

bool hc_cl_scene_self(const struct hc_cl_scene *scene, double *x, double *y) {
    struct hc_client_shown shown;
    hc_entity own = hc_world_player(scene->frame.world, scene->frame.own);
    return hc_client_show(scene->client, scene->now_us, own, &shown) && place_of(&shown, x, y);
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

/// Whether an entity is drawn elsewhere than at its ghost, by `least` or more.
static bool elsewhere(const struct hc_cl_scene *scene, const struct hc_client_shown *ghost,
                      double least) {
    struct hc_client_shown shown;
    double ghost_x, ghost_y, x, y;
    if (!place_of(ghost, &ghost_x, &ghost_y))
        return false;
    if (!hc_client_show(scene->client, scene->now_us, ghost->entity, &shown))
        return true;
    return !place_of(&shown, &x, &y) || hypot(x - ghost_x, y - ghost_y) >= least;
}

void hc_cl_scene_ghosts(const struct hc_cl_scene *scene, double least) {
    const struct hc_timeline *timeline = hc_client_timeline(scene->client);
    struct hc_client_shown ghost;
    hc_tick tick, as_of;
    if (!hc_client_snapshot(scene->client, &tick, &as_of) || tick < hc_timeline_oldest(timeline) ||
        tick > hc_timeline_head(timeline))
        return;
    struct hc_frame still = scene->frame;
    still.event_count = 0; // of the players themselves, not of their ghosts
    for (uint32_t e = 0; e < still.world->entities; e++)
        if (recorded(scene->client, tick, (hc_entity)e, &ghost) && elsewhere(scene, &ghost, least))
            scene->drawing->entity(&still, &ghost);
}
