#include "tests/storm/strangers.h"

#include "proto/cookie.h"
#include "proto/message.h"
#include "tests/storm/inside.h"

#include <string.h>

enum {
    PORT = 700, ///< nobody's
    USER = 2000000,
    HELLO_ZEROS_AT = 32,
    PLAYERS_AT = 296,        ///< in CONNECT,
    CONNECT_ZEROS_AT = 333,  ///< and after the ephemeral key
    CLOSES = 10,             ///< times that a goodbye is said,
    AT_ONCE = 3,             ///< of these the first together,
    CLOSE_PERIOD_US = 50000, ///< and the others one after another
    GOODBYES_US = 1000000,   ///< longer than all that takes
    PHASE_MAX_US = 10000000,
    LIVE_US = 1000000, ///< who was heard so lately is not replaced
    TICK_MAX_US = 70000,
};

struct stranger {
    struct storm_match *match;
    struct hc_sv_host *host;
    uint64_t now_us;
    struct hc_address from;
    uint64_t user;
    struct hc_party party; ///< with the newest token of the user
    struct hc_connect connect;
    size_t size; ///< of the newest answer; 0: none
    uint8_t answer[HC_DATAGRAM_MAX];
};

static void wrong(const struct stranger *stranger, const char *what) {
    storm_fail(stranger->match->verdict, STORM_WRONG, "stranger", 0,
               "the server does not do it by the book: %s (kind %d of %zu bytes)", what,
               stranger->size > 0 ? stranger->answer[0] : 0, stranger->size);
}

static void expect(const struct stranger *stranger, const char *what, bool holds) {
    if (!holds)
        wrong(stranger, what);
}

size_t storm_strangers_answer(struct storm_match *match, const struct hc_address *to,
                              uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address at;
    size_t size, said = 0;
    while ((size = hc_sv_host_send(hc_sim_host(match->sim), &at, bytes, now_us)) > 0)
        if (hc_address_equal(&at, to)) {
            memcpy(out, bytes, size);
            said = size;
        }
    return said;
}

static enum hc_status say(struct stranger *stranger, const uint8_t *bytes, size_t size) {
    enum hc_status status =
        hc_sv_host_receive(stranger->host, &stranger->from, bytes, size, stranger->now_us);
    stranger->size = storm_strangers_answer(stranger->match, &stranger->from, stranger->answer,
                                            stranger->now_us);
    return status;
}

static enum hc_status say_connect(struct stranger *stranger, const struct hc_connect *connect) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    size_t size = hc_party_put_connect(&stranger->party, connect, bytes);
    hc_sim_learn(stranger->match->sim, bytes, size);
    enum hc_status status = say(stranger, bytes, size);
    hc_sim_learn(stranger->match->sim, stranger->answer, stranger->size);
    return status;
}

static bool is_ours(const struct stranger *stranger, const uint8_t *nonce) {
    return memcmp(nonce, stranger->connect.client_nonce, HC_NONCE_SIZE) == 0;
}

static bool is_version(const struct stranger *stranger) {
    struct hc_version version;
    return hc_datagram_get_version(stranger->answer, stranger->size, &version) == HC_OK &&
           version.protocol_id == hc_datagram_protocol_id(stranger->match->conns.game) &&
           is_ours(stranger, version.client_nonce);
}

/// Whether it was denied; `proven`: under the token's secret, else as a hint.
static bool is_deny(const struct stranger *stranger, enum hc_deny_reason reason, bool again,
                    bool proven) {
    struct hc_deny deny;
    return hc_datagram_get_deny(stranger->answer, stranger->size, &deny) == HC_OK &&
           deny.reason == reason && (deny.retry_ms > 0) == again &&
           is_ours(stranger, deny.client_nonce) &&
           hc_token_check_deny_mac(stranger->party.credential.secret, stranger->answer) ==
               (proven ? HC_OK : HC_UNEXPECTED);
}

/// A HELLO or CONNECT with another byte where zeros, or a proof, must be, cut short, or of another
/// protocol: nobody answers.
static void garbled(struct stranger *stranger, const uint8_t *bytes, size_t size, size_t zeros_at) {
    struct hc_rng *rng = &stranger->match->attack;
    uint8_t copy[HC_DATAGRAM_MAX];
    memcpy(copy, bytes, size);
    copy[zeros_at + hc_rng_below(rng, (uint32_t)(size - zeros_at))] ^= 1;
    enum hc_status status = say(stranger, copy, size);
    expect(stranger, "something where zeros must be", status != HC_OK && stranger->size == 0);
    status = say(stranger, bytes, size - 1);
    expect(stranger, "something cut short", status != HC_OK && stranger->size == 0);
    memcpy(copy, bytes, size);
    copy[1 + hc_rng_below(rng, HC_MAGIC_SIZE - 2)] ^= 1;
    status = say(stranger, copy, size);
    expect(stranger, "something of another protocol", status != HC_OK && stranger->size == 0);
}

/// Asks for a cookie, which goes into `connect`.
static void hello(struct stranger *stranger) {
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(stranger->match->conns.game)};
    struct hc_datagram_cookie cookie;
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (unsigned i = 0; i < HC_NONCE_SIZE; i++)
        stranger->connect.client_nonce[i] = (uint8_t)hc_rng_next(&stranger->match->attack);
    hc_sim_issue(stranger->match->sim, stranger->user, &stranger->party);
    memcpy(hello.client_nonce, stranger->connect.client_nonce, HC_NONCE_SIZE);
    hello.protocol_id ^= 1;
    enum hc_status status = say(stranger, bytes, hc_datagram_put_hello(&hello, bytes));
    expect(stranger, "a HELLO of another build", status == HC_OK && is_version(stranger));
    hello.protocol_id ^= 1;
    size_t size = hc_datagram_put_hello(&hello, bytes);
    garbled(stranger, bytes, size, HELLO_ZEROS_AT);
    status = say(stranger, bytes, size);
    bool answered = status == HC_OK &&
                    hc_datagram_get_cookie(stranger->answer, stranger->size, &cookie) == HC_OK;
    expect(stranger, "a HELLO", answered);
    if (!answered)
        return;
    expect(stranger, "a COOKIE's nonce and slot",
           is_ours(stranger, cookie.client_nonce) &&
               cookie.slot == hc_cookie_slot(stranger->now_us));
    stranger->connect.protocol_id = hello.protocol_id;
    stranger->connect.slot = cookie.slot;
    memcpy(stranger->connect.cookie, cookie.cookie, HC_COOKIE_SIZE);
}

/// CONNECTs that are answered in another way than by ACCEPT, or not at all.
static void refused(struct stranger *stranger) {
    struct hc_rng *rng = &stranger->match->attack;
    struct hc_connect connect = stranger->connect;
    uint8_t bytes[HC_DATAGRAM_MAX];
    connect.cookie[hc_rng_below(rng, HC_COOKIE_SIZE)] ^= (uint8_t)(1 << hc_rng_below(rng, 8));
    enum hc_status status = say_connect(stranger, &connect);
    expect(stranger, "a wrong cookie", status == HC_MALFORMED && stranger->size == 0);
    connect = stranger->connect;
    connect.client_nonce[hc_rng_below(rng, HC_NONCE_SIZE)] ^= 1;
    status = say_connect(stranger, &connect);
    expect(stranger, "another's cookie", status == HC_MALFORMED && stranger->size == 0);
    connect = stranger->connect;
    connect.slot += 1;
    status = say_connect(stranger, &connect);
    expect(stranger, "a cookie to come", status == HC_TOO_NEW && stranger->size == 0);
    connect.slot -= 3;
    status = say_connect(stranger, &connect);
    expect(stranger, "an old cookie", status != HC_OK && stranger->size == 0);
    stranger->from.port++;
    status = say_connect(stranger, &stranger->connect);
    expect(stranger, "a cookie from elsewhere", status == HC_MALFORMED && stranger->size == 0);
    stranger->from.port--;
    connect = stranger->connect;
    connect.protocol_id ^= 1;
    status = say_connect(stranger, &connect);
    expect(stranger, "a CONNECT of another build", status == HC_OK && is_version(stranger));
    size_t size = hc_party_put_connect(&stranger->party, &stranger->connect, bytes);
    garbled(stranger, bytes, size, CONNECT_ZEROS_AT);
    bytes[PLAYERS_AT] = HC_OWN_PLAYERS_MAX + 1;
    status = say(stranger, bytes, size);
    expect(stranger, "a CONNECT that is not proven", status != HC_OK && stranger->size == 0);
    hc_token_put_proof(stranger->party.credential.secret, bytes);
    status = say(stranger, bytes, size);
    expect(stranger, "a CONNECT for five",
           status == HC_OK && is_deny(stranger, HC_DENY_PLAYERS, false, true));
}

/// Tokens that are worth nothing here: each is denied for what is wrong with it, under its secret
/// if the server can open it.
static void worthless(struct stranger *stranger) {
    const struct hc_game *game = stranger->match->conns.game;
    const struct hc_sv_host_config *config = &hc_sim_config(stranger->match->sim)->host;
    uint64_t now_s = (config->unix_us + hc_sim_now(stranger->match->sim)) / 1000000;
    struct hc_token token = {
        .players = HC_OWN_PLAYERS_MAX, .watch = true, .expire_s = now_s + 60, .client_id = USER};
    static const enum hc_deny_reason reasons[3] = {HC_DENY_TOKEN, HC_DENY_EXPIRED,
                                                   HC_DENY_AUDIENCE};
    struct hc_token_key keys[3];
    struct hc_party own = stranger->party;
    for (unsigned i = 0; i < 3; i++) {
        struct hc_token bad = token;
        keys[i] = config->keys.keys[0];
        if (i == 0)
            keys[i].key[hc_rng_below(&stranger->match->attack, HC_TOKEN_KEY_SIZE)] ^= 1;
        else if (i == 1)
            bad.expire_s = now_s;
        else
            bad.audience = config->audience + 1;
        hc_party_issue_as(&stranger->party, game, &keys[i], &bad, i + 1);
        enum hc_status status = say_connect(stranger, &stranger->connect);
        expect(stranger, "a worthless token",
               status == HC_OK && is_deny(stranger, reasons[i], false, i > 0));
    }
    stranger->party = own;
    memset(stranger->party.credential.secret, 7, HC_TOKEN_SECRET_SIZE);
    enum hc_status status = say_connect(stranger, &stranger->connect);
    expect(stranger, "a stolen token", status == HC_MALFORMED && stranger->size == 0);
    stranger->party = own;
}

/// Whether the server has room, and for which players: those that nobody has.
static bool has_room(const struct stranger *stranger, bool taken[static HC_PLAYERS_MAX]) {
    const struct storm_conns *conns = &stranger->match->conns;
    unsigned places = hc_sim_config(stranger->match->sim)->host.clients, clients = 0;
    unsigned players = stranger->connect.players;
    memset(taken, 0, HC_PLAYERS_MAX);
    for (unsigned i = 0; i < conns->count; i++) {
        const struct storm_conn *conn = &conns->conns[i];
        bool holds = conn->there || conn->kept;
        clients += holds;
        for (unsigned p = 0; holds && p < conn->player_count; p++, players++)
            taken[conn->players[p]] = true;
    }
    return clients < places && players <= places;
}

static void check_welcome(const struct stranger *stranger, const struct hc_welcome *welcome,
                          bool taken[static HC_PLAYERS_MAX]) {
    const struct hc_sv_host_config *config = &hc_sim_config(stranger->match->sim)->host;
    expect(stranger, "WELCOME",
           welcome->tick_rate == config->tick_rate && welcome->players == config->clients &&
               welcome->seed == config->seed && welcome->history == config->history &&
               welcome->future == config->future && welcome->late_limit == config->history &&
               welcome->tick == hc_timeline_head(hc_sv_host_timeline(stranger->host)) &&
               welcome->phase_us <= PHASE_MAX_US &&
               welcome->own_count == stranger->connect.players);
    for (unsigned i = 0; i < welcome->own_count && i < HC_OWN_PLAYERS_MAX; i++) {
        expect(stranger, "whose players these are",
               welcome->own[i] < config->clients && !taken[welcome->own[i]]);
        taken[welcome->own[i] % HC_PLAYERS_MAX] = true;
    }
}

/// The server has room: it lets the stranger in, once.
static void admitted(struct stranger *stranger, bool taken[static HC_PLAYERS_MAX]) {
    static _Thread_local struct hc_body body;
    struct hc_accept accept;
    struct hc_welcome welcome;
    struct hc_sv_event event = {.kind = HC_SV_EVENT_TIMEOUT};
    uint8_t first[HC_DATAGRAM_MAX], bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    bool answered = hc_party_get_accept(&stranger->party, stranger->answer, stranger->size, opened,
                                        &accept) == HC_OK &&
                    is_ours(stranger, accept.client_nonce) &&
                    hc_body_begin(&body, accept.body, accept.body_size) == HC_OK &&
                    hc_body_next(&body) == HC_MESSAGE_WELCOME &&
                    hc_message_get_welcome(&body, stranger->match->conns.game, &welcome) == HC_OK;
    expect(stranger, "a CONNECT", answered);
    if (!answered)
        return;
    check_welcome(stranger, &welcome, taken);
    expect(stranger, "the event of a join",
           hc_sv_host_poll_event(stranger->host, &event) && event.kind == HC_SV_EVENT_JOINED &&
               event.cid == accept.cid && event.player_count == welcome.own_count &&
               hc_address_equal(&event.address, &stranger->from) &&
               memcmp(event.players, welcome.own, welcome.own_count * sizeof welcome.own[0]) == 0);
    size_t size = stranger->size;
    memcpy(first, stranger->answer, size);
    enum hc_status status = say_connect(stranger, &stranger->connect);
    expect(stranger, "a CONNECT again",
           status == HC_OK && stranger->size == size && memcmp(first, stranger->answer, size) == 0);
    const struct hc_party *party = &stranger->party;
    struct hc_data data = {.cid = accept.cid, .seq = 1, .body = bytes + HC_DATA_BODY_AT};
    status = say(stranger, bytes, hc_datagram_put_data(&data, bytes));
    expect(stranger, "a DATA that is not sealed", status == HC_MALFORMED && stranger->size == 0);
    status = say(stranger, bytes, hc_party_put_data(party, false, &data, bytes));
    expect(stranger, "a DATA sealed like the server's",
           status == HC_MALFORMED && stranger->size == 0);
    status = say(stranger, bytes, hc_party_put_data(party, true, &data, bytes));
    expect(stranger, "an empty DATA", status == HC_OK && stranger->size == 0);
    status = say(stranger, bytes, hc_party_put_data(party, true, &data, bytes));
    expect(stranger, "a DATA again", status == HC_DUPLICATE && stranger->size == 0);
    stranger->from.port++;
    data.seq++;
    status = say(stranger, bytes, hc_party_put_data(party, true, &data, bytes));
    expect(stranger, "a DATA from elsewhere", status == HC_OK && stranger->size <= 3 * 33);
    stranger->from.port--;
    struct hc_input_message late = {.client_tick = HC_NO_TICK - 1, .first = HC_NO_TICK - 1};
    struct hc_writer body_of = hc_bytes_writer(bytes + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    bool fits = hc_message_put_input(&body_of, stranger->match->conns.game,
                                     stranger->connect.players, &late, NULL, NULL);
    data.seq++;
    data.body_size = body_of.at;
    status = say(stranger, bytes, hc_party_put_data(party, true, &data, bytes));
    expect(stranger, "an INPUT of the last tick", fits && status == HC_OK);
    hello(stranger); // another attempt from where somebody was heard just now
    status = say_connect(stranger, &stranger->connect);
    expect(stranger, "a CONNECT of a user that is connected",
           status == HC_OK && is_deny(stranger, HC_DENY_CONNECTED, true, true));
}

// ---- Silence ------------------------------------------------------------------------------------

/// Time passes; whoever falls silent is let go of.
static void pass(struct stranger *stranger, uint64_t us) {
    struct storm_conns *conns = &stranger->match->conns;
    struct hc_sv_event event;
    stranger->now_us += us;
    hc_sv_host_advance(stranger->host, stranger->now_us);
    storm_strangers_answer(stranger->match, &stranger->from, stranger->answer, stranger->now_us);
    while (hc_sv_host_poll_event(stranger->host, &event))
        for (unsigned i = 0; event.kind != HC_SV_EVENT_JOINED && i < conns->count; i++)
            if (conns->conns[i].cid == event.cid) {
                conns->conns[i].there = false;
                conns->conns[i].kept = event.kind == HC_SV_EVENT_LOST;
            }
}

/// The cid of the ACCEPT that answers `connect`; 0: another answer.
static uint32_t accepted(struct stranger *stranger, const struct hc_connect *connect) {
    struct hc_accept accept;
    bool taken = say_connect(stranger, connect) == HC_OK &&
                 hc_datagram_get_accept(stranger->answer, stranger->size, &accept) == HC_OK;
    return taken ? accept.cid : 0;
}

/// Who is let in and says nothing more may try again once it has been let go of for its silence,
/// but not when it has been replaced from the same address.
static void silent(struct stranger *stranger) {
    const struct hc_sv_host_config *config = &hc_sim_config(stranger->match->sim)->host;
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(stranger->host);
    uint64_t clients = stats->joins - stats->leaves - stats->timeouts; // with those who are kept
    stranger->from.port = PORT + 2;
    stranger->user++;
    stranger->connect.players = 0;
    hello(stranger);
    struct hc_connect first = stranger->connect;
    uint32_t cid = accepted(stranger, &first);
    expect(stranger, "a spectator's CONNECT", (cid != 0) == (clients < config->clients));
    if (cid == 0)
        return;
    if (config->timeout_us > LIVE_US + TICK_MAX_US) {
        pass(stranger, LIVE_US);
        hello(stranger);
        uint32_t next = accepted(stranger, &stranger->connect);
        expect(stranger, "a CONNECT that replaces another", next != 0 && next != cid);
        expect(stranger, "a CONNECT that was replaced",
               accepted(stranger, &first) == 0 && stranger->size == 0);
        cid = next;
    }
    pass(stranger, config->timeout_us);
    if (hc_cookie_slot(stranger->now_us) > stranger->connect.slot + 1)
        return;
    uint32_t again = accepted(stranger, &stranger->connect);
    expect(stranger, "a CONNECT after silence", again != 0 && again != cid);
}

// ---- Goodbyes -----------------------------------------------------------------------------------

struct goodbye {
    uint32_t cid;
    unsigned said;
    uint64_t at_us; ///< the newest
};

/// One CLOSE at `now_us`: the first ones together, then one every 50 ms.
static void check_close(const struct stranger *stranger, struct goodbye *goodbye, uint64_t now_us) {
    uint64_t after_us = now_us - goodbye->at_us;
    if (goodbye->said > 0)
        expect(stranger, "when goodbye is said",
               after_us == (goodbye->said < AT_ONCE ? 0 : CLOSE_PERIOD_US));
    goodbye->said++;
    goodbye->at_us = now_us;
}

static void take_goodbyes(const struct stranger *stranger, struct goodbye *goodbyes, unsigned count,
                          uint64_t now_us) {
    static _Thread_local struct hc_body body;
    uint8_t sealed[HC_DATAGRAM_MAX], room[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_data data;
    enum hc_close_reason reason;
    size_t size;
    while ((size = hc_sv_host_send(stranger->host, &to, sealed, now_us)) > 0) {
        const uint8_t *bytes = hc_sim_open(stranger->match->sim, false, sealed, size, room);
        bool closes = hc_datagram_get_data(bytes, size, &data) == HC_OK &&
                      hc_body_begin(&body, data.body, data.body_size) == HC_OK &&
                      hc_body_next(&body) == HC_MESSAGE_CLOSE &&
                      hc_message_get_close(&body, &reason) == HC_OK;
        expect(stranger, "that nothing but goodbye is said", closes);
        for (unsigned i = 0; closes && i < count; i++)
            if (goodbyes[i].cid == data.cid) {
                expect(stranger, "why it is said", reason == HC_CLOSE_SHUTDOWN);
                check_close(stranger, &goodbyes[i], now_us);
            }
    }
}

/// The server goes away: everybody is told ten times, and nobody else is let in.
static void shut_down(struct stranger *stranger) {
    static _Thread_local struct goodbye goodbyes[STORM_CONNS_MAX];
    const struct storm_conns *conns = &stranger->match->conns;
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(stranger->host);
    // Those who are kept leave as well.
    uint64_t left = stats->joins - stats->leaves - stats->timeouts;
    unsigned count = 0;
    struct hc_sv_event event;
    while (hc_sv_host_poll_event(stranger->host, &event))
        ;
    for (unsigned i = 0; i < conns->count; i++)
        if (conns->conns[i].there)
            goodbyes[count++] = (struct goodbye){.cid = conns->conns[i].cid};
    hello(stranger);
    hc_sv_host_shutdown(stranger->host, stranger->now_us);
    while (hc_sv_host_poll_event(stranger->host, &event)) {
        expect(stranger, "the event of a goodbye",
               event.kind == HC_SV_EVENT_LEFT && event.close == HC_CLOSE_SHUTDOWN);
        left--;
    }
    expect(stranger, "that everybody has left",
           left == 0 && hc_sv_host_clients(stranger->host) == 0);
    expect(stranger, "that goodbye is still to be said",
           count == 0 || !hc_sv_host_closed(stranger->host));
    for (uint64_t now_us = stranger->now_us, end_us = now_us + GOODBYES_US;
         now_us <= end_us && !hc_sv_host_closed(stranger->host);
         now_us = hc_sv_host_deadline(stranger->host)) {
        hc_sv_host_advance(stranger->host, now_us);
        take_goodbyes(stranger, goodbyes, count, now_us);
    }
    expect(stranger, "that all has been said", hc_sv_host_closed(stranger->host));
    for (unsigned i = 0; i < count; i++)
        expect(stranger, "how often goodbye is said", goodbyes[i].said == CLOSES);
    enum hc_status status = say_connect(stranger, &stranger->connect);
    expect(stranger, "a CONNECT to who goes away",
           status == HC_OK && is_deny(stranger, HC_DENY_SHUTDOWN, false, true));
}

void storm_strangers(struct storm_match *match) {
    static _Thread_local bool taken[HC_PLAYERS_MAX];
    struct stranger stranger = {.match = match,
                                .host = hc_sim_host(match->sim),
                                .now_us = hc_sim_host_now(match->sim),
                                .from = hc_address_ipv4(127, 0, 0, 1, PORT),
                                .user = USER};
    if (match->conns.count == STORM_CONNS_MAX)
        return;
    stranger.connect.players = (uint8_t)hc_rng_below(&match->attack, HC_OWN_PLAYERS_MAX + 1);
    hello(&stranger);
    refused(&stranger);
    worthless(&stranger);
    bool room = has_room(&stranger, taken);
    enum hc_status status = say_connect(&stranger, &stranger.connect);
    expect(&stranger, "a CONNECT to a full server",
           room || (status == HC_OK && is_deny(&stranger, HC_DENY_FULL, true, true)));
    if (room)
        admitted(&stranger, taken);
    silent(&stranger);
    shut_down(&stranger);
}
