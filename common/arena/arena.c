/// The arena's tables, its start, and the prediction and the limits of its inputs.
#include "hindcast/arena.h"

#include "common/arena/map.h"
#include "common/arena/rules.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum {
    TELEPORT = 64 * HC_ARENA_PIXEL, ///< farther than any move in a tick at 30 ticks a second
    MOVE_AGE_MAX = 15,              ///< ticks for which a player is predicted to run on
    FIRE_AGE_MAX = 6,               ///< ticks for which a player is predicted to fire on
};

static const struct hc_field referee_fields[] = {
    HC_FIELD(struct hc_arena_referee, phase, 2, false, .group = HC_ARENA_GROUP_PHASE),
    HC_FIELD(struct hc_arena_referee, match, 8, false, .group = HC_ARENA_GROUP_PHASE),
    HC_FIELD(struct hc_arena_referee, clock, 16, false, .group = HC_ARENA_GROUP_CLOCK,
             .countdown = true),
};
_Static_assert(sizeof(struct hc_arena_referee) == 4, "the fields must cover the referee");

static const struct hc_field player_fields[] = {
    HC_FIELD(struct hc_arena_player, x, 16, false, .interpolate = HC_LINEAR, .moves_by = "vx"),
    HC_FIELD(struct hc_arena_player, y, 16, false, .interpolate = HC_LINEAR, .moves_by = "vy"),
    HC_FIELD(struct hc_arena_player, vx, 12, true),
    HC_FIELD(struct hc_arena_player, vy, 12, true),
    HC_FIELD(struct hc_arena_player, health, 7, false),
    HC_FIELD(struct hc_arena_player, score, 7, false),
    HC_FIELD(struct hc_arena_player, deaths, 7, false),
    HC_FIELD(struct hc_arena_player, cooldown, 6, false, .countdown = true),
    HC_FIELD(struct hc_arena_player, aim, 8, false, .interpolate = HC_ANGLE),
    HC_FIELD(struct hc_arena_player, match, 8, false),
    HC_FIELD(struct hc_arena_player, respawn, 9, false, .countdown = true),
    HC_FIELD(struct hc_arena_player, rapid, 11, false, .countdown = true),
};
_Static_assert(sizeof(struct hc_arena_player) == 18, "the fields must cover the player");

static const struct hc_field shot_fields[] = {
    HC_FIELD(struct hc_arena_shot, x, 16, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct hc_arena_shot, y, 16, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct hc_arena_shot, kills, 12, false),
    HC_FIELD(struct hc_arena_shot, angle, 8, false),
    HC_FIELD(struct hc_arena_shot, life, 8, false, .countdown = true),
};
_Static_assert(sizeof(struct hc_arena_shot) == 8, "the fields must cover the shot");

static const struct hc_field pickup_fields[] = {
    HC_FIELD(struct hc_arena_pickup, x, 16, false),
    HC_FIELD(struct hc_arena_pickup, y, 16, false),
    HC_FIELD(struct hc_arena_pickup, gift, 1, false),
    HC_FIELD(struct hc_arena_pickup, winner, 13, false),
    HC_FIELD(struct hc_arena_pickup, refill, 11, false, .countdown = true),
};
_Static_assert(sizeof(struct hc_arena_pickup) == 10, "the fields must cover the pickup");
_Static_assert((int)HC_ARENA_NOBODY >= (int)HC_ARENA_PLAYERS, "nobody is no player");

static const struct hc_field input_fields[] = {
    HC_FIELD(struct hc_arena_input, move_x, 2, true),
    HC_FIELD(struct hc_arena_input, move_y, 2, true),
    HC_FIELD(struct hc_arena_input, aim, 8, false),
    HC_FIELD(struct hc_arena_input, fire, 1, false),
};
_Static_assert(sizeof(struct hc_arena_input) == 4, "the fields must cover the input");

enum { PLAYER_BITS = 12 };
_Static_assert(HC_ARENA_PLAYERS == 1 << PLAYER_BITS, "an event's number holds a player");

static const struct hc_game_event_kind event_kinds[] = {
    [HC_ARENA_EVENT_SHOT] = {.name = "shot"},
    [HC_ARENA_EVENT_HIT] = {.name = "hit", .bits = PLAYER_BITS},
    [HC_ARENA_EVENT_KILL] = {.name = "kill", .bits = PLAYER_BITS},
    [HC_ARENA_EVENT_DEATH] = {.name = "death"},
    [HC_ARENA_EVENT_TAKEN] = {.name = "taken", .bits = PLAYER_BITS},
};

#define KIND(label, table, type, px, py, events)                                                   \
    {                                                                                              \
        .name = (label), .state_size = sizeof(type), .field_count = COUNT(table),                  \
        .fields = (table), .x = (px), .y = (py), .teleport = TELEPORT, .events_max = (events)      \
    }

static const struct hc_kind kinds[] = {
    [HC_ARENA_KIND_REFEREE] = KIND("referee", referee_fields, struct hc_arena_referee, NULL, NULL, 0),
    [HC_ARENA_KIND_PLAYER] = KIND("player", player_fields, struct hc_arena_player, "x", "y", 1),
    [HC_ARENA_KIND_SHOT] = KIND("shot", shot_fields, struct hc_arena_shot, "x", "y", HC_ARENA_STRUCK),
    [HC_ARENA_KIND_PICKUP] = KIND("pickup", pickup_fields, struct hc_arena_pickup, "x", "y", 1),
};

static const struct hc_slots owned[] = {
    {.kind = HC_ARENA_KIND_PLAYER, .count = 1},
    {.kind = HC_ARENA_KIND_SHOT, .count = HC_ARENA_SHOTS},
};

static const struct hc_slots unowned[] = {
    {.kind = HC_ARENA_KIND_PICKUP, .count = 2, .every = 4},
};

static const struct hc_reduction reductions[] = {
    [HC_ARENA_PRESENT] = {.op = HC_REDUCE_COUNT},
    [HC_ARENA_TOTAL_SCORE] = {.op = HC_REDUCE_SUM, .field = "score"},
    [HC_ARENA_BEST_SCORE] = {.op = HC_REDUCE_MAX, .field = "score"},
};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    if (self == HC_REFEREE)
        return true; // all zeros: waiting for round 0
    if (world->kind_of[self] != HC_ARENA_KIND_PICKUP)
        return false;
    struct hc_arena_pickup *pickup = out;
    hc_arena_free_place(world, hc_random(world->seed, 0, self, HC_ARENA_RANDOM_PICKUP), &pickup->x,
                        &pickup->y);
    pickup->gift = self % 2 == 0 ? HC_ARENA_GIFT_HEALTH : HC_ARENA_GIFT_RAPID;
    pickup->winner = HC_ARENA_NOBODY;
    return true;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    switch (scene->world->kind_of[self]) {
    case HC_ARENA_KIND_REFEREE:
        return hc_arena_step_referee(scene, self, out);
    case HC_ARENA_KIND_PLAYER:
        return hc_arena_step_player(scene, self, out);
    case HC_ARENA_KIND_SHOT:
        return hc_arena_step_shot(scene, self, out);
    default:
        return hc_arena_step_pickup(scene, self, out);
    }
}

static void predict_input(const void *last, uint32_t age, void *out) {
    struct hc_arena_input input;
    memcpy(&input, last, sizeof(input));
    if (age > FIRE_AGE_MAX)
        input.fire = 0;
    if (age > MOVE_AGE_MAX) {
        input.move_x = 0;
        input.move_y = 0;
    }
    memcpy(out, &input, sizeof(input));
}

static int8_t sign(int8_t value) {
    return (int8_t)((value > 0) - (value < 0));
}

static void sanitize_input(void *data) {
    struct hc_arena_input *input = data;
    input->move_x = sign(input->move_x);
    input->move_y = sign(input->move_y);
    input->fire = input->fire != 0;
}

static bool round_over(const struct hc_world *world, const void *referee) {
    (void)world;
    return ((const struct hc_arena_referee *)referee)->phase == HC_ARENA_OVER;
}

const struct hc_game hc_arena = {
    .name = "arena",
    .version = 4,
    .players_max = HC_ARENA_PLAYERS,
    .kinds = kinds,
    .kind_count = COUNT(kinds),
    .owned = owned,
    .owned_count = COUNT(owned),
    .unowned = unowned,
    .unowned_count = COUNT(unowned),
    .input_fields = input_fields,
    .input_field_count = COUNT(input_fields),
    .input_size = sizeof(struct hc_arena_input),
    .reductions = reductions,
    .reduction_count = COUNT(reductions),
    .reach = HC_ARENA_REACH,
    .view = HC_ARENA_VIEW,
    .start = start,
    .step = step,
    .predict_input = predict_input,
    .sanitize_input = sanitize_input,
    .event_kinds = event_kinds,
    .event_kind_count = COUNT(event_kinds),
    .round_over = round_over,
    .stays_vacant = true,
};
