/// Compares the timeline with the game's pure steps, over the same world, inputs and ticks: the
/// pure steps (two buffers, an index built for each tick), the timeline with every input in time,
/// and the timeline with every input late, selective and full.
#define _POSIX_C_SOURCE 200809L

#include "common/grid.h"
#include "common/scene.h"
#include "common/timeline.h"
#include "hindcast/arena.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICKS = 1200, LATE = 9, WARM_UP = 120, BLOCK = 10 }; ///< ticks

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// The input of player `p` at `tick`, with a new direction about three times a second.
static struct hc_arena_input input_of(hc_player p, hc_tick tick) {
    uint64_t r = hc_random(7, (uint32_t)p, (tick + p) / 20, 0);
    return (struct hc_arena_input){.move_x = (int8_t)((int)(r % 3) - 1),
                                   .move_y = (int8_t)((int)(r / 3 % 3) - 1),
                                   .aim = (uint8_t)(r >> 16),
                                   .fire = r >> 24 & 1};
}

// ---- The pure steps -----------------------------------------------------------------------------

struct pure {
    struct hc_world *world;
    struct hc_grid_shape shape;
    struct hc_grid grid;
    void *grid_memory;
    uint8_t *states[2], *presence[2];
    struct hc_arena_input *inputs; ///< [BLOCK][players]
    uint8_t *roster_changes;
    hc_entity *near;
    unsigned now;
};

static uint32_t neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    struct pure *pure = scene->source;
    const struct hc_world *world = scene->world;
    int64_t from[2] = {0, 0};
    uint32_t count = 0, reach = world->game->reach;
    *ids = pure->near;
    if (scene->presence[self] != HC_ALIVE ||
        !hc_world_position(world, self, scene->states + (size_t)self * world->stride, &from[0],
                           &from[1]))
        return 0;
    uint32_t found = hc_grid_query(&pure->shape, pure->grid, from, reach, pure->near);
    for (uint32_t i = 0; i < found; i++) {
        hc_entity e = pure->near[i];
        if (e == self)
            continue;
        uint32_t at = count++;
        for (; at > 0 && pure->near[at - 1] > e; at--)
            pure->near[at] = pure->near[at - 1];
        pure->near[at] = e;
    }
    return count;
}

/// The inputs of `tick`, which is in the newest block.
static struct hc_arena_input *inputs_of(const struct pure *pure, hc_tick tick) {
    return pure->inputs + (size_t)(tick % BLOCK) * pure->world->players;
}

static void pure_tick(struct pure *pure, hc_tick tick) {
    const struct hc_world *world = pure->world;
    int64_t reductions[HC_REDUCTIONS_MAX];
    uint8_t *states = pure->states[pure->now], *presence = pure->presence[pure->now];
    hc_grid_clear(&pure->shape, pure->grid);
    for (uint32_t e = 0; e < world->entities; e++) {
        int64_t x, y;
        if (presence[e] == HC_ALIVE &&
            hc_world_position(world, (hc_entity)e, states + e * world->stride, &x, &y))
            hc_grid_insert(pure->grid, hc_grid_bucket(&pure->shape, x, y), (hc_entity)e, x, y);
    }
    memset(pure->roster_changes, tick == 0 ? HC_ROSTER_JOIN : HC_ROSTER_NONE, world->players);
    hc_scene_reduce(world, presence, states, reductions);
    static const uint8_t secret[HC_SCENE_SECRET_SIZE]; // the timeline's
    struct hc_scene scene = {.world = world,
                             .tick = tick,
                             .states = states,
                             .presence = presence,
                             .inputs = (const uint8_t *)inputs_of(pure, tick),
                             .roster_changes = pure->roster_changes,
                             .reductions = reductions,
                             .secret = secret,
                             .neighbours = neighbours,
                             .source = pure};
    uint8_t *next = pure->states[!pure->now], *next_presence = pure->presence[!pure->now];
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t *out = next + e * world->stride;
        uint16_t size = hc_world_kind(world, (hc_entity)e)->state_size;
        scene.self = (hc_entity)e;
        bool alive = world->game->step(&scene, (hc_entity)e, out);
        next_presence[e] = alive ? HC_ALIVE : HC_ABSENT;
        memset(out + (alive ? size : 0), 0, world->stride - (alive ? size : 0u));
    }
    pure->now = !pure->now;
}

static void pure_start(struct pure *pure, struct hc_world *world) {
    *pure = (struct pure){.world = world, .shape = hc_grid_shape(world)};
    pure->grid_memory = calloc(1, hc_grid_memory(&pure->shape));
    pure->grid = hc_grid_at(&pure->shape, pure->grid_memory);
    for (int i = 0; i < 2; i++) {
        pure->states[i] = calloc(world->entities, world->stride);
        pure->presence[i] = calloc(world->entities, 1);
    }
    pure->inputs = calloc((size_t)BLOCK * world->players, sizeof *pure->inputs);
    pure->roster_changes = calloc(world->players, 1);
    pure->near = calloc(world->entities, sizeof *pure->near);
    for (uint32_t e = 0; e < world->entities; e++)
        pure->presence[0][e] =
            world->game->start(world, (hc_entity)e, pure->states[0] + e * world->stride)
                ? HC_ALIVE
                : HC_ABSENT;
}

static void pure_end(struct pure *pure) {
    for (int i = 0; i < 2; i++) {
        free(pure->states[i]);
        free(pure->presence[i]);
    }
    free(pure->grid_memory);
    free(pure->inputs);
    free(pure->roster_changes);
    free(pure->near);
}

// ---- The timeline -------------------------------------------------------------------------------

struct result {
    double ns_tick;                 ///< for an advance
    struct hc_timeline_stats stats; ///< of the measured ticks
    uint64_t hash;
};

static struct result run_timeline(const struct hc_world *world, hc_tick late, bool full) {
    struct hc_timeline_config config = hc_timeline_config_default();
    struct result result = {0};
    uint64_t ns = 0;
    config.world = world;
    config.full = full;
    struct hc_timeline *tl = hc_timeline_create(&config);
    hc_timeline_start(tl);
    struct hc_timeline_stats before = {0};
    for (hc_tick t = 0; t < TICKS + late; t++) {
        for (hc_player p = 0; p < world->players; p++) {
            if (t == 0)
                hc_timeline_put_roster(tl, p, 0, HC_ROSTER_JOIN);
            struct hc_arena_input input = input_of(p, t - late);
            if (t > late && t - late < TICKS)
                hc_timeline_put_input(tl, p, t - late, &input);
        }
        if (t == WARM_UP + late)
            before = *hc_timeline_stats(tl);
        uint64_t begun = now_ns();
        if (t < TICKS)
            hc_timeline_advance(tl);
        else
            hc_timeline_resimulate(tl); // the last inputs still arrive
        if (t >= WARM_UP + late && t < TICKS)
            ns += now_ns() - begun;
    }
    result.stats = *hc_timeline_stats(tl);
    result.stats.steps -= before.steps;
    result.stats.resimulated_steps -= before.resimulated_steps;
    result.stats.resimulated_ticks -= before.resimulated_ticks;
    result.ns_tick = (double)ns / (TICKS - WARM_UP - late);
    result.hash = hc_timeline_hash(tl, hc_timeline_head(tl));
    hc_timeline_destroy(tl);
    return result;
}

// ---- In time ------------------------------------------------------------------------------------

/// Medians over blocks of ticks in which the pure steps and the timeline take turns.
struct in_time {
    double pure, timeline; ///< ns for a step
    double ratio;
    double ns_tick; ///< the timeline's
    uint64_t pure_hash, timeline_hash;
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/// Gives the inputs of the BLOCK ticks from `first` on to both.
static void make_inputs(struct pure *pure, struct hc_timeline *tl, hc_tick first) {
    for (hc_tick t = first; t < first + BLOCK; t++) {
        for (hc_player p = 0; p < pure->world->players; p++) {
            struct hc_arena_input *input = inputs_of(pure, t) + p;
            *input = t == 0 ? (struct hc_arena_input){0} : input_of(p, t);
            if (t == 0)
                hc_timeline_put_roster(tl, p, 0, HC_ROSTER_JOIN);
            else
                hc_timeline_put_input(tl, p, t, input);
        }
    }
}

static struct in_time run_in_time(struct hc_world *world) {
    enum { BLOCKS = (TICKS - WARM_UP) / BLOCK };
    struct hc_timeline_config config = hc_timeline_config_default();
    double pure_ns[BLOCKS], timeline_ns[BLOCKS], ratios[BLOCKS];
    struct pure pure;
    config.world = world;
    struct hc_timeline *tl = hc_timeline_create(&config);
    hc_timeline_start(tl);
    pure_start(&pure, world);
    for (hc_tick first = 0; first < TICKS; first += BLOCK) {
        make_inputs(&pure, tl, first);
        uint64_t begun = now_ns();
        for (hc_tick t = first; t < first + BLOCK; t++)
            pure_tick(&pure, t);
        uint64_t middle = now_ns();
        for (hc_tick t = first; t < first + BLOCK; t++)
            hc_timeline_advance(tl);
        double steps = BLOCK * world->entities, pure_block = (double)(middle - begun) / steps;
        double timeline_block = (double)(now_ns() - middle) / steps;
        if (first < WARM_UP)
            continue;
        size_t block = (first - WARM_UP) / BLOCK;
        pure_ns[block] = pure_block;
        timeline_ns[block] = timeline_block;
        ratios[block] = timeline_block / pure_block;
    }
    struct in_time result = {
        .pure = median(pure_ns, BLOCKS),
        .timeline = median(timeline_ns, BLOCKS),
        .ratio = median(ratios, BLOCKS),
        .pure_hash = hc_world_hash(world, pure.presence[pure.now], pure.states[pure.now]),
        .timeline_hash = hc_timeline_hash(tl, hc_timeline_head(tl)),
    };
    result.ns_tick = result.timeline * world->entities;
    hc_timeline_destroy(tl);
    pure_end(&pure);
    return result;
}

static bool bench_world(hc_player players) {
    struct hc_world world;
    if (hc_world_init(&world, &hc_arena, players, 60, 1, NULL) != HC_OK)
        return false;
    struct in_time timely = run_in_time(&world);
    struct result late = run_timeline(&world, LATE, false);
    struct result full = run_timeline(&world, LATE, true);
    double again = (late.ns_tick - timely.ns_tick) * (TICKS - WARM_UP - LATE);
    double again_full = (full.ns_tick - timely.ns_tick) * (TICKS - WARM_UP - LATE);
    printf("%7u %8u %8.1f %8.1f %6.2fx %10.0f %10.0f %10.1f %10.1f %8.3f\n", players,
           world.entities, timely.pure, timely.timeline, timely.ratio,
           again / (double)late.stats.resimulated_ticks,
           again_full / (double)full.stats.resimulated_ticks,
           again / (double)late.stats.resimulated_steps,
           again_full / (double)full.stats.resimulated_steps,
           (double)late.stats.resimulated_steps / (double)full.stats.resimulated_steps);
    hc_world_free(&world);
    uint64_t hash = timely.pure_hash;
    if (hash != timely.timeline_hash || hash != late.hash || hash != full.hash) {
        fprintf(stderr, "the four runs of %u players do not end in the same world\n", players);
        return false;
    }
    return true;
}

bool bench_timeline(const struct bench_options *options, json_t *json) {
    (void)options, (void)json;
    static const hc_player sizes[] = {2, 8, 32, 128, 512};
    printf("arena at 60 Hz, %d ticks; late: every input %d ticks late. All runs end in one hash.\n",
           TICKS, LATE);
    printf("                      ns a step, in time        ns a resimulated tick   ns a repeated "
           "step    steps\n");
    printf("players entities     pure timeline  ratio  selective       full  selective       full "
           "sel/full\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!bench_world(sizes[i]))
            return false;
    return true;
}
