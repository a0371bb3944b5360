/// Owns the bot's choice of direction, aim and shot.
#include "client/bots/bot.h"

#include "common/arena/map.h"
#include "common/fixed.h"
#include "hindcast/check.h"

enum {
    TURN_MS = 120,       ///< a direction lasts at least this long ...
    TURN_MORE_MS = 200,  ///< ... and up to this much longer
    SHOOT_MS = 250,      ///< aimed shots are at least this far apart ...
    SHOOT_MORE_MS = 350, ///< ... and up to this much longer
    BLIND_MS = 900,      ///< unaimed shot after this long without a shot
    DODGE_RANGE = 640,   ///< the bot dodges a shot nearer than this; units
    COMFORT = 640,       ///< the bot circles a target nearer than this and chases others; units
    SIGHT_STEP = HC_ARENA_TILE / 4,
    RANGE = HC_ARENA_SHOT_SPEED * HC_ARENA_SHOT_MS / 1000, ///< how far a shot flies; units
    AIM_ERROR = 5,                                         ///< either way; 1/256 turns
};

/// The state at the tick for which the bot chooses its input.
struct scene {
    const struct hc_world *world;
    hc_tick tick;
    const uint8_t *presence, *states;
    hc_entity self;
    const struct hc_arena_player *me;
};

void hc_cl_bot_init(struct hc_cl_bot *bot, uint64_t seed, uint32_t number) {
    *bot = (struct hc_cl_bot){.rng = hc_rng_init(seed, number)};
}

static const void *state(const struct scene *scene, hc_entity entity) {
    return scene->states + (size_t)entity * scene->world->stride;
}

static uint32_t ticks(const struct scene *scene, uint32_t duration_ms) {
    return duration_ms * scene->world->tick_rate / 1000 + 1;
}

/// A random tick that is `least_ms` to `least_ms + more_ms` ahead.
static hc_tick later(struct hc_cl_bot *bot, const struct scene *scene, uint32_t least_ms,
                     uint32_t more_ms) {
    return hc_tick_ahead(scene->tick,
                         ticks(scene, least_ms) + hc_rng_below(&bot->rng, ticks(scene, more_ms)));
}

/// The nearest other player that is alive; NULL: none.
static const struct hc_arena_player *find_target(const struct scene *scene) {
    const struct hc_arena_player *target = NULL;
    int64_t nearest = INT64_MAX;
    for (unsigned i = 0; i < scene->world->players; i++) {
        hc_entity id = hc_world_player(scene->world, (hc_player)i);
        const struct hc_arena_player *other = state(scene, id);
        if (id == scene->self || scene->presence[id] != HC_ALIVE || other->health == 0)
            continue;
        int64_t dx = other->x - scene->me->x, dy = other->y - scene->me->y;
        if (dx * dx + dy * dy < nearest) {
            nearest = dx * dx + dy * dy;
            target = other;
        }
    }
    return target;
}

/// The nearest shot of another player within DODGE_RANGE that approaches; NULL: none.
static const struct hc_arena_shot *find_danger(const struct scene *scene) {
    const struct hc_arena_shot *danger = NULL;
    uint32_t nearest = DODGE_RANGE;
    for (uint32_t id = 1; id < scene->world->entities; id++) {
        const struct hc_arena_shot *shot = state(scene, (hc_entity)id);
        if (scene->presence[id] != HC_ALIVE || scene->world->kind_of[id] != HC_ARENA_KIND_SHOT ||
            scene->world->owner_of[id] == scene->world->owner_of[scene->self])
            continue;
        int32_t dx = scene->me->x - shot->x, dy = scene->me->y - shot->y;
        uint32_t angle = shot->angle * (HC_FIXED_TURN / 256u);
        int64_t ahead = (int64_t)dx * hc_fixed_cos(angle) + (int64_t)dy * hc_fixed_sin(angle);
        if (ahead > 0 && hc_fixed_length(dx, dy) < nearest) {
            nearest = hc_fixed_length(dx, dy);
            danger = shot;
        }
    }
    return danger;
}

/// Whether no wall lies between the bot and (x, y), and a shot reaches that far.
static bool sees(const struct scene *scene, int32_t x, int32_t y) {
    int32_t dx = x - scene->me->x, dy = y - scene->me->y;
    int32_t length = (int32_t)hc_fixed_length(dx, dy), pieces = 1 + length / SIGHT_STEP;
    if (length > RANGE)
        return false;
    for (int32_t i = 1; i < pieces; i++)
        if (hc_arena_inside_wall(scene->world, scene->me->x + dx * i / pieces,
                                 scene->me->y + dy * i / pieces))
            return false;
    return true;
}

/// Moves in the one of eight directions that is nearest to (x, y).
static void move_towards(struct hc_cl_bot *bot, int32_t x, int32_t y) {
    uint32_t eighth = (hc_fixed_angle(x, y) + HC_FIXED_TURN / 16) / (HC_FIXED_TURN / 8) % 8;
    static const int8_t across[8] = {1, 1, 0, -1, -1, -1, 0, 1};
    bot->move_x = across[eighth];
    bot->move_y = across[(eighth + 6) % 8];
}

/// Chooses another direction: across the path of a shot, towards the target or around it, or a
/// random one.
static void turn(struct hc_cl_bot *bot, const struct scene *scene,
                 const struct hc_arena_player *target, const struct hc_arena_shot *danger) {
    int8_t old_x = bot->move_x, old_y = bot->move_y;
    int32_t side = hc_rng_below(&bot->rng, 2) == 0 ? 1 : -1;
    if (danger != NULL) {
        move_towards(bot, -side * (danger->y - scene->me->y), side * (danger->x - scene->me->x));
    } else if (target != NULL && hc_rng_below(&bot->rng, 4) != 0) {
        int32_t dx = target->x - scene->me->x, dy = target->y - scene->me->y;
        bool near = hc_fixed_length(dx, dy) < COMFORT;
        if (near || hc_rng_below(&bot->rng, 3) == 0)
            move_towards(bot, -side * dy, side * dx);
        else
            move_towards(bot, dx, dy);
    }
    while (bot->move_x == old_x && bot->move_y == old_y) {
        bot->move_x = (int8_t)((int32_t)hc_rng_below(&bot->rng, 3) - 1);
        bot->move_y = (int8_t)((int32_t)hc_rng_below(&bot->rng, 3) - 1);
    }
    // One error for each turn: a hand stays off by much the same for a while.
    bot->aim_error = (uint8_t)(hc_rng_below(&bot->rng, 2 * AIM_ERROR + 1) - AIM_ERROR);
    bot->turn_at = later(bot, scene, TURN_MS, TURN_MORE_MS);
}

/// Aims where the target will be when the shot arrives; true: the shot may hit.
static bool take_aim(struct hc_cl_bot *bot, const struct scene *scene,
                     const struct hc_arena_player *target) {
    if (target == NULL)
        return false;
    int32_t dx = target->x - scene->me->x, dy = target->y - scene->me->y;
    int32_t distance = (int32_t)hc_fixed_length(dx, dy);
    if (distance < RANGE) {
        dx += target->vx * distance / HC_ARENA_SHOT_SPEED;
        dy += target->vy * distance / HC_ARENA_SHOT_SPEED;
    }
    bot->aim = (uint8_t)(hc_fixed_angle(dx, dy) / (HC_FIXED_TURN / 256u) + bot->aim_error);
    return sees(scene, target->x, target->y);
}

struct hc_arena_input hc_cl_bot_think(struct hc_cl_bot *bot, const struct hc_world *world,
                                      hc_tick tick, const uint8_t *presence, const uint8_t *states,
                                      hc_player player) {
    HC_ASSERT(world->game == &hc_arena && player < world->players);
    struct scene scene = {world, tick, presence, states, hc_world_player(world, player), NULL};
    scene.me = state(&scene, scene.self);
    if (presence[scene.self] != HC_ALIVE || scene.me->health == 0)
        return (struct hc_arena_input){.aim = bot->aim};

    const struct hc_arena_player *target = find_target(&scene);
    const struct hc_arena_shot *danger = find_danger(&scene);
    // A plan for a tick that is farther ahead is from before a restart of the world.
    hc_tick farthest = hc_tick_ahead(tick, world->tick_rate);
    if (tick >= bot->turn_at || bot->turn_at > farthest)
        turn(bot, &scene, target, danger);

    struct hc_arena_input input = {.move_x = bot->move_x, .move_y = bot->move_y};
    bool sure = take_aim(bot, &scene, target);
    bool blind = tick >= bot->blind_at || bot->blind_at > farthest;
    if ((sure || blind) && (tick >= bot->shoot_at || bot->shoot_at > farthest)) {
        // Pressed until the player has shot, which starts its cooldown.
        input.fire = 1;
        if (scene.me->cooldown > 0) {
            bot->shoot_at = later(bot, &scene, SHOOT_MS, SHOOT_MORE_MS);
            bot->blind_at = hc_tick_ahead(tick, ticks(&scene, BLIND_MS));
        }
    }
    input.aim = bot->aim;
    return input;
}
