/// The corner arena's step and start: the arena's, with other places.
#include "tests/bench/corner_arena.h"

#include "common/arena/map.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "hindcast/scene.h"

enum {
    RANDOM_CORNER = 1000, ///< a purpose of random numbers that the arena has not
    PICKUPS = 2,          ///< pickups in the corner, at least
    PICKUPS_EVERY = 4,    ///< players for whom one more pickup is there
};

/// The world that the corner would be.
static struct hc_world corner_of(const struct hc_world *world) {
    struct hc_world corner = *world;
    memcpy(&corner.players, world->game->level, sizeof corner.players);
    return corner;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hc_world *world = scene->world;
    bool alive = hc_arena.step(scene, self, out);
    uint64_t random;
    if (!alive || world->kind_of[self] != HC_ARENA_KIND_PLAYER)
        return alive;
    const struct hc_arena_player *before = hc_scene_state(scene, self);
    struct hc_arena_player *after = out;
    bool appears = before == NULL || before->match != after->match ||
                   (before->health == 0 && after->health > 0);
    if (!appears || !hc_scene_secret_random(scene, RANDOM_CORNER, &random))
        return true;
    struct hc_world corner = corner_of(world);
    hc_arena_free_place(&corner, random, &after->x, &after->y);
    return true;
}

/// As many pickups as the corner would have lie there.
static bool start(const struct hc_world *world, hc_entity self, void *out) {
    bool alive = hc_arena.start(world, self, out);
    struct hc_world corner = corner_of(world);
    uint32_t first = hc_world_player(world, world->players);
    uint32_t pickups = PICKUPS + (uint32_t)corner.players / PICKUPS_EVERY;
    if (self >= first && self - first < pickups) {
        struct hc_arena_pickup *pickup = out;
        hc_arena_free_place(&corner, hc_random(world->seed, self, RANDOM_CORNER, 0), &pickup->x,
                            &pickup->y);
    }
    return alive;
}

void bench_corner_arena(struct hc_game *game, const uint16_t *players) {
    *game = hc_arena;
    game->start = start;
    game->step = step;
    game->level = players;
    game->level_size = sizeof *players;
}
