/// Fuzzes the snapshot reader with hostile snapshots, after it has read a server's and has
/// baselines. A refused snapshot must leave no trace: a second reader that never gets it must read
/// the same as the first.
///
/// The input is a list of actions: a byte for the kind, a byte of length, and that many bytes.
#include "client/world/snapshot_reader.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "proto/game_events.h"
#include "proto/value.h"
#include "server/host.h"
#include "tests/sim/endpoint.h"

#include <string.h>

enum {
    PLAYERS = 4,
    TICK_US = 16667,
    RECORDED = 37, // bodies from a server
    ANSWERED = 32, // of these are acked; the next is the last before a long silence
    READ = 20,     // of these are read first
    OFFSET = 6,    // display offset of the recorded client: there are corrections
    UNITS_MAX = 64,
    VALUE_MAX = 512,
};

static struct {
    struct hc_world world;
    struct hc_value_codec codec;
    struct hc_extrapolator *extrapolator;
    uint32_t count;
    size_t sizes[RECORDED];
    uint8_t bodies[RECORDED][HC_DATA_BODY_MAX];
} tape;

// ---- The recording ------------------------------------------------------------------------------

struct player {
    struct hc_endpoint endpoint;
    uint16_t port;
    uint32_t cid, seq, ack;
    uint32_t late; // ticks, of its inputs
};

static const void *invented_input(void *context, uint32_t index, uint32_t player) {
    static struct hc_arena_input input;
    const hc_tick *first = context;
    uint64_t random = hc_random(1, *first + index, player, 7);
    input = (struct hc_arena_input){.move_x = (int8_t)(random % 3) - 1,
                                    .move_y = (int8_t)(random / 8 % 3) - 1,
                                    .aim = (uint8_t)(random >> 16),
                                    .fire = 1};
    return &input;
}

/// Drains the host; `out` gets the last datagram of `kind` to `player`.
static size_t drain(struct hc_server *host, uint64_t now_us, const struct player *player,
                    enum hc_datagram_kind kind, uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, found = 0;
    while ((size = hc_server_send(host, &to, bytes, now_us)) > 0) {
        if (to.port != player->port || hc_datagram_kind(bytes, size) != kind)
            continue;
        memcpy(out, bytes, size);
        found = size;
    }
    return found;
}

static void deliver(struct hc_server *host, uint64_t now_us, const struct player *player,
                    const uint8_t *bytes, size_t size) {
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, player->port);
    enum hc_status status = hc_server_receive(host, &from, bytes, size, now_us);
    HC_ASSERT(status == HC_OK);
}

static void join(struct hc_server *host, uint64_t now_us, struct player *player) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
    struct hc_datagram_cookie cookie;
    struct hc_accept accept;
    deliver(host, now_us, player, bytes, hc_datagram_put_hello(&hello, bytes));
    size_t size = drain(host, now_us, player, HC_DATAGRAM_COOKIE, bytes);
    HC_ASSERT(hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK);
    struct hc_connect connect = {
        .extrapolations = 3, .protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(connect.cookie, cookie.cookie, sizeof cookie.cookie);
    hc_endpoint_issue_token(&player->endpoint, &hc_arena, player->port, player->port);
    deliver(host, now_us, player, bytes,
            hc_endpoint_put_connect(&player->endpoint, &connect, bytes));
    size = drain(host, now_us, player, HC_DATAGRAM_ACCEPT, bytes);
    HC_ASSERT(hc_endpoint_get_accept(&player->endpoint, bytes, size, opened, &accept) == HC_OK);
    player->cid = accept.cid;
}

/// Sends INPUT with the player's late input and an ack of everything.
static void send_input(struct hc_server *host, uint64_t now_us, struct player *player) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    hc_tick head = hc_timeline_head(hc_server_timeline(host));
    struct hc_input_message message = {
        .client_tick = head, .display_offset = OFFSET, .first = hc_tick_back(head, player->late)};
    message.count = 1;
    bool fits = hc_message_put_input(&body, &hc_arena, 1, &message, invented_input, &message.first);
    HC_ASSERT(fits);
    struct hc_data data = {.cid = player->cid,
                           .seq = ++player->seq,
                           .ack = player->ack,
                           .body = bytes + HC_DATA_BODY_AT,
                           .body_size = body.at};
    deliver(host, now_us, player, bytes,
            hc_endpoint_put_data(&player->endpoint, true, &data, bytes));
}

static void record(const uint8_t *bytes, size_t size, struct player *player) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    HC_ASSERT(hc_endpoint_get_data(&player->endpoint, false, bytes, size, opened, &data) == HC_OK &&
              tape.count < RECORDED);
    memcpy(tape.bodies[tape.count], data.body, data.body_size);
    tape.sizes[tape.count++] = data.body_size;
    player->ack = data.seq;
}

/// Runs a server with two players and records what it sends to the first. After that player falls
/// silent, nothing is recorded until its reader has only the newest baseline.
static void make_tape(void) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct player players[] = {{.port = 1000, .late = 3}, {.port = 2000, .late = 7}};
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    uint64_t now_us = 0;
    config.clients = PLAYERS;
    config.history = 16;
    HC_ASSERT(hc_world_init(&tape.world, &hc_arena, PLAYERS, config.tick_rate, config.seed, NULL) ==
              HC_OK);
    hc_value_codec_init(&tape.codec, &tape.world);
    tape.extrapolator = hc_extrapolator_create(&tape.world);
    HC_ASSERT(tape.extrapolator != NULL);
    struct hc_server *host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    HC_ASSERT(host != NULL);
    join(host, now_us, &players[0]);
    join(host, now_us, &players[1]);
    hc_tick answered_head = 0;
    while (tape.count < RECORDED) {
        now_us += TICK_US;
        hc_server_advance(host, now_us);
        hc_tick head = hc_timeline_head(hc_server_timeline(host));
        size_t size = drain(host, now_us, &players[0], HC_DATAGRAM_DATA, bytes);
        bool recorded =
            tape.count <= ANSWERED || head >= answered_head + HC_SNAPSHOT_BASELINE_TICKS;
        if (size > 0 && recorded)
            record(bytes, size, &players[0]);
        if (tape.count <= ANSWERED) {
            answered_head = head;
            send_input(host, now_us, &players[0]);
        }
        send_input(host, now_us, &players[1]);
        drain(host, now_us, &players[0], HC_DATAGRAM_NONE, bytes);
    }
    hc_server_destroy(host);
}

// ---- Reading ------------------------------------------------------------------------------------

struct readers {
    struct hc_cl_snapshot_reader *first, *second;
    hc_tick newest; ///< newest head that was read
    uint32_t next;  ///< next body of the tape
};

static void check_fields(const struct hc_field *fields, uint32_t count, const uint8_t *data) {
    for (uint32_t f = 0; f < count; f++)
        HC_ASSERT(hc_field_fits(&fields[f], hc_field_get(&fields[f], data)));
}

/// Checks that a world can hold the value.
static void check_value(const struct hc_cl_received *received,
                        const struct hc_cl_received_value *value) {
    const struct hc_world *world = &tape.world;
    HC_ASSERT(value->unit < hc_unit_total(world));
    HC_ASSERT(value->correction ? value->value.tick < received->header.tick
                                : value->value.tick == received->header.tick);
    for (uint32_t e = 0; !value->dropped && e < hc_unit_count(world, value->unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(world, (hc_entity)(hc_unit_first(world, value->unit) + e));
        HC_ASSERT(value->value.presence[e] <= HC_ALIVE);
        check_fields(kind->fields, kind->field_count,
                     value->value.states + (size_t)e * world->stride);
    }
}

static void check_received(const struct hc_cl_received *received) {
    const struct hc_game *game = tape.world.game;
    HC_ASSERT(received->header.tick <= received->header.as_of &&
              received->header.refused_before <= received->header.as_of);
    HC_ASSERT(received->header.as_of <= HC_SNAPSHOT_TICK_MAX);
    HC_ASSERT(received->forced_count <= HC_SNAPSHOT_FORCED_MAX);
    HC_ASSERT(received->roster_count <= HC_SNAPSHOT_ROSTER_MAX);
    HC_ASSERT(received->input_count <= HC_SNAPSHOT_INPUTS_SUM_MAX);
    for (uint32_t i = 0; i < received->value_count; i++)
        check_value(received, &received->values[i]);
    for (uint32_t i = 0; i < received->input_count; i++) {
        HC_ASSERT(received->inputs[i].player < PLAYERS &&
                  received->inputs[i].tick >= received->header.tick);
        check_fields(game->input_fields, game->input_field_count, received->inputs[i].input);
    }
    for (uint32_t i = 0; i < received->roster_count; i++)
        HC_ASSERT(received->roster_changes[i].player < PLAYERS);
}

static enum hc_status read_body(struct hc_cl_snapshot_reader *reader, hc_tick near,
                                const uint8_t *bytes, size_t size,
                                const struct hc_cl_received **received) {
    static struct hc_body body;
    enum hc_status status = hc_body_begin(&body, bytes, size);
    if (status == HC_OK && hc_body_next(&body) != HC_MESSAGE_SNAPSHOT)
        return HC_MALFORMED;
    return status == HC_OK ? hc_cl_snapshot_reader_read(reader, &body, near, received) : status;
}

/// Checks that both readers read the same.
static void compare(const struct hc_cl_received *a, const struct hc_cl_received *b) {
    HC_ASSERT(a->value_count == b->value_count && a->input_count == b->input_count);
    for (uint32_t i = 0; i < a->value_count; i++) {
        HC_ASSERT(a->values[i].unit == b->values[i].unit &&
                  a->values[i].dropped == b->values[i].dropped);
        HC_ASSERT(a->values[i].dropped || hc_unit_equal(&tape.world, a->values[i].unit,
                                                        &a->values[i].value, &b->values[i].value));
    }
}

/// Checks that what a snapshot of another hash tells of the difference is in the world.
static void check_suspect(const struct hc_cl_snapshot_reader *reader) {
    struct hc_difference suspect = hc_cl_snapshot_reader_suspect(reader);
    uint8_t hashes[HC_COMPARE_HASH_BYTES * HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = hc_cl_snapshot_reader_hashes(reader, hashes);
    HC_ASSERT(count <= hc_snapshot_units_most(&tape.world));
    HC_ASSERT(!suspect.compared);
    HC_ASSERT(suspect.field == NULL || suspect.kind != NULL);
    HC_ASSERT(suspect.kind == NULL || (suspect.entity < tape.world.entities &&
                                       suspect.kind == hc_world_kind(&tape.world, suspect.entity)));
}

/// Gives the snapshot to the first reader and, if that accepts it, to the second.
static enum hc_status read_both(struct readers *readers, const uint8_t *bytes, size_t size) {
    const struct hc_cl_received *received, *again;
    enum hc_status status = read_body(readers->first, readers->newest, bytes, size, &received);
    if (status == HC_INVALID)
        check_suspect(readers->first);
    if (status != HC_OK)
        return status;
    check_received(received);
    HC_ASSERT(hc_cl_snapshot_reader_newest(readers->first) == received);
    HC_ASSERT(read_body(readers->second, readers->newest, bytes, size, &again) == HC_OK);
    compare(received, again);
    readers->newest = hc_tick_max(readers->newest, received->header.as_of);
    return status;
}

// ---- Actions ------------------------------------------------------------------------------------

static enum hc_status read_bits(struct readers *readers, const uint8_t *bits, size_t size) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    return hc_snapshot_put_message(&body, bits, size) ? read_both(readers, bytes, body.at)
                                                      : HC_TRUNCATED;
}

/// Reads the tape's next body with changed bytes, from the place on that the first byte names.
static void read_changed(struct readers *readers, const uint8_t *bytes, size_t size) {
    uint8_t changed[HC_DATA_BODY_MAX];
    size_t length = tape.sizes[readers->next];
    memcpy(changed, tape.bodies[readers->next], length);
    for (size_t i = 1; i < size; i++)
        changed[(bytes[0] + i - 1) % length] ^= bytes[i];
    (void)read_both(readers, changed, length);
}

static void take_fields(struct hc_bits_reader *source, const struct hc_field *fields,
                        uint32_t count, uint8_t *data) {
    for (uint32_t f = 0; f < count; f++) {
        const struct hc_field *field = &fields[f];
        int64_t number = field->is_signed ? (int64_t)hc_bits_get_signed(source, field->bits)
                                          : (int64_t)hc_bits_get(source, field->bits);
        hc_field_set(field, data, number);
    }
}

/// Takes any value whose fields fit.
static void take_value(struct hc_bits_reader *source, hc_unit unit, struct hc_unit_value *value) {
    const struct hc_world *world = &tape.world;
    const struct hc_game *game = world->game;
    hc_extrapolate_absent(world, unit, value->tick, value);
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(world, (hc_entity)(hc_unit_first(world, unit) + e));
        value->presence[e] = hc_bits_get(source, 1) != 0 ? HC_ALIVE : HC_ABSENT;
        if (value->presence[e] == HC_ALIVE)
            take_fields(source, kind->fields, kind->field_count,
                        value->states + (size_t)e * world->stride);
    }
    if (hc_unit_player(world, unit) == HC_NO_PLAYER || hc_bits_get(source, 1) == 0)
        return;
    value->known = hc_tick_back(value->tick, 1 + hc_bits_get(source, 4));
    take_fields(source, game->input_fields, game->input_field_count, value->input);
    game->sanitize_input(value->input);
}

/// A snapshot of any values.
struct invented {
    struct hc_snapshot head;
    uint32_t early; ///< Ticks up to the one shown with an early list, each of one event.
    uint32_t count;
    hc_unit units[UNITS_MAX];
    struct hc_unit_value values[UNITS_MAX];
    uint8_t memory[UNITS_MAX][VALUE_MAX];
};

static void take_snapshot(struct hc_bits_reader *source, hc_tick newest, struct invented *out) {
    const struct hc_world *world = &tape.world;
    hc_tick as_of = newest + 1 + hc_bits_get(source, 3);
    hc_tick tick = hc_tick_max(1, hc_tick_back(as_of, hc_bits_get(source, 5)));
    uint64_t hash = 0;
    out->count = 0;
    for (uint32_t u = 0; u < hc_unit_total(world); u++) {
        struct hc_unit_value *value = &out->values[out->count];
        if (hc_bits_get(source, 2) != 1)
            continue;
        HC_ASSERT(out->count < UNITS_MAX && hc_unit_bytes(world) <= VALUE_MAX);
        hc_unit_place(world, value, out->memory[out->count]);
        value->tick = tick;
        take_value(source, (hc_unit)u, value);
        for (uint32_t e = 0; e < hc_unit_count(world, (hc_unit)u); e++)
            hash +=
                hc_unit_entity_hash(world, (hc_entity)(hc_unit_first(world, (hc_unit)u) + e),
                                    value->presence[e], value->states + (size_t)e * world->stride);
        out->units[out->count++] = (hc_unit)u;
    }
    out->head = (struct hc_snapshot){.as_of = as_of,
                                     .tick = tick,
                                     .refused_before = hc_tick_back(as_of, 16),
                                     .final = hc_tick_back(as_of, 16),
                                     .hash = (uint32_t)hash,
                                     .base = HC_NO_TICK,
                                     .own_count = 1,
                                     .inputs_through = {tick}};
    out->early = hc_bits_get(source, 2);
    if (out->early > tick - hc_tick_min(tick, out->head.final))
        out->early = 0;
}

/// Puts early lists with an event that is valid in any world.
static void put_early(struct hc_bits_writer *bits, const struct invented *invented) {
    hc_tick tick = invented->head.tick;
    for (uint32_t i = 0; i < invented->early; i++) {
        hc_game_events_put_early(bits, tick + 1 - i, tick - i);
        hc_game_events_put_event(bits, &tape.world, (hc_entity)i,
                                 hc_game_event_of(HC_ARENA_EVENT_DEATH, 0));
        hc_game_events_put_end(bits);
    }
}

/// Puts the units, against the newest baseline, which has the same values, if there is one.
static void put_units(struct hc_bits_writer *bits, const struct invented *invented) {
    struct hc_snapshot_set again = {.count = 0};
    struct hc_snapshot_unit units[UNITS_MAX];
    bool has_base = invented->head.base != HC_NO_TICK;
    for (uint32_t i = 0; i < invented->count; i++) {
        units[i] = (struct hc_snapshot_unit){
            .unit = invented->units[i], .from = has_base ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_NOTHING};
        if (has_base)
            again.units[again.count++] = invented->units[i];
    }
    hc_game_events_put_end(bits);
    hc_snapshot_put_names(bits, &invented->head, &again, units, invented->count);
    for (uint32_t i = 0; i < invented->count; i++) {
        hc_unit unit = invented->units[i];
        struct hc_value_base base = {.how = HC_EXTRAPOLATION_HOLD,
                                     .codec = &tape.codec,
                                     .extrapolator = tape.extrapolator,
                                     .unit = unit,
                                     .from = has_base ? &invented->values[i] : NULL};
        hc_value_put(bits, &base, NULL, &invented->values[i]);
        if (hc_unit_player(&tape.world, unit) != HC_NO_PLAYER)
            hc_bits_put_number(bits, 0, 1); // no inputs
    }
}

static enum hc_status send_invented(struct readers *readers, const struct invented *invented) {
    uint8_t packed[HC_DATA_BODY_MAX - HC_SNAPSHOT_OVERHEAD];
    struct hc_bits_writer bits = hc_bits_writer(packed, sizeof packed);
    hc_snapshot_put(&bits, &invented->head);
    hc_bits_put(&bits, 0, 1); // no forced ranges
    hc_bits_put(&bits, 0, 1); // no roster changes
    put_units(&bits, invented);
    hc_bits_put(&bits, 0, 1); // no corrections
    put_early(&bits, invented);
    size_t size = hc_bits_finish(&bits);
    HC_ASSERT(size > 0);
    return read_bits(readers, packed, size);
}

/// Reads a valid snapshot of any values, as a hostile server can send it; if `wrong_hash`, then
/// twice the same with the hash of another world, first against that snapshot, then against none.
static void read_invented(struct readers *readers, bool wrong_hash, const uint8_t *bytes,
                          size_t size) {
    static struct invented invented;
    struct hc_bits_reader source = hc_bits_reader(bytes, size);
    take_snapshot(&source, readers->newest, &invented);
    HC_ASSERT(send_invented(readers, &invented) == HC_OK);
    if (!wrong_hash || invented.head.as_of == HC_SNAPSHOT_TICK_MAX)
        return;
    invented.head.base = invented.head.as_of++;
    invented.head.hash++;
    HC_ASSERT(send_invented(readers, &invented) == HC_INVALID);
    invented.head.base = HC_NO_TICK;
    HC_ASSERT(send_invented(readers, &invented) == HC_INVALID);
}

static void act(struct readers *readers, uint8_t action, const uint8_t *bytes, size_t size) {
    switch (action % 4) {
    case 0: // any bits
        (void)read_bits(readers, bytes, size);
        break;
    case 1: // a recorded one, changed
        if (size > 0)
            read_changed(readers, bytes, size);
        break;
    case 2: // a valid one of any values
        read_invented(readers, (action & 128) != 0, bytes, size);
        break;
    default: // a recorded one
        (void)read_both(readers, tape.bodies[readers->next], tape.sizes[readers->next]);
        readers->next = READ + (readers->next + 1 - READ) % (RECORDED - READ);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (tape.count == 0)
        make_tape();
    struct readers readers = {.first = hc_cl_snapshot_reader_create(&tape.world, 1),
                              .second = hc_cl_snapshot_reader_create(&tape.world, 1)};
    HC_ASSERT(readers.first != NULL && readers.second != NULL);
    for (; readers.next < READ; readers.next++)
        HC_ASSERT(read_both(&readers, tape.bodies[readers.next], tape.sizes[readers.next]) ==
                  HC_OK);
    for (size_t at = 0; at + 2 <= size;) {
        size_t length = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
        act(&readers, data[at], data + at + 2, length);
        at += 2 + length;
    }
    // Both have the same baselines: they accept and refuse the same recorded bodies.
    for (uint32_t i = READ; i < RECORDED; i++) {
        const struct hc_cl_received *one = NULL, *two = NULL;
        enum hc_status status =
            read_body(readers.first, readers.newest, tape.bodies[i], tape.sizes[i], &one);
        HC_ASSERT(read_body(readers.second, readers.newest, tape.bodies[i], tape.sizes[i], &two) ==
                  status);
        if (status == HC_OK)
            compare(one, two);
    }
    hc_cl_snapshot_reader_destroy(readers.first);
    hc_cl_snapshot_reader_destroy(readers.second);
    return 0;
}
