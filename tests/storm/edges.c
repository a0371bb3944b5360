#include "tests/storm/edges.h"

#include "client/clock.h"
#include "proto/cookie.h"
#include "proto/snapshot.h"
#include "tests/exact/trial.h"
#include "tests/storm/inside.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 16,      ///< of the matches, one in so many
    ROUNDS = 24,     ///< of each kind of message
    HEAD_MOST = 16,  ///< bytes of INPUTS before the run
    CLOCK_ASKED = 8, ///< times that each clock is asked
    STREAM = 91,
    TRIAL_SHARE = 4,
};

struct edges {
    struct storm_match *match;
    const struct hc_world *world;
    struct hc_rng rng;
    uint8_t *presence, *states;         ///< of a whole world, as they are put,
    uint8_t *got_presence, *got_states; ///< and as they are got
    uint8_t inputs[HC_INPUT_RUN_MAX][HC_OWN_PLAYERS_MAX][HC_INPUT_MAX];
    struct hc_body body;
};

static void expect(const struct edges *edges, const char *what, bool holds) {
    if (!holds)
        storm_fail(edges->match->verdict, STORM_WRONG, "edge", 0, "%s", what);
}

/// Often one of the ends.
static uint64_t number(struct edges *edges, uint64_t low, uint64_t high) {
    uint32_t kind = hc_rng_below(&edges->rng, 4);
    uint64_t any = hc_rng_next(&edges->rng), span = high - low;
    if (kind == 0)
        return low;
    if (kind == 1)
        return high;
    if (kind == 2) // near the low end
        any %= 64;
    return low + (span == UINT64_MAX ? any : any % (span + 1));
}

static void draw_fields(struct edges *edges, const struct hc_field *fields, uint16_t count,
                        uint8_t *out) {
    for (uint16_t f = 0; f < count; f++) {
        uint64_t range = UINT64_C(1) << fields[f].bits;
        int64_t value = (int64_t)number(edges, 0, range - 1);
        hc_field_set(&fields[f], out, fields[f].is_signed ? value - (int64_t)(range / 2) : value);
    }
}

/// A state as it is put: zeros where not alive.
static uint8_t draw_state(struct edges *edges, hc_entity entity, uint8_t least, uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(edges->world, entity);
    uint8_t presence = (uint8_t)number(edges, least, HC_ALIVE);
    memset(state, 0, edges->world->stride);
    if (presence == HC_ALIVE)
        draw_fields(edges, kind->fields, kind->field_count, state);
    return presence;
}

// ---- Messages -----------------------------------------------------------------------------------

static struct hc_snapshot draw_snapshot(struct edges *edges) {
    struct hc_snapshot snapshot = {.as_of = (hc_tick)number(edges, 0, HC_NO_TICK - 1)};
    hc_tick as_of = snapshot.as_of, span = hc_tick_min(as_of, HC_HISTORY_MAX);
    snapshot.phase_us = (uint32_t)number(edges, 0, HC_PHASE_MAX_US);
    snapshot.ack_delay_us = (uint32_t)number(edges, 0, HC_ACK_DELAY_MAX_US);
    snapshot.tick = as_of - (hc_tick)number(edges, 0, span);
    snapshot.refusal = as_of - (hc_tick)number(edges, 0, span);
    snapshot.final = as_of - (hc_tick)number(edges, 0, span);
    snapshot.chain = number(edges, 0, UINT64_MAX);
    snapshot.hash = (uint32_t)number(edges, 0, UINT32_MAX);
    snapshot.own_count = (uint8_t)number(edges, 0, HC_OWN_PLAYERS_MAX);
    uint64_t first = snapshot.tick > 0 ? snapshot.tick : 1;
    uint64_t last = (uint64_t)snapshot.tick + HC_SNAPSHOT_SPAN_MAX + 1;
    last = last < HC_NO_TICK - 1 ? last : HC_NO_TICK - 1;
    for (unsigned i = 0; i < snapshot.own_count; i++)
        snapshot.complete[i] = (hc_tick)(number(edges, first, last) - 1);
    return snapshot;
}

static bool same_snapshot(const struct hc_snapshot *a, const struct hc_snapshot *b) {
    bool same = a->as_of == b->as_of && a->phase_us == b->phase_us &&
                a->ack_delay_us == b->ack_delay_us && a->tick == b->tick &&
                a->refusal == b->refusal && a->final == b->final && a->chain == b->chain &&
                a->hash == b->hash && a->own_count == b->own_count;
    for (unsigned i = 0; i < b->own_count; i++)
        same &= a->complete[i] == b->complete[i];
    return same;
}

/// Begins a body with a SNAPSHOT of all entities, or of none after some.
static struct hc_snapshot put_snapshot(struct edges *edges, struct hc_writer *body,
                                       bool any_state) {
    const struct hc_world *world = edges->world;
    uint32_t told = any_state ? (uint32_t)number(edges, 0, world->entities) : 0;
    struct hc_snapshot snapshot = draw_snapshot(edges);
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t *state = edges->states + (size_t)e * world->stride;
        edges->presence[e] = draw_state(edges, (hc_entity)e, HC_UNKNOWN, state);
        if (e >= told) {
            edges->presence[e] = HC_UNKNOWN;
            memset(state, 0, world->stride);
        }
    }
    expect(edges, "a SNAPSHOT that does not fit",
           hc_snapshot_put(body, world, &snapshot, edges->presence, edges->states));
    return snapshot;
}

static enum hc_message_type begin(struct edges *edges, const struct hc_writer *body) {
    bool fine = hc_body_begin(&edges->body, body->data, body->at) == HC_OK;
    expect(edges, "a body that cannot be read", fine);
    return fine ? hc_body_next(&edges->body) : HC_MESSAGE_END;
}

static void try_snapshot(struct edges *edges) {
    const struct hc_world *world = edges->world;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_snapshot got, snapshot = put_snapshot(edges, &body, true);
    memset(edges->got_presence, 0xa5, world->entities);
    memset(edges->got_states, 0xa5, (size_t)world->entities * world->stride);
    expect(edges, "a SNAPSHOT that is read as another",
           begin(edges, &body) == HC_MESSAGE_SNAPSHOT &&
               hc_snapshot_get(&edges->body, world, &got, edges->got_presence, edges->got_states) ==
                   HC_OK &&
               same_snapshot(&got, &snapshot) &&
               memcmp(edges->got_presence, edges->presence, world->entities) == 0 &&
               memcmp(edges->got_states, edges->states, (size_t)world->entities * world->stride) ==
                   0);
}

static void try_referring(struct edges *edges) {
    const struct hc_world *world = edges->world;
    uint8_t bytes[HC_DATA_BODY_MAX], state[HC_STATE_MAX] = {0};
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    hc_tick tick = put_snapshot(edges, &body, false).tick;
    hc_tick low = hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX);
    hc_tick high = hc_tick_min(hc_tick_ahead(tick, HC_SNAPSHOT_SPAN_MAX), HC_NO_TICK - 1);
    struct hc_snapshot_control got_control,
        control = {.player = (hc_player)number(edges, 0, world->players - 1u),
                   .tick = (hc_tick)number(edges, low, high),
                   .control = (enum hc_control)number(edges, HC_CONTROL_JOIN, HC_CONTROL_LEAVE)};
    struct hc_snapshot_forced got_forced,
        forced = {.player = (hc_player)number(edges, 0, world->players - 1u),
                  .first = (hc_tick)number(edges, low, tick)};
    uint32_t count_max = hc_tick_min(HC_INPUT_RUN_MAX, HC_NO_TICK - forced.first);
    forced.count = (uint32_t)number(edges, 1, count_max);
    expect(edges, "a CONTROL that does not fit", hc_snapshot_put_control(&body, tick, &control));
    expect(edges, "a FORCED that does not fit", hc_snapshot_put_forced(&body, tick, &forced));
    hc_entity entity = (hc_entity)number(edges, 0, world->entities - 1u);
    uint8_t presence = draw_state(edges, entity, HC_ABSENT, state);
    hc_tick at = tick - (hc_tick)number(edges, tick > 0, hc_tick_min(tick, HC_HISTORY_MAX));
    if (tick > 0)
        expect(edges, "a CORRECTION that does not fit",
               hc_snapshot_put_correction(&body, world, tick, at, entity,
                                          (enum hc_presence)presence, state));
    begin(edges, &body);
    expect(edges, "a CONTROL that is read as another",
           hc_body_next(&edges->body) == HC_MESSAGE_CONTROL &&
               hc_snapshot_get_control(&edges->body, world, tick, &got_control) == HC_OK &&
               got_control.player == control.player && got_control.tick == control.tick &&
               got_control.control == control.control);
    expect(edges, "a FORCED that is read as another",
           hc_body_next(&edges->body) == HC_MESSAGE_FORCED &&
               hc_snapshot_get_forced(&edges->body, world, tick, &got_forced) == HC_OK &&
               got_forced.player == forced.player && got_forced.first == forced.first &&
               got_forced.count == forced.count);
    struct hc_snapshot_correction got;
    memset(&got, 0xa5, sizeof got);
    if (tick > 0)
        expect(edges, "a CORRECTION that is read as another",
               hc_body_next(&edges->body) == HC_MESSAGE_CORRECTION &&
                   hc_snapshot_get_correction(&edges->body, world, tick, &got) == HC_OK &&
                   got.tick == at && got.entity == entity && got.presence == presence &&
                   memcmp(got.state, state, sizeof state) == 0);
}

/// Each is the one before it as often as not.
static void draw_inputs(struct edges *edges, uint32_t count, uint32_t players) {
    const struct hc_game *game = edges->world->game;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < players; p++) {
            memset(edges->inputs[i][p], 0, HC_INPUT_MAX);
            if (i > 0 && hc_rng_below(&edges->rng, 2) == 0)
                memcpy(edges->inputs[i][p], edges->inputs[i - 1][p], HC_INPUT_MAX);
            else
                draw_fields(edges, game->input_fields, game->input_field_count,
                            edges->inputs[i][p]);
        }
}

static const void *drawn_input(void *context, uint32_t index, uint32_t player) {
    const struct edges *edges = context;
    return edges->inputs[index][player];
}

static bool same_run(const struct edges *edges, struct hc_input_run *run, uint32_t count,
                     uint32_t players) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < players; p++) {
            const void *input = hc_input_run_next(run);
            if (input == NULL ||
                memcmp(input, edges->inputs[i][p], edges->world->game->input_size) != 0)
                return false;
        }
    return hc_input_run_next(run) == NULL;
}

/// As many ticks go into a run as its bytes hold, not one less.
static void try_run(struct edges *edges) {
    const struct hc_game *game = edges->world->game;
    uint8_t bytes[HC_DATA_BODY_MAX];
    uint32_t players = (uint32_t)number(edges, 1, HC_OWN_PLAYERS_MAX);
    uint32_t count = (uint32_t)number(edges, 1, HC_INPUT_RUN_MAX);
    size_t capacity = number(edges, 0, 160), used = 0, needed = 0;
    struct hc_input_run run;
    draw_inputs(edges, count, players);
    uint32_t packed =
        hc_input_run_pack(game, players, count, drawn_input, edges, bytes, capacity, &used);
    expect(edges, "a run that is read as another",
           packed <= count && used <= capacity &&
               (packed == 0 ||
                (hc_input_run_begin(&run, game, players, packed, bytes, used) == HC_OK &&
                 same_run(edges, &run, packed, players))));
    if (packed < count)
        expect(edges, "a run that has room for more",
               hc_input_run_pack(game, players, packed + 1, drawn_input, edges, bytes, sizeof bytes,
                                 &needed) == packed + 1 &&
                   needed > capacity);
}

/// INPUTS where there may be no room.
static void try_inputs(struct edges *edges) {
    const struct hc_world *world = edges->world;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    hc_tick tick = put_snapshot(edges, &body, false).tick;
    uint32_t count = (uint32_t)number(edges, 1, HC_INPUT_RUN_MAX);
    hc_player player = (hc_player)number(edges, 0, world->players - 1u);
    hc_tick last = hc_tick_min(hc_tick_ahead(tick, HC_SNAPSHOT_SPAN_MAX), HC_NO_TICK - count);
    hc_tick first = (hc_tick)number(edges, hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX), last);
    size_t before = body.at, room = number(edges, 0, 200);
    struct hc_snapshot_inputs got;
    body.size = body.size < body.at + room ? body.size : body.at + room;
    draw_inputs(edges, count, 1);
    uint32_t fits =
        hc_snapshot_put_inputs(&body, world, tick, player, first, count, drawn_input, edges);
    size_t most = 1; // bytes that a tick more would have taken
    for (uint32_t f = 0; f < world->game->input_field_count; f++)
        most += world->game->input_fields[f].bits;
    most = (most + 7) / 8;
    expect(edges, "INPUTS of which more would have fitted",
           fits <= count && (fits == count || body.size - body.at <= HEAD_MOST + most));
    expect(edges, "INPUTS of nothing", fits > 0 || (body.at == before && !body.failed));
    if (fits == 0 || begin(edges, &body) == HC_MESSAGE_END)
        return;
    expect(edges, "INPUTS that are read as others",
           hc_body_next(&edges->body) == HC_MESSAGE_INPUTS &&
               hc_snapshot_get_inputs(&edges->body, world, tick, &got) == HC_OK &&
               got.player == player && got.first == first && got.count == fits &&
               same_run(edges, &got.run, fits, 1));
}

/// What a client says, up to the last tick and not beyond it.
static void try_input(struct edges *edges) {
    const struct hc_game *game = edges->world->game;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    uint32_t players = (uint32_t)number(edges, 0, HC_OWN_PLAYERS_MAX);
    struct hc_input_message got,
        message = {
            .client_tick = (hc_tick)number(edges, 0, HC_NO_TICK - 1),
            .display_offset = (uint32_t)number(edges, 0, HC_HISTORY_MAX),
            .ack_delay_us = (uint32_t)number(edges, 0, HC_ACK_DELAY_MAX_US),
            .count = players > 0 ? (uint32_t)number(edges, 0, HC_INPUT_RUN_MAX) : 0,
        };
    struct hc_input_run run;
    message.first = (hc_tick)number(edges, 0, HC_NO_TICK - 1 - message.count);
    message.force_before = (hc_tick)number(edges, 0, message.first);
    draw_inputs(edges, message.count, players);
    expect(edges, "an INPUT that does not fit",
           hc_message_put_input(&body, game, players, &message, drawn_input, edges));
    expect(edges, "an INPUT that is read as another",
           begin(edges, &body) == HC_MESSAGE_INPUT &&
               hc_message_get_input(&edges->body, game, players, &got, &run) == HC_OK &&
               got.client_tick == message.client_tick &&
               got.display_offset == message.display_offset &&
               got.ack_delay_us == message.ack_delay_us && got.first == message.first &&
               got.force_before == message.force_before && got.count == message.count &&
               same_run(edges, &run, got.count, players));
    body = hc_bytes_writer(bytes, sizeof bytes);
    message = (struct hc_input_message){.client_tick = HC_NO_TICK};
    expect(edges, "an INPUT of no tick",
           !hc_message_put_input(&body, game, 0, &message, NULL, NULL) ||
               begin(edges, &body) != HC_MESSAGE_INPUT ||
               hc_message_get_input(&edges->body, game, 0, &got, &run) != HC_OK);
}

/// WELCOME for as many players of its own as there may be, for one more, and for more than there
/// are at all.
static void try_welcome(struct edges *edges) {
    const struct hc_game *game = edges->world->game;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_welcome got, welcome = {.tick_rate = (uint16_t)number(edges, 1, HC_TICK_RATE_MAX),
                                      .players = game->players_max,
                                      .seed = number(edges, 0, UINT64_MAX),
                                      .history = (uint32_t)number(edges, 0, HC_HISTORY_MAX),
                                      .future = (uint32_t)number(edges, 1, HC_FUTURE_MAX),
                                      .tick = (hc_tick)number(edges, 0, HC_NO_TICK - 1),
                                      .phase_us = (uint32_t)number(edges, 0, HC_PHASE_MAX_US),
                                      .own_count = HC_OWN_PLAYERS_MAX,
                                      .own = {3, 1, 0, 2}};
    welcome.refusal = (uint32_t)number(edges, 0, welcome.history);
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    expect(edges, "a WELCOME that does not fit", hc_message_put_welcome(&body, &welcome));
    expect(edges, "a WELCOME that is read as another",
           begin(edges, &body) == HC_MESSAGE_WELCOME &&
               hc_message_get_welcome(&edges->body, game, &got) == HC_OK &&
               got.tick_rate == welcome.tick_rate && got.players == welcome.players &&
               got.seed == welcome.seed && got.history == welcome.history &&
               got.future == welcome.future && got.refusal == welcome.refusal &&
               got.tick == welcome.tick && got.phase_us == welcome.phase_us &&
               got.own_count == welcome.own_count &&
               memcmp(got.own, welcome.own, sizeof welcome.own) == 0);
    // The list is the last value: its head, and a byte for each.
    bytes[body.at - HC_OWN_PLAYERS_MAX - 1]++;
    hc_bytes_put_u8(&body, HC_OWN_PLAYERS_MAX);
    expect(edges, "a WELCOME for too many players",
           begin(edges, &body) == HC_MESSAGE_WELCOME &&
               hc_message_get_welcome(&edges->body, game, &got) == HC_MALFORMED);
    welcome.players = HC_OWN_PLAYERS_MAX - 1;
    body = hc_bytes_writer(bytes, sizeof bytes);
    expect(edges, "a WELCOME for more players than there are",
           hc_message_put_welcome(&body, &welcome) && begin(edges, &body) == HC_MESSAGE_WELCOME &&
               hc_message_get_welcome(&edges->body, game, &got) == HC_MALFORMED);
}

// ---- Other parts --------------------------------------------------------------------------------

static void timeline_is(struct edges *edges, struct hc_timeline_config config, const char *wanted) {
    const char *why = hc_timeline_config_check(&config);
    expect(edges, "a timeline's configuration that is judged wrongly",
           why == NULL || wanted == NULL ? why == wanted : strcmp(why, wanted) == 0);
    if (why == NULL)
        return;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    expect(edges, "a timeline that cannot be", timeline == NULL);
    hc_timeline_destroy(timeline);
}

static void try_timeline(struct edges *edges) {
    struct hc_timeline_config config = hc_timeline_config_default();
    timeline_is(edges, config, "world");
    config.world = edges->world;
    expect(edges, "a timeline's defaults", config.history == 64 && config.future == 64);
    timeline_is(edges, config, NULL);
    config.history = HC_HISTORY_MAX;
    config.future = 1;
    timeline_is(edges, config, NULL);
    config.history++;
    timeline_is(edges, config, "history");
    config.history = 0;
    config.future--;
    timeline_is(edges, config, "future");
    config.future = HC_FUTURE_MAX;
    timeline_is(edges, config, NULL);
    config.future++;
    timeline_is(edges, config, "future");
}

/// The local time of a time of the server's is the first at which the server's is that late.
static void try_clock(struct edges *edges) {
    enum { LATE_US = 1000000000 };
    struct hc_cl_clock clock = {.count = 0};
    hc_cl_clock_guess(&clock, number(edges, 0, LATE_US), number(edges, 0, 1000000),
                      number(edges, 0, LATE_US));
    for (unsigned i = 0; i < CLOCK_ASKED; i++) {
        uint64_t server_us = number(edges, 0, 2 * (uint64_t)LATE_US);
        uint64_t local_us = hc_cl_clock_local_us(&clock, server_us);
        expect(edges, "a clock that is asked for the local time of the server's",
               hc_cl_clock_server_us(&clock, local_us) >= server_us &&
                   (local_us == 0 || hc_cl_clock_server_us(&clock, local_us - 1) < server_us));
    }
}

static void put_u32(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

/// The cookie by PROTOCOL.md.
static void cookie_of(const struct hc_sv_host_config *config, uint32_t slot,
                      const struct hc_address *from, const uint8_t *nonce, uint8_t *cookie) {
    uint8_t key[32], text[4 + 16 + 2 + HC_NONCE_SIZE];
    put_u32(text, slot);
    memcpy(text + 4, from->ip, 16);
    text[20] = (uint8_t)from->port;
    text[21] = (uint8_t)(from->port >> 8);
    memcpy(text + 22, nonce, HC_NONCE_SIZE);
    if (crypto_generichash(key, sizeof key, text, 4, config->secret, sizeof config->secret) != 0 ||
        crypto_generichash(cookie, HC_COOKIE_SIZE, text, sizeof text, key, sizeof key) != 0)
        abort();
}

static void try_cookie(struct edges *edges) {
    enum { SLOT_US = 10000000 };
    struct hc_sv_host_config config = hc_sim_config(edges->match->sim)->host;
    struct hc_address to, from = hc_address_ipv4(10, 1, 2, 3, 4567);
    uint8_t bytes[HC_DATAGRAM_MAX], wanted[HC_COOKIE_SIZE];
    uint64_t now_us = number(edges, 0, 100 * (uint64_t)SLOT_US);
    struct hc_datagram_cookie cookie;
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(config.game)};
    for (size_t i = 0; i < sizeof config.secret; i++)
        config.secret[i] = (uint8_t)hc_rng_next(&edges->rng);
    hello.client_nonce[0] = (uint8_t)hc_rng_next(&edges->rng);
    config.allocator = NULL;
    struct hc_sv_host *host = hc_sv_host_create(&config, now_us);
    if (host == NULL)
        abort();
    size_t size = hc_datagram_put_hello(&hello, bytes);
    expect(edges, "a HELLO", hc_sv_host_receive(host, &from, bytes, size, now_us) == HC_OK);
    size = hc_sv_host_send(host, &to, bytes, now_us);
    cookie_of(&config, (uint32_t)(now_us / SLOT_US), &from, hello.client_nonce, wanted);
    expect(edges, "a cookie that is not the standard's",
           hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK &&
               cookie.slot == now_us / SLOT_US && hc_address_equal(&to, &from) &&
               memcmp(cookie.cookie, wanted, sizeof wanted) == 0);
    hc_sv_host_destroy(host);
}

/// A history of a timeline alone.
static void try_history(struct storm_match *match) {
    struct trial *trial = malloc(sizeof *trial);
    if (trial == NULL)
        abort();
    if (!trial_run(trial, match->plan->seed, 0))
        storm_fail(match->verdict, STORM_WRONG, "history", 0,
                   "timelines differ: exact_histories --seed %lu --histories 1",
                   (unsigned long)match->plan->seed);
    free(trial);
}

void storm_edges_end(struct storm_match *match) {
    if (match->verdict->result != STORM_FINE)
        return;
    if (match->plan->seed % TRIAL_SHARE == 3)
        try_history(match);
    if (match->plan->seed % SHARE != 9)
        return;
    const struct hc_world *world = storm_truth_world(match->truth);
    size_t states = (size_t)world->entities * world->stride;
    struct edges *edges = calloc(1, sizeof *edges);
    uint8_t *memory = malloc(2 * (states + world->entities));
    if (edges == NULL || memory == NULL)
        abort();
    edges->match = match;
    edges->world = world;
    edges->rng = hc_rng_init(match->plan->seed, STREAM);
    edges->states = memory;
    edges->got_states = memory + states;
    edges->presence = memory + 2 * states;
    edges->got_presence = edges->presence + world->entities;
    void (*const tries[])(struct edges *) = {try_snapshot, try_referring, try_run,  try_inputs,
                                             try_input,    try_welcome,   try_clock};
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
            tries[i](edges);
    try_timeline(edges);
    try_cookie(edges);
    free(memory);
    free(edges);
}
