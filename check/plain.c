/// The plain simulation's two buffers and its step.
#include "check/plain.h"

#include "common/scene.h"

#include <stdlib.h>
#include <string.h>

struct position {
    int64_t x, y;
    bool placed; ///< the entity is alive and its kind has a position
};

struct hc_plain {
    const struct hc_world *world;
    bool replica;
    uint8_t secret[HC_SCENE_SECRET_SIZE];
    bool has_secret;
    hc_tick tick;
    uint8_t *states, *presence;           ///< at `tick`
    uint8_t *next_states, *next_presence; ///< at the next tick
    uint8_t *past_states, *past_presence; ///< [lookback] worlds, that of a tick at tick % lookback
    hc_tick *past_ticks;                  ///< [lookback] the tick of each, or HC_NO_TICK
    struct position *positions;           ///< [entities] at `tick`
    hc_entity *near;                      ///< [entities] result of the newest `neighbours`
    hc_entity *past_near;                 ///< [entities] result of the newest `past_neighbours`
    hc_game_event *events;                ///< [entities][HC_EMITTED_MAX] of the newest step
    uint8_t *event_counts;                ///< [entities]
    uint8_t pattern;                      ///< differs from step to step
    hc_plain_stepper *stepper;            ///< NULL: the game's step
    void *context;                        ///< of `stepper`
};

/// Forgets all ticks before the current one.
static void forget(struct hc_plain *plain) {
    for (uint32_t i = 0; i < plain->world->game->lookback; i++)
        plain->past_ticks[i] = HC_NO_TICK;
}

struct hc_plain *hc_plain_create(const struct hc_world *world, bool replica) {
    struct hc_plain *plain = calloc(1, sizeof *plain);
    if (plain == NULL)
        return NULL;
    size_t bytes = (size_t)world->entities * world->stride;
    plain->world = world;
    plain->replica = replica;
    plain->has_secret = !replica;
    plain->states = calloc(1, bytes);
    plain->next_states = calloc(1, bytes);
    plain->presence = malloc(world->entities);
    plain->next_presence = malloc(world->entities);
    plain->positions = calloc(world->entities, sizeof *plain->positions);
    plain->near = calloc(world->entities, sizeof *plain->near);
    plain->past_near = calloc(world->entities, sizeof *plain->past_near);
    plain->past_states = calloc(world->game->lookback + 1u, bytes);
    plain->past_presence = calloc(world->game->lookback + 1u, world->entities);
    plain->past_ticks = calloc(world->game->lookback + 1u, sizeof *plain->past_ticks);
    plain->events = calloc((size_t)world->entities * HC_EMITTED_MAX, sizeof *plain->events);
    plain->event_counts = calloc(1, world->entities);
    if (!plain->states || !plain->next_states || !plain->presence || !plain->next_presence ||
        !plain->positions || !plain->near || !plain->past_near || !plain->past_states ||
        !plain->past_presence || !plain->past_ticks || !plain->events || !plain->event_counts) {
        hc_plain_destroy(plain);
        return NULL;
    }
    forget(plain);
    memset(plain->presence, replica ? HC_UNKNOWN : HC_ABSENT, world->entities);
    return plain;
}

void hc_plain_set_secret(struct hc_plain *plain, const uint8_t *secret) {
    plain->has_secret = secret != NULL;
    if (secret != NULL)
        memcpy(plain->secret, secret, sizeof plain->secret);
}

void hc_plain_set_stepper(struct hc_plain *plain, hc_plain_stepper *stepper, void *context) {
    plain->stepper = stepper;
    plain->context = context;
}

void hc_plain_destroy(struct hc_plain *plain) {
    if (plain == NULL)
        return;
    free(plain->states);
    free(plain->next_states);
    free(plain->presence);
    free(plain->next_presence);
    free(plain->positions);
    free(plain->near);
    free(plain->past_near);
    free(plain->past_states);
    free(plain->past_presence);
    free(plain->past_ticks);
    free(plain->events);
    free(plain->event_counts);
    free(plain);
}

void hc_plain_start(struct hc_plain *plain) {
    const struct hc_world *world = plain->world;
    plain->tick = 0;
    forget(plain);
    memset(plain->states, 0, (size_t)world->entities * world->stride);
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t *state = plain->states + (size_t)e * world->stride;
        bool alive = world->game->start(world, (hc_entity)e, state);
        plain->presence[e] = alive ? HC_ALIVE : HC_ABSENT;
        if (!alive)
            memset(state, 0, world->stride);
    }
}

void hc_plain_load(struct hc_plain *plain, hc_tick tick, const uint8_t *presence,
                   const uint8_t *states) {
    const struct hc_world *world = plain->world;
    plain->tick = tick;
    forget(plain);
    memcpy(plain->presence, presence, world->entities);
    memcpy(plain->states, states, (size_t)world->entities * world->stride);
}

void hc_plain_remember(struct hc_plain *plain, hc_tick tick, const uint8_t *presence,
                       const uint8_t *states) {
    const struct hc_world *world = plain->world;
    uint32_t lookback = world->game->lookback;
    HC_ASSERT(tick < plain->tick);
    if (plain->tick - tick > lookback)
        return;
    size_t bytes = (size_t)world->entities * world->stride, row = tick % lookback;
    plain->past_ticks[row] = tick;
    memcpy(plain->past_presence + row * world->entities, presence, world->entities);
    memcpy(plain->past_states + row * bytes, states, bytes);
}

void hc_plain_overlay(struct hc_plain *plain, hc_entity entity, uint8_t presence,
                      const void *state) {
    const struct hc_world *world = plain->world;
    HC_ASSERT(entity < world->entities);
    HC_ASSERT(plain->replica || presence != HC_UNKNOWN);
    uint8_t *slot = plain->states + (size_t)entity * world->stride;
    memset(slot, 0, world->stride);
    plain->presence[entity] = presence;
    if (presence == HC_ALIVE)
        memcpy(slot, state, hc_world_kind(world, entity)->state_size);
}

/// hc_scene.neighbours by comparing with every entity; the scene's source is a hc_plain.
static uint32_t neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    struct hc_plain *plain = scene->source;
    const struct position *centre = &plain->positions[self];
    const int64_t reach = plain->world->game->reach;
    uint32_t count = 0;
    *ids = plain->near;
    if (!centre->placed)
        return 0;
    for (uint32_t e = 0; e < plain->world->entities; e++) {
        const struct position *other = &plain->positions[e];
        if (e == self || !other->placed)
            continue;
        if (llabs(other->x - centre->x) <= reach && llabs(other->y - centre->y) <= reach)
            plain->near[count++] = (hc_entity)e;
    }
    return count;
}

/// hc_scene.past; the scene's source is a hc_plain.
static bool past(const struct hc_scene *scene, uint32_t ago, struct hc_past *then) {
    const struct hc_plain *plain = scene->source;
    const struct hc_world *world = plain->world;
    size_t row = (scene->tick - ago) % world->game->lookback;
    if (ago > scene->tick || plain->past_ticks[row] != scene->tick - ago)
        return false;
    then->presence = plain->past_presence + row * world->entities;
    then->states = plain->past_states + row * world->entities * world->stride;
    return true;
}

/// hc_scene.past_neighbours by comparing with every entity.
static uint32_t past_neighbours(struct hc_scene *scene, hc_entity self, uint32_t ago,
                                const hc_entity **ids) {
    struct hc_plain *plain = scene->source;
    const struct hc_world *world = plain->world;
    const struct position *centre = &plain->positions[self];
    const int64_t reach = world->game->reach;
    struct hc_past then;
    int64_t x, y;
    uint32_t count = 0;
    *ids = plain->past_near;
    if (!centre->placed || !past(scene, ago, &then))
        return 0;
    for (uint32_t e = 0; e < world->entities; e++)
        if (e != self && then.presence[e] == HC_ALIVE &&
            hc_world_position(world, (hc_entity)e, then.states + (size_t)e * world->stride, &x,
                              &y) &&
            llabs(x - centre->x) <= reach && llabs(y - centre->y) <= reach)
            plain->past_near[count++] = (hc_entity)e;
    return count;
}

static void find_positions(struct hc_plain *plain) {
    const struct hc_world *world = plain->world;
    for (uint32_t e = 0; e < world->entities; e++) {
        struct position *position = &plain->positions[e];
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        const uint8_t *state = plain->states + (size_t)e * world->stride;
        position->placed = plain->presence[e] == HC_ALIVE && kind->x != NULL;
        if (position->placed) {
            position->x = hc_field_get(&kind->fields[hc_kind_field(kind, kind->x)], state);
            position->y = hc_field_get(&kind->fields[hc_kind_field(kind, kind->y)], state);
        }
    }
}

static const struct hc_field *reduced_field(const struct hc_world *world, hc_entity player,
                                            const struct hc_reduction *reduction) {
    const struct hc_kind *kind = hc_world_kind(world, player);
    return &kind->fields[hc_kind_field(kind, reduction->field)];
}

static void reduce(const struct hc_plain *plain, int64_t *results) {
    const struct hc_world *world = plain->world;
    for (unsigned r = 0; r < world->game->reduction_count; r++) {
        const struct hc_reduction *reduction = &world->game->reductions[r];
        int64_t count = 0, sum = 0, max = 0;
        for (hc_player p = 0; p < world->players; p++) {
            hc_entity e = hc_world_player(world, p);
            if (plain->presence[e] != HC_ALIVE)
                continue;
            int64_t value = 0;
            if (reduction->op != HC_REDUCE_COUNT)
                value = hc_field_get(reduced_field(world, e, reduction),
                                     plain->states + (size_t)e * world->stride);
            max = count == 0 || value > max ? value : max;
            sum += value;
            count++;
        }
        results[r] = reduction->op == HC_REDUCE_COUNT ? count
                     : reduction->op == HC_REDUCE_SUM ? sum
                                                      : max;
    }
}

/// Writes the next state of one entity whose state is known.
static void step_entity(struct hc_plain *plain, struct hc_scene *scene, hc_entity entity) {
    const struct hc_world *world = plain->world;
    uint8_t *out = plain->next_states + (size_t)entity * world->stride;
    // Unwritten bytes hold the pattern, and so differ from the timeline's.
    plain->pattern = (uint8_t)(plain->pattern * 5u + 73u);
    memset(out, plain->pattern, hc_world_kind(world, entity)->state_size);
    scene->self = scene->event_first = entity;
    scene->groups_read = 0;
    scene->past_read = 0;
    scene->events = plain->events + (size_t)entity * HC_EMITTED_MAX;
    scene->event_counts = plain->event_counts + entity;
    bool alive = plain->stepper != NULL ? plain->stepper(plain->context, scene, entity, out)
                                        : world->game->step(scene, entity, out);
    plain->next_presence[entity] = alive ? HC_ALIVE : HC_ABSENT;
    if (!alive)
        memset(out, 0, world->stride);
}

static void swap_bytes(uint8_t **a, uint8_t **b) {
    uint8_t *swapped = *a;
    *a = *b;
    *b = swapped;
}

void hc_plain_step(struct hc_plain *plain, const uint8_t *inputs, const uint8_t *roster_changes) {
    const struct hc_world *world = plain->world;
    int64_t reductions[HC_REDUCTIONS_MAX];
    find_positions(plain);
    reduce(plain, reductions);
    struct hc_scene scene = {
        .world = world,
        .tick = plain->tick,
        .states = plain->states,
        .presence = plain->presence,
        .inputs = inputs,
        .roster_changes = roster_changes,
        .reductions = reductions,
        .secret = plain->has_secret ? plain->secret : NULL,
        .neighbours = neighbours,
        .source = plain,
        .past = past,
        .past_neighbours = past_neighbours,
    };
    bool players_known = hc_scene_players_known(world, plain->presence);
    HC_ASSERT(players_known || plain->replica);
    memset(plain->next_states, 0, (size_t)world->entities * world->stride);
    memset(plain->events, 0, (size_t)world->entities * HC_EMITTED_MAX * sizeof *plain->events);
    memset(plain->event_counts, 0, world->entities);
    for (uint32_t e = 0; e < world->entities; e++) {
        if (plain->presence[e] == HC_UNKNOWN) {
            plain->next_presence[e] = HC_UNKNOWN;
        } else if (e == HC_REFEREE && !players_known) {
            plain->next_presence[e] = plain->presence[e];
            hc_scene_hold_referee(world, plain->states, plain->next_states);
        } else {
            step_entity(plain, &scene, (hc_entity)e);
        }
    }
    swap_bytes(&plain->states, &plain->next_states);
    swap_bytes(&plain->presence, &plain->next_presence);
    plain->tick++;
    hc_plain_remember(plain, plain->tick - 1, plain->next_presence, plain->next_states);
}

hc_tick hc_plain_tick(const struct hc_plain *plain) {
    return plain->tick;
}

const uint8_t *hc_plain_states(const struct hc_plain *plain) {
    return plain->states;
}

const uint8_t *hc_plain_presence(const struct hc_plain *plain) {
    return plain->presence;
}

const hc_game_event *hc_plain_events(const struct hc_plain *plain) {
    return plain->events;
}

const uint8_t *hc_plain_event_counts(const struct hc_plain *plain) {
    return plain->event_counts;
}
