/// Owns the quick arena: the arena with other numbers.
#include "tests/storm/quick_arena.h"

#include "common/arena/map.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "hindcast/scene.h"

#include <string.h>

enum { RANDOM_PLACE = 100, APART = HC_ARENA_TILE / 8, AIMS = HC_ARENA_BEST_SCORE + 1 };

static const struct storm_quick_arena *numbers_of(const struct hc_world *world) {
    return (const struct storm_quick_arena *)(const void *)world->game; // its first member
}

/// A count of ticks that lasts no longer than `limit_ms`, which is one tick at least.
static uint16_t at_most(const struct hc_world *world, uint32_t value, uint32_t limit_ms) {
    uint32_t limit = limit_ms * world->tick_rate / 1000;
    limit = limit > 1 ? limit : 1;
    return (uint16_t)(value < limit ? value : limit);
}

/// The one place for all.
static void place(const struct hc_world *world, uint16_t *x, uint16_t *y) {
    hc_arena_free_place(world, hc_random(world->seed, 0, 0, RANDOM_PLACE), x, y);
}

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    bool alive = hc_arena.start(world, self, out);
    if (numbers_of(world)->crowd && world->kind_of[self] == HC_ARENA_KIND_PICKUP) {
        struct hc_arena_pickup *pickup = out;
        place(world, &pickup->x, &pickup->y);
        pickup->x = (uint16_t)(pickup->x + self % 3 * APART);
    }
    return alive;
}

static bool ends(struct hc_scene *scene) {
    const struct storm_quick_arena *arena = numbers_of(scene->world);
    if (hc_scene_reduction(scene, HC_ARENA_BEST_SCORE) >= arena->goal)
        return true;
    return arena->whim != 0 && hc_scene_reduction(scene, AIMS) % arena->whim == 0;
}

static void step_referee(struct hc_scene *scene, struct hc_arena_referee *out) {
    const struct hc_arena_referee *now = hc_scene_state(scene, HC_REFEREE);
    if (now->phase == HC_ARENA_PLAYING && out->phase == HC_ARENA_PLAYING && ends(scene)) {
        out->phase = HC_ARENA_OVER;
        out->clock = UINT16_MAX;
    }
    out->clock = at_most(scene->world, out->clock, numbers_of(scene->world)->phase_ms);
}

/// Rapid fire ends with the phase: only a player that has it reads the clock.
static void cool_down(struct hc_scene *scene, struct hc_arena_player *out) {
    const struct hc_arena_referee *referee = hc_scene_referee(scene, HC_ARENA_GROUP_CLOCK);
    if (referee != NULL && out->rapid > referee->clock)
        out->rapid = referee->clock;
}

/// Stops a player by where others near it were; its aim decides how long ago.
static void look_back(struct hc_scene *scene, struct hc_arena_player *out) {
    const hc_entity *ids;
    uint32_t ago = out->aim % (scene->world->game->lookback + 1), sum = 0;
    uint32_t count = hc_scene_past_neighbours(scene, ago, &ids);
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t *at = hc_scene_past(scene, ago, ids[i]); // the first fields of all kinds
        sum += at[0] + 3u * at[1];
    }
    if (sum % 4 == 1)
        out->vx = out->vy = 0;
}

static void step_player(struct hc_scene *scene, hc_entity self, struct hc_arena_player *out) {
    const struct storm_quick_arena *arena = numbers_of(scene->world);
    const struct hc_arena_player *now = hc_scene_state(scene, self);
    bool fresh = now == NULL || hc_scene_roster(scene) == HC_ROSTER_JOIN ||
                 now->match != out->match || (now->health == 0 && out->health > 0);
    out->respawn = at_most(scene->world, out->respawn, arena->wait_ms);
    if (out->rapid > 0)
        cool_down(scene, out);
    if (!fresh && arena->lookback > 0)
        look_back(scene, out);
    if (!fresh)
        return;
    out->health = arena->health;
    if (arena->crowd)
        place(scene->world, &out->x, &out->y);
}

static void step_pickup(struct hc_scene *scene, struct hc_arena_pickup *out) {
    out->refill = at_most(scene->world, out->refill, numbers_of(scene->world)->wait_ms);
}

/// The arena's step with other numbers.
static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    if (!hc_arena.step(scene, self, out))
        return false;
    switch (scene->world->kind_of[self]) {
    case HC_ARENA_KIND_REFEREE:
        step_referee(scene, out);
        break;
    case HC_ARENA_KIND_PLAYER:
        step_player(scene, self, out);
        break;
    case HC_ARENA_KIND_PICKUP:
        step_pickup(scene, out);
        break;
    default:
        break;
    }
    return true;
}

/// A version for each set of numbers, because other numbers are another rule.
static uint32_t version_of(const struct storm_quick_arena *arena) {
    uint64_t hash = hc_random(arena->phase_ms, arena->wait_ms, arena->whim, 0);
    uint32_t small = (uint32_t)arena->goal << 16 | (uint32_t)arena->health << 8 | arena->crowd;
    return (uint32_t)hc_random(hash, small, 0, 0);
}

void storm_quick_arena_init(struct storm_quick_arena *arena) {
    arena->game = hc_arena;
    arena->game.name = "fray";
    arena->game.version = version_of(arena);
    arena->game.lookback = arena->lookback;
    arena->game.start = start;
    arena->game.step = step;
    HC_ASSERT(hc_arena.reduction_count == AIMS);
    memcpy(arena->reductions, hc_arena.reductions, AIMS * sizeof arena->reductions[0]);
    arena->reductions[AIMS].op = HC_REDUCE_SUM;
    arena->reductions[AIMS].field = "aim";
    arena->game.reductions = arena->reductions;
    arena->game.reduction_count = AIMS + 1;
}
