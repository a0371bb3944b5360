/// The scene in which a unit is stepped alone, and the extrapolation of its values there.
#include "common/extrapolate.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

/// A field that the linear extrapolation moves by another one; HC_FIELDS_MAX: that counts down.
struct move {
    uint8_t field, by;
    uint16_t per; ///< ticks
};

/// The fields of a kind that the linear extrapolation moves.
struct moves {
    unsigned count;
    struct move at[HC_FIELDS_MAX];
};

/// A unit in the arrays.
struct place {
    hc_entity first;
    uint32_t count;
    uint8_t *presence; ///< [count]
    uint8_t *states;   ///< [count * stride]
    uint8_t *input;    ///< of its owner; NULL: it has none
};

/// The arrays of a scene, which is empty while no unit is in it: every entity is unknown with a
/// state of zeros, and every input and roster change is zero.
struct hc_extrapolator {
    const struct hc_world *world;
    struct hc_scene scene;
    struct place place;      ///< of the unit in the scene
    uint8_t *states;         ///< [entities * stride]
    uint8_t *presence;       ///< [entities]
    uint8_t *inputs;         ///< [players * input_size]
    uint8_t *roster_changes; ///< [players]
    uint8_t *next;           ///< [per_owner * stride] the next states during a tick
    uint8_t groups_read;     ///< of the referee, by the steps of the newest extrapolation
    int64_t reductions[HC_REDUCTIONS_MAX];
    struct moves moves[HC_KINDS_MAX]; ///< compiled from the field tables
};

// ---- Memory -------------------------------------------------------------------------------------

/// Compiles the moves of a kind.
static void compile(const struct hc_world *world, const struct hc_kind *kind, struct moves *out) {
    out->count = 0;
    for (uint8_t i = 0; i < kind->field_count; i++) {
        const struct hc_field *field = &kind->fields[i];
        struct move move = {.field = i, .by = HC_FIELDS_MAX};
        if (field->moves_by != NULL) {
            move.by = 0;
            while (strcmp(kind->fields[move.by].name, field->moves_by) != 0)
                move.by++;
            move.per = field->moves_per != 0 ? field->moves_per : world->tick_rate;
        }
        if (field->countdown || field->moves_by != NULL)
            out->at[out->count++] = move;
    }
}

/// Lays the struct and then its arrays out from `base`; returns the bytes needed.
static size_t layout(struct hc_extrapolator *extrapolator, const struct hc_world *world,
                     uint8_t *base) {
    size_t used = 0;
    hc_carve(base, &used, sizeof *extrapolator);
    extrapolator->world = world;
    for (unsigned i = 0; i < world->game->kind_count; i++)
        compile(world, &world->game->kinds[i], &extrapolator->moves[i]);
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

void hc_extrapolate_input(const struct hc_world *world, const struct hc_unit_value *from,
                          uint8_t *out) {
    if (from->known == HC_NO_TICK)
        memset(out, 0, world->game->input_size);
    else if (from->known < from->tick)
        world->game->predict_input(from->input, from->tick - from->known, out);
    else
        memcpy(out, from->input, world->game->input_size);
}

static struct place place_of(const struct hc_extrapolator *extrapolator, hc_unit unit) {
    const struct hc_world *world = extrapolator->world;
    hc_player player = hc_unit_player(world, unit);
    hc_entity first = hc_unit_first(world, unit);
    bool owned = player != HC_NO_PLAYER;
    return (struct place){
        .first = first,
        .count = owned ? world->per_owner : 1,
        .presence = extrapolator->presence + first,
        .states = extrapolator->states + (size_t)first * world->stride,
        .input = owned ? extrapolator->inputs + (size_t)player * world->game->input_size : NULL};
}

void hc_extrapolator_enter(struct hc_extrapolator *extrapolator, hc_unit unit,
                           const struct hc_unit_value *value, const uint8_t *input,
                           const void *referee) {
    const struct hc_world *world = extrapolator->world;
    struct place *place = &extrapolator->place;
    *place = place_of(extrapolator, unit);
    extrapolator->scene = (struct hc_scene){
        .world = world,
        .tick = value->tick,
        .states = extrapolator->states,
        .presence = extrapolator->presence,
        .inputs = extrapolator->inputs,
        .roster_changes = extrapolator->roster_changes,
        .reductions = extrapolator->reductions,
        .neighbours = no_neighbours,
        .source = extrapolator,
    };
    extrapolator->groups_read = 0;
    memcpy(place->presence, value->presence, place->count);
    memcpy(place->states, value->states, (size_t)place->count * world->stride);
    if (referee != NULL) {
        extrapolator->presence[HC_REFEREE] = HC_ALIVE;
        memcpy(extrapolator->states, referee, world->game->kinds[0].state_size);
    }
    if (place->input != NULL)
        memcpy(place->input, input, world->game->input_size);
}

void hc_extrapolator_read(const struct hc_extrapolator *extrapolator, struct hc_unit_value *out) {
    const struct place *place = &extrapolator->place;
    memcpy(out->presence, place->presence, place->count);
    memcpy(out->states, place->states, (size_t)place->count * extrapolator->world->stride);
}

void hc_extrapolator_leave(struct hc_extrapolator *extrapolator) {
    const struct hc_world *world = extrapolator->world;
    const struct place *place = &extrapolator->place;
    memset(place->presence, HC_UNKNOWN, place->count);
    memset(place->states, 0, (size_t)place->count * world->stride);
    extrapolator->presence[HC_REFEREE] = HC_UNKNOWN;
    memset(extrapolator->states, 0, world->stride);
    if (place->input != NULL)
        memset(place->input, 0, world->game->input_size);
}

/// Writes an entity's next state to `out`, if it is alive then; returns its presence.
static uint8_t step(struct hc_scene *scene, hc_entity entity, uint8_t *out) {
    if (scene->presence[entity] == HC_UNKNOWN)
        return HC_UNKNOWN;
    scene->self = entity;
    return scene->world->game->step(scene, entity, out) ? HC_ALIVE : HC_ABSENT;
}

void hc_extrapolator_step(struct hc_extrapolator *extrapolator) {
    const struct hc_world *world = extrapolator->world;
    const struct place *place = &extrapolator->place;
    struct hc_scene *scene = &extrapolator->scene;
    uint32_t stride = world->stride;
    uint8_t presence[HC_UNIT_ENTITIES_MAX];
    scene->groups_read = 0;
    for (uint32_t i = 0; i < place->count; i++)
        presence[i] = step(scene, (hc_entity)(place->first + i), extrapolator->next + i * stride);
    extrapolator->groups_read |= scene->groups_read;
    for (uint32_t i = 0; i < place->count; i++) {
        uint8_t *state = place->states + (size_t)i * stride;
        if (presence[i] == HC_ALIVE)
            memcpy(state, extrapolator->next + i * stride,
                   hc_world_kind(world, (hc_entity)(place->first + i))->state_size);
        else if (place->presence[i] == HC_ALIVE)
            memset(state, 0, stride);
        place->presence[i] = presence[i];
    }
    scene->tick++;
}

// ---- Extrapolation ------------------------------------------------------------------------------

/// `value` within the field's range.
static int64_t fit(const struct hc_field *field, int64_t value) {
    int64_t range = INT64_C(1) << field->bits, low = field->is_signed ? -range / 2 : 0;
    int64_t high = low + range - 1;
    if (field->interpolate == HC_ANGLE)
        return low + (int64_t)(((uint64_t)value - (uint64_t)low) & (uint64_t)(range - 1));
    return value < low ? low : value > high ? high : value;
}

/// Moves the state of an alive entity in closed form. No product overflows: a speed has at most 32
/// bits with its sign, a tick 32 without one.
static void move_state(const struct hc_kind *kind, const struct moves *moves, hc_tick from,
                       hc_tick to, uint8_t *state) {
    for (unsigned i = 0; i < moves->count; i++) {
        const struct move *move = &moves->at[i];
        const struct hc_field *field = &kind->fields[move->field];
        int64_t value = hc_field_get(field, state);
        if (move->by == HC_FIELDS_MAX) {
            hc_field_set(field, state, value > to - from ? value - (to - from) : 0);
            continue;
        }
        int64_t speed = hc_field_get(&kind->fields[move->by], state);
        if (speed != 0) // the common case, and divisions are slow
            hc_field_set(field, state,
                         fit(field, value + (speed * to / move->per - speed * from / move->per)));
    }
}

static void move_unit(const struct hc_extrapolator *extrapolator, hc_unit unit, hc_tick from,
                      hc_tick to, struct hc_unit_value *out) {
    const struct hc_world *world = extrapolator->world;
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    for (uint32_t i = 0; i < count; i++)
        if (out->presence[i] == HC_ALIVE)
            move_state(hc_world_kind(world, (hc_entity)(first + i)),
                       &extrapolator->moves[world->kind_of[first + i]], from, to,
                       out->states + (size_t)i * world->stride);
}

uint8_t hc_extrapolator_groups(const struct hc_extrapolator *extrapolator) {
    return extrapolator->groups_read;
}

bool hc_extrapolate_simulates(enum hc_extrapolation how, hc_unit unit, uint32_t ticks) {
    return how == HC_EXTRAPOLATION_STEP && unit != 0 && ticks > 0 &&
           ticks <= HC_EXTRAPOLATE_TICKS_MAX;
}

bool hc_extrapolate_takes_changes(const struct hc_world *world, enum hc_extrapolation how,
                                  hc_unit unit, const struct hc_unit_value *from, hc_tick tick) {
    return hc_unit_player(world, unit) != HC_NO_PLAYER && tick > from->tick &&
           hc_extrapolate_simulates(how, unit, tick - from->tick);
}

/// Extrapolates the states of a unit that is simulated, with the changes of its owner's input.
static void simulate(struct hc_extrapolator *extrapolator, hc_unit unit,
                     const struct hc_unit_value *from, const struct hc_input_changes *changes,
                     const void *referee, hc_tick tick, struct hc_unit_value *out) {
    const struct hc_world *world = extrapolator->world;
    unsigned next = 0, count = changes == NULL ? 0 : changes->count;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (hc_unit_player(world, unit) != HC_NO_PLAYER)
        hc_extrapolate_input(world, from, input);
    hc_extrapolator_enter(extrapolator, unit, from, input, referee);
    for (hc_tick t = from->tick; t < tick; t++) {
        if (next < count && changes->at[next].tick == t)
            memcpy(extrapolator->place.input, changes->at[next++].input, world->game->input_size);
        hc_extrapolator_step(extrapolator);
    }
    hc_extrapolator_read(extrapolator, out);
    hc_extrapolator_leave(extrapolator);
}

void hc_extrapolate(struct hc_extrapolator *extrapolator, enum hc_extrapolation how, hc_unit unit,
                    const struct hc_unit_value *from, const struct hc_extrapolate_under *under,
                    hc_tick tick, struct hc_unit_value *out) {
    const struct hc_world *world = extrapolator->world;
    const struct hc_input_changes *changes = under != NULL ? under->changes : NULL;
    const void *referee = under != NULL ? under->referee : NULL;
    HC_ASSERT(unit < hc_unit_total(world));
    HC_ASSERT(tick >= from->tick && tick != HC_NO_TICK);
    HC_ASSERT(changes == NULL || changes->count == 0 ||
              hc_extrapolate_takes_changes(world, how, unit, from, tick));
    uint32_t ticks = tick - from->tick;
    extrapolator->groups_read = 0;
    if (hc_extrapolate_simulates(how, unit, ticks))
        simulate(extrapolator, unit, from, changes, referee, tick, out);
    else
        hc_unit_copy(world, unit, out, from);
    if (how == HC_EXTRAPOLATION_LINEAR || (how == HC_EXTRAPOLATION_STEP && unit == 0))
        move_unit(extrapolator, unit, from->tick, tick, out);
    // From here on `from` may be changed, because it may be `out`.
    out->known = from->known == HC_NO_TICK ? HC_NO_TICK : from->known + ticks;
    memmove(out->input, from->input, sizeof out->input);
    out->tick = tick;
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
