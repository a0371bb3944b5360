/// The shot's step.
#include "common/arena/rules.h"

/// Starts a shot in slot `self` at its owner's place, if the owner fires into this slot.
static bool begin(struct hc_scene *scene, hc_entity self, struct hc_arena_shot *out) {
    if (hc_arena_fires(scene) != self)
        return false;
    const struct hc_world *world = scene->world;
    const struct hc_arena_player *shooter =
        hc_scene_state(scene, hc_world_player(world, world->owner_of[self]));
    const struct hc_arena_input *input = hc_scene_input(scene);
    *out = (struct hc_arena_shot){
        .x = shooter->x,
        .y = shooter->y,
        .angle = input->aim,
        .life = (uint8_t)hc_arena_ticks(world, HC_ARENA_SHOT_MS),
    };
    hc_emit(scene, HC_ARENA_EVENT_SHOT, 0);
    return true;
}

/// Whether this shot kills `victim`, which it strikes. The damage of a tick counts in the order of
/// the shots' ids, so exactly one of them takes the last health.
static bool kills(struct hc_scene *scene, hc_entity self, const hc_entity *ids, uint32_t count,
                  hc_entity victim) {
    int32_t before = 0;
    for (uint32_t i = 0; i < count && ids[i] < self; i++)
        if (scene->world->kind_of[ids[i]] == HC_ARENA_KIND_SHOT &&
            hc_arena_strikes(scene, ids[i], victim))
            before++;
    const struct hc_arena_player *player = hc_scene_state(scene, victim);
    int32_t health = player->health - before * HC_ARENA_DAMAGE;
    return health > 0 && health <= HC_ARENA_DAMAGE;
}

bool hc_arena_step_shot(struct hc_scene *scene, hc_entity self, struct hc_arena_shot *out) {
    if (hc_scene_roster(scene) != HC_ROSTER_NONE)
        return false;
    const struct hc_arena_shot *now = hc_scene_state(scene, self);
    if (now == NULL)
        return begin(scene, self, out);
    uint8_t phase = hc_arena_rules(scene, 0).phase;
    if (now->life == 0 || phase == HC_ARENA_OVER)
        return false;

    struct hc_arena_path path = hc_arena_shot_path(scene, now);
    *out = (struct hc_arena_shot){
        .x = (uint16_t)(now->x + path.dx),
        .y = (uint16_t)(now->y + path.dy),
        .angle = now->angle,
        .life = path.blocked ? 0 : (uint8_t)(now->life - 1),
    };
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids), struck = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (scene->world->kind_of[ids[i]] != HC_ARENA_KIND_PLAYER ||
            !hc_arena_strikes(scene, self, ids[i]))
            continue;
        out->life = 0;
        bool kill = phase == HC_ARENA_PLAYING && kills(scene, self, ids, count, ids[i]);
        out->kills = (uint16_t)(out->kills + kill);
        if (struck++ < HC_ARENA_STRUCK)
            hc_emit(scene, kill ? HC_ARENA_EVENT_KILL : HC_ARENA_EVENT_HIT,
                    scene->world->owner_of[ids[i]]);
    }
    return true;
}
