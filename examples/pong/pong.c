/// Pong for two players: a whole game, as a plugin of Hindcast's programs.
///
/// Lengths are in pixels of a court of 640 x 360, speeds in pixels a tick at 60 ticks a second.
#include "pong.h"

#include <hindcast/plugin.h>

#include <string.h>

enum { KIND_REFEREE, KIND_PADDLE, KIND_BALL };
enum { BEST_SCORE };   // reductions
enum { RANDOM_SERVE }; // purposes of random numbers

enum {
    PADDLE_SPEED = 7,
    BALL_SPEED = 5,      ///< speed along x after a serve; each hit adds 1
    BALL_SPEED_MAX = 12, ///< speed along x at most
    SERVE_TICKS = 60,
    PAUSE_TICKS = 180,
    PREDICTED_TICKS = 15, ///< a paddle is predicted to move on for this long
};

// The fields of each struct, in order: they are sent, compared and interpolated by these tables.
static const struct hc_field referee_fields[] = {
    HC_FIELD(struct pong_referee, pause, 8, false, .countdown = true),
};
static const struct hc_field paddle_fields[] = {
    HC_FIELD(struct pong_paddle, x, 10, false),
    HC_FIELD(struct pong_paddle, y, 9, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct pong_paddle, score, 4, false),
};
static const struct hc_field ball_fields[] = {
    HC_FIELD(struct pong_ball, x, 10, false, .interpolate = HC_LINEAR, .moves_by = "vx",
             .moves_per = 1),
    HC_FIELD(struct pong_ball, y, 9, false, .interpolate = HC_LINEAR, .moves_by = "vy",
             .moves_per = 1),
    HC_FIELD(struct pong_ball, vx, 5, true),
    HC_FIELD(struct pong_ball, vy, 5, true),
    HC_FIELD(struct pong_ball, wait, 6, false, .countdown = true),
    HC_FIELD(struct pong_ball, point, 2, false),
};
static const struct hc_field input_fields[] = {HC_FIELD(struct pong_input, move, 2, true)};

static const struct hc_kind kinds[] = {
    [KIND_REFEREE] = {"referee", sizeof(struct pong_referee), 1, referee_fields, NULL, NULL, 0, 0},
    [KIND_PADDLE] = {"paddle", sizeof(struct pong_paddle), 3, paddle_fields, "x", "y", 64, 0},
    [KIND_BALL] = {"ball", sizeof(struct pong_ball), 6, ball_fields, "x", "y", 64, 0},
};
static const struct hc_slots owned[] = {{.kind = KIND_PADDLE, .count = 1}};
static const struct hc_slots unowned[] = {{.kind = KIND_BALL, .count = 1}};
static const struct hc_reduction reductions[] = {
    [BEST_SCORE] = {.op = HC_REDUCE_MAX, .field = "score"},
};

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

static void centre(struct pong_ball *ball) {
    *ball = (struct pong_ball){PONG_WIDTH / 2, PONG_HEIGHT / 2, 0, 0, SERVE_TICKS, 0};
}

/// Referee and ball exist from the beginning; paddles come with their players.
static bool start(const struct hc_world *world, hc_entity self, void *out) {
    if (world->kind_of[self] == KIND_BALL)
        centre(out);
    return world->kind_of[self] != KIND_PADDLE;
}

/// Ticks of the pause left. A client may not know the referee for a moment.
static int pause_left(struct hc_scene *scene) {
    const struct pong_referee *referee = hc_scene_referee(scene, 0);
    return referee != NULL ? referee->pause : 0;
}

/// The referee pauses the game after a round, and sees the scores through a reduction.
static bool step_referee(struct hc_scene *scene, struct pong_referee *out) {
    int pause = pause_left(scene);
    if (pause > 0)
        out->pause = (uint8_t)(pause - 1);
    else
        out->pause = hc_scene_reduction(scene, BEST_SCORE) >= PONG_WIN ? PAUSE_TICKS : 0;
    return true;
}

/// Both paddles and the ball, as the entity `self` sees them; NULL: absent.
struct court {
    const struct pong_paddle *paddles[2];
    const struct pong_ball *ball;
};

static struct court look(struct hc_scene *scene) {
    struct court court = {{NULL, NULL}, NULL};
    const struct hc_world *world = scene->world;
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids); // the reach is the whole court
    for (uint32_t i = 0; i < count; i++) {
        const void *state = hc_scene_state(scene, ids[i]);
        if (world->kind_of[ids[i]] == KIND_BALL)
            court.ball = state;
        else
            court.paddles[world->owner_of[ids[i]]] = state;
    }
    return court;
}

static bool step_paddle(struct hc_scene *scene, hc_entity self, struct pong_paddle *out) {
    const struct pong_paddle *now = hc_scene_state(scene, self);
    int side = scene->world->owner_of[self];
    enum hc_roster roster = hc_scene_roster(scene);
    if (roster == HC_ROSTER_JOIN) {
        int x = side == 0 ? PONG_MARGIN : PONG_WIDTH - PONG_MARGIN;
        *out = (struct pong_paddle){(uint16_t)x, PONG_HEIGHT / 2, 0};
        return true;
    }
    if (roster == HC_ROSTER_LEAVE || now == NULL)
        return false;

    const struct pong_input *input = hc_scene_input(scene);
    const struct pong_ball *ball = look(scene).ball;
    *out = *now;
    out->y = (uint16_t)clamp(now->y + input->move * PADDLE_SPEED, PONG_PADDLE,
                             PONG_HEIGHT - PONG_PADDLE);
    if (ball != NULL && ball->point == side + 1 && now->score < PONG_WIN)
        out->score++; // the ball has decided; its paddles learn of it a tick later
    if (pause_left(scene) == 1)
        out->score = 0;
    return true;
}

/// Bounces the ball off a paddle that it has reached.
static void bounce(const struct pong_paddle *paddle, struct pong_ball *out, int x, int *vx) {
    bool from_left = *vx > 0;
    int gap = from_left ? paddle->x - x : x - paddle->x;
    if (*vx == 0 || from_left != (paddle->x > PONG_WIDTH / 2) || gap > PONG_BALL ||
        gap < -PONG_BALL || out->y + PONG_PADDLE + PONG_BALL < paddle->y ||
        out->y > paddle->y + PONG_PADDLE + PONG_BALL)
        return;
    int speed = clamp((from_left ? *vx : -*vx) + 1, 0, BALL_SPEED_MAX);
    *vx = from_left ? -speed : speed;
    out->vy = (int8_t)clamp((out->y - paddle->y) / 6, -15, 15);
}

static bool step_ball(struct hc_scene *scene, hc_entity self, struct pong_ball *out) {
    const struct pong_ball *now = hc_scene_state(scene, self);
    struct court court = look(scene);
    if (court.paddles[0] == NULL || court.paddles[1] == NULL || pause_left(scene) > 0) {
        centre(out);
        return true;
    }
    *out = *now;
    out->point = 0;
    if (now->wait > 0) {
        uint64_t random = hc_scene_random(scene, RANDOM_SERVE);
        if (--out->wait == 0) {
            out->vx = random % 2 == 0 ? BALL_SPEED : -BALL_SPEED;
            out->vy = (int8_t)(random / 2 % 7) - 3;
        }
        return true;
    }
    int x = now->x + now->vx, y = now->y + now->vy, vx = now->vx;
    if (y < PONG_BALL || y > PONG_HEIGHT - PONG_BALL)
        out->vy = (int8_t)-now->vy;
    out->y = (uint16_t)clamp(y, PONG_BALL, PONG_HEIGHT - PONG_BALL);
    for (int side = 0; side < 2; side++)
        bounce(court.paddles[side], out, x, &vx);
    if (x < 0 || x > PONG_WIDTH) {
        centre(out);
        out->point = x < 0 ? 2 : 1;
        return true;
    }
    out->x = (uint16_t)x;
    out->vx = (int8_t)vx;
    return true;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    switch (scene->world->kind_of[self]) {
    case KIND_REFEREE:
        return step_referee(scene, out);
    case KIND_PADDLE:
        return step_paddle(scene, self, out);
    default:
        return step_ball(scene, self, out);
    }
}

static void predict_input(const void *last, uint32_t age, void *out) {
    memcpy(out, last, sizeof(struct pong_input));
    if (age > PREDICTED_TICKS)
        ((struct pong_input *)out)->move = 0;
}

static void sanitize_input(void *input) {
    struct pong_input *in = input;
    in->move = (int8_t)clamp(in->move, -1, 1);
}

const struct hc_game pong = {
    .name = "pong",
    .version = 1,
    .players_max = 2,
    .kinds = kinds,
    .kind_count = 3,
    .owned = owned,
    .owned_count = 1,
    .unowned = unowned,
    .unowned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 1,
    .input_size = sizeof(struct pong_input),
    .reductions = reductions,
    .reduction_count = 1,
    .reach = PONG_WIDTH,
    .start = start,
    .step = step,
    .predict_input = predict_input,
    .sanitize_input = sanitize_input,
};

/// A bot follows the ball, but not closer than it must.
static void think(const struct hc_bot *bot, void *out) {
    const struct hc_world *world = bot->world;
    hc_entity self = hc_world_player(world, bot->player), ball = (hc_entity)(world->entities - 1);
    const struct pong_paddle *me = (const void *)(bot->states + (size_t)self * world->stride);
    const struct pong_ball *seen = (const void *)(bot->states + (size_t)ball * world->stride);
    if (bot->presence[self] != HC_ALIVE || bot->presence[ball] != HC_ALIVE)
        return;
    int offset = seen->y - me->y, margin = (int)hc_rng_below(bot->rng, PONG_PADDLE);
    ((struct pong_input *)out)->move = (int8_t)(offset > margin ? 1 : offset < -margin ? -1 : 0);
}

HC_GAME_EXPORT(pong, think);
