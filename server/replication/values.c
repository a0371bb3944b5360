/// The ring of values, and the rows that find the newest value of a unit at a tick.
#include "server/replication/values.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>
#include <xxhash.h>

size_t hc_sv_values_pin_size(const struct hc_world *world) {
    size_t align = _Alignof(struct hc_sv_value);
    return (sizeof(struct hc_sv_value) + hc_unit_bytes(world) + align - 1) / align * align;
}

size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t capacity, uint8_t *base) {
    size_t used = 0, cells = (size_t)rows * hc_unit_total(world);
    HC_ASSERT(rows > 0 && capacity < UINT32_C(1) << 30);
    values->world = world;
    values->rows = rows;
    values->capacity = 4;
    while (values->capacity < capacity)
        values->capacity *= 2;
    values->each = hc_sv_values_pin_size(world);
    values->ring = hc_carve(base, &used, values->capacity * values->each);
    values->newest = hc_carve(base, &used, cells * sizeof *values->newest);
    values->row_tick = hc_carve(base, &used, rows * sizeof *values->row_tick);
    return used;
}

/// The place of a value, which may hold another one.
static struct hc_sv_value *place_of(const struct hc_sv_values *values, hc_sv_value_id id) {
    size_t place = id & (values->capacity - 1);
    return (struct hc_sv_value *)(void *)(values->ring + place * values->each);
}

void hc_sv_values_clear(struct hc_sv_values *values) {
    values->next = 1;
    for (uint32_t i = 0; i < values->capacity; i++)
        place_of(values, i)->id = 0;
    memset(values->row_tick, 0xff, values->rows * sizeof *values->row_tick);
}

struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick) {
    uint32_t units = hc_unit_total(values->world);
    size_t place = tick % values->rows;
    struct hc_sv_values_row row = {.values = values,
                                   .timeline = timeline,
                                   .tick = tick,
                                   .head = hc_timeline_head(timeline),
                                   .presence = hc_timeline_presence(timeline, tick),
                                   .states = hc_timeline_states(timeline, tick),
                                   .newest = values->newest + place * units};
    HC_ASSERT(tick != HC_NO_TICK);
    if (values->row_tick[place] == tick)
        return row;
    values->row_tick[place] = tick;
    for (uint32_t u = 0; u < units; u++)
        row.newest[u] = (struct hc_sv_newest){.compared = HC_NO_TICK, .changed = HC_NO_TICK};
    return row;
}

uint64_t hc_sv_values_hash(const struct hc_world *world, hc_unit unit,
                           const struct hc_unit_value *value) {
    size_t count = hc_unit_count(world, unit);
    return XXH3_64bits_withSeed(value->presence, count,
                                XXH3_64bits(value->states, count * world->stride));
}

static uint32_t hash_of(const struct hc_world *world, hc_unit unit,
                        const struct hc_unit_value *value) {
    hc_entity first = hc_unit_first(world, unit);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++)
        hash += hc_unit_entity_hash(world, (hc_entity)(first + i), value->presence[i],
                                    value->states + (size_t)i * world->stride);
    return (uint32_t)hash;
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

hc_sv_value_id hc_sv_values_compare(const struct hc_sv_values_row *row, hc_unit unit) {
    struct hc_sv_values *values = row->values;
    const struct hc_world *world = values->world;
    HC_ASSERT(unit < hc_unit_total(world));
    struct hc_sv_newest *newest = &row->newest[unit];
    hc_player player = hc_unit_player(world, unit);
    hc_tick known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(row->timeline, player, row->tick, &known, input);
    newest->compared = row->head;
    const struct hc_sv_value *stored = hc_sv_values_get(values, newest->id);
    uint32_t age = values->next - newest->id;
    if (stored != NULL && age < values->capacity / 4 * 3 &&
        is_current(row, unit, &stored->unit, known, input))
        return newest->id;
    struct hc_sv_value *value = place_of(values, values->next);
    newest->changed = row->head;
    value->id = newest->id = values->next++;
    value->unit.tick = row->tick;
    value->unit.known = known;
    memcpy(value->unit.input, input, sizeof value->unit.input);
    hc_unit_place(world, &value->unit, (uint8_t *)(value + 1));
    hc_unit_read(world, unit, row->presence, row->states, &value->unit);
    value->hash = hash_of(world, unit, &value->unit);
    value->states = hc_sv_values_hash(world, unit, &value->unit);
    if (values->next == 0)
        values->next = 1;
    return value->id;
}

void hc_sv_values_pin(const struct hc_sv_values *values, hc_unit unit, hc_sv_value_id id,
                      struct hc_sv_value *pin) {
    const struct hc_sv_value *value = hc_sv_values_get(values, id);
    pin->id = value == NULL ? 0 : id;
    if (value == NULL)
        return;
    pin->hash = value->hash;
    pin->states = value->states;
    hc_unit_place(values->world, &pin->unit, (uint8_t *)(pin + 1));
    hc_unit_copy(values->world, unit, &pin->unit, &value->unit);
}
