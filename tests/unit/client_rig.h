/// A client under test, and its server, which a test plays by hand.
#pragma once

#include "hindcast/client.h"

#include "hindcast/arena.h"
#include "common/bytes.h"
#include "common/extrapolate.h"
#include "proto/ack.h"
#include "proto/body.h"
#include "proto/game_events.h"
#include "proto/value.h"
#include "proto/snapshot.h"
#include "tests/sim/endpoint.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    RATE = 100, ///< Hz: a tick every 10 ms
    TICK_US = 1000000 / RATE,
    CID = 77,
    PLAYER = 1, ///< the client's player
    RETRY_US = 250000,
};

/// The server's tick 0 on the client's clock, at which keys can be at the end of their life.
#define START_US (2 * HC_KEYS_LIFE_US)

static const uint8_t entropy[HC_CLIENT_ENTROPY_SIZE] = {5};
static struct hc_client_config config;
static struct hc_client *client;
static struct hc_endpoint endpoint; ///< the client's secrets
static struct hc_world world;
static struct hc_value_codec codec;
static uint8_t *presence, *states;
static struct hc_body body;
static uint8_t packed[HC_DATA_BODY_MAX];
static struct hc_bits_writer bits;   ///< of the snapshot that is being written
static uint8_t nonce[HC_NONCE_SIZE]; ///< the client's, of its newest HELLO or CONNECT
static uint32_t seq, ack;            ///< newest sent, newest received
static uint64_t now_us;
static unsigned blocks; ///< allocated so far

static inline void *allocate(void *context, size_t bytes) {
    (void)context;
    blocks++;
    return malloc(bytes);
}

static inline void release(void *context, void *block) {
    (void)context;
    free(block);
}

static const struct hc_allocator counted = {.allocate = allocate, .release = release};

static inline void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, 2, RATE, 9, NULL), HC_OK);
    hc_value_codec_init(&codec, &world);
    presence = calloc(world.entities, 1);
    states = calloc(world.entities, world.stride);
    ck_assert(presence != NULL && states != NULL);
    for (uint32_t e = 0; e < world.entities; e++) {
        uint8_t state[HC_STATE_MAX] = {0};
        presence[e] = HC_ABSENT;
        if (hc_arena.start(&world, (hc_entity)e, state)) {
            presence[e] = HC_ALIVE;
            memcpy(states + (size_t)e * world.stride, state, world.stride);
        }
    }
    seq = ack = 0;
    now_us = START_US;
    blocks = 0;
    config = hc_client_config_default();
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(config.game);
    hc_endpoint_issue_token(&endpoint, &hc_arena, 1, 1);
    config.credential = endpoint.credential;
    config.entropy = entropy;
    config.prediction_limit = 10;
    config.input_delay = 3; // fixed: the tests compute with it
    config.input_delay_max = config.lead_max = 0;
    config.timeout_us = 1000000;
    config.allocator = &counted;
}

static inline void tear_down(void) {
    hc_client_destroy(client);
    client = NULL;
    free(presence);
    free(states);
    hc_world_free(&world);
}

// ---- The server's side --------------------------------------------------------------------------

/// Gives a datagram to the client; DATA is sealed first.
static inline enum hc_status give(const uint8_t *bytes, size_t size) {
    uint8_t sealed[HC_DATAGRAM_MAX];
    uint32_t cid, number;
    if (hc_datagram_get_data_clear(bytes, size, &cid, &number) == HC_OK) {
        memcpy(sealed, bytes, size);
        hc_endpoint_seal(&endpoint, false, sealed, size);
        bytes = sealed;
    }
    return hc_client_receive(client, bytes, size, now_us);
}

static inline enum hc_status give_cookie(void) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_datagram_cookie cookie = {.slot = 3, .cookie = {1, 2, 3}};
    memcpy(cookie.client_nonce, nonce, sizeof nonce);
    return give(out, hc_datagram_put_cookie(&cookie, out));
}

static inline enum hc_status give_accept(const struct hc_welcome *welcome) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_writer writer = hc_bytes_writer(out + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    ck_assert(hc_message_put_welcome(&writer, welcome));
    struct hc_accept accept = {.cid = CID, .body = out + HC_ACCEPT_BODY_AT, .body_size = writer.at};
    memcpy(accept.client_nonce, nonce, sizeof nonce);
    hc_endpoint_serve(&endpoint, client);
    return give(out, hc_endpoint_put_accept(&endpoint, &accept, out));
}

static inline struct hc_welcome welcome_now(void) {
    return (struct hc_welcome){.tick_rate = RATE,
                               .players = 2,
                               .seed = 9,
                               .history = 64,
                               .future = 64,
                               .late_limit = 64,
                               .tick = (hc_tick)((now_us - START_US) / TICK_US),
                               .own_count = config.players,
                               .own = {PLAYER, 0}};
}

/// The hash of a snapshot of `count` units from `first` on.
static inline uint32_t hash_of(hc_unit first, uint32_t count) {
    uint64_t hash = 0;
    for (uint32_t e = 0; e < world.entities; e++)
        if (hc_unit_of(&world, (hc_entity)e) - (uint32_t)first < count)
            hash += hc_unit_entity_hash(&world, (hc_entity)e, presence[e],
                                        states + (size_t)e * world.stride);
    return (uint32_t)hash;
}

/// A snapshot of `tick` that is sent now; A is `tick` - 1.
static inline struct hc_snapshot snapshot_of(hc_tick tick) {
    struct hc_snapshot snapshot = {.as_of = (hc_tick)((now_us - START_US) / TICK_US),
                                   .phase_us = (uint32_t)((now_us - START_US) % TICK_US),
                                   .tick = tick,
                                   .has_chain = true,
                                   .hash = hash_of(0, hc_unit_total(&world)),
                                   .base = HC_NO_TICK,
                                   .own_count = config.players,
                                   .inputs_through = {tick - 1, tick - 1}};
    snapshot.refused_before = hc_tick_back(snapshot.as_of, 64);
    snapshot.final = hc_tick_back(snapshot.as_of, 64);
    return snapshot;
}

static inline void begin_snapshot(const struct hc_snapshot *snapshot) {
    bits = hc_bits_writer(packed, sizeof packed - HC_SNAPSHOT_OVERHEAD);
    hc_snapshot_put(&bits, snapshot);
}

/// The delta of `unit` at `tick` as the world has it, without a baseline; `known` and `input` are
/// the newest known input of its owner, HC_NO_TICK and NULL: none.
static inline void put_delta(hc_unit unit, hc_tick tick, hc_tick known, const void *input) {
    static uint8_t room[HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX)];
    struct hc_unit_value value = {.tick = tick, .known = known};
    struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP, .codec = &codec, .unit = unit};
    hc_unit_place(&world, &value, room);
    hc_unit_read(&world, unit, presence, states, &value);
    if (input != NULL)
        memcpy(value.input, input, world.game->input_size);
    hc_value_put(&bits, &base, NULL, &value);
}

/// The delta of `unit` at `tick` as the world has it, against the same state at `from`; the
/// snapshot has no referee.
static inline void put_delta_against(hc_unit unit, hc_tick from, hc_tick tick) {
    static uint8_t room[HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX)];
    struct hc_extrapolator *extrapolator = hc_extrapolator_create(&world);
    struct hc_unit_value value = {.tick = from, .known = HC_NO_TICK};
    struct hc_unit_value before = {.tick = from, .known = HC_NO_TICK};
    struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP,
                                 .codec = &codec,
                                 .extrapolator = extrapolator,
                                 .unit = unit,
                                 .from = &before};
    ck_assert(extrapolator != NULL);
    hc_unit_place(&world, &value, room);
    hc_unit_read(&world, unit, presence, states, &value);
    before.presence = value.presence;
    before.states = value.states;
    value.tick = tick;
    hc_value_put(&bits, &base, NULL, &value);
    hc_extrapolator_destroy(extrapolator);
}

/// All units of the world, without baselines and inputs.
static inline void put_units(const struct hc_snapshot *snapshot) {
    static const struct hc_snapshot_set nothing;
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    for (hc_unit unit = 0; unit < hc_unit_total(&world); unit++)
        units[unit] = (struct hc_snapshot_unit){.unit = unit, .from = HC_SNAPSHOT_NOTHING};
    hc_snapshot_put_names(&bits, snapshot, &nothing, units, hc_unit_total(&world));
    for (hc_unit unit = 0; unit < hc_unit_total(&world); unit++) {
        put_delta(unit, snapshot->tick, HC_NO_TICK, NULL);
        if (hc_unit_player(&world, unit) != HC_NO_PLAYER)
            hc_bits_put_number(&bits, 0, 1); // runs of inputs
    }
}

/// Wraps the written bits as the next datagram; returns its size.
static inline size_t end_snapshot(uint8_t out[HC_DATAGRAM_MAX]) {
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    size_t size = hc_bits_finish(&bits);
    ck_assert_uint_gt(size, 0);
    ck_assert(hc_snapshot_put_message(&writer, packed, size));
    struct hc_data data = {.cid = CID,
                           .seq = ++seq,
                           .ack = ack,
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = writer.at};
    return hc_datagram_put_data(&data, out);
}

/// A snapshot of all units, and nothing else.
static inline size_t put_snapshot(const struct hc_snapshot *snapshot,
                                  uint8_t out[HC_DATAGRAM_MAX]) {
    begin_snapshot(snapshot);
    hc_bits_put(&bits, 0, 1); // of forced inputs
    hc_bits_put(&bits, 0, 1); // of joins and leaves
    hc_game_events_put_end(&bits);
    put_units(snapshot);
    hc_bits_put(&bits, 0, 1); // of corrections
    return end_snapshot(out);
}

static inline enum hc_status give_snapshot(const struct hc_snapshot *snapshot) {
    uint8_t out[HC_DATAGRAM_MAX];
    return give(out, put_snapshot(snapshot, out));
}

static inline enum hc_status give_tick(hc_tick tick) {
    struct hc_snapshot snapshot = snapshot_of(tick);
    return give_snapshot(&snapshot);
}

/// Gives the client a CLOSE of the server; returns its event.
static inline struct hc_client_event give_close(enum hc_close_reason reason) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_client_event event;
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    ck_assert(hc_message_put_close(&writer, &(struct hc_close){.reason = reason, .seconds = 5}));
    struct hc_data data = {
        .cid = CID, .seq = ++seq, .body = out + HC_DATA_BODY_AT, .body_size = writer.at};
    ck_assert_int_eq(give(out, hc_datagram_put_data(&data, out)), HC_OK);
    ck_assert(hc_client_poll_event(client, &event));
    return event;
}

// ---- The client's side --------------------------------------------------------------------------

static inline void begin(void) {
    client = hc_client_create(&config, now_us);
    ck_assert(client != NULL);
}

/// A datagram that the client sent.
struct sent {
    enum hc_datagram_kind kind; ///< HC_DATAGRAM_NONE: there was none
    bool has_input, has_close, is_empty;
    struct hc_input_message input;
    struct hc_input_run run;
    uint8_t bytes[HC_DATAGRAM_MAX];
};

static inline void read_data(struct sent *sent, size_t size) {
    struct hc_data data;
    ck_assert_int_eq(hc_datagram_get_data(sent->bytes, size, &data), HC_OK);
    ck_assert_uint_eq(data.cid, CID);
    ck_assert_uint_eq(data.seq, ack + 1);
    ck_assert_uint_eq(data.ack, seq);
    ack = data.seq;
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    enum hc_message_type type = hc_body_next(&body);
    struct hc_close close;
    sent->has_close = type == HC_MESSAGE_CLOSE;
    sent->has_input = type == HC_MESSAGE_INPUT;
    sent->is_empty = type == HC_MESSAGE_END;
    if (sent->is_empty)
        return;
    if (sent->has_close)
        ck_assert_int_eq(hc_message_get_close(&body, &close), HC_OK);
    else
        ck_assert_int_eq(
            hc_message_get_input(&body, &hc_arena, config.players, &sent->input, &sent->run),
            HC_OK);
}

/// Advances the client to now and takes its next datagram.
static inline struct sent next_datagram(void) {
    static struct sent sent;
    memset(&sent, 0, sizeof sent);
    hc_client_advance(client, now_us);
    size_t size = hc_client_send(client, sent.bytes, now_us);
    sent.kind = hc_datagram_kind(sent.bytes, size);
    if (sent.kind == HC_DATAGRAM_DATA) {
        uint8_t opened[HC_DATAGRAM_MAX];
        ck_assert_int_eq(hc_endpoint_open(&endpoint, true, sent.bytes, size, opened), HC_OK);
        memcpy(sent.bytes, opened, size);
    }
    if (sent.kind == HC_DATAGRAM_HELLO || sent.kind == HC_DATAGRAM_CONNECT)
        memcpy(nonce, sent.bytes + 1 + HC_MAGIC_SIZE + 8, sizeof nonce);
    if (sent.kind == HC_DATAGRAM_DATA)
        read_data(&sent, size);
    return sent;
}

/// Advances the client to `us`; all its datagrams are lost.
static inline void run_to(uint64_t us) {
    for (; now_us < us; now_us += 1000)
        while (next_datagram().kind != HC_DATAGRAM_NONE)
            continue;
}

static inline bool event_is(enum hc_client_event_kind kind) {
    struct hc_client_event event;
    return hc_client_poll_event(client, &event) && event.kind == kind;
}

static inline bool no_event(void) {
    struct hc_client_event event;
    return !hc_client_poll_event(client, &event);
}

/// Brings the client to HC_CLIENT_JOINING.
static inline void join(void) {
    begin();
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(give_cookie(), HC_OK);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_CONNECT);
    struct hc_welcome welcome = welcome_now();
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_JOINING);
    ck_assert(event_is(HC_CLIENT_EVENT_ACCEPTED));
    ck_assert_uint_eq(hc_client_player(client, 0), config.players > 0 ? PLAYER : HC_NO_PLAYER);
}

/// Brings the client to HC_CLIENT_PLAYING at tick 100, after a snapshot of that tick.
static inline void play(void) {
    now_us = START_US + 100 * TICK_US;
    join();
    next_datagram();
    ck_assert_int_eq(give_tick(100), HC_OK);
    ck_assert(event_is(HC_CLIENT_EVENT_PLAYING));
    hc_client_advance(client, now_us);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(hc_timeline_head(hc_client_timeline(client)), 100);
}

static inline hc_tick head(void) {
    return hc_timeline_head(hc_client_timeline(client));
}

/// The player turns to `aim` and runs on.
static inline void press(uint8_t aim) {
    struct hc_arena_input input = {.move_x = 1, .aim = aim};
    hc_client_set_input(client, 0, &input);
}
