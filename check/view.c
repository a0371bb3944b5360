/// Owns the copies of the world before a step.
#include "check/view.h"

#include <stdlib.h>
#include <string.h>

bool hc_ck_view_create(const struct hc_world *world, struct hc_ck_view *view) {
    view->states = calloc(world->entities, world->stride);
    view->presence = calloc(world->entities, 1);
    view->inputs = calloc(world->players, world->game->input_size);
    view->rosters = calloc(world->players, 1);
    return view->states != NULL && view->presence != NULL && view->inputs != NULL &&
           view->rosters != NULL;
}

void hc_ck_view_free(struct hc_ck_view *view) {
    free(view->states);
    free(view->presence);
    free(view->inputs);
    free(view->rosters);
}

void hc_ck_view_copy(const struct hc_scene *scene, struct hc_ck_view *view) {
    const struct hc_world *world = scene->world;
    memcpy(view->states, scene->states, (size_t)world->entities * world->stride);
    memcpy(view->presence, scene->presence, world->entities);
    memcpy(view->inputs, scene->inputs, (size_t)world->players * world->game->input_size);
    memcpy(view->rosters, scene->roster_changes, world->players);
    memcpy(view->reductions, scene->reductions,
           world->game->reduction_count * sizeof(view->reductions[0]));
    view->past = HC_CK_PAST;
}

struct hc_scene hc_ck_view_show(const struct hc_scene *scene, const struct hc_ck_view *view) {
    struct hc_scene shown = *scene;
    shown.states = view->states;
    shown.presence = view->presence;
    shown.inputs = view->inputs;
    shown.roster_changes = view->rosters;
    shown.reductions = view->reductions;
    return shown;
}
