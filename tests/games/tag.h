/// Tag, a small game without a fault: players run, a ball rolls, and players near each other score.
/// tests/games/broken_FAULT.c puts one fault into it, by a macro that is defined before.
#pragma once

#include "hindcast/plugin.h"

#include <string.h>

enum { TAG_REFEREE, TAG_PLAYER, TAG_BALL };
enum { TAG_SIDE = 1000, TAG_SPEED = 8, TAG_REACH = 100, TAG_ROUND = 200 };
enum { TAG_GROUP_ROUND, TAG_GROUP_CLOCK };

struct tag_referee {
    uint8_t round, present;
    uint16_t clock;
};

struct tag_player {
    int16_t x, y;
    uint16_t score;
    uint16_t round;
};

struct tag_ball {
    int16_t x, y, vx, vy;
};

struct tag_input {
    int8_t x, y;
};

/// The score of a player near `count` others.
#ifndef TAG_SCORE
#define TAG_SCORE(scene, now, out, count) (out)->score = (uint16_t)(((now)->score + (count)) % 1000)
#endif
/// A coordinate within the court.
#ifndef TAG_LIMIT
#define TAG_LIMIT(value) ((value) < 0 ? 0 : (value) > TAG_SIDE ? TAG_SIDE : (value))
#endif
/// The round, while the referee may be unknown.
#ifndef TAG_READ_ROUND
#define TAG_READ_ROUND(scene, referee, old) ((referee) != NULL ? (referee)->round : (old))
#endif
/// The ticks for which a step may look back.
#ifndef TAG_LOOKBACK
#define TAG_LOOKBACK 0
#endif
/// The reduction that counts the players.
#ifndef TAG_PRESENT
#define TAG_PRESENT 0
#endif
/// The place where a player appears.
#ifndef TAG_RANDOM
#define TAG_RANDOM(scene) hc_scene_random(scene, 0)
#endif
/// Each of these adds to a function.
#ifndef TAG_START
#define TAG_START(out)
#endif
#ifndef TAG_PREDICT
#define TAG_PREDICT(out)
#endif
#ifndef TAG_SANITIZE
#define TAG_SANITIZE(input)
#endif
#ifndef TAG_RUN_STEP
#define TAG_RUN_STEP(ball)
#endif
#ifndef TAG_EMIT // the ball bounces from `sides` sides
#define TAG_EMIT(scene, sides) hc_emit(scene, 0, sides)
#endif
/// Kinds of events after those of the ball and of the players, and the end of a round.
#ifndef TAG_MORE_EVENTS
#define TAG_MORE_EVENTS
#endif
#ifndef TAG_ROUND_OVER
#define TAG_ROUND_OVER NULL
#endif
/// The function that hides entities from players.
#ifndef TAG_HIDES
#define TAG_HIDES NULL
#endif
#ifndef TAG_BALL_STEP
#define TAG_BALL_STEP(scene, out)
#endif
/// Whether a player comes without a join.
#ifndef TAG_COMES
#define TAG_COMES(scene) false
#endif

static const struct hc_field tag_referee_fields[] = {
    HC_FIELD(struct tag_referee, round, 8, false, .group = TAG_GROUP_ROUND),
    HC_FIELD(struct tag_referee, present, 4, false, .group = TAG_GROUP_CLOCK),
    HC_FIELD(struct tag_referee, clock, 8, false, .group = TAG_GROUP_CLOCK, .countdown = true),
};
static const struct hc_field tag_player_fields[] = {
    HC_FIELD(struct tag_player, x, 11, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct tag_player, y, 11, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct tag_player, score, 10, false),
    HC_FIELD(struct tag_player, round, 8, false),
};
static const struct hc_field tag_ball_fields[] = {
    HC_FIELD(struct tag_ball, x, 11, true, .interpolate = HC_LINEAR, .moves_by = "vx",
             .moves_per = 1),
    HC_FIELD(struct tag_ball, y, 11, true, .interpolate = HC_LINEAR, .moves_by = "vy",
             .moves_per = 1),
    HC_FIELD(struct tag_ball, vx, 5, true),
    HC_FIELD(struct tag_ball, vy, 5, true),
};
static const struct hc_field tag_input_fields[] = {
    HC_FIELD(struct tag_input, x, 4, true),
    HC_FIELD(struct tag_input, y, 4, true),
};
static const struct hc_kind tag_kinds[] = {
    {"referee", sizeof(struct tag_referee), 3, tag_referee_fields, NULL, NULL, 0, 0},
    {"player", sizeof(struct tag_player), 4, tag_player_fields, "x", "y", 100, 1},
    {"ball", sizeof(struct tag_ball), 4, tag_ball_fields, "x", "y", 100, 1},
};
static const struct hc_game_event_kind tag_event_kinds[] = {
    {.name = "bounce", .bits = 2}, {.name = "tagged", .bits = 5}, TAG_MORE_EVENTS};
static const struct hc_slots tag_owned[] = {{.kind = TAG_PLAYER, .count = 1}};
static const struct hc_slots tag_unowned[] = {{.kind = TAG_BALL, .count = 2}};
static const struct hc_reduction tag_reductions[] = {{.op = HC_REDUCE_COUNT}};

static bool tag_start(const struct hc_world *world, hc_entity self, void *out) {
    struct tag_ball *ball = out;
    if (world->kind_of[self] != TAG_BALL)
        return world->kind_of[self] == TAG_REFEREE;
    ball->x = (int16_t)(hc_random(world->seed, self, 0, 0) % TAG_SIDE);
    ball->y = (int16_t)(hc_random(world->seed, self, 1, 0) % TAG_SIDE);
    ball->vx = 5;
    ball->vy = -3;
    TAG_START(ball);
    return true;
}

static bool tag_step_referee(struct hc_scene *scene, struct tag_referee *out) {
    const struct tag_referee *now = hc_scene_referee(scene, TAG_GROUP_ROUND);
    bool ends = now->clock == 0;
    *out = *now;
    out->present = (uint8_t)hc_scene_reduction(scene, TAG_PRESENT);
    out->clock = (uint16_t)(ends ? TAG_ROUND : now->clock - 1);
    out->round = (uint8_t)(now->round + ends);
    return true;
}

static bool tag_step_player(struct hc_scene *scene, hc_entity self, struct tag_player *out) {
    const struct tag_player *now = hc_scene_state(scene, self);
    enum hc_roster roster = hc_scene_roster(scene);
    if (roster == HC_ROSTER_JOIN || (now == NULL && TAG_COMES(scene))) {
        uint64_t random = TAG_RANDOM(scene);
        *out = (struct tag_player){(int16_t)(random % TAG_SIDE),
                                   (int16_t)(random / 1024 % TAG_SIDE), 0, 0};
        return true;
    }
    if (roster == HC_ROSTER_LEAVE || now == NULL)
        return false;
    const struct tag_input *input = hc_scene_input(scene);
    const struct tag_referee *referee = hc_scene_referee(scene, TAG_GROUP_ROUND);
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    out->x = (int16_t)TAG_LIMIT(now->x + input->x * TAG_SPEED);
    out->y = (int16_t)TAG_LIMIT(now->y + input->y * TAG_SPEED);
    out->round = TAG_READ_ROUND(scene, referee, now->round);
    TAG_SCORE(scene, now, out, count);
    if (count > 0)
        hc_emit(scene, 1, count % 32);
    return true;
}

static bool tag_step_ball(struct hc_scene *scene, hc_entity self, struct tag_ball *out) {
    const struct tag_ball *now = hc_scene_state(scene, self);
    int x = now->x + now->vx, y = now->y + now->vy;
    unsigned sides = (x < 0 || x > TAG_SIDE ? 1u : 0u) + (y < 0 || y > TAG_SIDE ? 1u : 0u);
    *out = *now;
    if (sides > 0)
        TAG_EMIT(scene, sides);
    if (x < 0 || x > TAG_SIDE)
        out->vx = (int16_t)-now->vx;
    else
        out->x = (int16_t)x;
    if (y < 0 || y > TAG_SIDE)
        out->vy = (int16_t)-now->vy;
    else
        out->y = (int16_t)y;
    TAG_BALL_STEP(scene, out);
    return true;
}

static bool tag_step(struct hc_scene *scene, hc_entity self, void *out) {
    if (self == HC_REFEREE)
        return tag_step_referee(scene, out);
    if (scene->world->kind_of[self] == TAG_PLAYER)
        return tag_step_player(scene, self, out);
    return tag_step_ball(scene, self, out);
}

/// The balls, which see nobody.
static bool tag_step_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t *out,
                         uint8_t *presence) {
    if (scene->world->kind_of[first] != TAG_BALL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct tag_ball *ball = (void *)(out + (size_t)i * scene->world->stride);
        hc_scene_turn(scene, (hc_entity)(first + i));
        presence[i] = tag_step_ball(scene, scene->self, ball) ? HC_ALIVE : HC_ABSENT;
        TAG_RUN_STEP(ball);
    }
    return true;
}

static void tag_predict_input(const void *last, uint32_t age, void *out) {
    memcpy(out, last, sizeof(struct tag_input));
    if (age > 10)
        memset(out, 0, sizeof(struct tag_input));
    TAG_PREDICT((struct tag_input *)out);
}

static int8_t tag_sign(int8_t value) {
    return (int8_t)((value > 0) - (value < 0));
}

static void tag_sanitize_input(void *data) {
    struct tag_input *input = data;
    input->x = tag_sign(input->x);
    input->y = tag_sign(input->y);
    TAG_SANITIZE(input);
}

static const struct hc_game tag = {
    .name = "tag",
    .version = 1,
    .players_max = 8,
    .kinds = tag_kinds,
    .kind_count = 3,
    .owned = tag_owned,
    .owned_count = 1,
    .unowned = tag_unowned,
    .unowned_count = 1,
    .input_fields = tag_input_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct tag_input),
    .reductions = tag_reductions,
    .reduction_count = 1,
    .reach = TAG_REACH,
    .lookback = TAG_LOOKBACK,
    .start = tag_start,
    .step = tag_step,
    .predict_input = tag_predict_input,
    .sanitize_input = tag_sanitize_input,
    .round_over = TAG_ROUND_OVER,
    .hides = TAG_HIDES,
    .step_run = tag_step_run,
    .event_kinds = tag_event_kinds,
    .event_kind_count = sizeof(tag_event_kinds) / sizeof(tag_event_kinds[0]),
    .stays_vacant = true,
};

HC_GAME_EXPORT(tag, NULL);
