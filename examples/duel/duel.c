/// Duel: a whole game of shooters, as a plugin of Hindcast's programs. It shows
///   - lag compensation: a shot hits at once, and is compared with what its shooter saw;
///   - game events, for sounds and effects, which roll back with their tick;
///   - a level, which all programs load from a file;
///   - NPCs: `hindcastd --game ./duel.so --npcs 2` lets the bots below play on the server.
///
/// Lengths are in units of 1/16 pixel in a court of 640 x 360 pixels; 60 ticks a second.
#include "duel.h"

#include <hindcast/plugin.h>

#include <string.h>

enum { KIND_REFEREE, KIND_PLAYER };
enum { BEST_KILLS };                  // reductions
enum { RANDOM_PLACE, RANDOM_RETURN }; // purposes of random numbers

enum {
    SPEED = 3 * DUEL_PX, ///< a tick
    LOOKBACK = 40,       ///< ticks: more than players are shown in the past
    DAMAGE = 25,
    RELOAD_TICKS = 15,
    RETURN_TICKS = 90,
    PAUSE_TICKS = 180,
    SHOT_TICKS = 4,
    PREDICTED_TICKS = 15,                   ///< a player is predicted to move on for this long
    MOST_EVENTS = DUEL_HEALTH / DAMAGE + 1, ///< of a player in a tick: hits, and its death
};

static const struct hc_field referee_fields[] = {
    HC_FIELD(struct duel_referee, pause, 8, false, .countdown = true),
};
static const struct hc_field player_fields[] = {
    HC_FIELD(struct duel_player, x, 14, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct duel_player, y, 13, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct duel_player, aim, 10, false, .interpolate = HC_ANGLE),
    HC_FIELD(struct duel_player, health, 7, false),
    HC_FIELD(struct duel_player, kills, 4, false),
    HC_FIELD(struct duel_player, wait, 7, false),
    HC_FIELD(struct duel_player, victim, 4, false),
    HC_FIELD(struct duel_player, killer, 4, false),
    HC_FIELD(struct duel_player, shooting, 3, false),
};
static const struct hc_field input_fields[] = {
    HC_FIELD(struct duel_input, move_x, 2, true),
    HC_FIELD(struct duel_input, move_y, 2, true),
    HC_FIELD(struct duel_input, aim, 10, false),
    HC_FIELD(struct duel_input, fire, 1, false),
    HC_FIELD(struct duel_input, shown_ago, 6, false, .shown_ago = true),
    HC_FIELD(struct duel_input, own_shown_ago, 6, false, .own_shown_ago = true),
};
static const struct hc_kind kinds[] = {
    [KIND_REFEREE] = {"referee", sizeof(struct duel_referee), 1, referee_fields, NULL, NULL, 0, 0},
    [KIND_PLAYER] = {"player", sizeof(struct duel_player), 9, player_fields, "x", "y", 64 * DUEL_PX,
                     MOST_EVENTS},
};
static const struct hc_slots owned[] = {{.kind = KIND_PLAYER, .count = 1}};
static const struct hc_reduction reductions[] = {
    [BEST_KILLS] = {.op = HC_REDUCE_MAX, .field = "kills"},
};
static const struct hc_game_event_kind event_kinds[] = {
    [DUEL_SHOT] = {.name = "shot"},
    [DUEL_HIT] = {.name = "hit", .bits = 3},
    [DUEL_KILL] = {.name = "kill", .bits = 3},
};

// ---- The level ----------------------------------------------------------------------------------

/// Whether a player at (x, y) touches a wall.
static bool blocked(const struct hc_game *game, int x, int y) {
    const int r = DUEL_RADIUS;
    return duel_wall(game, x - r, y - r) || duel_wall(game, x + r, y - r) ||
           duel_wall(game, x - r, y + r) || duel_wall(game, x + r, y + r);
}

/// Puts a player on one of the level's places, the letters S, chosen by random bits.
static void place(const struct hc_game *game, uint64_t random, struct duel_player *player) {
    int count = 0, chosen = -1;
    for (int pass = 0; pass < 2; pass++) {
        chosen = pass == 1 && count > 0 ? (int)(random % (uint64_t)count) : -1;
        count = 0;
        for (int i = 0; i < DUEL_COLUMNS * DUEL_ROWS; i++) {
            if (duel_tile(game, i % DUEL_COLUMNS, i / DUEL_COLUMNS) != 'S' || count++ != chosen)
                continue;
            player->x = (uint16_t)((i % DUEL_COLUMNS) * DUEL_TILE + DUEL_TILE / 2);
            player->y = (uint16_t)((i / DUEL_COLUMNS) * DUEL_TILE + DUEL_TILE / 2);
            return;
        }
    }
    player->x = DUEL_WIDTH / 2;
    player->y = DUEL_HEIGHT / 2;
}

// ---- Shots --------------------------------------------------------------------------------------

/// How far a shot flies from (x, y) before it meets a wall, in units.
static int64_t range_of(const struct hc_game *game, int x, int y, int cos, int sin) {
    int64_t range = 0;
    while (!duel_wall(game, x + (int)(range * cos / HC_FIXED_ONE),
                      y + (int)(range * sin / HC_FIXED_ONE)))
        range += 4 * DUEL_PX;
    return range;
}

/// The player that a shot of `self` hits, plus 1; 0: none. The picture that the shooter was shown
/// counts: its own place at one tick, and the places of the others at an earlier one.
static uint8_t shoot(struct hc_scene *scene, hc_entity self, const struct duel_input *input) {
    const struct hc_world *world = scene->world;
    const struct duel_player *from = hc_scene_past(scene, input->own_shown_ago, self);
    uint32_t ago = input->shown_ago;
    int cos = hc_fixed_cos(input->aim), sin = hc_fixed_sin(input->aim);
    const hc_entity *ids;
    uint8_t victim = 0;
    if (from == NULL) // it has just joined
        return 0;
    int64_t nearest = range_of(world->game, from->x, from->y, cos, sin) * HC_FIXED_ONE;
    uint32_t count = hc_scene_past_neighbours(scene, ago, &ids); // the reach is the whole court
    for (uint32_t i = 0; i < count; i++) {
        const struct duel_player *other = hc_scene_past(scene, ago, ids[i]);
        int64_t dx = other->x - from->x, dy = other->y - from->y;
        int64_t along = dx * cos + dy * sin, across = dx * sin - dy * cos;
        if (other->health == 0 || along <= 0 || along >= nearest ||
            across > (int64_t)DUEL_RADIUS * HC_FIXED_ONE ||
            across < -(int64_t)DUEL_RADIUS * HC_FIXED_ONE)
            continue;
        nearest = along;
        victim = (uint8_t)(1 + world->owner_of[ids[i]]);
    }
    return victim;
}

/// Takes the hits that shooters have decided in the tick before, and counts own kills.
static void take_hits(struct hc_scene *scene, hc_player me, struct duel_player *out) {
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    for (uint32_t i = 0; i < count; i++) {
        const struct duel_player *other = hc_scene_state(scene, ids[i]);
        hc_player who = scene->world->owner_of[ids[i]];
        if (other->killer == me + 1 && out->kills < DUEL_WIN)
            out->kills++;
        if (other->victim != me + 1 || out->health == 0)
            continue;
        hc_emit(scene, DUEL_HIT, who);
        out->health = (uint8_t)(out->health > DAMAGE ? out->health - DAMAGE : 0);
        if (out->health > 0)
            continue;
        hc_emit(scene, DUEL_KILL, who);
        out->killer = (uint8_t)(who + 1);
        out->wait = RETURN_TICKS;
    }
}

// ---- Steps --------------------------------------------------------------------------------------

/// Ticks of the pause left. A client may not know the referee for a moment.
static int pause_left(struct hc_scene *scene) {
    const struct duel_referee *referee = hc_scene_referee(scene, 0);
    return referee != NULL ? referee->pause : 0;
}

static bool step_referee(struct hc_scene *scene, struct duel_referee *out) {
    int pause = pause_left(scene);
    if (pause > 0)
        out->pause = (uint8_t)(pause - 1);
    else
        out->pause = hc_scene_reduction(scene, BEST_KILLS) >= DUEL_WIN ? PAUSE_TICKS : 0;
    return true;
}

/// Moves along each axis as far as no wall is in the way.
static void move(const struct hc_game *game, const struct duel_input *input,
                 struct duel_player *out) {
    int x = out->x + input->move_x * SPEED, y = out->y + input->move_y * SPEED;
    if (!blocked(game, x, out->y))
        out->x = (uint16_t)x;
    if (!blocked(game, out->x, y))
        out->y = (uint16_t)y;
}

static void revive(struct hc_scene *scene, unsigned purpose, struct duel_player *out) {
    out->health = DUEL_HEALTH;
    out->wait = RELOAD_TICKS;
    place(scene->world->game, hc_scene_random(scene, purpose), out);
}

static bool step_player(struct hc_scene *scene, hc_entity self, struct duel_player *out) {
    const struct duel_player *now = hc_scene_state(scene, self);
    enum hc_roster roster = hc_scene_roster(scene);
    if (roster == HC_ROSTER_JOIN) {
        memset(out, 0, sizeof *out);
        revive(scene, RANDOM_PLACE, out);
        return true;
    }
    if (roster == HC_ROSTER_LEAVE || now == NULL)
        return false;

    const struct duel_input *input = hc_scene_input(scene);
    int pause = pause_left(scene);
    *out = *now;
    out->victim = out->killer = 0;
    out->aim = input->aim;
    if (now->wait > 0)
        out->wait--;
    if (now->shooting > 0)
        out->shooting--;
    take_hits(scene, scene->world->owner_of[self], out);
    if (now->health == 0 && out->wait == 0)
        revive(scene, RANDOM_RETURN, out);
    if (pause == 1)
        out->kills = 0;
    if (now->health == 0 || out->health == 0 || pause > 0)
        return true;
    move(scene->world->game, input, out);
    if (input->fire == 0 || now->wait > 0)
        return true;
    out->victim = shoot(scene, self, input);
    out->wait = RELOAD_TICKS;
    out->shooting = SHOT_TICKS;
    hc_emit(scene, DUEL_SHOT, 0);
    return true;
}

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    return self == HC_REFEREE ? step_referee(scene, out) : step_player(scene, self, out);
}

static void predict_input(const void *last, uint32_t age, void *out) {
    struct duel_input *input = out;
    memcpy(out, last, sizeof *input);
    input->fire = 0; // most predicted shots would be wrong
    if (age > PREDICTED_TICKS)
        input->move_x = input->move_y = 0;
}

static int8_t sign(int value) {
    return (int8_t)((value > 0) - (value < 0));
}

static void sanitize_input(void *data) {
    struct duel_input *input = data;
    input->move_x = sign(input->move_x);
    input->move_y = sign(input->move_y);
}

static bool round_over(const struct hc_world *world, const void *referee) {
    (void)world;
    return ((const struct duel_referee *)referee)->pause > 0;
}

const struct hc_game duel = {
    .name = "duel",
    .version = 2,
    .players_max = 8,
    .kinds = kinds,
    .kind_count = 2,
    .owned = owned,
    .owned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 6,
    .input_size = sizeof(struct duel_input),
    .reductions = reductions,
    .reduction_count = 1,
    .event_kinds = event_kinds,
    .event_kind_count = 3,
    .reach = DUEL_WIDTH,
    .lookback = LOOKBACK,
    .start = start,
    .step = step,
    .predict_input = predict_input,
    .sanitize_input = sanitize_input,
    .round_over = round_over,
};

// ---- Bots, also NPCs ----------------------------------------------------------------------------

/// The memory of a bot.
struct memory {
    hc_tick until; ///< the bot walks on until this tick
    int8_t x, y;
};

/// The nearest living player that a shot from `me` reaches; NULL: there is none.
static const struct duel_player *find_target(const struct hc_bot *bot, hc_entity self,
                                             const struct duel_player *me, uint32_t *aim) {
    const struct hc_world *world = bot->world;
    const struct duel_player *target = NULL;
    int64_t nearest = INT64_MAX;
    for (hc_player p = 0; p < world->players; p++) {
        hc_entity e = hc_world_player(world, p);
        const struct duel_player *other = (const void *)(bot->states + (size_t)e * world->stride);
        if (e == self || bot->presence[e] != HC_ALIVE || other->health == 0)
            continue;
        int dx = other->x - me->x, dy = other->y - me->y;
        int64_t distance = hc_fixed_length(dx, dy);
        uint32_t angle = hc_fixed_angle(dx, dy);
        if (distance >= nearest || range_of(world->game, me->x, me->y, hc_fixed_cos(angle),
                                            hc_fixed_sin(angle)) < distance)
            continue;
        nearest = distance;
        target = other;
        *aim = angle;
    }
    return target;
}

/// A bot walks about, and shoots at the nearest player that it sees.
static void think(const struct hc_bot *bot, void *out) {
    const struct hc_world *world = bot->world;
    hc_entity self = hc_world_player(world, bot->player);
    const struct duel_player *me = (const void *)(bot->states + (size_t)self * world->stride);
    struct memory *memory = bot->memory;
    struct duel_input *input = out;
    uint32_t aim = 0;
    if (bot->presence[self] != HC_ALIVE)
        return;
    if (bot->tick >= memory->until || memory->until > bot->tick + world->tick_rate) {
        memory->until = bot->tick + 1 + hc_rng_below(bot->rng, world->tick_rate);
        memory->x = (int8_t)((int)hc_rng_below(bot->rng, 3) - 1);
        memory->y = (int8_t)((int)hc_rng_below(bot->rng, 3) - 1);
    }
    input->move_x = memory->x;
    input->move_y = memory->y;
    input->aim = me->aim;
    if (find_target(bot, self, me, &aim) == NULL)
        return;
    input->aim = (uint16_t)aim;
    input->fire = hc_rng_below(bot->rng, 8) == 0;
}

HC_GAME_EXPORT_LEVEL(duel, think, "duel.txt");
