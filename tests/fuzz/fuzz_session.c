// A whole session, from the first HELLO to the last CLOSE: a server with an honest client that is
// served without delay, and another whose datagrams go through a network that the fuzzer is, both
// ways. It loses, repeats, delays, relays and changes them, and adds its own, as somebody could who
// has the client's keys or the server's; strangers send too. The other client loses its connection
// and makes it anew, goes to other addresses, and comes with tokens that are not good.
//
// Nothing may crash, and whatever comes of the other client, the honest one must play on, refuse
// nothing, and know the world as the server does. As long as the network only lost, repeated,
// reordered and relayed, that holds for the other one as well.
//
// The input is two bytes for the configuration, then a list of deeds.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/client.h"
#include "server/host.h"
#include "tests/fuzz/wire.h"
#include "tests/sim/party.h"

#include <stdlib.h>
#include <string.h>

enum {
    HONEST_PORT = 1000,
    OTHER_PORT = 2000,
    STRANGER_PORT = 3000,
    TICK_US = 16667,
    BEGIN_US = 25000000, ///< there have been times of which cookies are too old
    CHAINS = 64,
    HISTORY = 8,
    CLIENTS = 3,
    DEEDS = 20,
    TIMEOUT_US = 1500000,
    RECONNECT_US = 3000000,
    CLIENT_BLOCKS = 2, ///< to be there at all
    ENOUGH_BLOCKS = 16,
    FLOOD = 300, ///< datagrams, more than answers may wait
    HONEST_USER = 1,
    OTHER_USER = 2,
    TOKEN_LIFE_S = 3600,
    SESSION_LIFE_S = 500, ///< less than that of a ticket
    LONGEST_S = 490,      ///< so that the honest client's session lasts
    WELL_TICKS = 60,      ///< in which the honest client plays, however little it may be told
    SAID_MAX = HC_EVENTS_SIZE_MAX,
    SAID_MIN = 4, ///< bytes: a number
};

struct world {
    struct hc_sv_host *host;
    struct hc_client *honest, *other;
    struct fuzz_wire wire;
    struct hc_credential credential; ///< the other client's
    uint16_t home_port, other_port;  ///< that the other client has had, the first and the last
    uint8_t players, where;          ///< of the other client
    uint32_t said, heard[2];         ///< numbers of what games have said, and who has heard which
    uint64_t now_us, seed;
    hc_tick final;
    struct {
        hc_tick tick;
        uint64_t chain;
    } chains[CHAINS];
    bool lied;   ///< something arrived that neither end has sent
    bool turned; ///< what the other client was told of RESETs may not be what is said later
    bool deaf;   ///< nobody listens to what is said
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

/// Memory for so many blocks more.
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

/// What kind of client it is.
struct part {
    const struct hc_game *game;
    const struct hc_credential *credential;
    uint8_t players;
    uint32_t display_offset, lead, reconnect_us;
    uint32_t blocks; ///< of memory that it can have
};

static struct hc_client *begin(struct world *w, const struct part *part) {
    static uint32_t left;
    static const struct hc_allocator scarce = {
        .allocate = allocate, .release = release, .context = &left};
    struct hc_client_config config = hc_client_config_default();
    left = part->blocks;
    config.game = part->game;
    config.credential = *part->credential;
    config.players = part->players;
    config.prediction_limit = 16;
    config.display_offset = part->display_offset;
    config.lead = part->lead;
    config.allocator = part->blocks < ENOUGH_BLOCKS ? &scarce : NULL;
    config.timeout_us = TIMEOUT_US;
    config.reconnect_us = part->reconnect_us;
    uint8_t entropy[HC_CLIENT_ENTROPY_SIZE] = {1};
    ++w->seed;
    memcpy(entropy + 1, &w->seed, sizeof w->seed);
    config.entropy = entropy;
    struct hc_client *client = hc_client_create(&config, w->now_us);
    HC_ASSERT(client != NULL);
    return client;
}

static uint64_t unix_s(const struct world *w) {
    return HC_PARTY_UNIX_S + (w->now_us - BEGIN_US) / 1000000;
}

/// Another token for the other client, good or not, or the one that it had.
static void issue(struct world *w, const struct hc_game *game, uint8_t how) {
    struct hc_party party;
    struct hc_token_key key = w->wire.ring.keys[(how & 32) != 0 ? w->wire.ring.count - 1 : 0];
    struct hc_token token = {.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = unix_s(w),
                             .client_id = OTHER_USER + (how & 1)};
    if ((how & 2) != 0)
        return;
    if ((how & 4) == 0)
        token.expire_s += TOKEN_LIFE_S;
    if ((how & 8) != 0)
        token.name[0] = 0xff;
    token.audience = (how & 16) != 0;
    key.key[0] ^= how & 64;
    hc_party_issue_as(&party, game, &key, &token, ++w->seed);
    w->credential = party.credential;
}

/// Two ports after another are of one host, and where there is IPv6 all are of one network.
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
    (void)hc_sv_host_receive(w->host, &from, bytes, size, w->now_us);
}

/// Whether that which is sent to this port comes to the other client.
static bool is_others(const struct world *w, uint16_t port) {
    return port >= w->home_port && port <= w->other_port;
}

/// Lets the server and the honest client say all they have to say.
static void talk(struct world *w) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    bool said = true;
    while (said) {
        said = false;
        for (; (size = hc_client_send(w->honest, bytes, w->now_us)) > 0; said = true)
            receive(w, HONEST_PORT, bytes, size);
        for (; (size = hc_sv_host_send(w->host, &to, bytes, w->now_us)) > 0; said = true) {
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
    return reason >= HC_CLOSE_LEFT && reason <= HC_CLOSE_ERROR &&
           strcmp(hc_close_text(reason), hc_close_text(0)) != 0;
}

/// What games say carries numbers, which rise: nothing comes twice, nothing out of order.
static void hear(struct world *w, enum fuzz_way way, const uint8_t *bytes, size_t size) {
    struct fuzz_choices message = {.bytes = bytes, .left = size};
    HC_ASSERT(size >= 1 && size <= SAID_MAX);
    if (w->lied)
        return;
    uint32_t number = (uint32_t)fuzz_choose_number(&message, SAID_MIN);
    HC_ASSERT(size >= SAID_MIN && number > w->heard[way] && number <= w->said);
    w->heard[way] = number;
}

static void listen(struct world *w) {
    struct hc_sv_message heard;
    const uint8_t *bytes;
    size_t size;
    while ((bytes = hc_client_next_message(w->other, &size)) != NULL)
        hear(w, FUZZ_DOWN, bytes, size);
    while ((bytes = hc_sv_host_next_message(w->host, &heard)) != NULL)
        hear(w, FUZZ_UP, bytes, heard.size);
}

static void poll_events(struct world *w) {
    struct hc_client_event event;
    struct hc_sv_event server_event;
    while (hc_client_poll_event(w->honest, &event)) {
    }
    while (hc_client_poll_event(w->other, &event))
        if (event.kind == HC_CLIENT_EVENT_CLOSED)
            HC_ASSERT(is_reason(event.close));
    while (hc_sv_host_poll_event(w->host, &server_event))
        if (server_event.kind == HC_SV_EVENT_LEFT)
            HC_ASSERT(is_reason(server_event.close));
}

/// What the client knows to be final is what was final on the server.
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
    if (w->lied)
        return;
    stats = hc_client_stats(w->other);
    check_chain(w, w->other);
    HC_ASSERT(stats->hash_mismatches == 0);
    HC_ASSERT(w->turned || stats->rejected[HC_MALFORMED] == 0);
    HC_ASSERT(hc_sv_host_stats(w->host)->rejected[HC_MALFORMED] == 0);
}

static void tick(struct world *w) {
    struct hc_client_shown shown;
    struct hc_arena_input input = {.move_x = 1, .aim = (uint8_t)(w->now_us / TICK_US), .fire = 1};
    hc_sv_host_advance(w->host, w->now_us);
    hc_client_set_input(w->honest, 0, &input);
    hc_client_advance(w->honest, w->now_us);
    hc_client_advance(w->other, w->now_us);
    talk(w);
    HC_ASSERT(hc_sv_host_deadline(w->host) > w->now_us);
    HC_ASSERT(hc_client_deadline(w->other) > w->now_us);
    (void)hc_client_show(w->other, w->now_us, 1, &shown);
    poll_events(w);
    if (!w->deaf)
        listen(w);
    check(w);
}

// ---- Deeds --------------------------------------------------------------------------------------

/// It arrives, and whether it is taken; a DATA is taken once.
static bool deliver(struct world *w, const struct fuzz_flight *flight) {
    struct hc_address from = address_of(w, flight->port);
    if (flight->way == FUZZ_DOWN && !is_others(w, flight->port))
        return false;
    enum hc_status status =
        flight->way == FUZZ_UP
            ? hc_sv_host_receive(w->host, &from, flight->bytes, flight->size, w->now_us)
            : hc_client_receive(w->other, flight->bytes, flight->size, w->now_us);
    bool once = hc_datagram_kind(flight->bytes, flight->size) == HC_DATAGRAM_DATA;
    HC_ASSERT(status != HC_OK || !once || !flight->taken);
    return status == HC_OK;
}

/// All that is in the air arrives, also what that brings forth.
static void deliver_all(struct world *w) {
    static struct fuzz_flight flight;
    for (unsigned i = 0; w->wire.count > 0 && i < 4 * FUZZ_WIRE_FLIGHTS; i++) {
        fuzz_wire_take(&w->wire, 0, false, &flight);
        (void)deliver(w, &flight);
        hc_client_advance(w->other, w->now_us);
        talk(w);
    }
}

/// A relay lets what goes up come from an address of its own, or from one that the client has had.
static void relay(struct world *w, struct fuzz_flight *flight, uint8_t by) {
    enum hc_client_state state = hc_client_state(w->other);
    if (by == 0 || flight->way != FUZZ_UP)
        return;
    // A cookie is good for one address.
    w->lied |= state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    w->turned = true;
    flight->port = (uint16_t)(OTHER_PORT + by - 1);
}

/// One that is in the air arrives, perhaps by way of a relay, and will again; or is lost; or is
/// changed.
static void meddle(struct world *w, uint8_t which, struct fuzz_choices *selections) {
    static struct fuzz_flight flight;
    if (w->wire.count == 0)
        return;
    uint32_t index = fuzz_choose(selections) % w->wire.count;
    fuzz_wire_take(&w->wire, index, which == 3, &flight);
    if (which == 4) {
        fuzz_wire_change(&w->wire, &flight, selections);
        flight.taken = false;
        w->lied = true;
    } else if (which != 5)
        relay(w, &flight, fuzz_choose(selections));
    if (which != 5 && deliver(w, &flight) && which == 3)
        w->wire.flights[index].taken = true;
}

/// What nobody has sent, whole: to the client, or to the server from the client or from strangers.
static void send_raw(struct world *w, struct fuzz_choices *selections) {
    uint8_t bytes[HC_DATAGRAM_MAX], how = fuzz_choose(selections);
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena)};
    size_t size = (how & 8) != 0 ? HC_DATAGRAM_MAX : selections->left; // some kinds are padded
    w->lied = true;
    if ((how & 3) == 3) {
        for (unsigned i = 0; i < FLOOD; i++)
            receive(w, (uint16_t)(STRANGER_PORT + i), bytes, hc_datagram_put_hello(&hello, bytes));
        return;
    }
    fuzz_choose_bytes(selections, bytes, size);
    if ((how & 3) == 0)
        (void)hc_client_receive(w->other, bytes, size, w->now_us);
    else
        receive(w, (how & 3) == 1 ? w->other_port : STRANGER_PORT, bytes, size);
}

static void forge(struct world *w, uint8_t which, struct fuzz_choices *selections) {
    static struct fuzz_flight flight;
    w->lied = true;
    if (which == 9)
        fuzz_wire_answer(&w->wire, selections, &flight);
    else
        fuzz_wire_forge(&w->wire, which == 7 ? FUZZ_UP : FUZZ_DOWN, selections, &flight);
    flight.taken = false;
    flight.port = w->other_port;
    (void)deliver(w, &flight);
}

/// What the other client sends comes from another port of its host, or from another host.
static void move(struct world *w, uint16_t by) {
    enum hc_client_state state = hc_client_state(w->other);
    if (w->other_port + by >= STRANGER_PORT)
        return;
    // A cookie is good for one address.
    w->lied |= state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    w->turned = true;
    w->other_port += by;
    w->wire.address = address_of(w, w->other_port);
}

/// The games say something, the client's or the server's.
static void say(struct world *w, uint8_t times, struct fuzz_choices *selections) {
    uint8_t how = fuzz_choose(selections), message[SAID_MAX] = {0};
    size_t size = SAID_MIN + fuzz_choose(selections) % (SAID_MAX - SAID_MIN + 1);
    w->deaf = (how & 2) != 0;
    for (unsigned i = 0; i <= times; i++) {
        w->said++;
        for (unsigned at = 0; at < SAID_MIN; at++)
            message[at] = (uint8_t)(w->said >> 8 * at);
        if ((how & 1) != 0)
            (void)hc_client_send_message(w->other, message, size);
        else
            (void)hc_sv_host_send_message(w->host, w->wire.cid, message, size, w->now_us);
    }
}

/// The server is given the next step of a rotation, or another time.
static void set_server(struct world *w, struct fuzz_choices *selections) {
    uint8_t how = fuzz_choose(selections);
    uint8_t key[HC_TOKEN_KEY_SIZE] = {how};
    if ((how & 1) != 0) {
        hc_sv_host_set_time(w->host, (unix_s(w) + fuzz_choose(selections)) * 1000000, w->now_us);
        return;
    }
    if (hc_token_ring_use(&w->wire.ring) != HC_OK) {
        enum hc_status status = hc_token_ring_publish(&w->wire.ring, key);
        HC_ASSERT(status == HC_OK);
    }
    w->turned = true;
    hc_sv_host_set_keys(w->host, &w->wire.ring);
}

/// The other client goes without a word and begins anew: in the same place or in another, of the
/// same build or not, with as many players as it likes, and with what token it has.
static void begin_anew(struct world *w, struct fuzz_choices *selections) {
    uint8_t how = fuzz_choose(selections);
    struct part part = {.game = (how & 1) != 0 ? another_build() : &hc_arena,
                        .credential = &w->credential,
                        .display_offset = how >> 4,
                        .lead = (how & 4) != 0 ? HISTORY + 4 : 0,
                        .reconnect_us = (w->where & 16) != 0 ? 0 : RECONNECT_US,
                        .blocks = ENOUGH_BLOCKS};
    part.players = w->players = fuzz_choose(selections) % (HC_OWN_PLAYERS_MAX + 1);
    if ((how & 8) != 0)
        part.blocks = CLIENT_BLOCKS + fuzz_choose(selections) % ENOUGH_BLOCKS;
    issue(w, part.game, fuzz_choose(selections));
    hc_client_destroy(w->other);
    w->wire.client = w->other = begin(w, &part);
    if (w->other_port + 1 < STRANGER_PORT)
        w->other_port += how >> 1 & 1;
    else
        w->lied = true;
    w->home_port = w->other_port;
    w->wire.address = address_of(w, w->other_port);
    w->lied |= (how & 2) == 0; // what is in the air for the one before is nonsense to this one
    w->wire.cid = 0;
}

static void act(struct world *w, uint8_t which, struct fuzz_choices *selections) {
    struct hc_arena_input input;
    switch (which % DEEDS) {
    case 0:
    case 1: // time goes by
        for (int i = 0; i < 1 + which / DEEDS % 8; i++) {
            w->now_us += TICK_US;
            if (which % DEEDS == 1)
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
        meddle(w, which % DEEDS, selections);
        break;
    case 7:
    case 8:
    case 9:
        forge(w, which % DEEDS, selections);
        break;
    case 10:
        send_raw(w, selections);
        break;
    case 11:
        hc_client_leave(w->other, w->now_us);
        break;
    case 12:
        begin_anew(w, selections);
        break;
    case 13:
        w->shut = true;
        hc_sv_host_shutdown(w->host, w->now_us);
        break;
    case 14: // nobody is awake for a while
        w->now_us += (uint64_t)fuzz_choose(selections) * 4000;
        tick(w);
        break;
    case 15:
        move(w, 1 + which / DEEDS % 2);
        break;
    case 16:
        say(w, which / DEEDS, selections);
        break;
    case 17:
        set_server(w, selections);
        break;
    default:
        input = (struct hc_arena_input){.move_x = (int8_t)(which / DEEDS - DEEDS / 3)};
        input.move_y = (int8_t)fuzz_choose(selections);
        input.aim = fuzz_choose(selections);
        input.fire = fuzz_choose(selections) & 1;
        if (w->players > 0)
            hc_client_set_input(w->other, 0, &input);
    }
}

/// The server, as the input wants it.
static struct hc_sv_host *create_host(const struct world *w, uint8_t how) {
    struct hc_sv_host_config config = hc_sv_host_config_default();
    config.game = &hc_arena;
    config.clients = (how & 8) != 0 ? 2 * CLIENTS : CLIENTS;
    config.history = HISTORY;
    config.future = HISTORY;
    config.keys = w->wire.ring;
    config.unix_us = HC_PARTY_UNIX_US;
    config.timeout_us = TIMEOUT_US;
    if ((how & 1) != 0)
        config.client_rate = HC_SV_CLIENT_RATE_MIN; // so that little is told at a time
    config.snapshot_rate = (how & 2) != 0 ? config.tick_rate / 3 : 0;
    config.force_rewind = (how & 4) != 0 ? HISTORY / 2 : 0;
    if ((w->where & 2) != 0)
        config.keep_us = 0;
    if ((w->where & 4) != 0)
        config.clients_per_address = 1;
    if ((w->where & 8) != 0)
        config.connects_per_address = 1;
    if ((w->where & 32) != 0)
        config.session_life_s = SESSION_LIFE_S;
    return hc_sv_host_create(&config, w->now_us);
}

/// Two clients that nobody has heard of yet.
static void begin_both(struct world *w, uint8_t display_offset) {
    struct hc_party party;
    struct part part = {.game = &hc_arena,
                        .credential = &party.credential,
                        .players = 1,
                        .reconnect_us = RECONNECT_US,
                        .blocks = ENOUGH_BLOCKS};
    hc_party_issue(&party, &hc_arena, HONEST_USER, 0);
    w->honest = begin(w, &part);
    issue(w, &hc_arena, 0);
    part.credential = &w->credential;
    part.display_offset = display_offset;
    part.reconnect_us = (w->where & 16) != 0 ? 0 : RECONNECT_US;
    w->wire.client = w->other = begin(w, &part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct world w;
    struct fuzz_choices input = {.bytes = data, .left = size};
    struct fuzz_deed deed;
    uint8_t how = fuzz_choose(&input);
    w = (struct world){.now_us = BEGIN_US,
                       .home_port = OTHER_PORT,
                       .other_port = OTHER_PORT,
                       .where = fuzz_choose(&input),
                       .players = 1};
    w.wire.ring = hc_party_ring();
    w.wire.address = address_of(&w, w.other_port);
    w.host = create_host(&w, how);
    HC_ASSERT(w.host != NULL);
    begin_both(&w, how >> 4);
    tick(&w);
    while (w.now_us - BEGIN_US < (uint64_t)LONGEST_S * 1000000 && fuzz_deed_next(&input, &deed))
        act(&w, deed.which, &deed.selections);
    unsigned ticks = 0;
    while (ticks++ < 3 ||
           (!w.shut && hc_client_state(w.honest) != HC_CLIENT_PLAYING && ticks < WELL_TICKS)) {
        w.now_us += TICK_US;
        tick(&w);
    }
    HC_ASSERT(w.shut || hc_client_state(w.honest) == HC_CLIENT_PLAYING);
    hc_client_destroy(w.other);
    hc_client_destroy(w.honest);
    hc_sv_host_destroy(w.host);
    return 0;
}
