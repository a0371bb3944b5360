/// The player's step.
#include "common/arena/map.h"
#include "common/arena/rules.h"
#include "hindcast/fixed.h"

enum {
    ACCELERATION = 12800, ///< units/s per second: full speed after an eighth of a second
    FRICTION = 8000,      ///< units/s per second without a direction
    DIAGONAL = 181,       ///< 256 / sqrt(2)
};

/// The effects of its neighbours on a player in one tick.
struct events {
    int32_t push_x, push_y; ///< units
    uint32_t hits;
    bool cured, boosted;
};

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
    return (int32_t)hc_fixed_clamp(value, low, high);
}

/// Puts a fresh player on a secret random place; score, deaths and round stay. False on a client,
/// and nothing changes, because only the server knows the place.
static bool appear(const struct hc_scene *scene, struct hc_arena_player *out) {
    uint64_t random;
    if (!hc_scene_secret_random(scene, HC_ARENA_RANDOM_SPAWN, &random))
        return false;
    hc_arena_free_place(scene->world, random, &out->x, &out->y);
    out->vx = 0;
    out->vy = 0;
    out->health = HC_ARENA_HEALTH;
    out->cooldown = 0;
    out->respawn = 0;
    out->rapid = 0;
    return true;
}

/// Adds the push of another player that overlaps: each of the two moves by half of the overlap.
static void shove(hc_entity self, const struct hc_arena_player *me, hc_entity id,
                  const struct hc_arena_player *other, struct events *events) {
    int32_t dx = me->x - other->x, dy = me->y - other->y;
    int32_t squared = dx * dx + dy * dy, touching = 2 * HC_ARENA_RADIUS;
    if (other->health == 0 || squared >= touching * touching)
        return;
    int32_t distance = (int32_t)hc_fixed_sqrt((uint32_t)squared);
    if (distance == 0) {
        // At the same place both must agree on a direction: the ids decide.
        events->push_x += self < id ? -touching / 2 : touching / 2;
        return;
    }
    events->push_x += dx * (touching - distance) / (2 * distance);
    events->push_y += dy * (touching - distance) / (2 * distance);
}

static void take_gift(const struct hc_scene *scene, hc_entity self,
                      const struct hc_arena_pickup *pickup, struct events *events) {
    if (pickup->winner != scene->world->owner_of[self])
        return;
    events->cured |= pickup->gift == HC_ARENA_GIFT_HEALTH;
    events->boosted |= pickup->gift == HC_ARENA_GIFT_RAPID;
}

static struct events gather(struct hc_scene *scene, hc_entity self,
                            const struct hc_arena_player *now, uint8_t phase) {
    struct events events = {0};
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    for (uint32_t i = 0; i < count; i++) {
        const void *state = hc_scene_state(scene, ids[i]);
        switch (scene->world->kind_of[ids[i]]) {
        case HC_ARENA_KIND_PLAYER:
            shove(self, now, ids[i], state, &events);
            break;
        case HC_ARENA_KIND_SHOT:
            if (phase != HC_ARENA_OVER && hc_arena_strikes(scene, ids[i], self))
                events.hits++;
            break;
        case HC_ARENA_KIND_PICKUP:
            take_gift(scene, self, state, &events);
            break;
        default:
            break;
        }
    }
    events.push_x = clamp(events.push_x, -HC_ARENA_RADIUS, HC_ARENA_RADIUS);
    events.push_y = clamp(events.push_y, -HC_ARENA_RADIUS, HC_ARENA_RADIUS);
    return events;
}

/// The speed along one axis after a tick of acceleration towards `wanted`.
static int16_t accelerate(const struct hc_scene *scene, int16_t speed, int32_t wanted) {
    if (speed == wanted)
        return speed;
    int32_t most = hc_arena_per_tick(scene, wanted != 0 ? ACCELERATION : FRICTION);
    return (int16_t)(speed + clamp(wanted - speed, -most, most));
}

static void run(const struct hc_scene *scene, const struct hc_arena_input *input,
                const struct events *events, struct hc_arena_player *out) {
    int32_t full = HC_ARENA_RUN_SPEED;
    if (input->move_x != 0 && input->move_y != 0)
        full = full * DIAGONAL / 256;
    out->vx = accelerate(scene, out->vx, input->move_x * full);
    out->vy = accelerate(scene, out->vy, input->move_y * full);

    struct hc_arena_square square = {.x = out->x, .y = out->y, .half = HC_ARENA_RADIUS};
    hc_arena_slide(scene->world, &square, hc_arena_per_tick(scene, out->vx) + events->push_x,
                   hc_arena_per_tick(scene, out->vy) + events->push_y);
    out->x = (uint16_t)square.x;
    out->y = (uint16_t)square.y;
    if (square.hit_x)
        out->vx = 0;
    if (square.hit_y)
        out->vy = 0;
}

static void shoot(struct hc_scene *scene, struct hc_arena_player *out) {
    bool rapid = out->rapid > 0;
    if (rapid)
        out->rapid--;
    if (out->cooldown > 0)
        out->cooldown--;
    else if (hc_arena_fires(scene) != HC_REFEREE)
        out->cooldown = (uint8_t)(hc_arena_ticks(scene->world,
                                                 rapid ? HC_ARENA_RAPID_MS : HC_ARENA_COOLDOWN_MS) -
                                  1);
}

/// Applies hits before gifts: a player that dies at a tick gets no gift of it.
static void suffer(struct hc_scene *scene, const struct events *events, uint8_t phase,
                   struct hc_arena_player *out) {
    int32_t health = out->health - (int32_t)events->hits * HC_ARENA_DAMAGE;
    if (health <= 0) {
        hc_emit(scene, HC_ARENA_EVENT_DEATH, 0);
        out->health = 0;
        out->vx = 0;
        out->vy = 0;
        out->rapid = 0;
        out->respawn = hc_arena_ticks(scene->world, HC_ARENA_DEATH_MS);
        if (phase == HC_ARENA_PLAYING && out->deaths < HC_ARENA_SCORE_MAX)
            out->deaths++;
        return;
    }
    if (events->cured)
        health = clamp(health + HC_ARENA_CURE, 0, HC_ARENA_HEALTH);
    out->health = (uint8_t)health;
    if (events->boosted)
        out->rapid = hc_arena_ticks(scene->world, HC_ARENA_BOOST_MS);
}

/// Adds the kills of the player's own shots, which a shot has only in its last tick.
static void count_kills(struct hc_scene *scene, hc_entity self, struct hc_arena_player *out) {
    int32_t score = out->score;
    for (int slot = self + 1; slot <= self + HC_ARENA_SHOTS; slot++) {
        const struct hc_arena_shot *shot = hc_scene_state(scene, (hc_entity)slot);
        if (shot != NULL)
            score += shot->kills;
    }
    out->score = (uint8_t)clamp(score, 0, HC_ARENA_SCORE_MAX);
}

bool hc_arena_step_player(struct hc_scene *scene, hc_entity self, struct hc_arena_player *out) {
    enum hc_roster roster_change = hc_scene_roster(scene);
    const struct hc_arena_player *now = hc_scene_state(scene, self);
    if (roster_change == HC_ROSTER_LEAVE || (roster_change == HC_ROSTER_NONE && now == NULL))
        return false;
    struct hc_arena_rules rules = hc_arena_rules(scene, now != NULL ? now->match : 0);
    if (roster_change == HC_ROSTER_JOIN || rules.round != now->match) {
        *out = (struct hc_arena_player){.match = rules.round};
        if (appear(scene, out))
            return true;
        if (now != NULL) // it waits where it is
            *out = *now;
        return now != NULL;
    }

    *out = *now;
    count_kills(scene, self, out);
    if (now->health == 0) {
        if (out->respawn > 0)
            out->respawn--;
        if (out->respawn == 0)
            (void)appear(scene, out); // on a client the player stays dead until it is received
        return true;
    }
    struct hc_arena_input input = {.aim = now->aim};
    if (rules.phase != HC_ARENA_OVER)
        input = *(const struct hc_arena_input *)hc_scene_input(scene);
    struct events events = gather(scene, self, now, rules.phase);
    out->aim = input.aim;
    run(scene, &input, &events, out);
    shoot(scene, out);
    suffer(scene, &events, rules.phase, out);
    return true;
}
