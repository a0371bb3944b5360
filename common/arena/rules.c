/// The rules that several entities evaluate and must agree on: when and where shots fly and strike.
#include "common/arena/rules.h"

#include "common/arena/map.h"
#include "hindcast/fixed.h"

uint16_t hc_arena_ticks(const struct hc_world *world, enum hc_arena_duration duration_ms) {
    uint32_t ticks = (uint32_t)duration_ms * world->tick_rate / 1000;
    return (uint16_t)(ticks > 1 ? ticks : 1);
}

int32_t hc_arena_per_tick(const struct hc_scene *scene, int32_t per_second) {
    if (per_second == 0)
        return 0; // the common case; the divisions are the most expensive part of a step
    int32_t rate = scene->world->tick_rate;
    int32_t part = (int32_t)(hc_scene_tick(scene) % (uint32_t)rate);
    return per_second * (part + 1) / rate - per_second * part / rate;
}

struct hc_arena_rules hc_arena_rules(struct hc_scene *scene, uint8_t round) {
    const struct hc_arena_referee *referee = hc_scene_referee(scene, HC_ARENA_GROUP_PHASE);
    if (referee == NULL)
        return (struct hc_arena_rules){.phase = HC_ARENA_PLAYING, .round = round};
    return (struct hc_arena_rules){.phase = referee->phase, .round = referee->match};
}

hc_entity hc_arena_fires(struct hc_scene *scene) {
    const struct hc_world *world = scene->world;
    const struct hc_arena_input *input = hc_scene_input(scene);
    if (!input->fire) // every free slot calls this at every tick
        return HC_REFEREE;
    hc_entity shooter = hc_world_player(world, world->owner_of[scene->self]);
    const struct hc_arena_player *player = hc_scene_state(scene, shooter);
    if (hc_scene_roster(scene) != HC_ROSTER_NONE || player == NULL || player->health == 0 ||
        player->cooldown > 0)
        return HC_REFEREE;
    struct hc_arena_rules rules = hc_arena_rules(scene, player->match);
    if (rules.phase == HC_ARENA_OVER || rules.round != player->match)
        return HC_REFEREE;

    for (int slot = shooter + 1; slot <= shooter + HC_ARENA_SHOTS; slot++)
        if (hc_scene_state(scene, (hc_entity)slot) == NULL)
            return (hc_entity)slot;
    return HC_REFEREE;
}

struct hc_arena_path hc_arena_shot_path(const struct hc_scene *scene,
                                        const struct hc_arena_shot *shot) {
    uint32_t angle = shot->angle * (HC_FIXED_TURN / 256u);
    int32_t vx = hc_fixed_cos(angle) * HC_ARENA_SHOT_SPEED / HC_FIXED_ONE;
    int32_t vy = hc_fixed_sin(angle) * HC_ARENA_SHOT_SPEED / HC_FIXED_ONE;
    int32_t dx = hc_arena_per_tick(scene, vx), dy = hc_arena_per_tick(scene, vy);

    // Checks points at most half a tile apart: a shot may graze corners.
    int32_t length = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
    int32_t pieces = 1 + length / (HC_ARENA_TILE / 2);
    struct hc_arena_path path = {0};
    for (int32_t i = 1; i <= pieces; i++) {
        int32_t to_x = dx * i / pieces, to_y = dy * i / pieces;
        if (hc_arena_inside_wall(scene->world, shot->x + to_x, shot->y + to_y)) {
            path.blocked = true;
            break;
        }
        path.dx = to_x;
        path.dy = to_y;
    }
    return path;
}

/// Whether the point (x, y) is within `radius` of the line from (0, 0) along `path`.
static bool close_to(const struct hc_arena_path *path, int64_t x, int64_t y, int64_t radius) {
    int64_t length_squared = (int64_t)path->dx * path->dx + (int64_t)path->dy * path->dy;
    int64_t along = x * path->dx + y * path->dy; // scaled by the path's length, as `aside` is
    if (along > 0 && along < length_squared) {
        int64_t aside = x * path->dy - y * path->dx;
        return aside * aside <= radius * radius * length_squared;
    }
    if (along > 0) {
        x -= path->dx;
        y -= path->dy;
    }
    return x * x + y * y <= radius * radius;
}

bool hc_arena_strikes(struct hc_scene *scene, hc_entity shot, hc_entity player) {
    const struct hc_world *world = scene->world;
    const struct hc_arena_shot *s = hc_scene_state(scene, shot);
    const struct hc_arena_player *p = hc_scene_state(scene, player);
    if (s == NULL || p == NULL || s->life == 0 || p->health == 0 ||
        world->owner_of[shot] == world->owner_of[player])
        return false;
    // Within half the reach, so that all shots that strike a player see each other.
    int32_t dx = p->x - s->x, dy = p->y - s->y;
    if (dx > HC_ARENA_REACH / 2 || dx < -HC_ARENA_REACH / 2 || dy > HC_ARENA_REACH / 2 ||
        dy < -HC_ARENA_REACH / 2)
        return false;
    struct hc_arena_path path = hc_arena_shot_path(scene, s);
    return close_to(&path, dx, dy, HC_ARENA_RADIUS);
}
