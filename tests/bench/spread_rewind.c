/// The game of birds, and two timelines of it that are rewound in turns.
#define _POSIX_C_SOURCE 200809L

#include "tests/bench/spread_rewind.h"

#include "common/timeline.h"
#include "hindcast/fixed.h"
#include "hindcast/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WARM_UP = 14,
    TICKS = 25, ///< measured
    REACH = 512,
    CONTACT = REACH / 4,   ///< birds push each other apart within this distance in x and y
    FLOCK_RADIUS = REACH,  ///< the homes of a player's birds are within this distance in x and y
    CLUSTER = 256,         ///< entities
    CLUSTER_SIDE = 2900,   ///< of the square of a cluster's homes
    CLUSTERS_APART = 8192, ///< from one cluster's corner to the next
    OWNED = 4,
};

/// The processor time of this thread: a tick lasts too long for other programs to leave it alone.
static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---- The game -----------------------------------------------------------------------------------

struct air {
    uint32_t ticks;
};

/// A bird is drawn to its home, follows its player's speed, and is pushed away by birds in contact.
struct bird {
    int32_t x, y, home_x, home_y;
    int16_t vx, vy;
};

struct flap {
    int8_t x, y;
};

static const struct hc_field air_fields[] = {HC_FIELD(struct air, ticks, 32, false)};
static const struct hc_field bird_fields[] = {
    HC_FIELD(struct bird, x, 24, true),      HC_FIELD(struct bird, y, 24, true),
    HC_FIELD(struct bird, home_x, 24, true), HC_FIELD(struct bird, home_y, 24, true),
    HC_FIELD(struct bird, vx, 16, true),     HC_FIELD(struct bird, vy, 16, true)};
static const struct hc_field flap_fields[] = {HC_FIELD(struct flap, x, 8, true),
                                              HC_FIELD(struct flap, y, 8, true)};
static const struct hc_kind kinds[] = {
    {"air", sizeof(struct air), 1, air_fields, NULL, NULL, 0, 0},
    {"bird", sizeof(struct bird), 6, bird_fields, "x", "y", 1000, 0},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}, {.kind = 1, .count = OWNED - 1}};

static int32_t draw(hc_entity self, uint32_t purpose, uint32_t below) {
    return (int32_t)(hc_random(3, self, purpose, 0) % below);
}

static struct bird bird_at(int32_t x, int32_t y) {
    return (struct bird){.x = x, .y = y, .home_x = x, .home_y = y};
}

static bool start_spread(const struct hc_world *world, hc_entity self, void *out) {
    int32_t side = REACH * (int32_t)hc_fixed_sqrt(world->entities);
    if (self == HC_REFEREE)
        return true;
    hc_entity player = hc_world_player(world, world->owner_of[self]);
    *(struct bird *)out =
        bird_at(draw(player, 0, (uint32_t)side) + draw(self, 1, 2 * FLOCK_RADIUS) - FLOCK_RADIUS,
                draw(player, 2, (uint32_t)side) + draw(self, 3, 2 * FLOCK_RADIUS) - FLOCK_RADIUS);
    return true;
}

static bool start_clustered(const struct hc_world *world, hc_entity self, void *out) {
    if (self == HC_REFEREE)
        return true;
    int32_t cluster = world->owner_of[self] / (CLUSTER / OWNED);
    *(struct bird *)out = bird_at(cluster % 8 * CLUSTERS_APART + draw(self, 0, CLUSTER_SIDE),
                                  cluster / 8 * CLUSTERS_APART + draw(self, 1, CLUSTER_SIDE));
    return true;
}

/// Adds the push of `other` along one axis to `*v`, if it is in contact along both.
static void push_apart(int32_t d, int32_t *v) {
    *v += d > 0 ? 4 : -4;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const void *state = hc_scene_state(scene, self);
    if (self == HC_REFEREE) {
        ((struct air *)out)->ticks = ((const struct air *)state)->ticks + 1;
        return true;
    }
    struct bird *bird = out;
    *bird = *(const struct bird *)state;
    int32_t vx = bird->vx + (bird->home_x - bird->x) / 32;
    int32_t vy = bird->vy + (bird->home_y - bird->y) / 32;
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    for (uint32_t i = 0; i < count; i++) {
        const struct bird *other = hc_scene_state(scene, ids[i]);
        int32_t dx = bird->x - other->x, dy = bird->y - other->y;
        if (dx < -CONTACT || dx > CONTACT || dy < -CONTACT || dy > CONTACT)
            continue;
        push_apart(dx, &vx);
        push_apart(dy, &vy);
    }
    hc_entity player = hc_world_player(scene->world, scene->world->owner_of[self]);
    if (self == player) {
        const struct flap *flap = hc_scene_input(scene);
        vx += flap->x;
        vy += flap->y;
    } else {
        const struct bird *leader = hc_scene_state(scene, player);
        vx += leader->vx / 4;
        vy += leader->vy / 4;
    }
    bird->vx = (int16_t)hc_fixed_clamp(vx - vx / 4, -100, 100);
    bird->vy = (int16_t)hc_fixed_clamp(vy - vy / 4, -100, 100);
    bird->x += bird->vx;
    bird->y += bird->vy;
    return true;
}

static void predict_input(const void *last, uint32_t age, void *out) {
    (void)age;
    memcpy(out, last, sizeof(struct flap));
}

static void sanitize_input(void *input) {
    (void)input; // all that fits is allowed
}

static const struct hc_game spread_game = {
    .name = "birds",
    .version = 1,
    .players_max = HC_PLAYERS_MAX,
    .kinds = kinds,
    .kind_count = 2,
    .owned = owned,
    .owned_count = 2,
    .input_fields = flap_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct flap),
    .reach = REACH,
    .start = start_spread,
    .step = step,
    .predict_input = predict_input,
    .sanitize_input = sanitize_input,
};

// ---- The timelines ------------------------------------------------------------------------------

enum { SELECTIVE, FULL, VARIANTS };

struct trial {
    const struct spread_setting *setting;
    struct hc_game game;
    struct hc_world world;
    int variants; ///< a single late input has no full variant, which would empty the caches
    struct hc_timeline *timelines[VARIANTS];
    double ns[VARIANTS][TICKS];
    uint64_t steps[VARIANTS];
};

static bool set_up(struct trial *trial, const struct spread_setting *setting) {
    *trial = (struct trial){.setting = setting, .game = spread_game};
    trial->variants = setting->percent == 0 ? 1 : VARIANTS;
    if (setting->clustered)
        trial->game.start = start_clustered;
    if (hc_world_init(&trial->world, &trial->game, (uint16_t)(setting->entities / OWNED), 60, 1,
                      NULL) != HC_OK)
        return false;
    for (int v = 0; v < trial->variants; v++) {
        struct hc_timeline_config config = hc_timeline_config_default();
        config.world = &trial->world;
        config.history = 16;
        config.full = v == FULL;
        trial->timelines[v] = hc_timeline_create(&config);
        if (trial->timelines[v] == NULL)
            return false;
        hc_timeline_start(trial->timelines[v]);
        for (hc_player p = 0; p < trial->world.players; p++)
            hc_timeline_put_roster(trial->timelines[v], p, 0, HC_ROSTER_JOIN);
    }
    return true;
}

static void tear_down(struct trial *trial) {
    for (int v = 0; v < VARIANTS; v++)
        hc_timeline_destroy(trial->timelines[v]);
    hc_world_free(&trial->world);
}

/// Whether the input of `player` at `tick` is late: of every so manyth player always, or of a
/// single player, another one in each tick.
static bool is_late(const struct trial *trial, hc_player player, hc_tick tick) {
    hc_player players = trial->world.players;
    if (trial->setting->percent == 0)
        return player == (tick * 37) % players;
    uint32_t late = players * trial->setting->percent / 100;
    return player % (players / (late > 0 ? late : 1)) == 0;
}

/// The input of `player` at `tick`: a late one is another than the one before.
static struct flap input_of(const struct trial *trial, hc_player player, hc_tick tick) {
    hc_tick held = is_late(trial, player, tick) ? tick : (tick + player) / 16;
    uint64_t random = hc_random(5, player, held, 0);
    return (struct flap){.x = (int8_t)(random % 129 - 64),
                         .y = (int8_t)((random >> 32) % 129 - 64)};
}

static void put(const struct trial *trial, int variant, hc_player player, hc_tick tick) {
    struct flap input = input_of(trial, player, tick);
    hc_timeline_put_input(trial->timelines[variant], player, tick, &input);
}

/// Puts the late inputs of SPREAD_LATE ticks before the head and resimulates; returns the ns of
/// both.
static double rewind_once(struct trial *trial, int variant, hc_tick head) {
    hc_tick tick = head - SPREAD_LATE;
    uint64_t begun = now_ns();
    if (trial->setting->percent == 0)
        put(trial, variant, (hc_player)((tick * 37) % trial->world.players), tick);
    for (hc_player p = 0; trial->setting->percent != 0 && p < trial->world.players; p++)
        if (is_late(trial, p, tick))
            put(trial, variant, p, tick);
    hc_timeline_resimulate(trial->timelines[variant]);
    return (double)(now_ns() - begun);
}

static void play_tick(struct trial *trial, hc_tick tick) {
    for (int v = 0; v < trial->variants; v++) {
        const struct hc_timeline_stats *stats = hc_timeline_stats(trial->timelines[v]);
        uint64_t steps = stats->resimulated_steps;
        double ns = tick > SPREAD_LATE ? rewind_once(trial, v, tick) : 0;
        if (tick >= WARM_UP) {
            trial->ns[v][tick - WARM_UP] = ns;
            trial->steps[v] += stats->resimulated_steps - steps;
        }
        for (hc_player p = 0; tick > 0 && p < trial->world.players; p++)
            if (!is_late(trial, p, tick))
                put(trial, v, p, tick);
        hc_timeline_advance(trial->timelines[v]);
    }
}

// ---- The results --------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/// The mean number of neighbours of the first entities at the head.
static double mean_neighbours(const struct trial *trial) {
    const struct hc_timeline *timeline = trial->timelines[SELECTIVE];
    const uint8_t *states = hc_timeline_states(timeline, hc_timeline_head(timeline));
    size_t stride = trial->world.stride;
    uint64_t pairs = 0;
    for (uint32_t a = 1; a <= CLUSTER; a++)
        for (uint32_t b = 1; b < trial->world.entities; b++) {
            const struct bird *one = (const void *)(states + a * stride);
            const struct bird *other = (const void *)(states + b * stride);
            pairs += a != b && abs(one->x - other->x) <= REACH && abs(one->y - other->y) <= REACH;
        }
    return (double)pairs / CLUSTER;
}

bool spread_measure(const struct spread_setting *setting, struct spread_result *result) {
    struct trial *trial = calloc(1, sizeof *trial);
    bool ok = trial != NULL && set_up(trial, setting);
    for (hc_tick t = 0; ok && t < WARM_UP + TICKS; t++)
        play_tick(trial, t);
    if (ok) {
        hc_tick head = WARM_UP + TICKS;
        ok = trial->variants == 1 || hc_timeline_hash(trial->timelines[SELECTIVE], head) ==
                                         hc_timeline_hash(trial->timelines[FULL], head);
        if (!ok)
            fprintf(stderr, "selective and full end in different worlds\n");
        *result = (struct spread_result){
            .neighbours = mean_neighbours(trial),
            .selective_us = median(trial->ns[SELECTIVE], TICKS) / 1000,
            .full_us = median(trial->ns[FULL], TICKS) / 1000,
            .steps = (double)trial->steps[SELECTIVE] / TICKS,
            .full_steps = (double)trial->steps[FULL] / TICKS,
        };
    }
    if (trial != NULL)
        tear_down(trial);
    free(trial);
    return ok;
}
