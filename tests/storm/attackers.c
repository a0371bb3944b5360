/// Owns the attacks on the server, and on the attackers' own datagrams.
#include "common/byte_order.h"
#include "common/bytes.h"
#include "hindcast/rng.h"
#include "proto/datagram.h"
#include "proto/message.h"
#include "tests/storm/match_internal.h"

#include <string.h>

enum {
    DATA_CID_AT = 1,
    DATA_SEQ_AT = 5,
    DATA_ACK_AT = 9,
    SILENT_FROM = 60,  ///< tick: after it has joined
    SPAM = 12,         ///< handshakes at once, usually fewer than this
    SPAM_FLOOD = 320,  ///< more than answers can wait
    STOLEN_FROM = 400, ///< turns of ports that never send HELLO
    STOLEN_TURNS = 16,
    STORM_THIEF = 1000000, ///< the user of the stolen cookies
    STOLEN_EACH = 8,       ///< answers of which one is used
};

void storm_attackers_tape(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size, const uint8_t *sealed) {
    struct storm_seat *seat = &match->seats[client];
    struct storm_taped *taped = &seat->tape[seat->taped++ % STORM_TAPE];
    taped->size = size;
    memcpy(taped->bytes, sealed, size);
    memcpy(taped->head, bytes, size < sizeof taped->head ? size : sizeof taped->head);
}

static struct storm_taped *any_tape(struct storm_match *match, unsigned client) {
    struct storm_seat *seat = &match->seats[client];
    unsigned count = seat->taped < STORM_TAPE ? seat->taped : STORM_TAPE;
    return count == 0 ? NULL : &seat->tape[hc_rng_below(&match->attack, count)];
}

static uint32_t random_of(struct storm_match *match, uint32_t bound) {
    return hc_rng_below(&match->attack, bound);
}

static void garbage(struct storm_match *match, unsigned client, uint16_t port) {
    static const uint8_t kinds[] = {1, 2, 3, 4, 5, 6, 0x40, 0x40, 0x41, 0};
    uint8_t bytes[HC_DATAGRAM_MAX];
    size_t size = random_of(match, 3) == 0 ? HC_DATAGRAM_MAX : random_of(match, 200);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)hc_rng_next(&match->attack);
    if (size > 0)
        bytes[0] = kinds[random_of(match, sizeof kinds)];
    if (size > 8 && random_of(match, 2) == 0)
        memcpy(bytes + 1, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
    // A RESET that an attacker brings about for another client has no effect there, but its link
    // draws other numbers from then on. A match that is compared with one without attacks has none.
    if (storm_match_compared(match->plan) && port != hc_sim_address(match->sim, client).port &&
        size > 0 && bytes[0] == HC_DATAGRAM_DATA)
        bytes[0] = HC_DATAGRAM_RESET;
    hc_sim_inject(match->sim, client, port, bytes, size);
}

static uint32_t read_u32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/// The newest DATA that the attacker's own client has sent; NULL: none.
static const struct storm_taped *newest_data(const struct storm_match *match, unsigned client) {
    const struct storm_seat *seat = &match->seats[client];
    for (unsigned i = 0; i < STORM_TAPE && i < seat->taped; i++) {
        const struct storm_taped *taped = &seat->tape[(seat->taped - 1 - i) % STORM_TAPE];
        if (hc_datagram_kind(taped->bytes, taped->size) == HC_DATAGRAM_DATA)
            return taped;
    }
    return NULL;
}

enum { LIES = 4 };

/// Inputs that no client sends.
struct lies {
    uint8_t inputs[LIES][HC_INPUT_MAX];
};

static struct lies make_lies(const struct hc_game *game) {
    static const uint8_t bytes[LIES][HC_INPUT_MAX] = {
        {0}, {1, 1, 200, 1}, {0xff, 0xff, 7, 0}, {1, 0xff, 90, 1}};
    struct lies lies;
    for (unsigned i = 0; i < LIES; i++)
        hc_copy_little_endian(game->input_fields, game->input_field_count, game->input_size,
                              bytes[i], lies.inputs[i]);
    return lies;
}

static const void *any_input(void *context, uint32_t index, uint32_t player) {
    const struct lies *lies = context;
    return lies->inputs[(index + player) % LIES];
}

/// A well formed DATA in its own name, with a lie in it.
static void forge(struct storm_match *match, unsigned client, enum storm_attack lie) {
    const struct storm_taped *taped = newest_data(match, client);
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    const struct hc_game *game = match->conns.game;
    uint32_t players = (uint32_t)storm_client_get(match, client, STORM_C_players);
    if (taped == NULL)
        return;
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(match->sim)));
    struct hc_input_message message = {.client_tick = head, .force_before = head, .first = head};
    message.count = players > 0 ? 1 + random_of(match, 40) : 0;
    struct hc_data data = {.cid = read_u32(taped->head + DATA_CID_AT),
                           .seq = read_u32(taped->head + DATA_SEQ_AT) + 1 + random_of(match, 3),
                           .ack = read_u32(taped->head + DATA_ACK_AT)};
    if (lie == STORM_ATTACK_FUTURE) {
        message.client_tick = head + random_of(match, 5000);
        message.first = message.force_before = hc_tick_ahead(head, random_of(match, 600));
        if (message.first > message.client_tick)
            message.client_tick = message.first;
        message.force_before = random_of(match, 2) == 0 ? head : message.first;
        if (players > 0 && random_of(match, 2) == 0) { // one by one, with holes between them
            message.count = 1;
            message.first = hc_tick_ahead(head, random_of(match, 60));
            message.force_before = 0;
        }
    } else if (lie == STORM_ATTACK_ANCIENT) {
        message.first = message.force_before = hc_tick_back(head, random_of(match, 400));
        message.display_offset = random_of(match, HC_HISTORY_MAX + 1);
        message.ack_delay_us = random_of(match, HC_ACK_DELAY_MAX_US);
    } else if (lie == STORM_ATTACK_FORCE) {
        message.first = message.force_before = hc_tick_ahead(head, 1 + random_of(match, 2000));
        message.client_tick = message.first;
    } else if (lie == STORM_ATTACK_ACK) {
        data.ack = random_of(match, 2) == 0 ? (uint32_t)hc_rng_next(&match->attack) : data.ack + 99;
        data.ack_bits = (uint32_t)hc_rng_next(&match->attack);
    }
    struct lies lies = make_lies(game);
    if (!hc_message_put_input(&body, game, players, &message, any_input, &lies))
        return;
    data.body = bytes + HC_DATA_BODY_AT;
    data.body_size = body.at;
    uint8_t room[HC_DATAGRAM_MAX];
    size_t size = hc_datagram_put_data(&data, bytes);
    hc_sim_inject(match->sim, client, hc_sim_address(match->sim, client).port,
                  hc_sim_seal(match->sim, true, bytes, size, room), size);
}

/// Handshakes from ports of its own; the answers go nowhere.
static void handshake(struct storm_match *match, unsigned client) {
    uint32_t count = random_of(match, 40) == 0 ? SPAM_FLOOD : random_of(match, SPAM);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[HC_DATAGRAM_MAX];
        size_t size;
        uint16_t port = (uint16_t)(1024 + match->clients * (200 + random_of(match, 200)) + client);
        uint64_t id = hc_test_protocol_id(match->conns.game);
        uint8_t nonce[8];
        struct hc_writer writer = hc_bytes_writer(nonce, sizeof nonce);
        hc_bytes_put_u64(&writer, hc_rng_next(&match->attack));
        if (i % 4 != 3) {
            struct hc_hello hello = {.protocol_id = i % 5 == 4 ? id + 1 : id};
            memcpy(hello.client_nonce, nonce, sizeof nonce);
            size = hc_datagram_put_hello(&hello, bytes);
        } else {
            struct hc_connect connect = {
                .extrapolations = 3, .protocol_id = id, .slot = random_of(match, 4), .players = 1};
            memcpy(connect.client_nonce, nonce, sizeof nonce);
            memcpy(connect.cookie, nonce, sizeof nonce);
            size = hc_datagram_put_connect(&connect, bytes);
        }
        hc_sim_inject(match->sim, client, port, bytes, size);
    }
}

/// Puts the cookie of one port into a CONNECT of another.
void storm_attackers_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                              size_t size) {
    struct storm_seat *seat = &match->seats[client];
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_datagram_cookie cookie;
    if (!seat->hostile || match->options->tame || match->healed ||
        (storm_client_get(match, client, STORM_C_attack) & STORM_ATTACK_HANDSHAKE) == 0 ||
        hc_datagram_get_cookie(bytes, size, &cookie) != HC_OK || seat->stolen++ % STOLEN_EACH != 0)
        return;
    unsigned turn = STOLEN_FROM + seat->stolen / STOLEN_EACH % STOLEN_TURNS;
    uint16_t port = (uint16_t)(STORM_PORT_FIRST + match->clients * turn + client);
    struct hc_connect connect = {.extrapolations = 3,
                                 .protocol_id = hc_test_protocol_id(match->conns.game),
                                 .slot = cookie.slot,
                                 .players = 1};
    memcpy(connect.client_nonce, cookie.client_nonce, HC_NONCE_SIZE);
    memcpy(connect.cookie, cookie.cookie, HC_COOKIE_SIZE);
    struct hc_endpoint endpoint; // that it has by rights
    hc_sim_issue_token(match->sim, STORM_THIEF + client, &endpoint);
    hc_sim_inject(match->sim, client, port, out, hc_endpoint_put_connect(&endpoint, &connect, out));
}

void storm_attackers_joined(struct storm_match *match, uint16_t port) {
    if (port >= STORM_PORT_FIRST + match->clients * STOLEN_FROM)
        storm_fail(match->verdict, STORM_WRONG, "cookie", 0,
                   "a client is admitted at port %u with the cookie of another port", port);
}

static void turn_bits(struct storm_match *match, struct storm_taped *taped) {
    for (unsigned n = 1 + random_of(match, 4); n > 0 && taped->size > 0; n--)
        taped->bytes[random_of(match, (uint32_t)taped->size)] ^=
            (uint8_t)(1 << random_of(match, 8));
}

/// Whether a copy of another's datagram changes nothing for its client. A copy that arrives before
/// the first, or in its stead, may spare the client something. A match that is compared with itself
/// without attacks has no such copies.
static bool changes_nothing(struct storm_match *match, const struct storm_taped *taped) {
    uint32_t cid, seq;
    if (!storm_match_compared(match->plan) ||
        hc_datagram_get_data_clear(taped->bytes, taped->size, &cid, &seq) != HC_OK)
        return true;
    const struct storm_conn *conn = storm_conns_any(&match->conns, cid);
    return conn != NULL && seq < STORM_SEQS && conn->accepted[seq] != 0;
}

void storm_attackers_attack(struct storm_match *match, unsigned client) {
    unsigned ways = (unsigned)storm_client_get(match, client, STORM_C_attack);
    uint16_t port = hc_sim_address(match->sim, client).port;
    if (hc_sim_client(match->sim, client) == NULL)
        return;
    for (unsigned way = 1; way <= STORM_ATTACK_HANDSHAKE; way <<= 1) {
        if ((ways & way) == 0 || random_of(match, 4) != 0)
            continue;
        struct storm_taped *taped;
        unsigned other = random_of(match, match->clients);
        switch (way) {
        case STORM_ATTACK_GARBAGE:
            garbage(match, client, port);
            break;
        case STORM_ATTACK_SPOOF:
            // A stranger below the clients' ports, or another client.
            garbage(match, client,
                    other % 2 == 0 ? (uint16_t)(1 + other)
                                   : hc_sim_address(match->sim, other).port);
            break;
        case STORM_ATTACK_REPLAY:
        case STORM_ATTACK_STEAL:
            taped = any_tape(match, way == STORM_ATTACK_STEAL ? other : client);
            if (taped != NULL && (way != STORM_ATTACK_STEAL || changes_nothing(match, taped)))
                hc_sim_inject(match->sim, client, port, taped->bytes, taped->size);
            break;
        case STORM_ATTACK_FLIP:
            taped = any_tape(match, client);
            if (taped != NULL) {
                struct storm_taped turned = *taped;
                turn_bits(match, &turned);
                hc_sim_inject(match->sim, client, port, turned.bytes, turned.size);
            }
            break;
        case STORM_ATTACK_FUTURE:
        case STORM_ATTACK_ANCIENT:
        case STORM_ATTACK_ACK:
        case STORM_ATTACK_FORCE:
            forge(match, client, (enum storm_attack)way);
            break;
        case STORM_ATTACK_HANDSHAKE:
            handshake(match, client);
            break;
        default: // done to its own datagrams
            break;
        }
    }
}

bool storm_attackers_tamper(struct storm_match *match, unsigned client, uint8_t *bytes,
                            size_t size) {
    unsigned ways = (unsigned)storm_client_get(match, client, STORM_C_attack);
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return true;
    if ((ways & STORM_ATTACK_NO_ACK) != 0)
        memset(bytes + DATA_ACK_AT, 0, 8);
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(match->sim)));
    return (ways & STORM_ATTACK_SILENT) == 0 || head < SILENT_FROM;
}
