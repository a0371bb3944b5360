#include "server/versions.h"

#include "common/check.h"

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

/// What the timeline has of `unit` at `tick`; `value` has its pointers set.
static void read_value(const struct hc_world *world, const struct hc_timeline *timeline,
                       hc_unit unit, hc_tick tick, struct hc_unit_value *value) {
    hc_player player = hc_unit_player(world, unit);
    value->tick = tick;
    memset(value->input, 0, sizeof value->input);
    if (player == HC_NO_PLAYER ||
        !hc_timeline_newest_input(timeline, player, tick, &value->known, value->input))
        value->known = HC_NO_TICK;
    hc_unit_read(world, unit, hc_timeline_presence(timeline, tick),
                 hc_timeline_states(timeline, tick), value);
}

/// Makes what the timeline has of `unit` at `tick` a version, unless `newest` is just that.
static hc_sv_version compare(struct hc_sv_versions *versions, const struct hc_timeline *timeline,
                             hc_unit unit, hc_tick tick, hc_sv_version newest) {
    // It is read straight into the place of the next version, whose owner is gone with that.
    struct record *record = record_at(versions, versions->next);
    struct hc_unit_value now, before;
    record->version = 0;
    hc_unit_place(versions->world, &now, (uint8_t *)(record + 1));
    read_value(versions->world, timeline, unit, tick, &now);
    if (hc_sv_versions_get(versions, newest, &before) != NULL &&
        hc_unit_equal(versions->world, unit, &before, &now))
        return newest;
    record->version = versions->next++;
    record->tick = now.tick;
    record->known = now.known;
    memcpy(record->input, now.input, sizeof record->input);
    if (versions->next == 0)
        versions->next = 1;
    return record->version;
}

hc_sv_version hc_sv_versions_now(struct hc_sv_versions *versions,
                                 const struct hc_timeline *timeline, hc_unit unit, hc_tick tick) {
    uint32_t units = hc_unit_total(versions->world);
    HC_ASSERT(unit < units && tick != HC_NO_TICK);
    size_t row = tick % versions->rows, cell = row * units + unit;
    if (versions->seen_tick[row] != tick) {
        versions->seen_tick[row] = tick;
        memset(versions->newest + row * units, 0, units * sizeof *versions->newest);
        memset(versions->seen_head + row * units, 0xff, units * sizeof *versions->seen_head);
    }
    hc_sv_version newest = versions->newest[cell];
    hc_tick head = hc_timeline_head(timeline);
    if (versions->seen_head[cell] == head && record_at(versions, newest)->version == newest)
        return newest;
    versions->seen_head[cell] = head;
    return versions->newest[cell] = compare(versions, timeline, unit, tick, newest);
}
