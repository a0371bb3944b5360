/// The scene in which a unit is stepped alone, and the extrapolation of its values there.
#include "common/extrapolate.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

/// The arrays of an empty scene: between two calls every entity is unknown with a state of zeros,
/// and every input and roster change is zero.
struct hc_extrapolator {
    const struct hc_world *world;
    uint8_t *states;         ///< [entities * stride]
    uint8_t *presence;       ///< [entities]
    uint8_t *inputs;         ///< [players * input_size]
    uint8_t *roster_changes; ///< [players]
    uint8_t *next;           ///< [per_owner * stride] the next states during a tick
    uint8_t groups_read;     ///< of the referee, by the steps of the newest extrapolation
    int64_t reductions[HC_REDUCTIONS_MAX];
};

// ---- Memory -------------------------------------------------------------------------------------

/// Lays the struct and then its arrays out from `base`; returns the bytes needed.
static size_t layout(struct hc_extrapolator *extrapolator, const struct hc_world *world,
                     uint8_t *base) {
    size_t used = 0;
    hc_carve(base, &used, sizeof *extrapolator);
    extrapolator->world = world;
    extrapolator->states = hc_carve(base, &used, (size_t)world->entities * world->stride);
    extrapolator->presence = hc_carve(base, &used, world->entities);
    extrapolator->inputs = hc_carve(base, &used, (size_t)world->players * world->game->input_size);
    extrapolator->roster_changes = hc_carve(base, &used, world->players);
    extrapolator->next = hc_carve(base, &used, (size_t)world->per_owner * world->stride);
    return used;
}

_Static_assert(HC_UNKNOWN == 0 && HC_ROSTER_NONE == 0, "zeroed memory is an empty scene");

size_t hc_extrapolator_memory(const struct hc_world *world) {
    struct hc_extrapolator measured;
    return layout(&measured, world, NULL);
}

struct hc_extrapolator *hc_extrapolator_create(const struct hc_world *world) {
    struct hc_extrapolator measured;
    uint8_t *block = hc_allocate(world->allocator, layout(&measured, world, NULL));
    if (block == NULL)
        return NULL;
    struct hc_extrapolator *extrapolator = (struct hc_extrapolator *)(void *)block;
    layout(extrapolator, world, block);
    return extrapolator;
}

void hc_extrapolator_destroy(struct hc_extrapolator *extrapolator) {
    if (extrapolator != NULL)
        hc_release(extrapolator->world->allocator, extrapolator);
}

// ---- The scene ----------------------------------------------------------------------------------

static uint32_t no_neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    static const hc_entity none = HC_REFEREE;
    (void)scene, (void)self;
    *ids = &none;
    return 0;
}

static uint8_t *state_at(const struct hc_extrapolator *extrapolator, uint32_t entity) {
    return extrapolator->states + (size_t)entity * extrapolator->world->stride;
}

void hc_extrapolate_input(const struct hc_world *world, const struct hc_unit_value *from,
                          uint8_t *out) {
    if (from->known == HC_NO_TICK)
        memset(out, 0, world->game->input_size);
    else if (from->known < from->tick)
        world->game->predict_input(from->input, from->tick - from->known, out);
    else
        memcpy(out, from->input, world->game->input_size);
}

/// Puts the unit, its owner's input and the referee into the arrays.
static void enter(struct hc_extrapolator *extrapolator, hc_unit unit,
                  const struct hc_unit_value *value, const void *referee) {
    const struct hc_world *world = extrapolator->world;
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    memcpy(extrapolator->presence + first, value->presence, count);
    memcpy(state_at(extrapolator, first), value->states, (size_t)count * world->stride);
    if (referee != NULL) {
        extrapolator->presence[HC_REFEREE] = HC_ALIVE;
        memcpy(extrapolator->states, referee, world->game->kinds[0].state_size);
    }
    hc_player player = hc_unit_player(world, unit);
    if (player != HC_NO_PLAYER)
        hc_extrapolate_input(world, value,
                             extrapolator->inputs + (size_t)player * world->game->input_size);
}

/// Reads the unit out of the arrays, and clears what `enter` wrote.
static void leave(struct hc_extrapolator *extrapolator, hc_unit unit, struct hc_unit_value *out) {
    const struct hc_world *world = extrapolator->world;
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    hc_unit_read(world, unit, extrapolator->presence, extrapolator->states, out);
    memset(extrapolator->presence + first, HC_UNKNOWN, count);
    memset(state_at(extrapolator, first), 0, (size_t)count * world->stride);
    extrapolator->presence[HC_REFEREE] = HC_UNKNOWN;
    memset(extrapolator->states, 0, world->stride);
    hc_player player = hc_unit_player(world, unit);
    if (player != HC_NO_PLAYER)
        memset(extrapolator->inputs + (size_t)player * world->game->input_size, 0,
               world->game->input_size);
}

/// Writes an entity's next state to `out`, if it is alive then; returns its presence.
static uint8_t step(struct hc_scene *scene, hc_entity entity, uint8_t *out) {
    if (scene->presence[entity] == HC_UNKNOWN)
        return HC_UNKNOWN;
    scene->self = entity;
    return scene->world->game->step(scene, entity, out) ? HC_ALIVE : HC_ABSENT;
}

/// Steps `unit`, which is in the arrays, from the scene's tick to the next. Entities that are not
/// alive have a state of zeros before and after.
static void step_unit(struct hc_extrapolator *extrapolator, struct hc_scene *scene, hc_unit unit) {
    const struct hc_world *world = extrapolator->world;
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit), stride = world->stride;
    uint8_t presence[HC_UNIT_ENTITIES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        scene->groups_read = 0;
        presence[i] = step(scene, (hc_entity)(first + i), extrapolator->next + i * stride);
        extrapolator->groups_read |= scene->groups_read;
    }
    for (uint32_t i = 0; i < count; i++) {
        hc_entity entity = (hc_entity)(first + i);
        if (presence[i] == HC_ALIVE)
            memcpy(state_at(extrapolator, entity), extrapolator->next + i * stride,
                   hc_world_kind(world, entity)->state_size);
        else if (extrapolator->presence[entity] == HC_ALIVE)
            memset(state_at(extrapolator, entity), 0, stride);
        extrapolator->presence[entity] = presence[i];
    }
    scene->tick++;
}

// ---- Extrapolation ------------------------------------------------------------------------------

/// Applies `ticks` calls of hc_scene_hold_referee at once, because they may be very many.
static void hold_referee(const struct hc_world *world, uint32_t ticks, uint8_t *state) {
    const struct hc_kind *kind = &world->game->kinds[0];
    for (unsigned i = 0; i < kind->field_count; i++) {
        const struct hc_field *field = &kind->fields[i];
        if (!field->countdown)
            continue;
        int64_t left = hc_field_get(field, state);
        hc_field_set(field, state, left > ticks ? left - ticks : 0);
    }
}

uint8_t hc_extrapolator_groups(const struct hc_extrapolator *extrapolator) {
    return extrapolator->groups_read;
}

bool hc_extrapolate_takes_changes(const struct hc_world *world, hc_unit unit,
                                  const struct hc_unit_value *from, hc_tick tick) {
    return hc_unit_player(world, unit) != HC_NO_PLAYER && tick > from->tick &&
           tick - from->tick <= HC_EXTRAPOLATE_TICKS_MAX;
}

/// Steps the unit, which is in the arrays, up to `tick`, with the changes of its owner's input.
static void run(struct hc_extrapolator *extrapolator, struct hc_scene *scene, hc_unit unit,
                const struct hc_input_changes *changes, hc_tick tick) {
    size_t size = extrapolator->world->game->input_size;
    unsigned next = 0, count = changes == NULL ? 0 : changes->count;
    for (; scene->tick < tick; step_unit(extrapolator, scene, unit))
        if (next < count && changes->at[next].tick == scene->tick)
            memcpy(extrapolator->inputs + hc_unit_player(extrapolator->world, unit) * size,
                   changes->at[next++].input, size);
}

void hc_extrapolate(struct hc_extrapolator *extrapolator, hc_unit unit,
                    const struct hc_unit_value *from, const struct hc_input_changes *changes,
                    const void *referee, hc_tick tick, struct hc_unit_value *out) {
    const struct hc_world *world = extrapolator->world;
    HC_ASSERT(unit < hc_unit_total(world));
    HC_ASSERT(tick >= from->tick && tick != HC_NO_TICK);
    HC_ASSERT(changes == NULL || changes->count == 0 ||
              hc_extrapolate_takes_changes(world, unit, from, tick));
    uint32_t ticks = tick - from->tick;
    extrapolator->groups_read = 0;
    hc_unit_copy(world, unit, out, from);
    out->tick = tick;
    if (from->known != HC_NO_TICK)
        out->known = from->known + ticks;
    if (ticks == 0)
        return;
    if (unit == 0) {
        hold_referee(world, ticks, out->states); // an unknown referee's zeros stay zeros
        return;
    }
    if (ticks > HC_EXTRAPOLATE_TICKS_MAX)
        return;

    struct hc_scene scene = {
        .world = world,
        .tick = tick - ticks,
        .states = extrapolator->states,
        .presence = extrapolator->presence,
        .inputs = extrapolator->inputs,
        .roster_changes = extrapolator->roster_changes,
        .reductions = extrapolator->reductions,
        .neighbours = no_neighbours,
        .source = extrapolator,
    };
    enter(extrapolator, unit, out, referee); // `out` may be `from`; its input has the same age
    run(extrapolator, &scene, unit, changes, tick);
    leave(extrapolator, unit, out);
    if (changes == NULL || changes->count == 0)
        return;
    memcpy(out->input, changes->at[changes->count - 1].input, world->game->input_size);
    if (out->known == HC_NO_TICK)
        out->known = tick - 1;
}

void hc_extrapolate_absent(const struct hc_world *world, hc_unit unit, hc_tick tick,
                           struct hc_unit_value *out) {
    uint32_t count = hc_unit_count(world, unit);
    out->tick = tick;
    out->known = HC_NO_TICK;
    memset(out->input, 0, sizeof out->input);
    memset(out->presence, HC_ABSENT, count);
    memset(out->states, 0, (size_t)count * world->stride);
}
