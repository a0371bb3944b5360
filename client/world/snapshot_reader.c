/// Decodes snapshots against the baselines that the client holds.
#include "client/world/snapshot_reader.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "proto/game_events.h"
#include "proto/value.h"

#include <string.h>

struct hc_cl_snapshot_reader {
    const struct hc_world *world;
    struct hc_value_codec codec;
    uint8_t own_count;
    struct hc_extrapolator *extrapolator;
    struct hc_runs runs; ///< of the units of snapshots
    struct hc_cl_baselines baselines;
    struct hc_cl_received snapshot; ///< the newest decoded
    uint8_t *values;                ///< [value_max * hc_unit_bytes]
    uint32_t value_max;
};

enum {
    RUNS = 4,      ///< of each unit of a snapshot: one more than its player's usual input changes
    RUN_STATES = 1 ///< of each: snapshots mostly come in the order of their ticks
};

/// One snapshot that is being read.
struct reading {
    struct hc_cl_snapshot_reader *reader;
    struct hc_bits_reader bits;
    const void *referee; ///< state of the referee there; NULL: unknown so far, or not alive
    bool missing;        ///< a baseline is not here
};

// ---- Memory -------------------------------------------------------------------------------------

/// Lays everything out from `base`, which holds the struct itself first; returns the bytes needed.
static size_t layout(struct hc_cl_snapshot_reader *reader, const struct hc_world *world,
                     uint8_t *base) {
    size_t used = 0, value = hc_unit_bytes(world);
    uint32_t units = hc_snapshot_units_most(world);
    uint32_t held = units * HC_SNAPSHOT_VALUES_EACH;
    held = held > HC_SNAPSHOT_VALUES_MIN ? held : HC_SNAPSHOT_VALUES_MIN;
    hc_carve(base, &used, sizeof *reader);
    reader->world = world;
    reader->value_max = units + HC_SNAPSHOT_CORRECTIONS_MAX;
    reader->snapshot.values =
        hc_carve(base, &used, reader->value_max * sizeof *reader->snapshot.values);
    reader->snapshot.inputs =
        hc_carve(base, &used, HC_SNAPSHOT_INPUTS_SUM_MAX * sizeof *reader->snapshot.inputs);
    reader->snapshot.roster_changes =
        hc_carve(base, &used, HC_SNAPSHOT_ROSTER_MAX * sizeof *reader->snapshot.roster_changes);
    reader->snapshot.forced =
        hc_carve(base, &used, HC_SNAPSHOT_FORCED_MAX * sizeof *reader->snapshot.forced);
    uint32_t events = world->game->event_kind_count > 0 ? HC_GAME_EVENTS_MAX : 0;
    reader->snapshot.events = hc_carve(base, &used, events * sizeof *reader->snapshot.events);
    reader->values = hc_carve(base, &used, reader->value_max * value);
    used += hc_runs_layout(&reader->runs, world, reader->extrapolator, units, RUNS, RUN_STATES,
                           base == NULL ? NULL : base + used);
    // Room for one snapshot more: it is put while its baselines are still in use.
    used += hc_cl_baselines_layout(&reader->baselines, world, held + reader->value_max,
                                   base == NULL ? NULL : base + used);
    return used;
}

size_t hc_cl_snapshot_reader_memory(const struct hc_world *world) {
    struct hc_cl_snapshot_reader measured = {.extrapolator = NULL};
    return layout(&measured, world, NULL) + hc_extrapolator_memory(world);
}

struct hc_cl_snapshot_reader *hc_cl_snapshot_reader_create(const struct hc_world *world,
                                                           uint8_t own_count) {
    struct hc_cl_snapshot_reader measured = {.extrapolator = hc_extrapolator_create(world)};
    uint8_t *block = hc_allocate(world->allocator, layout(&measured, world, NULL));
    struct hc_cl_snapshot_reader *reader = (struct hc_cl_snapshot_reader *)(void *)block;
    if (block == NULL || measured.extrapolator == NULL) {
        hc_extrapolator_destroy(measured.extrapolator);
        hc_release(world->allocator, block);
        return NULL;
    }
    reader->extrapolator = measured.extrapolator;
    layout(reader, world, block);
    hc_value_codec_init(&reader->codec, world);
    reader->own_count = own_count;
    hc_cl_baselines_clear(&reader->baselines);
    return reader;
}

void hc_cl_snapshot_reader_destroy(struct hc_cl_snapshot_reader *reader) {
    if (reader == NULL)
        return;
    hc_extrapolator_destroy(reader->extrapolator);
    hc_release(reader->world->allocator, reader);
}

// ---- Values -------------------------------------------------------------------------------------

/// The next value of the snapshot; NULL, and the bits fail, when there is room for no more.
static struct hc_cl_received_value *next_value(struct reading *reading, hc_unit unit,
                                               hc_tick tick) {
    struct hc_cl_snapshot_reader *reader = reading->reader;
    if (reader->snapshot.value_count == reader->value_max) {
        reading->bits.failed = true;
        return NULL;
    }
    uint32_t index = reader->snapshot.value_count++;
    struct hc_cl_received_value *received = &reader->snapshot.values[index];
    *received =
        (struct hc_cl_received_value){.unit = unit, .base_as_of = HC_NO_TICK, .value.tick = tick};
    hc_unit_place(reader->world, &received->value,
                  reader->values + index * hc_unit_bytes(reader->world));
    return received;
}

/// Reads a value against its baseline `from`, or against nothing if that is NULL.
static void read_value(struct reading *reading, const struct hc_unit_value *from,
                       struct hc_cl_received_value *received) {
    struct hc_cl_snapshot_reader *reader = reading->reader;
    struct hc_value_base base = {.codec = &reader->codec,
                                 .extrapolator = reader->extrapolator,
                                 .how = reader->snapshot.header.how,
                                 .unit = received->unit,
                                 .from = from,
                                 .referee = reading->referee,
                                 .runs = received->correction ? NULL : &reader->runs};
    hc_value_get(&reading->bits, &base, &received->value);
}

/// Finds the baseline of (unit, tick) in the snapshot of `as_of`; a tick of HC_NO_TICK is that
/// snapshot's own. False: it is not here, or newer than `newest`, which is against the standard.
static bool find(struct reading *reading, hc_tick as_of, hc_unit unit, hc_tick tick, hc_tick newest,
                 struct hc_unit_value *out) {
    const struct hc_cl_baselines *baselines = &reading->reader->baselines;
    if (tick == HC_NO_TICK)
        tick = hc_cl_baselines_tick(baselines, as_of);
    if (tick != HC_NO_TICK && hc_cl_baselines_get(baselines, as_of, unit, tick, out) &&
        out->tick <= newest)
        return true;
    reading->missing = true;
    reading->bits.failed = true;
    return false;
}

// ---- Units --------------------------------------------------------------------------------------

static void read_run(struct reading *reading, hc_player player, hc_tick *next, uint8_t *input) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    const struct hc_game *game = reading->reader->world->game;
    hc_tick first;
    uint32_t count = hc_snapshot_get_run(&reading->bits, *next, &first);
    for (uint32_t i = 0; i < count && !reading->bits.failed; i++) {
        reading->bits.failed |= snapshot->input_count == HC_SNAPSHOT_INPUTS_SUM_MAX;
        if (reading->bits.failed)
            return;
        hc_value_get_input(&reading->bits, &reading->reader->codec, input, input);
        struct hc_cl_received_input *received = &snapshot->inputs[snapshot->input_count++];
        *received = (struct hc_cl_received_input){.player = player, .tick = first + i};
        memcpy(received->input, input, game->input_size);
        game->sanitize_input(received->input);
    }
    *next = first + count;
}

static void read_inputs(struct reading *reading, const struct hc_cl_received_value *received) {
    hc_player player = hc_unit_player(reading->reader->world, received->unit);
    uint8_t input[HC_INPUT_MAX];
    const struct hc_snapshot *header = &reading->reader->snapshot.header;
    hc_tick next = header->tick - header->inputs_before;
    if (player == HC_NO_PLAYER)
        return;
    memcpy(input, received->value.input, sizeof input);
    for (uint32_t runs = hc_snapshot_get_runs(&reading->bits); runs > 0 && !reading->bits.failed;
         runs--)
        read_run(reading, player, &next, input);
}

/// The values that follow are extrapolated with this referee (NULL: unknown).
static void refer(struct reading *reading, const struct hc_unit_value *referee) {
    bool alive = referee != NULL && referee->presence[0] == HC_ALIVE;
    reading->referee = alive ? referee->states : NULL;
    hc_runs_refer(&reading->reader->runs, reading->referee);
}

static void read_unit(struct reading *reading, const struct hc_snapshot_unit *unit) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    struct hc_unit_value base;
    struct hc_cl_received_value *received = next_value(reading, unit->unit, snapshot->header.tick);
    if (received == NULL)
        return;
    received->dropped = unit->from == HC_SNAPSHOT_DROPPED;
    if (received->dropped)
        return;
    bool has_base = unit->from != HC_SNAPSHOT_NOTHING;
    hc_tick as_of = unit->from == HC_SNAPSHOT_OLDER ? unit->as_of : snapshot->header.base;
    if (has_base && !find(reading, as_of, unit->unit, HC_NO_TICK, snapshot->header.tick, &base))
        return;
    if (has_base)
        received->base_as_of = as_of;
    read_value(reading, has_base ? &base : NULL, received);
    read_inputs(reading, received);
    if (unit->unit == 0) // the first
        refer(reading, &received->value);
}

static void read_units(struct reading *reading) {
    struct hc_cl_snapshot_reader *reader = reading->reader;
    struct hc_snapshot_unit named[HC_SNAPSHOT_UNITS_MAX];
    struct hc_snapshot_set base_units = {.count = 0};
    hc_tick base = reader->snapshot.header.base;
    if (base != HC_NO_TICK && !reading->bits.failed &&
        !hc_cl_baselines_units(&reader->baselines, base, base_units.units, HC_SNAPSHOT_UNITS_MAX,
                               &base_units.count))
        reading->missing = reading->bits.failed = true;
    uint32_t count = hc_snapshot_get_names(&reading->bits, reader->world, &reader->snapshot.header,
                                           &base_units, named);
    refer(reading, NULL);
    for (uint32_t i = 0; i < count && !reading->bits.failed; i++)
        read_unit(reading, &named[i]);
}

static void read_correction(struct reading *reading, hc_tick at, hc_unit *next) {
    const struct hc_cl_snapshot_reader *reader = reading->reader;
    struct hc_snapshot_correction correction;
    struct hc_unit_value base;
    hc_snapshot_get_correction(&reading->bits, reader->world, &reader->snapshot.header, *next,
                               &correction);
    if (reading->bits.failed)
        return;
    *next = (hc_unit)(correction.unit + 1);
    struct hc_cl_received_value *received = next_value(reading, correction.unit, at);
    bool has_base = correction.as_of != HC_NO_TICK;
    if (received == NULL || (has_base && !find(reading, correction.as_of, correction.unit,
                                               correction.same ? at : HC_NO_TICK, at, &base)))
        return;
    received->correction = true;
    read_value(reading, has_base ? &base : NULL, received);
}

static void read_corrections(struct reading *reading) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    hc_tick at = snapshot->header.tick;
    uint32_t count;
    while (hc_snapshot_get_correction_tick(&reading->bits, at, &at, &count)) {
        hc_unit next = 0;
        for (uint32_t i = 0; i < count && !reading->bits.failed; i++)
            read_correction(reading, at, &next);
    }
}

// ---- A snapshot ---------------------------------------------------------------------------------

static void read_lists(struct reading *reading) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_roster roster_change;
    while (hc_snapshot_get_forced(&reading->bits, &snapshot->header, &forced)) {
        if (snapshot->forced_count == HC_SNAPSHOT_FORCED_MAX)
            reading->bits.failed = true;
        else
            snapshot->forced[snapshot->forced_count++] = forced;
    }
    while (hc_snapshot_get_roster(&reading->bits, reading->reader->world, snapshot->header.tick,
                                  &roster_change)) {
        if (snapshot->roster_count == HC_SNAPSHOT_ROSTER_MAX)
            reading->bits.failed = true;
        else
            snapshot->roster_changes[snapshot->roster_count++] = roster_change;
    }
}

/// Reads the events of one tick to the place `*count` of all events, and advances it.
static void read_tick_events(struct reading *reading, hc_tick tick, uint32_t *count) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    hc_entity entity = 0;
    hc_game_event event = 0;
    for (bool first = true;
         hc_game_events_get_event(&reading->bits, reading->reader->world, first, &entity, &event);
         first = false) {
        reading->bits.failed |= *count == HC_GAME_EVENTS_MAX;
        if (reading->bits.failed)
            return;
        snapshot->events[(*count)++] =
            (struct hc_cl_received_event){.tick = tick, .entity = entity, .event = event};
    }
}

static void read_events(struct reading *reading) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    if (reading->reader->world->game->event_kind_count == 0 ||
        !hc_game_events_get(&reading->bits, snapshot->header.final, &snapshot->events_first,
                            &snapshot->event_ticks))
        return;
    for (uint32_t i = 0; i < snapshot->event_ticks && !reading->bits.failed; i++)
        read_tick_events(reading, snapshot->events_first + i, &snapshot->event_count);
}

static void read_early_events(struct reading *reading) {
    struct hc_cl_received *snapshot = &reading->reader->snapshot;
    hc_tick shown = snapshot->header.tick, tick = shown + 1;
    uint32_t count = snapshot->event_count;
    if (reading->reader->world->game->event_kind_count == 0)
        return;
    while (hc_game_events_get_early(&reading->bits, snapshot->header.final, shown, &tick)) {
        read_tick_events(reading, tick, &count);
        snapshot->early[snapshot->early_count++] =
            (struct hc_cl_received_early){.tick = tick, .end = count};
    }
}

static uint32_t hash_of(const struct hc_world *world, const struct hc_cl_received *snapshot) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        if (!received->correction && !received->dropped)
            hash += hc_unit_hash(world, received->unit, &received->value);
    }
    return (uint32_t)hash;
}

enum hc_status hc_cl_snapshot_reader_decode(struct hc_cl_snapshot_reader *reader,
                                            const struct hc_body *body, hc_tick near,
                                            const struct hc_cl_received **out) {
    struct hc_cl_received *snapshot = &reader->snapshot;
    struct reading reading = {.reader = reader};
    enum hc_status status = hc_snapshot_get_message(body, &reading.bits);
    if (status != HC_OK)
        return status;
    snapshot->value_count = snapshot->input_count = snapshot->roster_count =
        snapshot->forced_count = snapshot->event_count = snapshot->event_ticks =
            snapshot->early_count = 0;
    snapshot->events_first = 0;
    hc_snapshot_get(&reading.bits, near, reader->own_count, &snapshot->header);
    read_lists(&reading);
    read_events(&reading);
    read_units(&reading);
    read_corrections(&reading);
    read_early_events(&reading);
    if (!hc_bits_done(&reading.bits))
        return reading.missing ? HC_TOO_OLD : HC_MALFORMED;
    if (hash_of(reader->world, snapshot) != snapshot->header.hash)
        return HC_INVALID;
    if (!hc_cl_baselines_takes(&reader->baselines, snapshot->header.as_of))
        return HC_TOO_OLD;
    *out = snapshot;
    return HC_OK;
}

/// The first entity of the unit with a field that differs from its baseline; false: there is none.
static bool find_changed(const struct hc_world *world, const struct hc_cl_received_value *received,
                         const struct hc_unit_value *base, struct hc_difference *suspect) {
    for (uint32_t e = 0; e < hc_unit_count(world, received->unit); e++) {
        hc_entity entity = (hc_entity)(hc_unit_first(world, received->unit) + e);
        const struct hc_kind *kind = hc_world_kind(world, entity);
        const uint8_t *state = received->value.states + (size_t)e * world->stride;
        const uint8_t *before = base->states + (size_t)e * world->stride;
        if (received->value.presence[e] != HC_ALIVE || base->presence[e] != HC_ALIVE)
            continue;
        for (unsigned f = 0; f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            if (hc_field_get(field, state) == hc_field_get(field, before))
                continue;
            suspect->entity = entity;
            suspect->kind = kind;
            suspect->field = field;
            return true;
        }
    }
    return false;
}

struct hc_difference hc_cl_snapshot_reader_suspect(const struct hc_cl_snapshot_reader *reader) {
    const struct hc_world *world = reader->world;
    const struct hc_cl_received *snapshot = &reader->snapshot;
    struct hc_difference suspect = {.tick = snapshot->header.tick};
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        struct hc_unit_value base;
        // The referee is held, or only its countdowns advance: the game's step is not called.
        bool extrapolated = received->base_as_of != HC_NO_TICK && received->unit != 0;
        if (!extrapolated ||
            !hc_cl_baselines_get(&reader->baselines, received->base_as_of, received->unit,
                                 hc_cl_baselines_tick(&reader->baselines, received->base_as_of),
                                 &base))
            continue;
        if (find_changed(world, received, &base, &suspect))
            return suspect;
        if (suspect.kind == NULL) {
            suspect.entity = hc_unit_first(world, received->unit);
            suspect.kind = hc_world_kind(world, suspect.entity);
        }
    }
    return suspect;
}

/// Whether it is a value of the snapshot's own tick.
static bool is_hashed(const struct hc_cl_received_value *received) {
    return !received->correction && !received->dropped;
}

uint32_t hc_cl_snapshot_reader_hashes(const struct hc_cl_snapshot_reader *reader, uint8_t *out) {
    const struct hc_cl_received *snapshot = &reader->snapshot;
    uint32_t count = 0;
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        if (is_hashed(received) && count < HC_SNAPSHOT_UNITS_MAX)
            hc_compare_set_hash(out, count++,
                                hc_unit_hash(reader->world, received->unit, &received->value));
    }
    return count;
}

bool hc_cl_snapshot_reader_compare(const struct hc_cl_snapshot_reader *reader,
                                   const struct hc_differs *differs, struct hc_difference *out) {
    const struct hc_world *world = reader->world;
    const struct hc_cl_received *snapshot = &reader->snapshot;
    struct hc_differs answer = *differs;
    struct hc_differs_entity server;
    uint32_t i = 0;
    while (i < snapshot->value_count &&
           (!is_hashed(&snapshot->values[i]) || snapshot->values[i].unit != answer.unit))
        i++;
    for (uint32_t e = 0; i < snapshot->value_count && e < hc_unit_count(world, answer.unit); e++) {
        const struct hc_unit_value *client = &snapshot->values[i].value;
        hc_entity entity = (hc_entity)(hc_unit_first(world, answer.unit) + e);
        if (!hc_differs_next(&answer, world, entity, &server))
            return false;
        if (hc_compare_entity(world, entity, client->presence[e],
                              client->states + (size_t)e * world->stride, server.presence,
                              server.state, out)) {
            out->tick = snapshot->header.tick;
            return true;
        }
    }
    return false;
}

void hc_cl_snapshot_reader_accept(struct hc_cl_snapshot_reader *reader) {
    const struct hc_cl_received *snapshot = &reader->snapshot;
    hc_cl_baselines_refer(&reader->baselines, snapshot->header.base);
    bool begun =
        hc_cl_baselines_begin(&reader->baselines, snapshot->header.as_of, snapshot->header.tick);
    HC_ASSERT(begun);
    for (uint32_t i = 0; i < snapshot->value_count; i++)
        if (!snapshot->values[i].dropped)
            hc_cl_baselines_put(&reader->baselines, snapshot->header.as_of,
                                snapshot->values[i].unit, &snapshot->values[i].value);
}

const struct hc_cl_received *
hc_cl_snapshot_reader_newest(const struct hc_cl_snapshot_reader *reader) {
    return &reader->snapshot;
}

enum hc_status hc_cl_snapshot_reader_read(struct hc_cl_snapshot_reader *reader,
                                          const struct hc_body *body, hc_tick near,
                                          const struct hc_cl_received **snapshot) {
    enum hc_status status = hc_cl_snapshot_reader_decode(reader, body, near, snapshot);
    if (status == HC_OK)
        hc_cl_snapshot_reader_accept(reader);
    return status;
}
