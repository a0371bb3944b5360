/// The ring of sent values, and the rows that find the newest value of a unit at a tick.
#include "server/replication/sent_values.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

/// A value in the ring; the bytes of its presence and states follow it.
struct record {
    hc_sv_value_id value_id; ///< 0: the record is free
    struct hc_unit_value value;
};

size_t hc_sv_sent_values_layout(struct hc_sv_sent_values *sent_values, const struct hc_world *world,
                                uint32_t rows, uint32_t capacity, uint8_t *base) {
    size_t used = 0, cells = (size_t)rows * hc_unit_total(world);
    HC_ASSERT(rows > 0 && capacity < UINT32_C(1) << 30);
    sent_values->world = world;
    sent_values->rows = rows;
    sent_values->capacity = 2;
    while (sent_values->capacity <= capacity)
        sent_values->capacity *= 2;
    size_t align = _Alignof(struct record);
    size_t record = sizeof(struct record) + hc_unit_bytes(world);
    sent_values->record = (record + align - 1) / align * align;
    sent_values->ring = hc_carve(base, &used, sent_values->capacity * sent_values->record);
    sent_values->newest = hc_carve(base, &used, cells * sizeof *sent_values->newest);
    sent_values->row_tick = hc_carve(base, &used, rows * sizeof *sent_values->row_tick);
    sent_values->compared_head = hc_carve(base, &used, cells * sizeof *sent_values->compared_head);
    return used;
}

/// The place of a value's record, which may hold another value.
static struct record *record_at(const struct hc_sv_sent_values *sent_values,
                                hc_sv_value_id value_id) {
    size_t place = value_id & (sent_values->capacity - 1);
    return (struct record *)(void *)(sent_values->ring + place * sent_values->record);
}

void hc_sv_sent_values_clear(struct hc_sv_sent_values *sent_values) {
    sent_values->next = 1;
    for (uint32_t i = 0; i < sent_values->capacity; i++)
        record_at(sent_values, i)->value_id = 0;
    memset(sent_values->row_tick, 0xff, sent_values->rows * sizeof *sent_values->row_tick);
}

const struct hc_unit_value *hc_sv_sent_values_get(const struct hc_sv_sent_values *sent_values,
                                                  hc_sv_value_id value_id) {
    const struct record *record = record_at(sent_values, value_id);
    return value_id != 0 && record->value_id == value_id ? &record->value : NULL;
}

/// Stores what the timeline has of `unit` at the row's tick as a new value, unless `newest`, a
/// value of that tick, equals it. Returns the number of the one or the other.
static hc_sv_value_id compare(const struct hc_sv_sent_values_row *row, hc_unit unit,
                              hc_sv_value_id newest) {
    struct hc_sv_sent_values *sent_values = row->sent_values;
    const struct hc_world *world = sent_values->world;
    hc_player player = hc_unit_player(world, unit);
    hc_tick known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(row->timeline, player, row->tick, &known, input);
    size_t first = hc_unit_first(world, unit), count = hc_unit_count(world, unit);
    const struct hc_unit_value *stored = hc_sv_sent_values_get(sent_values, newest);
    if (stored != NULL && stored->known == known &&
        memcmp(stored->input, input, world->game->input_size) == 0 &&
        memcmp(stored->presence, row->presence + first, count) == 0 &&
        memcmp(stored->states, row->states + first * world->stride, count * world->stride) == 0)
        return newest;
    struct record *record = record_at(sent_values, sent_values->next);
    record->value_id = sent_values->next++;
    record->value.tick = row->tick;
    record->value.known = known;
    memcpy(record->value.input, input, sizeof record->value.input);
    hc_unit_place(world, &record->value, (uint8_t *)(record + 1));
    hc_unit_read(world, unit, row->presence, row->states, &record->value);
    if (sent_values->next == 0)
        sent_values->next = 1;
    return record->value_id;
}

struct hc_sv_sent_values_row hc_sv_sent_values_row(struct hc_sv_sent_values *sent_values,
                                                   const struct hc_timeline *timeline,
                                                   hc_tick tick) {
    uint32_t units = hc_unit_total(sent_values->world);
    size_t place = tick % sent_values->rows;
    struct hc_sv_sent_values_row row = {.sent_values = sent_values,
                                        .timeline = timeline,
                                        .tick = tick,
                                        .head = hc_timeline_head(timeline),
                                        .presence = hc_timeline_presence(timeline, tick),
                                        .states = hc_timeline_states(timeline, tick),
                                        .newest = sent_values->newest + place * units,
                                        .compared_head =
                                            sent_values->compared_head + place * units};
    HC_ASSERT(tick != HC_NO_TICK);
    if (sent_values->row_tick[place] != tick) {
        sent_values->row_tick[place] = tick;
        memset(row.newest, 0, units * sizeof *row.newest);
        memset(row.compared_head, 0xff, units * sizeof *row.compared_head);
    }
    return row;
}

hc_sv_value_id hc_sv_sent_values_compare(const struct hc_sv_sent_values_row *row, hc_unit unit) {
    HC_ASSERT(unit < hc_unit_total(row->sent_values->world));
    hc_sv_value_id newest = row->newest[unit];
    if (row->compared_head[unit] == row->head &&
        record_at(row->sent_values, newest)->value_id == newest)
        return newest;
    row->compared_head[unit] = row->head;
    return row->newest[unit] = compare(row, unit, newest);
}
