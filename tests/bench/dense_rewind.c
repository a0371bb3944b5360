/// The game of bodies, its world kept by hand, and the rounds that compare it with timelines.
#define _POSIX_C_SOURCE 200809L

#include "tests/bench/dense_rewind.h"

#include "common/timeline.h"
#include "hindcast/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROUNDS = 60,
    WARM_UP = 2 * DENSE_DISTANCE, ///< ticks
    INPUTS = 256,                 ///< ticks after which the inputs repeat
    SAVES = DENSE_DISTANCE + 1,
    OWNED_MAX = 8, ///< slots of a player; HC_UNIT_BITS_MAX allows 12 of these kinds
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---- The game -----------------------------------------------------------------------------------

struct clock {
    uint32_t ticks;
};

struct body {
    uint32_t v[16];
};

struct push {
    uint32_t by;
};

static const struct hc_field clock_fields[] = {HC_FIELD(struct clock, ticks, 32, false)};
#define BODY_FIELD(i) HC_FIELD(struct body, v[i], 32, false)
static const struct hc_field body_fields[] = {
    BODY_FIELD(0),  BODY_FIELD(1),  BODY_FIELD(2),  BODY_FIELD(3), BODY_FIELD(4),  BODY_FIELD(5),
    BODY_FIELD(6),  BODY_FIELD(7),  BODY_FIELD(8),  BODY_FIELD(9), BODY_FIELD(10), BODY_FIELD(11),
    BODY_FIELD(12), BODY_FIELD(13), BODY_FIELD(14), BODY_FIELD(15)};
static const struct hc_field push_fields[] = {HC_FIELD(struct push, by, 32, false)};
static const struct hc_kind kinds[] = {
    {"clock", sizeof(struct clock), 1, clock_fields, NULL, NULL, 0, 0},
    {"player", sizeof(struct body), 16, body_fields, NULL, NULL, 0, 0},
    {"body", sizeof(struct body), 16, body_fields, NULL, NULL, 0, 0},
};

static void start_body(hc_entity self, struct body *out) {
    for (unsigned i = 0; i < 16; i++)
        out->v[i] = (uint32_t)hc_random(1, self, i, 0);
}

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world;
    if (self != HC_REFEREE)
        start_body(self, out);
    return true;
}

/// Eight multiply-adds, each of which depends on the one before: about 3 ns.
static inline void step_body(const uint8_t *now, uint32_t push, uint8_t *out) {
    uint64_t sum = push + 1, v;
    for (size_t at = 0; at < sizeof(struct body); at += sizeof v) {
        memcpy(&v, now + at, sizeof v);
        sum += v * UINT64_C(6364136223846793005);
        memcpy(out + at, &sum, sizeof sum);
    }
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const void *now = hc_scene_state(scene, self);
    if (self == HC_REFEREE)
        ((struct clock *)out)->ticks = ((const struct clock *)now)->ticks + 1;
    else if (scene->world->owner_of[self] == HC_NO_PLAYER)
        step_body(now, 0, out);
    else
        step_body(now, ((const struct push *)hc_scene_input(scene))->by, out);
    return true;
}

static bool step_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t *out,
                     uint8_t *presence) {
    const hc_player *owner = scene->world->owner_of + first;
    const struct push *pushes = (const void *)scene->inputs;
    const uint8_t *now = scene->states + (size_t)first * sizeof(struct body);
    for (uint32_t i = 0; i < count; i++) {
        step_body(now, owner[i] == HC_NO_PLAYER ? 0 : pushes[owner[i]].by, out);
        now += sizeof(struct body);
        out += sizeof(struct body);
    }
    memset(presence, HC_ALIVE, count);
    return true;
}

static void predict_input(const void *last, uint32_t age, void *out) {
    (void)age;
    memcpy(out, last, sizeof(struct push));
}

static void sanitize_input(void *input) {
    (void)input; // all that fits is allowed
}

// ---- One setting --------------------------------------------------------------------------------

struct trial {
    struct dense_setting setting;
    struct hc_slots owned[2], unowned[1];
    struct hc_game game, run_game;    ///< without and with step_run
    struct hc_world world, run_world; ///< of these
    uint32_t bodies, ticks;           ///< of the world; of a round
    struct push *inputs;              ///< [INPUTS][players]

    // The world kept by hand: the bodies in the order of their ids.
    struct body *now;           ///< [bodies]
    struct body *saved[SAVES];  ///< [bodies] each
    struct push *pushed[SAVES]; ///< [players] each: the inputs of the steps
};

static bool set_up(struct trial *trial, const struct dense_setting *setting) {
    *trial = (struct trial){.setting = *setting};
    trial->bodies = setting->kib * 1024 / (uint32_t)sizeof(struct body);
    uint16_t each = setting->late ? OWNED_MAX : 1;
    uint32_t players = setting->late ? trial->bodies / OWNED_MAX : setting->players;
    trial->owned[0] = (struct hc_slots){.kind = setting->mixed ? 1 : 2, .count = 1};
    trial->owned[1] = (struct hc_slots){.kind = 2, .count = (uint16_t)(each - 1)};
    trial->unowned[0].kind = 2;
    trial->unowned[0].count = (uint16_t)(trial->bodies - players * each);
    trial->game = (struct hc_game){.name = "bodies",
                                   .version = 1,
                                   .players_max = (uint16_t)players,
                                   .kinds = kinds,
                                   .kind_count = 3,
                                   .owned = trial->owned,
                                   .owned_count = 2,
                                   .unowned = trial->unowned,
                                   .unowned_count = 1,
                                   .input_fields = push_fields,
                                   .input_field_count = 1,
                                   .input_size = sizeof(struct push),
                                   .start = start,
                                   .step = step,
                                   .predict_input = predict_input,
                                   .sanitize_input = sanitize_input};
    trial->run_game = trial->game;
    trial->run_game.step_run = step_run;
    if (hc_world_init(&trial->world, &trial->game, (uint16_t)players, 60, 1, NULL) != HC_OK ||
        hc_world_init(&trial->run_world, &trial->run_game, (uint16_t)players, 60, 1, NULL) != HC_OK)
        return false;
    trial->ticks = setting->kib < 256 ? 1024 / setting->kib : 4;
    trial->inputs = calloc((size_t)INPUTS * players, sizeof *trial->inputs);
    trial->now = calloc(trial->bodies, sizeof *trial->now);
    bool ok = trial->inputs != NULL && trial->now != NULL;
    for (unsigned i = 0; i < SAVES; i++) {
        trial->saved[i] = calloc(trial->bodies, sizeof *trial->saved[i]);
        trial->pushed[i] = calloc(players, sizeof *trial->pushed[i]);
        ok = ok && trial->saved[i] != NULL && trial->pushed[i] != NULL;
    }
    for (uint32_t i = 0; ok && i < INPUTS * players; i++)
        trial->inputs[i].by = (uint32_t)hc_random(2, i, 0, 0) & 0xff;
    return ok;
}

static void tear_down(struct trial *trial) {
    hc_world_free(&trial->world);
    hc_world_free(&trial->run_world);
    free(trial->inputs);
    free(trial->now);
    for (unsigned i = 0; i < SAVES; i++) {
        free(trial->saved[i]);
        free(trial->pushed[i]);
    }
}

/// The inputs that the players make for `tick`; those of tick 0 are neutral, as at a join.
static const struct push *inputs_of(const struct trial *trial, hc_tick tick) {
    return trial->inputs + (size_t)(tick % INPUTS) * trial->world.players;
}

// ---- By hand ------------------------------------------------------------------------------------

static void hand_start(struct trial *trial) {
    for (uint32_t i = 0; i < trial->bodies; i++)
        start_body((hc_entity)(i + 1), &trial->now[i]);
    memcpy(trial->saved[0], trial->now, trial->bodies * sizeof *trial->now);
    for (unsigned i = 0; i < SAVES; i++)
        memset(trial->pushed[i], 0, trial->world.players * sizeof *trial->pushed[i]);
}

/// Steps the world from `tick` to the next, and saves it.
static void hand_step(struct trial *trial, hc_tick tick) {
    const struct push *pushed = trial->pushed[tick % SAVES];
    uint32_t owned = (uint32_t)trial->world.players * trial->world.per_owner, each;
    struct body *body = trial->now;
    for (const struct body *end = body + owned; body < end; pushed++)
        for (each = 0; each < trial->world.per_owner; each++, body++)
            step_body((uint8_t *)body, pushed->by, (uint8_t *)body);
    for (const struct body *end = trial->now + trial->bodies; body < end; body++)
        step_body((uint8_t *)body, 0, (uint8_t *)body);
    memcpy(trial->saved[(tick + 1) % SAVES], trial->now, trial->bodies * sizeof *trial->now);
}

/// Advances from the head `tick`, first with a rewind of DENSE_DISTANCE ticks if `rewind`.
static void hand_advance(struct trial *trial, hc_tick tick, bool rewind) {
    size_t bytes = trial->world.players * sizeof *trial->inputs;
    if (rewind && tick > DENSE_DISTANCE) {
        hc_tick from = tick - DENSE_DISTANCE;
        memcpy(trial->now, trial->saved[from % SAVES], trial->bodies * sizeof *trial->now);
        for (hc_tick t = from; t < tick; t++) {
            if (trial->setting.late)
                memcpy(trial->pushed[t % SAVES], inputs_of(trial, from), bytes);
            hand_step(trial, t);
        }
    }
    if (tick > 0 && !(rewind && trial->setting.late))
        memcpy(trial->pushed[tick % SAVES], inputs_of(trial, tick), bytes);
    else if (tick > DENSE_DISTANCE)
        memcpy(trial->pushed[tick % SAVES], inputs_of(trial, tick - DENSE_DISTANCE), bytes);
    hand_step(trial, tick);
}

// ---- A timeline ---------------------------------------------------------------------------------

static struct hc_timeline *timeline_start(const struct hc_world *world) {
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = world;
    config.history = DENSE_DISTANCE;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    if (timeline == NULL)
        return NULL;
    hc_timeline_start(timeline);
    for (hc_player p = 0; p < world->players; p++)
        hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN);
    return timeline;
}

static void put_inputs(const struct trial *trial, struct hc_timeline *timeline, hc_tick tick) {
    const struct push *inputs = inputs_of(trial, tick);
    for (hc_player p = 0; p < trial->world.players; p++)
        hc_timeline_put_input(timeline, p, tick, &inputs[p]);
}

static void timeline_advance(struct trial *trial, struct hc_timeline *timeline, hc_tick tick,
                             bool rewind) {
    if (tick > 0 && !(rewind && trial->setting.late))
        put_inputs(trial, timeline, tick);
    if (rewind && tick > DENSE_DISTANCE) {
        if (trial->setting.late)
            put_inputs(trial, timeline, tick - DENSE_DISTANCE);
        else
            hc_timeline_redo(timeline, tick - DENSE_DISTANCE);
    }
    hc_timeline_advance(timeline);
}

// ---- The rounds ---------------------------------------------------------------------------------

/// The worlds that take turns, all at `tick`.
struct turns {
    struct trial *trial;
    bool rewind;
    hc_tick tick;
    struct hc_timeline *stepped, *run;
};

/// Advances a world by `ticks`: `timeline`, or the one kept by hand if that is NULL. Lowers `*best`
/// to the ns for a tick.
static void play(const struct turns *turns, struct hc_timeline *timeline, hc_tick ticks,
                 double *best) {
    uint64_t begun = now_ns();
    for (hc_tick t = turns->tick; t < turns->tick + ticks; t++)
        if (timeline == NULL)
            hand_advance(turns->trial, t, turns->rewind);
        else
            timeline_advance(turns->trial, timeline, t, turns->rewind);
    double ns = (double)(now_ns() - begun) / ticks;
    if (*best == 0 || ns < *best)
        *best = ns;
}

/// Whether a timeline has the states of the world kept by hand.
static bool equal(const struct trial *trial, const struct hc_timeline *timeline) {
    const uint8_t *states = hc_timeline_states(timeline, hc_timeline_head(timeline));
    bool same =
        memcmp(states + trial->world.stride, trial->now, trial->bodies * sizeof *trial->now) == 0;
    if (!same)
        fprintf(stderr, "a timeline and the world kept by hand differ\n");
    return same;
}

static bool take_turns(struct trial *trial, bool rewind, struct dense_times *times) {
    struct turns turns = {.trial = trial,
                          .rewind = rewind,
                          .stepped = timeline_start(&trial->world),
                          .run = timeline_start(&trial->run_world)};
    struct dense_times ignored = {0};
    bool ok = turns.stepped != NULL && turns.run != NULL;
    hand_start(trial);
    for (unsigned round = 0; ok && round <= ROUNDS; round++) {
        struct dense_times *to = round == 0 ? &ignored : times;
        hc_tick ticks = round == 0 ? WARM_UP : trial->ticks;
        play(&turns, NULL, ticks, &to->by_hand);
        play(&turns, turns.stepped, ticks, &to->step);
        play(&turns, turns.run, ticks, &to->run);
        turns.tick += ticks;
        ok = equal(trial, turns.stepped) && equal(trial, turns.run);
    }
    hc_timeline_destroy(turns.stepped);
    hc_timeline_destroy(turns.run);
    return ok;
}

bool dense_measure(const struct dense_setting *setting, struct dense_result *result) {
    struct trial trial;
    bool ok = set_up(&trial, setting);
    *result = (struct dense_result){.players = trial.world.players, .entities = trial.bodies};
    ok = ok && take_turns(&trial, true, &result->rewound) &&
         take_turns(&trial, false, &result->in_time);
    tear_down(&trial);
    return ok;
}
