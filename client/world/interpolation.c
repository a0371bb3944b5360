/// Interpolates between ticks, and fades corrections.
#include "client/world/interpolation.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "hindcast/check.h"

#include <string.h>

enum { RUN = 16 }; ///< entities that are compared at once

/// No field's error is larger: twice the range of the widest field, in 1/256.
static const int64_t error_max = INT64_C(1) << 41;

size_t hc_cl_interpolation_layout(struct hc_cl_interpolation *interpolation,
                                  const struct hc_world *world, uint32_t smoothing_us,
                                  uint8_t *base) {
    size_t used = 0, entities = world->entities;
    *interpolation = (struct hc_cl_interpolation){.world = world, .smoothing_us = smoothing_us};
    for (uint8_t k = 0; k < world->game->kind_count; k++)
        if (world->game->kinds[k].field_count > interpolation->width)
            interpolation->width = world->game->kinds[k].field_count;
    interpolation->errors =
        hc_carve(base, &used, entities * interpolation->width * sizeof *interpolation->errors);
    interpolation->since_us = hc_carve(base, &used, entities * sizeof *interpolation->since_us);
    interpolation->since = hc_carve(base, &used, entities * sizeof *interpolation->since);
    for (size_t e = 0; e < entities && base != NULL; e++)
        interpolation->since[e] = HC_NO_TICK;
    for (int i = 0; i < 2; i++) {
        interpolation->presence[i] = hc_carve(base, &used, entities);
        interpolation->states[i] = hc_carve(base, &used, entities * world->stride);
    }
    return used;
}

struct hc_cl_interpolation_time hc_cl_interpolation_at(const struct hc_timeline *timeline,
                                                       int64_t from, int64_t to, int64_t position) {
    int64_t head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    int64_t whole = HC_CL_INTERPOLATION_WHOLE, elapsed = position - head * whole;
    HC_ASSERT(from >= 0 && to >= 0);
    if (elapsed > whole)
        elapsed = whole;
    int64_t at = (head - 1) * whole + elapsed - from;
    if (elapsed > 0) // before that the head was predicted early
        at -= (to - from) * elapsed / whole;
    if (at < oldest * whole)
        at = oldest * whole;
    return (struct hc_cl_interpolation_time){.tick = (hc_tick)(at / whole),
                                             .fraction = (uint32_t)(at % whole)};
}

// ---- Own entities -------------------------------------------------------------------------------

static bool equal_times(const struct hc_cl_interpolation_time *a,
                        const struct hc_cl_interpolation_time *b) {
    return a->tick == b->tick && a->fraction == b->fraction;
}

/// Whether an entity is shown at the time of the own players.
static bool is_own(const struct hc_cl_interpolation *interpolation, uint32_t entity) {
    hc_player owner = interpolation->world->owner_of[entity];
    bool own = entity == HC_REFEREE;
    for (uint8_t i = 0; i < interpolation->own_count; i++)
        own = own || interpolation->own[i] == owner;
    return own;
}

/// Entities from `first` to before `end`, which are shown at the same time.
struct range {
    uint32_t first, end;
    bool own;
};

/// The entities from `first` on that are shown at the same time as it: the referee, those of one
/// own player, or all up to the next of those. With equal times these are all.
static struct range range_from(const struct hc_cl_interpolation *interpolation,
                               const struct hc_cl_interpolation_times *times, uint32_t first) {
    const struct hc_world *world = interpolation->world;
    struct range range = {first, world->entities, is_own(interpolation, first)};
    if (equal_times(&times->own, &times->others))
        return range;
    if (range.own)
        range.end = first + (first == HC_REFEREE ? 1u : world->per_owner);
    for (uint8_t i = 0; i < interpolation->own_count && !range.own; i++) {
        uint32_t next = hc_world_player(world, interpolation->own[i]);
        if (next > first && next < range.end)
            range.end = next;
    }
    return range;
}

struct hc_cl_interpolation_time
hc_cl_interpolation_time_of(const struct hc_cl_interpolation *interpolation,
                            const struct hc_cl_interpolation_times *times, hc_entity entity) {
    return is_own(interpolation, entity) ? times->own : times->others;
}

// ---- Interpolation ------------------------------------------------------------------------------

/// An entity at a tick and at the next; at a fraction of 0 both are the same.
struct pair {
    uint8_t presence[2];
    const uint8_t *state[2];
};

/// The worlds of the two ticks.
struct worlds {
    const uint8_t *presence[2], *states[2];
};

static struct worlds recorded(const struct hc_timeline *timeline,
                              struct hc_cl_interpolation_time time) {
    struct worlds worlds;
    for (uint32_t i = 0; i < 2; i++) {
        hc_tick tick = time.tick + (time.fraction > 0 ? i : 0);
        worlds.presence[i] = hc_timeline_presence(timeline, tick);
        worlds.states[i] = hc_timeline_states(timeline, tick);
    }
    return worlds;
}

static struct worlds captured(const struct hc_cl_interpolation *interpolation) {
    return (struct worlds){.presence = {interpolation->presence[0], interpolation->presence[1]},
                           .states = {interpolation->states[0], interpolation->states[1]}};
}

static struct pair pair_of(const struct worlds *worlds, const struct hc_world *world,
                           hc_entity entity) {
    size_t at = (size_t)entity * world->stride;
    return (struct pair){.presence = {worlds->presence[0][entity], worlds->presence[1][entity]},
                         .state = {worlds->states[0] + at, worlds->states[1] + at}};
}

static bool farther(int64_t distance, int64_t limit) {
    return distance > limit || distance < -limit;
}

/// Whether the entity moves smoothly from the one state to the other.
static bool smooth(const struct hc_world *world, hc_entity entity, const struct pair *pair) {
    return pair->presence[0] == HC_ALIVE && pair->presence[1] == HC_ALIVE &&
           !hc_world_teleports(world, entity, pair->state[0], pair->state[1]);
}

/// `angle` modulo a full turn, into [-turn / 2, turn / 2).
static int64_t shortest(int64_t angle, int64_t turn) {
    int64_t remainder = angle % turn;
    if (remainder >= turn / 2)
        remainder -= turn;
    return remainder < -(turn / 2) ? remainder + turn : remainder;
}

static int64_t turn_of(const struct hc_field *field) {
    return (INT64_C(1) << field->bits) * HC_CL_INTERPOLATION_UNIT;
}

/// Brings a shown value of an angle back into the field's range.
static int64_t wrap(const struct hc_field *field, int64_t value) {
    if (field->interpolate != HC_ANGLE)
        return value;
    int64_t turn = turn_of(field), angle = shortest(value, turn);
    return angle < 0 && !field->is_signed ? angle + turn : angle;
}

static int64_t interpolate(const struct hc_field *field, const struct pair *pair,
                           uint32_t fraction) {
    int64_t from = hc_field_get(field, pair->state[0]) * HC_CL_INTERPOLATION_UNIT;
    int64_t way = hc_field_get(field, pair->state[1]) * HC_CL_INTERPOLATION_UNIT - from;
    if (field->interpolate == HC_HOLD)
        return from;
    if (field->interpolate == HC_ANGLE)
        way = shortest(way, turn_of(field));
    // At most 2^41 * 2^16.
    return wrap(field, from + way * (int64_t)fraction / HC_CL_INTERPOLATION_WHOLE);
}

/// Writes the fields of an entity that is alive, without errors.
static void blend(const struct hc_world *world, hc_entity entity, const struct pair *pair,
                  uint32_t fraction, int64_t *fields) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    if (!smooth(world, entity, pair))
        fraction = 0;
    for (uint16_t f = 0; f < kind->field_count; f++)
        fields[f] = interpolate(&kind->fields[f], pair, fraction);
}

// ---- Errors -------------------------------------------------------------------------------------

int64_t hc_cl_interpolation_decay(int64_t error, uint64_t elapsed_us, uint32_t half_us) {
    uint64_t halves = elapsed_us / half_us;
    if (halves >= 62)
        return 0;
    // Division, not a shift: it ends at 0 from either side.
    error /= INT64_C(1) << halves;
    // In between along the line from 1 to 1/2; in 1/65536, because the product must fit.
    int64_t part = (int64_t)(elapsed_us % half_us * HC_CL_INTERPOLATION_WHOLE / half_us);
    return error - error * part / (2 * HC_CL_INTERPOLATION_WHOLE);
}

static int64_t *errors_of(const struct hc_cl_interpolation *interpolation, hc_entity entity) {
    return interpolation->errors + (size_t)entity * interpolation->width;
}

/// Ends the errors of an entity.
static void forget(struct hc_cl_interpolation *interpolation, hc_entity entity) {
    memset(errors_of(interpolation, entity), 0, interpolation->width * sizeof(int64_t));
    interpolation->since[entity] = HC_NO_TICK;
}

static int64_t error_now(const struct hc_cl_interpolation *interpolation, hc_entity entity,
                         uint16_t field, uint64_t now_us) {
    int64_t error = errors_of(interpolation, entity)[field];
    uint64_t age_us = hc_since(interpolation->since_us[entity], now_us);
    return error == 0 ? 0 : hc_cl_interpolation_decay(error, age_us, interpolation->smoothing_us);
}

/// Whether an entity has moved smoothly from the tick of its errors to the shown `tick`.
static bool went_along(const struct hc_cl_interpolation *interpolation,
                       const struct hc_timeline *timeline, hc_entity entity, hc_tick tick) {
    hc_tick from = hc_tick_max(interpolation->since[entity], hc_timeline_oldest(timeline));
    bool smoothly = true;
    for (; from < tick && smoothly; from++) {
        struct worlds worlds = recorded(timeline, (struct hc_cl_interpolation_time){from, 1});
        struct pair pair = pair_of(&worlds, interpolation->world, entity);
        smoothly = smooth(interpolation->world, entity, &pair);
    }
    return smoothly;
}

/// Ends the errors of entities that have not moved smoothly to the tick at which they are shown.
static void end_errors(struct hc_cl_interpolation *interpolation,
                       const struct hc_timeline *timeline, const struct range *range,
                       hc_tick tick) {
    for (uint32_t e = range->first; e < range->end; e++) {
        if (interpolation->since[e] == HC_NO_TICK)
            continue;
        if (went_along(interpolation, timeline, (hc_entity)e, tick))
            interpolation->since[e] = tick;
        else
            forget(interpolation, (hc_entity)e);
    }
}

/// Copies the entities of a range at `tick` to one of the two captured worlds.
static void copy_range(struct hc_cl_interpolation *interpolation,
                       const struct hc_timeline *timeline, const struct range *range, hc_tick tick,
                       unsigned to) {
    size_t stride = interpolation->world->stride, at = range->first * stride;
    uint32_t count = range->end - range->first;
    memcpy(interpolation->presence[to] + range->first,
           hc_timeline_presence(timeline, tick) + range->first, count);
    memcpy(interpolation->states[to] + at, hc_timeline_states(timeline, tick) + at, count * stride);
}

void hc_cl_interpolation_capture(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline,
                                 const struct hc_cl_interpolation_times *times) {
    struct range range = {.end = 0};
    if (interpolation->smoothing_us == 0)
        return;
    while (range.end < interpolation->world->entities) {
        range = range_from(interpolation, times, range.end);
        const struct hc_cl_interpolation_time *time = range.own ? &times->own : &times->others;
        end_errors(interpolation, timeline, &range, time->tick);
        for (uint32_t i = 0; i < 2; i++)
            copy_range(interpolation, timeline, &range, time->tick + (time->fraction > 0 ? i : 0),
                       i);
    }
    interpolation->times = *times;
    interpolation->captured = true;
}

void hc_cl_interpolation_compose(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline, hc_tick own, hc_tick others,
                                 const uint8_t **presence, const uint8_t **states) {
    struct hc_cl_interpolation_times times = {{.tick = own}, {.tick = others}};
    struct range range = {.end = 0};
    HC_ASSERT(!interpolation->captured);
    while (range.end < interpolation->world->entities) {
        range = range_from(interpolation, &times, range.end);
        copy_range(interpolation, timeline, &range, range.own ? own : others, 0);
    }
    *presence = interpolation->presence[0];
    *states = interpolation->states[0];
}

/// Whether the errors put the entity farther off than it may move without a jump.
static bool too_far(const struct hc_world *world, hc_entity entity, const int64_t *errors) {
    int64_t limit = (int64_t)hc_world_kind(world, entity)->teleport * HC_CL_INTERPOLATION_UNIT;
    int8_t x = world->x_of[world->kind_of[entity]], y = world->y_of[world->kind_of[entity]];
    return x >= 0 && (farther(errors[x], limit) || farther(errors[y], limit));
}

static void correct_entity(struct hc_cl_interpolation *interpolation, hc_entity entity,
                           const struct pair *before, const struct pair *after,
                           uint32_t old_fraction, const struct hc_cl_interpolation_time *time,
                           uint64_t now_us) {
    const struct hc_kind *kind = hc_world_kind(interpolation->world, entity);
    int64_t *errors = errors_of(interpolation, entity), was[HC_FIELDS_MAX], is[HC_FIELDS_MAX];
    bool pops = before->presence[0] != HC_ALIVE || after->presence[0] != HC_ALIVE ||
                hc_world_teleports(interpolation->world, entity, before->state[0], after->state[0]);
    if (!pops) {
        blend(interpolation->world, entity, before, old_fraction, was);
        blend(interpolation->world, entity, after, time->fraction, is);
        for (uint16_t f = 0; f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            int64_t error = error_now(interpolation, entity, f, now_us) + was[f] - is[f];
            if (field->interpolate == HC_ANGLE)
                error = shortest(error, turn_of(field));
            bool fades = field->interpolate != HC_HOLD && !farther(error, error_max);
            errors[f] = fades ? error : 0;
        }
        pops = too_far(interpolation->world, entity, errors);
    }
    interpolation->since_us[entity] = now_us;
    interpolation->since[entity] = time->tick;
    if (pops)
        forget(interpolation, entity);
}

static bool same(const struct pair *a, const struct pair *b, size_t size) {
    for (int i = 0; i < 2; i++)
        if (a->presence[i] != b->presence[i] || memcmp(a->state[i], b->state[i], size) != 0)
            return false;
    return true;
}

/// Whether `count` entities from `first` on are equal in both.
static bool same_run(const struct worlds *a, const struct worlds *b, const struct hc_world *world,
                     uint32_t first, uint32_t count) {
    size_t at = (size_t)first * world->stride, size = (size_t)count * world->stride;
    for (int i = 0; i < 2; i++)
        if (memcmp(a->presence[i] + first, b->presence[i] + first, count) != 0 ||
            memcmp(a->states[i] + at, b->states[i] + at, size) != 0)
            return false;
    return true;
}

/// Corrects the entities of a range, which were shown at `old` and are shown at `time` now.
static void correct_range(struct hc_cl_interpolation *interpolation, const struct worlds *was,
                          const struct worlds *is, const struct range *range,
                          const struct hc_cl_interpolation_time *old,
                          const struct hc_cl_interpolation_time *time, uint64_t now_us) {
    const struct hc_world *world = interpolation->world;
    bool moved = !equal_times(old, time);
    for (uint32_t e = range->first; e < range->end; e++) {
        uint32_t left = range->end - e, run = left < RUN ? left : RUN;
        if (!moved && (e - range->first) % RUN == 0 && same_run(was, is, world, e, run)) {
            e += run - 1;
            continue;
        }
        struct pair before = pair_of(was, world, (hc_entity)e);
        struct pair after = pair_of(is, world, (hc_entity)e);
        if (moved || !same(&before, &after, world->stride))
            correct_entity(interpolation, (hc_entity)e, &before, &after, old->fraction, time,
                           now_us);
    }
}

void hc_cl_interpolation_correct(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline,
                                 const struct hc_cl_interpolation_times *times, uint64_t now_us) {
    const struct hc_cl_interpolation_times *old = &interpolation->times;
    struct range range = {.end = 0};
    if (!interpolation->captured)
        return;
    interpolation->captured = false;
    struct worlds was = captured(interpolation), own = recorded(timeline, times->own);
    struct worlds others = recorded(timeline, times->others);
    while (range.end < interpolation->world->entities) {
        range = range_from(interpolation, times, range.end);
        correct_range(interpolation, &was, range.own ? &own : &others, &range,
                      range.own ? &old->own : &old->others,
                      range.own ? &times->own : &times->others, now_us);
    }
}

bool hc_cl_interpolation_show(const struct hc_cl_interpolation *interpolation,
                              const struct hc_timeline *timeline,
                              const struct hc_cl_interpolation_times *times, uint64_t now_us,
                              hc_entity entity, int64_t fields[static HC_FIELDS_MAX]) {
    HC_ASSERT(entity < interpolation->world->entities);
    struct hc_cl_interpolation_time time =
        hc_cl_interpolation_time_of(interpolation, times, entity);
    struct worlds worlds = recorded(timeline, time);
    struct pair pair = pair_of(&worlds, interpolation->world, entity);
    if (pair.presence[0] != HC_ALIVE)
        return false;
    const struct hc_kind *kind = hc_world_kind(interpolation->world, entity);
    blend(interpolation->world, entity, &pair, time.fraction, fields);
    bool errs = interpolation->since[entity] != HC_NO_TICK &&
                went_along(interpolation, timeline, entity, time.tick);
    for (uint16_t f = 0; f < kind->field_count && errs; f++)
        fields[f] = wrap(&kind->fields[f], fields[f] + error_now(interpolation, entity, f, now_us));
    return true;
}
