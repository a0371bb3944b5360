#include "proto/snapshot.h"

#include "common/bytes.h"
#include "common/check.h"
#include "proto/pack.h"

#include <string.h>
#include <xxhash.h>

enum {
    SNAPSHOT_VALUES = 11,
    CORRECTION_VALUES = 3, ///< and the state's
};

uint64_t hc_snapshot_chain(uint64_t previous, uint64_t world_hash) {
    uint8_t bytes[8];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_bytes_put_u64(&writer, world_hash);
    return XXH3_64bits_withSeed(bytes, sizeof bytes, previous);
}

/// The most bytes that msgpack takes for a value of `field`.
static size_t field_worst(const struct hc_field *field) {
    unsigned positive = field->is_signed ? field->bits - 1u : field->bits;
    // Short forms: up to 127 and down to -32, then 8, 16 and 32 bits; a positive one of a signed
    // field never takes more than the lowest negative one.
    if (positive <= (field->is_signed ? 5u : 7u))
        return 1;
    unsigned width = field->bits;
    return width <= 8 ? 2 : width <= 16 ? 3 : 5;
}

static size_t kind_worst(const struct hc_kind *kind) {
    size_t size = 0;
    for (uint32_t i = 0; i < kind->field_count; i++)
        size += field_worst(&kind->fields[i]);
    return size;
}

size_t hc_snapshot_worst(const struct hc_world *world) {
    // Array and type; as_of, two times in us; three spans of up to 512; chain; hash; the own ones.
    size_t size = 1 + 1 + 5 + 5 + 5 + 3 * 3 + 9 + 5 + 1 + HC_OWN_PLAYERS_MAX * 5;
    size += 3; // the list of states
    for (uint32_t entity = 0; entity < world->entities; entity++)
        size += kind_worst(hc_world_kind(world, (hc_entity)entity));
    return size;
}

/// How many values the entity's state takes.
static uint32_t state_values(const struct hc_kind *kind, uint8_t presence) {
    return presence == HC_ALIVE ? kind->field_count : 1;
}

static void put_state(struct hc_writer *body, const struct hc_kind *kind, uint8_t presence,
                      const void *state) {
    if (presence == HC_UNKNOWN) {
        hc_pack_nil(body);
        return;
    }
    if (presence == HC_ABSENT) {
        hc_pack_false(body);
        return;
    }
    for (uint32_t i = 0; i < kind->field_count; i++)
        hc_pack_int64(body, hc_field_get(&kind->fields[i], state));
}

/// Reads one entity's state into `state`, which is all zeros; returns its presence.
static uint8_t get_state(struct hc_values *values, const struct hc_kind *kind, void *state) {
    if (hc_values_nil(values))
        return HC_UNKNOWN;
    if (hc_values_false(values))
        return HC_ABSENT;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct hc_field *field = &kind->fields[i];
        int64_t low = field->is_signed ? -((int64_t)1 << (field->bits - 1)) : 0;
        int64_t high = ((int64_t)1 << (field->bits - field->is_signed)) - 1;
        hc_field_set(field, state, hc_values_signed(values, low, high));
    }
    return HC_ALIVE;
}

static void put_head(struct hc_writer *body, const struct hc_snapshot *snapshot) {
    HC_ASSERT(snapshot->tick <= snapshot->as_of && snapshot->refusal <= snapshot->as_of);
    HC_ASSERT(snapshot->final <= snapshot->as_of && snapshot->own_count <= HC_OWN_PLAYERS_MAX);
    hc_pack_array(body, SNAPSHOT_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_SNAPSHOT);
    hc_pack_uint32(body, snapshot->as_of);
    hc_pack_uint32(body, snapshot->phase_us);
    hc_pack_uint32(body, snapshot->ack_delay_us);
    hc_pack_uint32(body, snapshot->as_of - snapshot->tick);
    hc_pack_uint32(body, snapshot->as_of - snapshot->refusal);
    hc_pack_uint32(body, snapshot->as_of - snapshot->final);
    hc_pack_uint64(body, snapshot->chain);
    hc_pack_uint32(body, snapshot->hash);
    hc_pack_array(body, snapshot->own_count);
    for (uint32_t i = 0; i < snapshot->own_count; i++) {
        HC_ASSERT(snapshot->complete[i] + 1 >= snapshot->tick &&
                  snapshot->complete[i] + 1 - snapshot->tick <= HC_SNAPSHOT_SPAN_MAX + 1);
        hc_pack_uint32(body, snapshot->complete[i] + 1 - snapshot->tick);
    }
}

bool hc_snapshot_put(struct hc_writer *body, const struct hc_world *world,
                     const struct hc_snapshot *snapshot, const uint8_t *presence,
                     const uint8_t *states) {
    uint32_t told = world->entities;
    while (told > 0 && presence[told - 1] == HC_UNKNOWN)
        told--;
    size_t values = 0;
    for (uint32_t entity = 0; entity < told; entity++)
        values += state_values(hc_world_kind(world, (hc_entity)entity), presence[entity]);
    struct hc_writer before = *body;
    put_head(body, snapshot);
    hc_pack_array(body, values);
    // Without room for the rest there is nothing to gain from going on through a large world.
    for (uint32_t entity = 0; entity < told && !body->failed; entity++)
        put_state(body, hc_world_kind(world, (hc_entity)entity), presence[entity],
                  states + (size_t)entity * world->stride);
    return hc_body_commit(body, &before);
}

static void get_head(struct hc_values *values, struct hc_snapshot *out) {
    *out = (struct hc_snapshot){0};
    out->as_of = (hc_tick)hc_values_unsigned(values, HC_NO_TICK - 1);
    out->phase_us = (uint32_t)hc_values_unsigned(values, HC_PHASE_MAX_US);
    out->ack_delay_us = (uint32_t)hc_values_unsigned(values, HC_ACK_DELAY_MAX_US);
    uint32_t span = out->as_of < HC_HISTORY_MAX ? out->as_of : HC_HISTORY_MAX;
    out->tick = out->as_of - (hc_tick)hc_values_unsigned(values, span);
    out->refusal = out->as_of - (hc_tick)hc_values_unsigned(values, span);
    out->final = out->as_of - (hc_tick)hc_values_unsigned(values, span);
    out->chain = hc_values_unsigned(values, UINT64_MAX);
    out->hash = (uint32_t)hc_values_unsigned(values, UINT32_MAX);
    struct hc_values own = hc_values_array(values);
    if (own.failed || own.left > HC_OWN_PLAYERS_MAX) {
        values->failed = true;
        return;
    }
    out->own_count = (uint8_t)own.left;
    for (uint32_t i = 0; i < out->own_count; i++) {
        uint64_t next = out->tick + hc_values_unsigned(&own, HC_SNAPSHOT_SPAN_MAX + 1);
        // Tick 0 minus one would be no tick, and the newest one has none after it.
        own.failed |= next == 0 || next > HC_NO_TICK - 1;
        out->complete[i] = (hc_tick)(next - 1);
    }
    values->failed |= hc_values_done(&own) != HC_OK;
}

enum hc_status hc_snapshot_get(const struct hc_body *body, const struct hc_world *world,
                               struct hc_snapshot *out, uint8_t *presence, uint8_t *states) {
    if (body->type != HC_MESSAGE_SNAPSHOT)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    get_head(&values, out);
    struct hc_values list = hc_values_array(&values);
    if (hc_values_done(&values) != HC_OK)
        return HC_MALFORMED;
    memset(presence, HC_UNKNOWN, world->entities);
    memset(states, 0, (size_t)world->entities * world->stride);
    for (uint32_t entity = 0; entity < world->entities && list.left > 0 && !list.failed; entity++)
        presence[entity] = get_state(&list, hc_world_kind(world, (hc_entity)entity),
                                     states + (size_t)entity * world->stride);
    return hc_values_done(&list);
}

/// The value for `tick` relative to the snapshot's.
static int64_t span_of(hc_tick tick, hc_tick base) {
    int64_t span = (int64_t)tick - (int64_t)base;
    HC_ASSERT(span >= -HC_SNAPSHOT_SPAN_MAX && span <= HC_SNAPSHOT_SPAN_MAX);
    return span;
}

/// The next value as a tick relative to `base`, from `low` to `high` away.
static hc_tick get_tick(struct hc_values *values, hc_tick base, int64_t low, int64_t high) {
    int64_t tick = (int64_t)base + hc_values_signed(values, low, high);
    values->failed |= tick < 0 || tick >= HC_NO_TICK;
    return values->failed ? 0 : (hc_tick)tick;
}

static hc_player get_player(struct hc_values *values, const struct hc_world *world) {
    return (hc_player)hc_values_unsigned(values, world->players - 1u);
}

uint32_t hc_snapshot_put_inputs(struct hc_writer *body, const struct hc_world *world, hc_tick tick,
                                hc_player player, hc_tick first, uint32_t count,
                                hc_input_source *source, void *context) {
    HC_ASSERT(count >= 1 && count <= HC_INPUT_RUN_MAX && player < world->players);
    struct hc_writer before = *body;
    uint8_t packed[HC_DATA_BODY_MAX];
    // The longest head: array, type, player, a span of 17 bits, count, and the binary's own.
    const size_t head = 1 + 1 + 3 + 5 + 3 + 3;
    size_t room = body->size - body->at;
    room = room > head ? room - head : 0;
    size_t used;
    uint32_t fits = hc_input_run_pack(world->game, 1, count, source, context, packed,
                                      room < sizeof packed ? room : sizeof packed, &used);
    if (fits == 0)
        return 0;
    hc_pack_array(body, 5);
    hc_pack_uint8(body, HC_MESSAGE_INPUTS);
    hc_pack_uint16(body, player);
    hc_pack_int64(body, span_of(first, tick));
    hc_pack_uint32(body, fits);
    hc_pack_bin(body, used);
    hc_pack_bin_body(body, packed, used);
    return hc_body_commit(body, &before) ? fits : 0;
}

enum hc_status hc_snapshot_get_inputs(const struct hc_body *body, const struct hc_world *world,
                                      hc_tick tick, struct hc_snapshot_inputs *out) {
    if (body->type != HC_MESSAGE_INPUTS)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    out->player = get_player(&values, world);
    out->first = get_tick(&values, tick, -HC_SNAPSHOT_SPAN_MAX, HC_SNAPSHOT_SPAN_MAX);
    out->count = (uint32_t)hc_values_unsigned(&values, HC_INPUT_RUN_MAX);
    size_t size;
    const uint8_t *packed = hc_values_binary(&values, &size);
    if (hc_values_done(&values) != HC_OK || out->count == 0 || out->count > HC_NO_TICK - out->first)
        return HC_MALFORMED;
    return hc_input_run_begin(&out->run, world->game, 1, out->count, packed, size);
}

bool hc_snapshot_put_control(struct hc_writer *body, hc_tick tick,
                             const struct hc_snapshot_control *control) {
    HC_ASSERT(control->control != HC_CONTROL_NONE);
    struct hc_writer before = *body;
    hc_pack_array(body, 4);
    hc_pack_uint8(body, HC_MESSAGE_CONTROL);
    hc_pack_uint16(body, control->player);
    hc_pack_int64(body, span_of(control->tick, tick));
    hc_pack_uint8(body, (uint8_t)control->control);
    return hc_body_commit(body, &before);
}

enum hc_status hc_snapshot_get_control(const struct hc_body *body, const struct hc_world *world,
                                       hc_tick tick, struct hc_snapshot_control *out) {
    if (body->type != HC_MESSAGE_CONTROL)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    out->player = get_player(&values, world);
    out->tick = get_tick(&values, tick, -HC_SNAPSHOT_SPAN_MAX, HC_SNAPSHOT_SPAN_MAX);
    out->control = (enum hc_control)hc_values_unsigned(&values, HC_CONTROL_LEAVE);
    return out->control == HC_CONTROL_NONE ? HC_MALFORMED : hc_values_done(&values);
}

bool hc_snapshot_put_forced(struct hc_writer *body, hc_tick tick,
                            const struct hc_snapshot_forced *forced) {
    HC_ASSERT(forced->count >= 1 && forced->count <= HC_INPUT_RUN_MAX && forced->first <= tick);
    struct hc_writer before = *body;
    hc_pack_array(body, 4);
    hc_pack_uint8(body, HC_MESSAGE_FORCED);
    hc_pack_uint16(body, forced->player);
    hc_pack_int64(body, -span_of(forced->first, tick));
    hc_pack_uint32(body, forced->count);
    return hc_body_commit(body, &before);
}

enum hc_status hc_snapshot_get_forced(const struct hc_body *body, const struct hc_world *world,
                                      hc_tick tick, struct hc_snapshot_forced *out) {
    if (body->type != HC_MESSAGE_FORCED)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    uint32_t span = tick < HC_SNAPSHOT_SPAN_MAX ? tick : HC_SNAPSHOT_SPAN_MAX;
    out->player = get_player(&values, world);
    out->first = tick - (hc_tick)hc_values_unsigned(&values, span);
    out->count = (uint32_t)hc_values_unsigned(&values, HC_INPUT_RUN_MAX);
    if (out->count == 0 || out->count > HC_NO_TICK - out->first)
        return HC_MALFORMED;
    return hc_values_done(&values);
}

bool hc_snapshot_put_correction(struct hc_writer *body, const struct hc_world *world, hc_tick tick,
                                hc_tick at, hc_entity entity, enum hc_presence presence,
                                const void *state) {
    HC_ASSERT(at < tick && tick - at <= HC_HISTORY_MAX && presence != HC_UNKNOWN);
    const struct hc_kind *kind = hc_world_kind(world, entity);
    struct hc_writer before = *body;
    hc_pack_array(body, CORRECTION_VALUES + state_values(kind, (uint8_t)presence));
    hc_pack_uint8(body, HC_MESSAGE_CORRECTION);
    hc_pack_uint32(body, tick - at);
    hc_pack_uint16(body, entity);
    put_state(body, kind, (uint8_t)presence, state);
    return hc_body_commit(body, &before);
}

enum hc_status hc_snapshot_get_correction(const struct hc_body *body, const struct hc_world *world,
                                          hc_tick tick, struct hc_snapshot_correction *out) {
    if (body->type != HC_MESSAGE_CORRECTION)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    uint32_t span = tick < HC_HISTORY_MAX ? tick : HC_HISTORY_MAX;
    out->tick = tick - (hc_tick)hc_values_unsigned(&values, span);
    out->entity = (hc_entity)hc_values_unsigned(&values, world->entities - 1u);
    if (values.failed || out->tick == tick)
        return HC_MALFORMED;
    memset(out->state, 0, sizeof out->state);
    out->presence = get_state(&values, hc_world_kind(world, out->entity), out->state);
    return out->presence == HC_UNKNOWN ? HC_MALFORMED : hc_values_done(&values);
}
