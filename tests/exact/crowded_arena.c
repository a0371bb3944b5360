/// The crowded arena's step.
#include "tests/exact/crowded_arena.h"

#include "common/arena/map.h"
#include "hindcast/arena.h"
#include "hindcast/scene.h"

/// A number in [0, bound) that the seed decides for `purpose`.
static uint32_t draw(const struct hc_world *world, uint32_t purpose, uint32_t bound) {
    return (uint32_t)(hc_random(world->seed, purpose, 0, 0x68757272) % bound);
}

/// Writes one of a few places for a crowd, selected by 64 random bits: a pickup's place, or any.
static void crowd_place(const struct hc_world *world, uint64_t random, uint16_t *x, uint16_t *y) {
    uint32_t first = 1 + (uint32_t)world->players * world->per_owner;
    uint32_t place = (uint32_t)(random % (1 + draw(world, 2, 3)));
    if (draw(world, 3, 2) == 0 || first >= world->entities) {
        hc_arena_free_place(world, hc_random(world->seed, place, 2, 0), x, y);
        return;
    }
    struct hc_arena_pickup pickup = {0};
    uint32_t chosen = first + place % (world->entities - first);
    (void)hc_arena.start(world, (hc_entity)chosen, &pickup);
    *x = pickup.x;
    *y = pickup.y;
}

/// Moves a player that joins into a crowd, lowers its health and raises its score.
static void crowd_player(const struct hc_world *world, hc_entity self,
                         struct hc_arena_player *player) {
    uint64_t random = hc_random(world->seed, self, 1, 0x68757272);
    if (draw(world, 8, 4) != 0) {
        crowd_place(world, random >> 40, &player->x, &player->y);
        player->x = (uint16_t)(player->x + (random >> 8) % 81 - 40);
        player->y = (uint16_t)(player->y + (random >> 16) % 81 - 40);
    }
    if (draw(world, 4, 2) == 0)
        player->health = (uint8_t)(HC_ARENA_DAMAGE * (1 + (random >> 24) % 4));
    if (draw(world, 5, 2) == 0)
        player->score = (uint8_t)(HC_ARENA_SCORE_LIMIT - 1 - (random >> 32) % 4);
}

/// Stops a player by the places of others in the past: how long ago depends on its aim.
static void look_back(struct hc_scene *scene, struct hc_arena_player *player) {
    const hc_entity *ids;
    uint32_t ago = player->aim % (scene->world->game->lookback + 1), sum = 0;
    if ((scene->tick + scene->self) % 4 == 0)
        return;
    uint32_t count = hc_scene_past_neighbours(scene, ago, &ids);
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t *place = hc_scene_past(scene, ago, ids[i]); // the first fields of all kinds
        sum = sum * 7 + ids[i] + place[0] + place[1] / 3;
    }
    if (sum % 3 == 1)
        player->vx = player->vy = 0;
}

/// Turns a shot by what its owner was in the past, and by its own past.
static void turn_by_past(struct hc_scene *scene, hc_entity self, struct hc_arena_shot *shot) {
    const struct hc_world *world = scene->world;
    uint32_t ago = 1 + shot->life % world->game->lookback;
    const struct hc_arena_player *owner =
        hc_scene_past(scene, ago, hc_world_player(world, world->owner_of[self]));
    const struct hc_arena_shot *before = hc_scene_past(scene, ago, self);
    if (owner != NULL && owner->health > 0)
        shot->angle = (uint8_t)(shot->angle + owner->x % 5);
    if (before != NULL)
        shot->angle = (uint8_t)(shot->angle + before->y % 3);
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hc_world *world = scene->world;
    bool alive = hc_arena.step(scene, self, out);
    if (!alive)
        return false;
    if (world->kind_of[self] == HC_ARENA_KIND_PLAYER && hc_scene_state(scene, self) == NULL)
        crowd_player(world, self, out);
    else if (world->game->lookback > 0 && world->kind_of[self] == HC_ARENA_KIND_PLAYER)
        look_back(scene, out);
    if (world->game->lookback > 0 && world->kind_of[self] == HC_ARENA_KIND_SHOT)
        turn_by_past(scene, self, out);
    if (self == HC_REFEREE && draw(world, 6, 2) == 0) {
        const struct hc_arena_referee *before = hc_scene_state(scene, self);
        struct hc_arena_referee *after = out;
        if (before != NULL && before->phase != after->phase && after->clock > 12)
            after->clock = (uint16_t)(12 + draw(world, 7, 48));
    }
    return true;
}

/// Steps slots one after the other; the kind that the seed selects is left to `step`.
static bool step_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t *out,
                     uint8_t *presence) {
    const struct hc_world *world = scene->world;
    if (world->kind_of[first] == draw(world, 9, 6))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        hc_scene_turn(scene, (hc_entity)(first + i));
        bool alive = step(scene, (hc_entity)(first + i), out + (size_t)i * world->stride);
        presence[i] = alive ? HC_ALIVE : HC_ABSENT;
    }
    return true;
}

void crowded_arena_game(struct hc_game *game, bool runs, uint32_t lookback) {
    *game = hc_arena;
    game->step = step;
    game->lookback = lookback;
    game->step_run = runs ? step_run : NULL;
}
