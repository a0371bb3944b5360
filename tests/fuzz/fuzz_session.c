/// Fuzzes a whole session, from the first HELLO to the last CLOSE: a server, an honest client
/// without a network between them, and another client. The fuzzer is the network of the other
/// client: it drops, repeats, delays, relays and changes its datagrams, forges some with the keys
/// of both ends, and sends as strangers. The other client reconnects, changes its address, and uses
/// bad tokens.
///
/// The server must not crash. The honest client must play on, refuse nothing, and have the server's
/// world. While nothing was changed or forged, this holds for the other client as well.
///
/// The input is two bytes for the configuration, then a list of actions.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/client.h"
#include "server/host.h"
#include "tests/fuzz/wire.h"
#include "tests/sim/endpoint.h"

#include <stdlib.h>
#include <string.h>

enum {
    HONEST_PORT = 1000,
    OTHER_PORT = 2000,
    STRANGER_PORT = 3000,
    TICK_US = 16667,
    BEGIN_US = 25000000, ///< earlier cookies have expired
    CALLS_MAX = 64, ///< of hc_client_advance until the client has caught up
    CHAINS = 64,
    HISTORY = 8,
    CLIENTS = 3,
    ACTIONS = 20,
    TIMEOUT_US = 1500000,
    RECONNECT_US = 3000000,
    CLIENT_BLOCKS = 3, ///< for the client itself, its messages and its world
    ENOUGH_BLOCKS = 16,
    FLOOD = 300, ///< datagrams, more than waiting replies
    HONEST_USER = 1,
    OTHER_USER = 2,
    TOKEN_LIFE_S = 3600,
    SESSION_LIFE_S = 500, ///< less than that of a ticket
    LONGEST_S = 490,      ///< the longest run, so that the honest client's session lasts
    WELL_TICKS = 60,      ///< until the honest client plays, at any bandwidth
    MESSAGE_MAX = HC_MESSAGE_SIZE_MAX,
    NUMBER_SIZE = 4,   ///< bytes of its number
    UNRELIABLE = 1024, ///< numbers of the newest unreliable messages that are remembered
    MATCH = 3,         ///< the server's, if it is one of several
    OTHER_MATCH = 4,   ///< of bad tokens
};

struct world {
    struct hc_server *host;
    struct hc_client *honest, *other;
    struct fuzz_wire wire;
    struct hc_credential credential; ///< the other client's
    uint16_t home_port, other_port;  ///< the first and the last of the other client
    uint8_t players, where;          ///< of the other client
    uint32_t sent, received[2];      ///< numbers of the newest messages, sent and received
    uint32_t unreliable[UNRELIABLE]; ///< numbers of the unreliable messages received
    uint64_t now_us, seed;
    hc_tick final;
    struct {
        hc_tick tick;
        uint64_t chain;
    } chains[CHAINS];
    bool forged;           ///< a datagram arrived that no end has sent
    bool stale_reset;      ///< the other client's reset token may be out of date
    bool ignores_messages; ///< the games do not take messages
    bool shut;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- The ends -----------------------------------------------------------------------------------

static const struct hc_game *another_build(void) {
    static struct hc_game game;
    game = hc_arena;
    game.version = hc_arena.version + 1;
    return &game;
}

/// Allocates until no block is left.
static void *allocate(void *context, size_t bytes) {
    uint32_t *left = context;
    if (*left == 0)
        return NULL;
    --*left;
    return malloc(bytes);
}

static void release(void *context, void *block) {
    (void)context;
    free(block);
}

/// The configuration of a client.
struct setup {
    const struct hc_game *game;
    const struct hc_credential *credential;
    uint8_t players;
    uint32_t display_offset, lead, reconnect_us;
    uint32_t blocks; ///< of memory that it can allocate
};

static struct hc_client *begin(struct world *w, const struct setup *setup) {
    static uint32_t left;
    static const struct hc_allocator scarce = {
        .allocate = allocate, .release = release, .context = &left};
    struct hc_client_config config = hc_client_config_default();
    left = setup->blocks;
    config.game = setup->game;
    config.rule_hash = hc_test_rule_hash(config.game);
    config.credential = *setup->credential;
    config.players = setup->players;
    config.prediction_limit = 16;
    config.display_offset = setup->display_offset;
    config.lead = setup->lead;
    config.allocator = setup->blocks < ENOUGH_BLOCKS ? &scarce : NULL;
    config.timeout_us = TIMEOUT_US;
    config.reconnect_us = setup->reconnect_us;
    uint8_t entropy[HC_CLIENT_ENTROPY_SIZE] = {1};
    ++w->seed;
    memcpy(entropy + 1, &w->seed, sizeof w->seed);
    config.entropy = entropy;
    struct hc_client *client = hc_client_create(&config, w->now_us);
    HC_ASSERT(client != NULL);
    return client;
}

static uint64_t unix_s(const struct world *w) {
    return HC_TEST_UNIX_S + (w->now_us - BEGIN_US) / 1000000;
}

/// Issues a token to the other client, good or bad, or leaves it the last one.
static void issue(struct world *w, const struct hc_game *game, uint8_t how) {
    struct hc_endpoint endpoint;
    struct hc_token_key key = w->wire.ring.keys[(how & 32) != 0 ? w->wire.ring.count - 1 : 0];
    struct hc_token token = {.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = unix_s(w),
                             .client_id = OTHER_USER + (how & 1)};
    if ((how & 2) != 0)
        return;
    if ((how & 4) == 0)
        token.expire_s += TOKEN_LIFE_S;
    token.name[0] = (how & 8) != 0 ? 0xff : (uint8_t)('A' + w->seed % 26);
    token.audience = (how & 16) != 0;
    token.match = (how & 128) != 0 ? OTHER_MATCH : 0;
    key.key[0] ^= how & 64;
    hc_endpoint_issue_token_as(&endpoint, game, &key, &token, ++w->seed);
    w->credential = endpoint.credential;
}

/// The address of a port: two neighbouring ports have one host; with IPv6 all have one network.
static struct hc_address address_of(const struct world *w, uint16_t port) {
    uint8_t last = (uint8_t)(port >> 1);
    if (port < OTHER_PORT || port >= STRANGER_PORT)
        return hc_address_ipv4(127, 0, 0, 1, port);
    if ((w->where & 1) == 0)
        return hc_address_ipv4(10, 0, 0, last, port);
    return (struct hc_address){.ip = {0x20, 0x01, 0x0d, 0xb8, [15] = last}, .port = port};
}

static void receive(struct world *w, uint16_t port, const uint8_t *bytes, size_t size) {
    struct hc_address from = address_of(w, port);
    (void)hc_server_receive(w->host, &from, bytes, size, w->now_us);
}

/// Whether datagrams to this port reach the other client.
static bool is_others(const struct world *w, uint16_t port) {
    return port >= w->home_port && port <= w->other_port;
}

/// Exchanges all datagrams that are due.
static void exchange(struct world *w) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    bool sent = true;
    while (sent) {
        sent = false;
        for (; (size = hc_client_send(w->honest, bytes, w->now_us)) > 0; sent = true)
            receive(w, HONEST_PORT, bytes, size);
        for (; (size = hc_server_send(w->host, &to, bytes, w->now_us)) > 0; sent = true) {
            if (to.port == HONEST_PORT)
                (void)hc_client_receive(w->honest, bytes, size, w->now_us);
            else if (is_others(w, to.port))
                fuzz_wire_put(&w->wire, FUZZ_DOWN, to.port, bytes, size);
        }
    }
    while ((size = hc_client_send(w->other, bytes, w->now_us)) > 0)
        fuzz_wire_put(&w->wire, FUZZ_UP, w->other_port, bytes, size);
}

static bool is_reason(enum hc_close_reason reason) {
    return strcmp(hc_close_text(reason), hc_close_text(0)) != 0;
}

/// Checks the number of a message: it rises, so messages arrive once and in order.
static void check_message(struct world *w, enum fuzz_way way, const uint8_t *bytes, size_t size) {
    struct fuzz_source message = {.bytes = bytes, .left = size};
    HC_ASSERT(size >= 1 && size <= MESSAGE_MAX);
    if (w->forged)
        return;
    uint32_t number = (uint32_t)fuzz_take_number(&message, NUMBER_SIZE);
    HC_ASSERT(size >= NUMBER_SIZE && number > w->received[way] && number <= w->sent);
    w->received[way] = number;
}

/// Checks the number of an unreliable message: it arrives once at most.
static void check_unreliable(struct world *w, const uint8_t *bytes, size_t size) {
    struct fuzz_source message = {.bytes = bytes, .left = size};
    HC_ASSERT(size >= 1 && size <= MESSAGE_MAX);
    if (w->forged)
        return;
    uint32_t number = (uint32_t)fuzz_take_number(&message, NUMBER_SIZE);
    HC_ASSERT(size >= NUMBER_SIZE && number >= 1 && number <= w->sent &&
              w->unreliable[number % UNRELIABLE] != number);
    w->unreliable[number % UNRELIABLE] = number;
}

static void take_messages(struct world *w) {
    struct hc_server_message received;
    const uint8_t *bytes;
    size_t size;
    while ((bytes = hc_client_next_message(w->other, &size)) != NULL)
        check_message(w, FUZZ_DOWN, bytes, size);
    while ((bytes = hc_server_next_message(w->host, &received)) != NULL)
        check_message(w, FUZZ_UP, bytes, received.size);
    while ((bytes = hc_client_next_unreliable(w->other, &size)) != NULL)
        check_unreliable(w, bytes, size);
    while ((bytes = hc_server_next_unreliable(w->host, &received)) != NULL)
        check_unreliable(w, bytes, received.size);
}

static void poll_events(struct world *w) {
    struct hc_client_event event;
    struct hc_server_event server_event;
    while (hc_client_poll_event(w->honest, &event)) {
    }
    while (hc_client_poll_event(w->other, &event))
        if (event.kind == HC_CLIENT_EVENT_CLOSED)
            HC_ASSERT(is_reason(event.close));
    while (hc_server_poll_event(w->host, &server_event))
        if (server_event.kind == HC_SERVER_EVENT_LEFT)
            HC_ASSERT(is_reason(server_event.close));
}

/// Compares the client's final tick with the server's.
static void check_chain(const struct world *w, const struct hc_client *client) {
    hc_tick tick;
    uint64_t chain;
    if (hc_client_final(client, &tick, &chain) && w->chains[tick % CHAINS].tick == tick)
        HC_ASSERT(w->chains[tick % CHAINS].chain == chain);
}

static void check(struct world *w) {
    const struct hc_client_stats *stats = hc_client_stats(w->honest);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(w->host, &chain);
    HC_ASSERT(final >= w->final);
    w->final = final;
    w->chains[final % CHAINS].tick = final;
    w->chains[final % CHAINS].chain = chain;
    check_chain(w, w->honest);
    HC_ASSERT(stats->hash_mismatches == 0);
    for (unsigned i = 0; !w->shut && i < HC_STATUS_COUNT; i++)
        HC_ASSERT(stats->rejected[i] == 0);
    if (w->forged)
        return;
    stats = hc_client_stats(w->other);
    check_chain(w, w->other);
    HC_ASSERT(stats->hash_mismatches == 0);
    HC_ASSERT(w->stale_reset || stats->rejected[HC_MALFORMED] == 0);
    HC_ASSERT(hc_server_stats(w->host)->rejected[HC_MALFORMED] == 0);
}

static void tick(struct world *w) {
    struct hc_client_shown shown;
    struct hc_arena_input input = {.move_x = 1, .aim = (uint8_t)(w->now_us / TICK_US), .fire = 1};
    hc_server_advance(w->host, w->now_us);
    hc_client_set_input(w->honest, 0, &input);
    hc_client_advance(w->honest, w->now_us);
    hc_client_advance(w->other, w->now_us);
    exchange(w);
    HC_ASSERT(hc_server_deadline(w->host) > w->now_us);
    for (unsigned calls = 0; hc_client_deadline(w->other) <= w->now_us; calls++) {
        HC_ASSERT(calls < CALLS_MAX); // each predicts only some of the ticks that are due
        hc_client_advance(w->other, w->now_us);
        exchange(w);
    }
    for (hc_entity next = 0; hc_client_show_next(w->other, w->now_us, &next, &shown);) {
    }
    poll_events(w);
    if (!w->ignores_messages)
        take_messages(w);
    check(w);
}

// ---- Actions ------------------------------------------------------------------------------------

/// Delivers a flight; returns whether it was accepted. A DATA is accepted once at most.
static bool deliver(struct world *w, const struct fuzz_flight *flight) {
    struct hc_address from = address_of(w, flight->port);
    if (flight->way == FUZZ_DOWN && !is_others(w, flight->port))
        return false;
    enum hc_status status =
        flight->way == FUZZ_UP
            ? hc_server_receive(w->host, &from, flight->bytes, flight->size, w->now_us)
            : hc_client_receive(w->other, flight->bytes, flight->size, w->now_us);
    bool once = hc_datagram_kind(flight->bytes, flight->size) == HC_DATAGRAM_DATA;
    HC_ASSERT(status != HC_OK || !once || !flight->taken);
    return status == HC_OK;
}

/// Delivers all flights, and the datagrams that answer them.
static void deliver_all(struct world *w) {
    static struct fuzz_flight flight;
    for (unsigned i = 0; w->wire.count > 0 && i < 4 * FUZZ_WIRE_FLIGHTS; i++) {
        fuzz_wire_take(&w->wire, 0, false, &flight);
        (void)deliver(w, &flight);
        hc_client_advance(w->other, w->now_us);
        exchange(w);
    }
}

/// Relays an upward flight through another address, or through one that the client had.
static void relay(struct world *w, struct fuzz_flight *flight, uint8_t by) {
    enum hc_client_state state = hc_client_state(w->other);
    if (by == 0 || flight->way != FUZZ_UP)
        return;
    // A cookie is good for one address.
    w->forged |= state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    w->stale_reset = true;
    flight->port = (uint16_t)(OTHER_PORT + by - 1);
}

/// Delivers a flight, perhaps through a relay, perhaps for the first of two times; or changes it;
/// or drops it.
static void deliver_one(struct world *w, uint8_t kind, struct fuzz_source *source) {
    static struct fuzz_flight flight;
    if (w->wire.count == 0)
        return;
    uint32_t index = fuzz_take(source) % w->wire.count;
    fuzz_wire_take(&w->wire, index, kind == 3, &flight);
    if (kind == 4) {
        fuzz_wire_change(&w->wire, &flight, source);
        flight.taken = false;
        w->forged = true;
    } else if (kind != 5)
        relay(w, &flight, fuzz_take(source));
    if (kind != 5 && deliver(w, &flight) && kind == 3)
        w->wire.flights[index].taken = true;
}

/// Sends any bytes to the client, or to the server as the client or as a stranger.
static void send_raw(struct world *w, struct fuzz_source *source) {
    uint8_t bytes[HC_DATAGRAM_MAX], how = fuzz_take(source);
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
    size_t size = (how & 8) != 0 ? HC_DATAGRAM_MAX : source->left; // some kinds are padded
    w->forged = true;
    if ((how & 3) == 3) {
        for (unsigned i = 0; i < FLOOD; i++)
            receive(w, (uint16_t)(STRANGER_PORT + i), bytes, hc_datagram_put_hello(&hello, bytes));
        return;
    }
    fuzz_take_bytes(source, bytes, size);
    if ((how & 3) == 0)
        (void)hc_client_receive(w->other, bytes, size, w->now_us);
    else
        receive(w, (how & 3) == 1 ? w->other_port : STRANGER_PORT, bytes, size);
}

static void forge(struct world *w, uint8_t kind, struct fuzz_source *source) {
    static struct fuzz_flight flight;
    w->forged = true;
    if (kind == 9)
        fuzz_wire_answer(&w->wire, source, &flight);
    else
        fuzz_wire_forge(&w->wire, kind == 7 ? FUZZ_UP : FUZZ_DOWN, source, &flight);
    flight.taken = false;
    flight.port = w->other_port;
    (void)deliver(w, &flight);
}

/// Moves the other client to another port of its host, or to another host.
static void move(struct world *w, uint16_t by) {
    enum hc_client_state state = hc_client_state(w->other);
    if (w->other_port + by >= STRANGER_PORT)
        return;
    // A cookie is good for one address.
    w->forged |= state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    w->stale_reset = true;
    w->other_port += by;
    w->wire.address = address_of(w, w->other_port);
}

/// Sends a message of the client's or the server's game, reliable or not.
static void send_message(struct world *w, uint8_t how, const uint8_t *message, size_t size) {
    if ((how & 5) == 5)
        (void)hc_client_send_unreliable(w->other, message, size);
    else if ((how & 4) != 0)
        (void)hc_server_send_unreliable(w->host, w->wire.cid, message, size);
    else if ((how & 1) != 0)
        (void)hc_client_send_message(w->other, message, size);
    else
        (void)hc_server_send_message(w->host, w->wire.cid, message, size, w->now_us);
}

/// Sends messages, each with its number.
static void send_messages(struct world *w, uint8_t times, struct fuzz_source *source) {
    uint8_t how = fuzz_take(source), message[MESSAGE_MAX] = {0};
    size_t size = NUMBER_SIZE + fuzz_take(source) % (MESSAGE_MAX - NUMBER_SIZE + 1);
    w->ignores_messages = (how & 2) != 0;
    for (unsigned i = 0; i <= times; i++) {
        w->sent++;
        for (unsigned at = 0; at < NUMBER_SIZE; at++)
            message[at] = (uint8_t)(w->sent >> 8 * at);
        send_message(w, how, message, size);
    }
}

/// Sets the server's keys to the next step of a rotation, or its time.
static void set_server(struct world *w, struct fuzz_source *source) {
    uint8_t how = fuzz_take(source);
    uint8_t key[HC_TOKEN_KEY_SIZE] = {how};
    if ((how & 1) != 0) {
        hc_server_set_time(w->host, (unix_s(w) + fuzz_take(source)) * 1000000, w->now_us);
        return;
    }
    if (hc_token_ring_use(&w->wire.ring) != HC_OK) {
        enum hc_status status = hc_token_ring_publish(&w->wire.ring, key);
        HC_ASSERT(status == HC_OK);
    }
    w->stale_reset = true;
    hc_server_set_keys(w->host, &w->wire.ring);
}

/// Destroys the other client and creates a new one: at the same or another address, of the same or
/// another build, with any players and any token.
static void replace_other(struct world *w, struct fuzz_source *source) {
    uint8_t how = fuzz_take(source);
    struct setup setup = {.game = (how & 1) != 0 ? another_build() : &hc_arena,
                          .credential = &w->credential,
                          .display_offset = how >> 4,
                          .lead = (how & 4) != 0 ? HISTORY + 4 : 0,
                          .reconnect_us = (w->where & 16) != 0 ? 0 : RECONNECT_US,
                          .blocks = ENOUGH_BLOCKS};
    setup.players = w->players = fuzz_take(source) % (HC_OWN_PLAYERS_MAX + 1);
    if ((how & 8) != 0)
        setup.blocks = CLIENT_BLOCKS + fuzz_take(source) % ENOUGH_BLOCKS;
    issue(w, setup.game, fuzz_take(source));
    hc_client_destroy(w->other);
    w->wire.client = w->other = begin(w, &setup);
    if (w->other_port + 1 < STRANGER_PORT)
        w->other_port += how >> 1 & 1;
    else
        w->forged = true;
    w->home_port = w->other_port;
    w->wire.address = address_of(w, w->other_port);
    w->forged |= (how & 2) == 0; // datagrams to the old one reach the new one
    w->wire.cid = 0;
}

static void act(struct world *w, uint8_t kind, struct fuzz_source *source) {
    struct hc_arena_input input;
    switch (kind % ACTIONS) {
    case 0:
    case 1: // time passes
        for (int i = 0; i < 1 + kind / ACTIONS % 8; i++) {
            w->now_us += TICK_US;
            if (kind % ACTIONS == 1)
                deliver_all(w);
            tick(w);
        }
        break;
    case 2:
        deliver_all(w);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        deliver_one(w, kind % ACTIONS, source);
        break;
    case 7:
    case 8:
    case 9:
        forge(w, kind % ACTIONS, source);
        break;
    case 10:
        send_raw(w, source);
        break;
    case 11:
        hc_client_leave(w->other, w->now_us);
        break;
    case 12:
        replace_other(w, source);
        break;
    case 13:
        w->shut = true;
        hc_server_shutdown(w->host, w->now_us);
        break;
    case 14: // all stand still for a while
        w->now_us += (uint64_t)fuzz_take(source) * 4000;
        tick(w);
        break;
    case 15:
        move(w, 1 + kind / ACTIONS % 2);
        break;
    case 16:
        send_messages(w, kind / ACTIONS, source);
        break;
    case 17:
        set_server(w, source);
        break;
    default:
        input = (struct hc_arena_input){.move_x = (int8_t)(kind / ACTIONS - ACTIONS / 3)};
        input.move_y = (int8_t)fuzz_take(source);
        input.aim = fuzz_take(source);
        input.fire = fuzz_take(source) & 1;
        if (w->players > 0)
            hc_client_set_input(w->other, 0, &input);
    }
}

/// A game's decision that refuses one of the users that the other client can be.
static enum hc_deny_reason refuse_one(void *context, const struct hc_server_user *user,
                                      const struct hc_address *from) {
    (void)context;
    (void)from;
    return user->client_id == OTHER_USER + 1 ? HC_DENY_GAME : 0;
}

/// Creates the server with the configuration of the input.
static struct hc_server *create_host(const struct world *w, uint8_t how) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct hc_sv_host_test test = hc_sv_host_test_default();
    test.future = HISTORY;
    config.clients = (how & 8) != 0 ? 2 * CLIENTS : CLIENTS;
    config.history = HISTORY;
    config.keys = w->wire.ring;
    config.timeout_us = TIMEOUT_US;
    if ((how & 1) != 0)
        config.client_rate = HC_SERVER_CLIENT_RATE_MIN; // the least bandwidth
    config.snapshot_rate = (how & 2) != 0 ? config.tick_rate / 3 : 0;
    config.force_rewind = (how & 4) != 0 ? HISTORY / 2 : 0;
    if ((how & 16) != 0)
        config.admit = refuse_one;
    if ((w->where & 2) != 0)
        config.linger_us = 0;
    if ((w->where & 4) != 0)
        config.clients_per_address = 1;
    if ((w->where & 8) != 0)
        config.connects_per_address = 1;
    if ((w->where & 32) != 0)
        config.session_life_s = SESSION_LIFE_S;
    if ((w->where & 64) != 0)
        config.match = MATCH;
    return hc_sv_host_create(&config, &test, HC_TEST_UNIX_US, w->now_us);
}

/// Creates both clients.
static void begin_both(struct world *w, uint8_t display_offset) {
    struct hc_endpoint endpoint;
    struct setup setup = {.game = &hc_arena,
                          .credential = &endpoint.credential,
                          .players = 1,
                          .reconnect_us = RECONNECT_US,
                          .blocks = ENOUGH_BLOCKS};
    hc_endpoint_issue_token(&endpoint, &hc_arena, HONEST_USER, 0);
    w->honest = begin(w, &setup);
    issue(w, &hc_arena, 0);
    setup.credential = &w->credential;
    setup.display_offset = display_offset;
    setup.reconnect_us = (w->where & 16) != 0 ? 0 : RECONNECT_US;
    w->wire.client = w->other = begin(w, &setup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct world w;
    struct fuzz_source input = {.bytes = data, .left = size};
    struct fuzz_action action;
    uint8_t how = fuzz_take(&input);
    w = (struct world){.now_us = BEGIN_US,
                       .home_port = OTHER_PORT,
                       .other_port = OTHER_PORT,
                       .where = fuzz_take(&input),
                       .players = 1};
    w.wire.ring = hc_endpoint_token_ring();
    w.wire.address = address_of(&w, w.other_port);
    w.host = create_host(&w, how);
    HC_ASSERT(w.host != NULL);
    begin_both(&w, how >> 4);
    tick(&w);
    while (w.now_us - BEGIN_US < (uint64_t)LONGEST_S * 1000000 && fuzz_action_next(&input, &action))
        act(&w, action.kind, &action.source);
    unsigned ticks = 0;
    while (ticks++ < 3 ||
           (!w.shut && hc_client_state(w.honest) != HC_CLIENT_PLAYING && ticks < WELL_TICKS)) {
        w.now_us += TICK_US;
        tick(&w);
    }
    HC_ASSERT(w.shut || hc_client_state(w.honest) == HC_CLIENT_PLAYING);
    hc_client_destroy(w.other);
    hc_client_destroy(w.honest);
    hc_server_destroy(w.host);
    return 0;
}
