#include "server/versions.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

/// One version in the ring; the bytes of its presence and states follow it.
struct record {
    hc_sv_version version; ///< 0: nobody's
    hc_tick tick, known;
    uint8_t input[HC_INPUT_MAX];
};

size_t hc_sv_versions_layout(struct hc_sv_versions *versions, const struct hc_world *world,
                             uint32_t rows, uint32_t capacity, uint8_t *base) {
    size_t used = 0, cells = (size_t)rows * hc_unit_total(world);
    HC_ASSERT(rows > 0 && capacity < UINT32_C(1) << 30);
    versions->world = world;
    versions->rows = rows;
    versions->capacity = 2;
    while (versions->capacity <= capacity)
        versions->capacity *= 2;
    size_t align = _Alignof(struct record);
    size_t record = sizeof(struct record) + hc_unit_bytes(world);
    versions->record = (record + align - 1) / align * align;
    versions->ring = hc_carve(base, &used, versions->capacity * versions->record);
    versions->newest = hc_carve(base, &used, cells * sizeof *versions->newest);
    versions->seen_tick = hc_carve(base, &used, rows * sizeof *versions->seen_tick);
    versions->seen_head = hc_carve(base, &used, cells * sizeof *versions->seen_head);
    return used;
}

/// The place of a version, which may be another's.
static struct record *record_at(const struct hc_sv_versions *versions, hc_sv_version version) {
    size_t place = version & (versions->capacity - 1);
    return (struct record *)(void *)(versions->ring + place * versions->record);
}

void hc_sv_versions_clear(struct hc_sv_versions *versions) {
    versions->next = 1;
    for (uint32_t i = 0; i < versions->capacity; i++)
        record_at(versions, i)->version = 0;
    memset(versions->seen_tick, 0xff, versions->rows * sizeof *versions->seen_tick);
}

const struct hc_unit_value *hc_sv_versions_get(const struct hc_sv_versions *versions,
                                               hc_sv_version version, struct hc_unit_value *value) {
    struct record *record = record_at(versions, version);
    if (version == 0 || record->version != version)
        return NULL;
    value->tick = record->tick;
    value->known = record->known;
    memcpy(value->input, record->input, sizeof value->input);
    hc_unit_place(versions->world, value, (uint8_t *)(record + 1));
    return value;
}

/// Makes what the timeline has of `unit` at the row's tick a version, unless `newest`, which is of
/// that tick, is just that.
static hc_sv_version compare(const struct hc_sv_versions_row *row, hc_unit unit,
                             hc_sv_version newest) {
    struct hc_sv_versions *versions = row->versions;
    const struct hc_world *world = versions->world;
    hc_player player = hc_unit_player(world, unit);
    hc_tick known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(row->timeline, player, row->tick, &known, input);
    struct record *record = record_at(versions, newest);
    size_t first = hc_unit_first(world, unit), count = hc_unit_count(world, unit);
    struct hc_unit_value value;
    hc_unit_place(world, &value, (uint8_t *)(record + 1));
    if (newest != 0 && record->version == newest && record->known == known &&
        memcmp(record->input, input, world->game->input_size) == 0 &&
        memcmp(value.presence, row->presence + first, count) == 0 &&
        memcmp(value.states, row->states + first * world->stride, count * world->stride) == 0)
        return newest;
    record = record_at(versions, versions->next);
    record->version = versions->next++;
    record->tick = row->tick;
    record->known = known;
    memcpy(record->input, input, sizeof record->input);
    hc_unit_place(world, &value, (uint8_t *)(record + 1));
    hc_unit_read(world, unit, row->presence, row->states, &value);
    if (versions->next == 0)
        versions->next = 1;
    return record->version;
}

struct hc_sv_versions_row hc_sv_versions_row(struct hc_sv_versions *versions,
                                             const struct hc_timeline *timeline, hc_tick tick) {
    uint32_t units = hc_unit_total(versions->world);
    size_t place = tick % versions->rows;
    struct hc_sv_versions_row row = {.versions = versions,
                                     .timeline = timeline,
                                     .tick = tick,
                                     .head = hc_timeline_head(timeline),
                                     .presence = hc_timeline_presence(timeline, tick),
                                     .states = hc_timeline_states(timeline, tick),
                                     .newest = versions->newest + place * units,
                                     .seen_head = versions->seen_head + place * units};
    HC_ASSERT(tick != HC_NO_TICK);
    if (versions->seen_tick[place] != tick) {
        versions->seen_tick[place] = tick;
        memset(row.newest, 0, units * sizeof *row.newest);
        memset(row.seen_head, 0xff, units * sizeof *row.seen_head);
    }
    return row;
}

hc_sv_version hc_sv_versions_compare(const struct hc_sv_versions_row *row, hc_unit unit) {
    HC_ASSERT(unit < hc_unit_total(row->versions->world));
    hc_sv_version newest = row->newest[unit];
    if (row->seen_head[unit] == row->head && record_at(row->versions, newest)->version == newest)
        return newest;
    row->seen_head[unit] = row->head;
    return row->newest[unit] = compare(row, unit, newest);
}
