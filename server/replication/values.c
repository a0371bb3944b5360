/// The ring of values, and the newest of each unit at each tick.
#include "server/replication/values.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "common/prefetch.h"
#include "common/runs.h"
#include "hindcast/check.h"

#include <string.h>

size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t each, uint32_t pins, uint8_t *base) {
    size_t align = _Alignof(struct hc_sv_value);
    size_t used = 0, units = hc_unit_total(world);
    HC_ASSERT(rows > 0 && each > 0 && units * each < UINT32_C(1) << 30);
    values->world = world;
    values->rows = rows;
    values->each = each;
    values->capacity = 4;
    while (values->capacity < units * each)
        values->capacity *= 2;
    values->size = (sizeof(struct hc_sv_value) + hc_unit_bytes(world) + align - 1) / align * align;
    values->ring = hc_carve(base, &used, values->capacity * values->size);
    values->pins = hc_carve(base, &used, pins * values->size);
    values->newest = hc_carve(base, &used, rows * units * sizeof *values->newest);
    values->has = hc_carve(base, &used, units * sizeof *values->has);
    return used;
}

static uint32_t place_of(const struct hc_sv_values *values, hc_sv_value_id id) {
    return id & (values->capacity - 1);
}

/// The value at the place of a number, which may be another's.
static struct hc_sv_value *value_at(const struct hc_sv_values *values, hc_sv_value_id id) {
    size_t place = place_of(values, id);
    return (struct hc_sv_value *)(void *)(values->ring + place * values->size);
}

/// How many further values can be stored until one replaces the value with this number; 0: it is
/// replaced.
static uint32_t values_left(const struct hc_sv_values *values, hc_sv_value_id id) {
    uint32_t age = values->next - id, next = place_of(values, values->next);
    if (id == 0 || age > values->capacity)
        return 0;
    return age <= next ? values->in_use - age : values->capacity - age;
}

/// The number after the newest one: of the next place in use, or of the first again.
static hc_sv_value_id number_after(const struct hc_sv_values *values) {
    hc_sv_value_id next = values->next + 1;
    if (place_of(values, next) >= values->in_use)
        next += values->capacity - place_of(values, next);
    return next == 0 ? 1 : next;
}

void hc_sv_values_begin(struct hc_sv_values *values) {
    values->next = 1;
    values->units = values->in_use = 0;
}

struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick) {
    size_t place = tick % values->rows;
    HC_ASSERT(tick != HC_NO_TICK);
    return (struct hc_sv_values_row){.values = values,
                                     .timeline = timeline,
                                     .tick = tick,
                                     .head = hc_timeline_head(timeline),
                                     .presence = hc_timeline_presence(timeline, tick),
                                     .states = hc_timeline_states(timeline, tick),
                                     .newest =
                                         values->newest + place * hc_unit_total(values->world)};
}

/// Whether the value is what the timeline has of `unit` at the row's tick, with the newest known
/// input `input` of its owner at `known`.
static bool is_current(const struct hc_sv_values_row *row, hc_unit unit,
                       const struct hc_unit_value *value, hc_tick known, const uint8_t *input) {
    const struct hc_world *world = row->values->world;
    size_t first = hc_unit_first(world, unit), count = hc_unit_count(world, unit);
    return value->known == known && memcmp(value->input, input, world->game->input_size) == 0 &&
           memcmp(value->presence, row->presence + first, count) == 0 &&
           memcmp(value->states, row->states + first * world->stride, count * world->stride) == 0;
}

/// Whether the value with this number stays for a quarter of the ring.
static bool stays(const struct hc_sv_values *values, hc_sv_value_id id) {
    return values_left(values, id) > values->in_use / 4;
}

/// Takes more of the ring into use for a unit without a value so far.
static void add_unit(struct hc_sv_values *values, hc_unit unit) {
    values->has[unit] = true;
    values->units++;
    values->in_use += values->each;
}

/// Compares the newest value of the unit with the timeline; returns the number of an equal one.
static hc_sv_value_id compare(const struct hc_sv_values_row *row, hc_unit unit,
                              struct hc_sv_newest *newest) {
    struct hc_sv_values *values = row->values;
    const struct hc_world *world = values->world;
    HC_ASSERT(unit < hc_unit_total(world));
    hc_player player = hc_unit_player(world, unit);
    hc_tick known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(row->timeline, player, row->tick, &known, input);
    if (newest->compared <= row->tick) // of an earlier tick, which it took the place of
        newest->id = 0;
    newest->compared = row->head + 1;
    const struct hc_sv_value *stored = hc_sv_values_get(values, newest->id);
    if (stored != NULL && stays(values, newest->id) &&
        is_current(row, unit, &stored->unit, known, input))
        return newest->id;
    if (!values->has[unit])
        add_unit(values, unit);
    struct hc_sv_value *value = value_at(values, values->next);
    newest->changed = row->head;
    value->id = newest->id = values->next;
    value->unit.tick = row->tick;
    value->unit.known = known;
    memcpy(value->unit.input, input, sizeof value->unit.input);
    hc_unit_place(world, &value->unit, (uint8_t *)(value + 1));
    hc_unit_read(world, unit, row->presence, row->states, &value->unit);
    value->hash = (uint32_t)hc_unit_hash(world, unit, &value->unit);
    value->states = hc_runs_hash(world, unit, &value->unit);
    values->next = number_after(values);
    return value->id;
}

hc_sv_value_id hc_sv_values_put(const struct hc_sv_values_row *row, hc_unit unit) {
    struct hc_sv_newest *newest = &row->newest[unit];
    if (newest->compared == row->head + 1 && stays(row->values, newest->id))
        return newest->id;
    return compare(row, unit, newest);
}

const struct hc_sv_value *hc_sv_values_get(const struct hc_sv_values *values, hc_sv_value_id id) {
    const struct hc_sv_value *value = value_at(values, id);
    return id != 0 && value->id == id ? value : NULL;
}

void hc_sv_values_prefetch(const struct hc_sv_values *values, hc_sv_value_id id) {
    hc_prefetch(value_at(values, id), 2 * sizeof(struct hc_sv_value));
}

bool hc_sv_values_alike(const struct hc_sv_values *values, hc_unit unit, hc_sv_value_id a,
                        hc_sv_value_id b) {
    if (a == b)
        return true;
    const struct hc_sv_value *x = hc_sv_values_get(values, a), *y = hc_sv_values_get(values, b);
    size_t count = hc_unit_count(values->world, unit);
    return x != NULL && y != NULL && memcmp(x->unit.presence, y->unit.presence, count) == 0 &&
           memcmp(x->unit.states, y->unit.states, count * values->world->stride) == 0;
}

/// The value pinned at the place, if its number is not 0.
static struct hc_sv_value *pin_of(const struct hc_sv_values *values, uint32_t pin) {
    return (struct hc_sv_value *)(void *)(values->pins + pin * values->size);
}

void hc_sv_values_pin(struct hc_sv_values *values, uint32_t pin, hc_unit unit, hc_sv_value_id id) {
    const struct hc_sv_value *value = hc_sv_values_get(values, id);
    struct hc_sv_value *to = pin_of(values, pin);
    to->id = value == NULL ? 0 : id;
    if (value == NULL)
        return;
    to->hash = value->hash;
    to->states = value->states;
    hc_unit_place(values->world, &to->unit, (uint8_t *)(to + 1));
    hc_unit_copy(values->world, unit, &to->unit, &value->unit);
}

const struct hc_sv_value *hc_sv_values_pinned(const struct hc_sv_values *values, uint32_t pin,
                                              hc_sv_value_id id) {
    // A pinned value may be so old that its number is another value's by now.
    const struct hc_sv_value *pinned = pin_of(values, pin);
    if (id == 0 || pinned->id != id)
        return hc_sv_values_get(values, id);
    HC_MARK("value-pinned");
    return pinned;
}
