/// The draws of players' joins, leaves, inputs and delays.
#include "tests/exact/truth.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "check/plain.h"

#include <stdlib.h>
#include <string.h>

size_t truth_cell(const struct truth *truth, hc_player player, hc_tick tick) {
    HC_ASSERT(tick < truth->plan.ticks && player < truth->plan.world->players);
    return (size_t)tick * truth->plan.world->players + player;
}

const uint8_t *truth_input(const struct truth *truth, hc_player player, hc_tick tick) {
    return truth->inputs + truth_cell(truth, player, tick) * truth->plan.world->game->input_size;
}

void truth_draw_input(const struct hc_world *world, struct hc_rng *rng, uint8_t *input) {
    struct hc_arena_input drawn = {
        .move_x = (int8_t)((int)hc_rng_below(rng, 3) - 1),
        .move_y = (int8_t)((int)hc_rng_below(rng, 3) - 1),
        .aim = (uint8_t)(hc_rng_below(rng, 16) * 16),
        .fire = hc_rng_below(rng, 4) != 0,
    };
    world->game->sanitize_input(&drawn);
    memcpy(input, &drawn, sizeof drawn);
}

/// Players join during the first ticks; some leave, and most of these return.
static void draw_roster_changes(struct truth *truth, struct hc_rng *rng, hc_player player) {
    bool in = false;
    for (hc_tick t = 0; t < truth->plan.ticks; t++) {
        size_t cell = truth_cell(truth, player, t);
        truth->in[cell] = in;
        if (in && hc_rng_chance(rng, truth->plan.leave_ppm)) {
            truth->roster_changes[cell] = HC_ROSTER_LEAVE;
            in = false;
        } else if (!in && hc_rng_chance(rng, t < 8 ? 400000 : 60000)) {
            truth->roster_changes[cell] = HC_ROSTER_JOIN;
            in = true;
        }
    }
}

static void draw_inputs(struct truth *truth, struct hc_rng *rng, hc_player player) {
    const struct truth_plan *plan = &truth->plan;
    uint8_t input[HC_INPUT_MAX] = {0};
    uint32_t hold = 0, steady = 0;
    int32_t lateness = 0;
    for (hc_tick t = 0; t < plan->ticks; t++) {
        size_t cell = truth_cell(truth, player, t);
        if (hold-- == 0) {
            truth_draw_input(plan->world, rng, input);
            hold = hc_rng_below(rng, plan->hold_max);
        }
        memcpy(truth->inputs + cell * plan->world->game->input_size, input,
               plan->world->game->input_size);
        // The latency is constant for a while, with jitter around it.
        if (steady-- == 0) {
            lateness = (int32_t)hc_rng_below(rng, (uint32_t)(plan->late_max + plan->early_max + 1));
            lateness -= plan->early_max;
            steady = hc_rng_below(rng, 30);
        }
        int32_t at = lateness + (int32_t)hc_rng_below(rng, 5) - 2;
        at = at > plan->late_max ? plan->late_max : at < -plan->early_max ? -plan->early_max : at;
        int32_t arrival = (int32_t)t + at < 0 ? 0 : (int32_t)t + at;
        truth->arrival[cell] = hc_rng_chance(rng, plan->missing_ppm) ? TRUTH_NEVER : arrival;
    }
}

static bool simulate(struct truth *truth) {
    const struct hc_world *world = truth->plan.world;
    size_t bytes = (size_t)world->entities * world->stride;
    size_t input_size = world->game->input_size;
    struct hc_plain *plain = hc_plain_create(world, false);
    uint8_t *inputs = calloc(world->players, input_size);
    bool room = plain != NULL && inputs != NULL;
    if (room)
        hc_plain_start(plain);
    for (hc_tick t = 0; room && t < truth->plan.ticks; t++) {
        memcpy(truth->states + t * bytes, hc_plain_states(plain), bytes);
        memcpy(truth->presence + (size_t)t * world->entities, hc_plain_presence(plain),
               world->entities);
        for (hc_player p = 0; p < world->players; p++) {
            memcpy(inputs + p * input_size, truth_input(truth, p, t), input_size);
            if (!truth->in[truth_cell(truth, p, t)])
                memset(inputs + p * input_size, 0, input_size);
        }
        hc_plain_step(plain, inputs, truth->roster_changes + truth_cell(truth, 0, t));
    }
    free(inputs);
    hc_plain_destroy(plain);
    return room;
}

struct truth *truth_create(const struct truth_plan *plan, struct hc_rng *rng) {
    struct truth *truth = calloc(1, sizeof *truth);
    if (truth == NULL)
        return NULL;
    const struct hc_world *world = plan->world;
    size_t cells = (size_t)plan->ticks * world->players;
    size_t simulated = plan->states ? plan->ticks : 1;
    truth->plan = *plan;
    truth->inputs = calloc(cells, world->game->input_size);
    truth->roster_changes = calloc(cells, sizeof *truth->roster_changes);
    truth->in = calloc(cells, sizeof *truth->in);
    truth->arrival = calloc(cells, sizeof *truth->arrival);
    truth->states = calloc(simulated, (size_t)world->entities * world->stride);
    truth->presence = calloc(simulated, world->entities);
    bool room = truth->inputs && truth->roster_changes && truth->in && truth->arrival &&
                truth->states && truth->presence;
    for (hc_player p = 0; room && p < world->players; p++) {
        draw_roster_changes(truth, rng, p);
        draw_inputs(truth, rng, p);
    }
    if (room && plan->states)
        room = simulate(truth);
    if (!room) {
        truth_destroy(truth);
        return NULL;
    }
    return truth;
}

void truth_destroy(struct truth *truth) {
    if (truth == NULL)
        return;
    free(truth->inputs);
    free(truth->roster_changes);
    free(truth->in);
    free(truth->arrival);
    free(truth->states);
    free(truth->presence);
    free(truth);
}
