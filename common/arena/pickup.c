/// The pickup's step.
#include "common/arena/rules.h"

/// The nearest living player that can grasp the pickup, the lowest of several; HC_ARENA_NOBODY
/// without one.
static hc_player taker(struct hc_scene *scene, const struct hc_arena_pickup *pickup) {
    hc_player winner = HC_ARENA_NOBODY;
    int32_t nearest = HC_ARENA_GRASP * HC_ARENA_GRASP + 1;
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    for (uint32_t i = 0; i < count; i++) {
        if (scene->world->kind_of[ids[i]] != HC_ARENA_KIND_PLAYER)
            continue;
        const struct hc_arena_player *player = hc_scene_state(scene, ids[i]);
        int32_t dx = player->x - pickup->x, dy = player->y - pickup->y;
        int32_t distance = dx * dx + dy * dy; // squared
        if (player->health > 0 && distance < nearest) {
            nearest = distance;
            winner = scene->world->owner_of[ids[i]];
        }
    }
    return winner;
}

bool hc_arena_step_pickup(struct hc_scene *scene, hc_entity self, struct hc_arena_pickup *out) {
    const struct hc_arena_pickup *now = hc_scene_state(scene, self);
    if (now == NULL)
        return false;
    *out = *now;
    // `winner` is set for one tick, in which the winner reads it.
    out->winner = HC_ARENA_NOBODY;
    if (now->refill > 0) {
        out->refill--;
        return true;
    }
    out->winner = taker(scene, now);
    if (out->winner == HC_ARENA_NOBODY)
        return true;
    hc_emit(scene, HC_ARENA_EVENT_TAKEN, out->winner);
    out->refill = hc_arena_ticks(scene->world, HC_ARENA_REFILL_MS);
    return true;
}
