/// The arena's bots: they chase, dodge and shoot in the predicted state, and often change their
/// direction, as people do.
#include "common/arena/map.h"
#include "hindcast/fixed.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"

enum {
    TURN_MS = 120,       ///< a direction lasts at least this long
    TURN_MORE_MS = 200,  ///< a direction lasts up to this much longer
    SHOOT_MS = 250,      ///< aimed shots are at least this far apart
    SHOOT_MORE_MS = 350, ///< aimed shots are up to this much farther apart
    BLIND_MS = 900,      ///< unaimed shot after this long without a shot
    DODGE_RANGE = 640,   ///< the bot dodges a shot nearer than this; units
    COMFORT = 640,       ///< the bot circles a target nearer than this and chases others; units
    SIGHT_STEP = HC_ARENA_TILE / 4,
    RANGE = HC_ARENA_SHOT_SPEED * HC_ARENA_SHOT_MS / 1000, ///< how far a shot flies; units
    AIM_ERROR = 5,                                         ///< either way; 1/256 turns
};

/// The memory of a bot.
struct plan {
    hc_tick turn_at;  ///< when it chooses another direction
    hc_tick shoot_at; ///< when it may shoot again
    hc_tick blind_at; ///< when it shoots even without a visible target
    int8_t move_x, move_y;
    uint8_t aim, aim_error; ///< angles; the error may wrap below 0
};
_Static_assert(sizeof(struct plan) <= HC_BOT_MEMORY, "the bot's memory");

/// The state at the tick for which the bot chooses its input.
struct scene {
    const struct hc_world *world;
    hc_tick tick;
    const uint8_t *presence, *states;
    struct hc_rng *rng;
    hc_entity self;
    const struct hc_arena_player *me;
};

static const void *state(const struct scene *scene, hc_entity entity) {
    return scene->states + (size_t)entity * scene->world->stride;
}

static uint32_t ticks(const struct scene *scene, uint32_t duration_ms) {
    return duration_ms * scene->world->tick_rate / 1000 + 1;
}

/// A random tick that is `least_ms` to `least_ms + more_ms` ahead.
static hc_tick later(const struct scene *scene, uint32_t least_ms, uint32_t more_ms) {
    return hc_tick_ahead(scene->tick,
                         ticks(scene, least_ms) + hc_rng_below(scene->rng, ticks(scene, more_ms)));
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
static void move_towards(struct plan *plan, int32_t x, int32_t y) {
    uint32_t eighth = (hc_fixed_angle(x, y) + HC_FIXED_TURN / 16) / (HC_FIXED_TURN / 8) % 8;
    static const int8_t across[8] = {1, 1, 0, -1, -1, -1, 0, 1};
    plan->move_x = across[eighth];
    plan->move_y = across[(eighth + 6) % 8];
}

/// Chooses another direction: across the path of a shot, towards the target or around it, or a
/// random one.
static void turn(struct plan *plan, const struct scene *scene, const struct hc_arena_player *target,
                 const struct hc_arena_shot *danger) {
    int8_t old_x = plan->move_x, old_y = plan->move_y;
    int32_t side = hc_rng_below(scene->rng, 2) == 0 ? 1 : -1;
    if (danger != NULL) {
        move_towards(plan, -side * (danger->y - scene->me->y), side * (danger->x - scene->me->x));
    } else if (target != NULL && hc_rng_below(scene->rng, 4) != 0) {
        int32_t dx = target->x - scene->me->x, dy = target->y - scene->me->y;
        bool near = hc_fixed_length(dx, dy) < COMFORT;
        if (near || hc_rng_below(scene->rng, 3) == 0)
            move_towards(plan, -side * dy, side * dx);
        else
            move_towards(plan, dx, dy);
    }
    while (plan->move_x == old_x && plan->move_y == old_y) {
        plan->move_x = (int8_t)((int32_t)hc_rng_below(scene->rng, 3) - 1);
        plan->move_y = (int8_t)((int32_t)hc_rng_below(scene->rng, 3) - 1);
    }
    // One error for each turn: a hand stays off by much the same for a while.
    plan->aim_error = (uint8_t)(hc_rng_below(scene->rng, 2 * AIM_ERROR + 1) - AIM_ERROR);
    plan->turn_at = later(scene, TURN_MS, TURN_MORE_MS);
}

/// Aims where the target will be when the shot arrives; true: the shot may hit.
static bool take_aim(struct plan *plan, const struct scene *scene,
                     const struct hc_arena_player *target) {
    if (target == NULL)
        return false;
    int32_t dx = target->x - scene->me->x, dy = target->y - scene->me->y;
    int32_t distance = (int32_t)hc_fixed_length(dx, dy);
    if (distance < RANGE) {
        dx += target->vx * distance / HC_ARENA_SHOT_SPEED;
        dy += target->vy * distance / HC_ARENA_SHOT_SPEED;
    }
    plan->aim = (uint8_t)(hc_fixed_angle(dx, dy) / (HC_FIXED_TURN / 256u) + plan->aim_error);
    return sees(scene, target->x, target->y);
}

void hc_arena_think(const struct hc_bot *bot, void *out) {
    HC_ASSERT(bot->player < bot->world->players);
    struct plan *plan = bot->memory;
    struct scene scene = {.world = bot->world,
                          .tick = bot->tick,
                          .presence = bot->presence,
                          .states = bot->states,
                          .rng = bot->rng,
                          .self = hc_world_player(bot->world, bot->player)};
    scene.me = state(&scene, scene.self);
    struct hc_arena_input *input = out;
    input->aim = plan->aim;
    if (bot->presence[scene.self] != HC_ALIVE || scene.me->health == 0)
        return;

    const struct hc_arena_player *target = find_target(&scene);
    const struct hc_arena_shot *danger = find_danger(&scene);
    // A plan for a tick that is farther ahead is from before a restart of the world.
    hc_tick farthest = hc_tick_ahead(bot->tick, bot->world->tick_rate);
    if (bot->tick >= plan->turn_at || plan->turn_at > farthest)
        turn(plan, &scene, target, danger);

    input->move_x = plan->move_x;
    input->move_y = plan->move_y;
    bool sure = take_aim(plan, &scene, target);
    bool blind = bot->tick >= plan->blind_at || plan->blind_at > farthest;
    if ((sure || blind) && (bot->tick >= plan->shoot_at || plan->shoot_at > farthest)) {
        // Pressed until the player has shot, which starts its cooldown.
        input->fire = 1;
        if (scene.me->cooldown > 0) {
            plan->shoot_at = later(&scene, SHOOT_MS, SHOOT_MORE_MS);
            plan->blind_at = hc_tick_ahead(bot->tick, ticks(&scene, BLIND_MS));
        }
    }
    input->aim = plan->aim;
}
