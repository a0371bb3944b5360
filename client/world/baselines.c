/// Stores received values in a ring, and those of the server's base beside it.
#include "client/world/baselines.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "proto/snapshot.h"

#include <string.h>

// A record is a packed value: the tick of the known input, that input, the presence of the unit's
// entities, and the states of those that are alive, without the bytes between them.

/// The bytes of a packed value of `unit` at most.
static size_t packed_bytes(const struct hc_world *world, hc_unit unit) {
    uint32_t count = hc_unit_count(world, unit);
    size_t bytes = sizeof(hc_tick) + world->game->input_size + count;
    for (uint32_t e = 0; e < count; e++)
        bytes += hc_world_kind(world, (hc_entity)(hc_unit_first(world, unit) + e))->state_size;
    return bytes;
}

static size_t record_bytes(const struct hc_world *world) {
    size_t most = 0;
    for (uint32_t unit = 0; unit < hc_unit_total(world); unit++) {
        size_t bytes = packed_bytes(world, (hc_unit)unit);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void pack(const struct hc_world *world, hc_unit unit, const struct hc_unit_value *value,
                 uint8_t *record) {
    uint32_t count = hc_unit_count(world, unit);
    hc_entity first = hc_unit_first(world, unit);
    memcpy(record, &value->known, sizeof value->known);
    record += sizeof value->known;
    memcpy(record, value->input, world->game->input_size);
    record += world->game->input_size;
    memcpy(record, value->presence, count);
    record += count;
    for (uint32_t e = 0; e < count; e++) {
        size_t size = hc_world_kind(world, (hc_entity)(first + e))->state_size;
        if (value->presence[e] != HC_ALIVE)
            continue;
        memcpy(record, value->states + e * world->stride, size);
        record += size;
    }
}

/// Unpacks what `pack` wrote, all but the tick, to the memory of `out`.
static void unpack(const struct hc_world *world, hc_unit unit, const uint8_t *record,
                   struct hc_unit_value *out) {
    uint32_t count = hc_unit_count(world, unit);
    hc_entity first = hc_unit_first(world, unit);
    memcpy(&out->known, record, sizeof out->known);
    record += sizeof out->known;
    memset(out->input, 0, sizeof out->input);
    memcpy(out->input, record, world->game->input_size);
    record += world->game->input_size;
    memcpy(out->presence, record, count);
    record += count;
    memset(out->states, 0, count * world->stride);
    for (uint32_t e = 0; e < count; e++) {
        size_t size = hc_world_kind(world, (hc_entity)(first + e))->state_size;
        if (out->presence[e] != HC_ALIVE)
            continue;
        memcpy(out->states + e * world->stride, record, size);
        record += size;
    }
}

size_t hc_cl_baselines_layout(struct hc_cl_baselines *baselines, const struct hc_world *world,
                              uint32_t capacity, uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(capacity > 0);
    baselines->world = world;
    baselines->capacity = capacity;
    baselines->record = record_bytes(world);
    baselines->ring = hc_carve(base, &used, capacity * baselines->record);
    baselines->keys = hc_carve(base, &used, capacity * sizeof *baselines->keys);
    baselines->rows = hc_carve(base, &used, HC_SNAPSHOT_BASELINE_TICKS * sizeof *baselines->rows);
    uint32_t moved = hc_snapshot_units_most(world);
    baselines->moved_values = hc_carve(base, &used, moved * baselines->record);
    baselines->moved_keys = hc_carve(base, &used, moved * sizeof *baselines->moved_keys);
    baselines->unpacked = hc_carve(base, &used, hc_unit_bytes(world));
    return used;
}

void hc_cl_baselines_clear(struct hc_cl_baselines *baselines) {
    for (unsigned i = 0; i < HC_SNAPSHOT_BASELINE_TICKS; i++)
        baselines->rows[i] = (struct hc_cl_baseline_row){.as_of = HC_NO_TICK, .tick = HC_NO_TICK};
    baselines->next = 0;
    baselines->newest = HC_NO_TICK;
    baselines->begun = HC_NO_TICK;
    baselines->base = (struct hc_cl_baseline_row){.as_of = HC_NO_TICK, .tick = HC_NO_TICK};
    baselines->moved = baselines->base;
}

static bool too_old(const struct hc_cl_baselines *baselines, hc_tick as_of) {
    return baselines->newest != HC_NO_TICK && as_of < baselines->newest &&
           baselines->newest - as_of >= HC_SNAPSHOT_BASELINE_TICKS;
}

static struct hc_cl_baseline_row *row_of(const struct hc_cl_baselines *baselines, hc_tick as_of) {
    return &baselines->rows[as_of % HC_SNAPSHOT_BASELINE_TICKS];
}

/// The row of the snapshot of `as_of`; NULL: it is not here.
static const struct hc_cl_baseline_row *find(const struct hc_cl_baselines *baselines,
                                             hc_tick as_of) {
    const struct hc_cl_baseline_row *row = row_of(baselines, as_of);
    bool here = as_of != HC_NO_TICK && row->as_of == as_of && !too_old(baselines, as_of);
    return here ? row : NULL;
}

bool hc_cl_baselines_takes(const struct hc_cl_baselines *baselines, hc_tick as_of) {
    return as_of != HC_NO_TICK && !too_old(baselines, as_of) && find(baselines, as_of) == NULL;
}

/// Number of the oldest value in the ring.
static uint64_t oldest(const struct hc_cl_baselines *baselines) {
    return baselines->next > baselines->capacity ? baselines->next - baselines->capacity : 0;
}

/// The place of a value in the ring.
static size_t place_of(const struct hc_cl_baselines *baselines, uint64_t number) {
    return (size_t)(number % baselines->capacity);
}

/// Whether all values of the row's snapshot are in the ring.
static bool is_whole(const struct hc_cl_baselines *baselines,
                     const struct hc_cl_baseline_row *row) {
    return row->count == 0 || row->first >= oldest(baselines);
}

/// Copies the base's values of its own tick beside the ring, because ring or rows will drop it.
static void move_base(struct hc_cl_baselines *baselines) {
    const struct hc_cl_baseline_row *row = &baselines->base;
    baselines->moved = (struct hc_cl_baseline_row){.as_of = row->as_of, .tick = row->tick};
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        size_t place = place_of(baselines, i);
        if (baselines->keys[place].tick != row->tick)
            continue;
        HC_ASSERT(baselines->moved.count < hc_snapshot_units_most(baselines->world));
        uint32_t to = baselines->moved.count++;
        baselines->moved_keys[to] = baselines->keys[place];
        memcpy(baselines->moved_values + to * baselines->record,
               baselines->ring + place * baselines->record, baselines->record);
    }
}

/// Whether the base is in the ring alone.
static bool base_in_ring(const struct hc_cl_baselines *baselines) {
    return baselines->base.as_of != baselines->moved.as_of;
}

void hc_cl_baselines_refer(struct hc_cl_baselines *baselines, hc_tick as_of) {
    const struct hc_cl_baseline_row *row = find(baselines, as_of);
    hc_tick before = baselines->base.as_of;
    uint32_t own_tick = 0;
    if (row == NULL || (before != HC_NO_TICK && as_of <= before) || !is_whole(baselines, row))
        return;
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        own_tick += baselines->keys[place_of(baselines, i)].tick == row->tick;
    if (own_tick > hc_snapshot_units_most(baselines->world))
        return; // it has a unit twice
    if (base_in_ring(baselines) && as_of - before >= HC_SNAPSHOT_BASELINE_TICKS / 2)
        move_base(baselines); // snapshots on their way may still refer to it
    baselines->base = *row;
}

bool hc_cl_baselines_begin(struct hc_cl_baselines *baselines, hc_tick as_of, hc_tick tick) {
    if (!hc_cl_baselines_takes(baselines, as_of))
        return false;
    baselines->begun = as_of;
    if (baselines->newest == HC_NO_TICK || baselines->newest < as_of)
        baselines->newest = as_of;
    if (base_in_ring(baselines) && too_old(baselines, baselines->base.as_of))
        move_base(baselines);
    *row_of(baselines, as_of) =
        (struct hc_cl_baseline_row){.as_of = as_of, .tick = tick, .first = baselines->next};
    return true;
}

void hc_cl_baselines_put(struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit unit,
                         const struct hc_unit_value *value) {
    HC_ASSERT(as_of != HC_NO_TICK && as_of == baselines->begun);
    HC_ASSERT(unit < hc_unit_total(baselines->world) && value->tick != HC_NO_TICK);
    struct hc_cl_baseline_row *row = row_of(baselines, as_of);
    if (base_in_ring(baselines) && baselines->base.count > 0 &&
        baselines->base.first + baselines->capacity == baselines->next)
        move_base(baselines);
    size_t place = place_of(baselines, baselines->next++);
    pack(baselines->world, unit, value, baselines->ring + place * baselines->record);
    baselines->keys[place] = (struct hc_cl_baseline_key){.tick = value->tick, .unit = unit};
    size_t before = (place == 0 ? baselines->capacity : place) - 1;
    row->sorted += row->sorted == row->count && value->tick == row->tick &&
                   (row->count == 0 || unit > baselines->keys[before].unit);
    row->count++;
}

/// Whether the base beside the ring is the snapshot of `as_of`.
static bool is_moved(const struct hc_cl_baselines *baselines, hc_tick as_of) {
    return as_of != HC_NO_TICK && baselines->moved.as_of == as_of;
}

/// The place in the ring of the value of `unit` among those with the numbers [first, end), which
/// are in ascending order of units; `capacity`: none.
static size_t search_sorted(const struct hc_cl_baselines *baselines, uint64_t first, uint64_t end,
                            hc_unit unit) {
    if (first >= end)
        return baselines->capacity;
    size_t start = place_of(baselines, first), low = 0, high = (size_t)(end - first);
    while (high - low > 1) {
        size_t middle = (low + high) / 2, place = start + middle;
        place -= place >= baselines->capacity ? baselines->capacity : 0;
        if (baselines->keys[place].unit <= unit)
            low = middle;
        else
            high = middle;
    }
    size_t place = start + low;
    place -= place >= baselines->capacity ? baselines->capacity : 0;
    return baselines->keys[place].unit == unit ? place : baselines->capacity;
}

/// The place in the ring of the row's value of (unit, tick); `capacity`: none.
static size_t search(const struct hc_cl_baselines *baselines, const struct hc_cl_baseline_row *row,
                     hc_unit unit, hc_tick tick) {
    uint64_t end = row->first + row->count;
    uint64_t first = row->first > oldest(baselines) ? row->first : oldest(baselines);
    uint64_t sorted = row->first + row->sorted;
    size_t place = place_of(baselines, end);
    for (; end > first && end > sorted; end--) {
        place = (place == 0 ? baselines->capacity : place) - 1;
        if (baselines->keys[place].unit == unit && baselines->keys[place].tick == tick)
            return place;
    }
    return tick == row->tick ? search_sorted(baselines, first, end, unit) : baselines->capacity;
}

/// The record of (unit, tick) beside the ring; NULL: it is not there.
static const uint8_t *search_moved(const struct hc_cl_baselines *baselines, hc_tick as_of,
                                   hc_unit unit, hc_tick tick) {
    if (!is_moved(baselines, as_of))
        return NULL;
    for (uint32_t i = baselines->moved.count; i-- > 0;)
        if (baselines->moved_keys[i].unit == unit && baselines->moved_keys[i].tick == tick)
            return baselines->moved_values + i * baselines->record;
    return NULL;
}

bool hc_cl_baselines_get(const struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit unit,
                         hc_tick tick, struct hc_unit_value *out) {
    const struct hc_cl_baseline_row *row = find(baselines, as_of);
    size_t place = row == NULL ? baselines->capacity : search(baselines, row, unit, tick);
    const uint8_t *record = place < baselines->capacity
                                ? baselines->ring + place * baselines->record
                                : search_moved(baselines, as_of, unit, tick);
    if (record == NULL)
        return false;
    out->tick = tick;
    hc_unit_place(baselines->world, out, baselines->unpacked);
    unpack(baselines->world, unit, record, out);
    return true;
}

hc_tick hc_cl_baselines_tick(const struct hc_cl_baselines *baselines, hc_tick as_of) {
    const struct hc_cl_baseline_row *row = find(baselines, as_of);
    if (row == NULL && is_moved(baselines, as_of))
        row = &baselines->moved;
    return row == NULL ? HC_NO_TICK : row->tick;
}

bool hc_cl_baselines_units(const struct hc_cl_baselines *baselines, hc_tick as_of, hc_unit *out,
                           uint32_t most, uint32_t *count) {
    const struct hc_cl_baseline_row *row = find(baselines, as_of);
    *count = 0;
    if (is_moved(baselines, as_of)) {
        for (; *count < baselines->moved.count && *count < most; ++*count)
            out[*count] = baselines->moved_keys[*count].unit;
        return *count == baselines->moved.count;
    }
    if (row == NULL || !is_whole(baselines, row))
        return false;
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        const struct hc_cl_baseline_key *key = &baselines->keys[place_of(baselines, i)];
        if (key->tick != row->tick)
            continue;
        if (*count == most)
            return false;
        out[(*count)++] = key->unit;
    }
    return true;
}
