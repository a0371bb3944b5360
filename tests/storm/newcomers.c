#include "tests/storm/newcomers.h"

#include "proto/message.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_US = 10000000,
    VERSION_WAIT_US = 600000, ///< in which a COOKIE refutes VERSION
    COOKIE_LIFE_US = 2000000,
    STEP_US = 100000,
    WAIT_US = 3000000,
    CONNECT_WAIT_US = 900000, ///< twice less than a cookie is used
    CLOSES = 10,              ///< times that goodbye is said,
    AT_ONCE = 3,              ///< the first of them together,
    CLOSE_PERIOD_US = 50000,
    RETRY_MS = 1234,
    CID = 0x1234,
    BLOCKS_MAX = 64,
    MEMORY_SHARE = 32, ///< of the seeds, one in so many runs short of memory, again and again
};

struct newcomer {
    struct storm_match *match;
    struct hc_party *party; ///< its secrets, which its server shares
    struct hc_client_config config;
    uint8_t entropy[HC_CLIENT_ENTROPY_SIZE];
    struct hc_client *client;
    uint64_t now_us;
    struct hc_hello hello;                               ///< that it has said
    unsigned begun;                                      ///< how many there have been
    uint8_t first[HC_NONCE_SIZE], varied[HC_NONCE_SIZE]; ///< nonce of the first, and bits in which
                                                         ///< those after it were others
};

static void expect(const struct newcomer *newcomer, const char *what, bool holds) {
    if (!holds)
        storm_fail(newcomer->match->verdict, STORM_WRONG, "newcomer", 0,
                   "a fresh client does not do it by the book: %s (state %d)", what,
                   (int)hc_client_state(newcomer->client));
}

/// Creates it and hears its HELLO. False without memory.
static bool begin(struct newcomer *newcomer) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    newcomer->entropy[0]++;
    newcomer->config.entropy = newcomer->entropy;
    newcomer->client = hc_client_create(&newcomer->config, newcomer->now_us);
    if (newcomer->client == NULL)
        return false;
    if (newcomer->begun % 2 == 0) // it is due at once
        hc_client_advance(newcomer->client, newcomer->now_us);
    size_t size = hc_client_send(newcomer->client, bytes, newcomer->now_us);
    expect(newcomer, "HELLO", hc_datagram_get_hello(bytes, size, &newcomer->hello) == HC_OK);
    if (newcomer->begun++ == 0)
        memcpy(newcomer->first, newcomer->hello.client_nonce, HC_NONCE_SIZE);
    for (unsigned i = 0; i < HC_NONCE_SIZE; i++)
        newcomer->varied[i] |= newcomer->hello.client_nonce[i] ^ newcomer->first[i];
    expect(newcomer, "HELLO once", hc_client_send(newcomer->client, bytes, newcomer->now_us) == 0);
    return true;
}

static void end(struct newcomer *newcomer) {
    hc_client_destroy(newcomer->client);
    newcomer->client = NULL;
}

static size_t put_cookie(const uint8_t *nonce, uint8_t *out) {
    struct hc_datagram_cookie cookie = {.slot = 77, .cookie = {1, 2, 3, 4}};
    memcpy(cookie.client_nonce, nonce, HC_NONCE_SIZE);
    return hc_datagram_put_cookie(&cookie, out);
}

static size_t put_hint(const uint8_t *nonce, uint8_t *out) {
    struct hc_deny deny = {.reason = HC_DENY_LIMIT, .retry_ms = RETRY_MS};
    memcpy(deny.client_nonce, nonce, HC_NONCE_SIZE);
    return hc_datagram_put_deny(&deny, out);
}

static size_t put_deny(const struct newcomer *newcomer, const uint8_t *nonce, uint8_t *out) {
    size_t size = put_hint(nonce, out);
    hc_token_put_deny_mac(newcomer->party->credential.secret, out);
    return size;
}

static size_t put_version(const uint8_t *nonce, uint64_t protocol_id, uint8_t *out) {
    struct hc_version version = {.protocol_id = protocol_id};
    memcpy(version.client_nonce, nonce, HC_NONCE_SIZE);
    return hc_datagram_put_version(&version, out);
}

static size_t put_accept(const struct newcomer *newcomer, const uint8_t *nonce, uint8_t players,
                         uint8_t *out) {
    const struct hc_sv_host_config *host = &hc_sim_config(newcomer->match->sim)->host;
    struct hc_welcome welcome = {.tick_rate = host->tick_rate,
                                 .players = newcomer->config.game->players_max,
                                 .history = host->history,
                                 .future = host->future,
                                 .own_count = players,
                                 .own = {0, 1, 2, 3}};
    struct hc_writer body = hc_bytes_writer(out + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    struct hc_accept accept = {.cid = CID, .body = out + HC_ACCEPT_BODY_AT};
    expect(newcomer, "WELCOME", hc_message_put_welcome(&body, &welcome));
    accept.body_size = body.at;
    memcpy(accept.client_nonce, nonce, HC_NONCE_SIZE);
    hc_party_serve(newcomer->party, newcomer->client);
    return hc_party_put_accept(newcomer->party, &accept, out);
}

static enum hc_status hand(const struct newcomer *newcomer, const uint8_t *bytes, size_t size) {
    return hc_client_receive(newcomer->client, bytes, size, newcomer->now_us);
}

/// Time passes; all that it says must be of this kind, from a client that still asks.
static void wait(struct newcomer *newcomer, uint64_t us, enum hc_datagram_kind kind) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_client_event event;
    struct hc_hello hello;
    unsigned said = 0;
    for (uint64_t end_us = newcomer->now_us + us; newcomer->now_us < end_us;) {
        size_t size;
        newcomer->now_us += STEP_US;
        hc_client_advance(newcomer->client, newcomer->now_us);
        while ((size = hc_client_send(newcomer->client, bytes, newcomer->now_us)) > 0) {
            said++;
            expect(newcomer, "what it says while it waits",
                   hc_datagram_kind(bytes, size) == kind &&
                       (kind != HC_DATAGRAM_HELLO ||
                        (hc_datagram_get_hello(bytes, size, &hello) == HC_OK &&
                         memcmp(&hello, &newcomer->hello, sizeof hello) == 0)));
        }
    }
    expect(newcomer, "that it goes on asking", us < WAIT_US || said >= us / 1000 / 350);
    expect(newcomer, "that it waits on",
           hc_client_state(newcomer->client) == HC_CLIENT_CONNECTING &&
               !hc_client_poll_event(newcomer->client, &event));
}

/// What is for it, but with a changed byte in its magic, with a last byte that is not zero (if it
/// must be), or cut short.
static void garbled(const struct newcomer *newcomer, uint8_t *bytes, size_t size, bool zeros) {
    uint32_t at = 1 + hc_rng_below(&newcomer->match->attack, HC_MAGIC_SIZE - 2);
    bytes[at] ^= 1;
    bool refused = hand(newcomer, bytes, size) != HC_OK;
    bytes[at] ^= 1;
    bytes[size - 1] ^= 1;
    refused = refused && (!zeros || hand(newcomer, bytes, size) != HC_OK);
    bytes[size - 1] ^= 1;
    expect(newcomer, "what is garbled", refused && hand(newcomer, bytes, size - 1) != HC_OK);
}

/// What is for somebody else, or of no use, is not believed.
static void foreign(struct newcomer *newcomer) {
    uint8_t bytes[HC_DATAGRAM_MAX], other[HC_NONCE_SIZE];
    const uint8_t *own = newcomer->hello.client_nonce;
    uint64_t id = newcomer->hello.protocol_id;
    uint8_t players = newcomer->config.players;
    memcpy(other, own, sizeof other);
    other[hc_rng_below(&newcomer->match->attack, HC_NONCE_SIZE)] ^= 0x10;
    enum hc_status version = hand(newcomer, bytes, put_version(other, id + 1, bytes));
    enum hc_status accept = hand(newcomer, bytes, put_accept(newcomer, other, players, bytes));
    enum hc_status deny = hand(newcomer, bytes, put_deny(newcomer, other, bytes));
    enum hc_status cookie = hand(newcomer, bytes, put_cookie(other, bytes));
    expect(newcomer, "what is not for it",
           version == HC_UNEXPECTED && accept == HC_UNEXPECTED && deny == HC_UNEXPECTED &&
               cookie == HC_UNEXPECTED);
    expect(newcomer, "VERSION of its own build",
           hand(newcomer, bytes, put_version(own, id, bytes)) == HC_UNEXPECTED);
    uint8_t wrong = (uint8_t)((players + 1) % (HC_OWN_PLAYERS_MAX + 1));
    expect(newcomer, "ACCEPT for more or fewer players",
           hand(newcomer, bytes, put_accept(newcomer, own, wrong, bytes)) == HC_MALFORMED);
    garbled(newcomer, bytes, put_accept(newcomer, own, players, bytes), true);
    garbled(newcomer, bytes, put_deny(newcomer, own, bytes), true);
    garbled(newcomer, bytes, put_cookie(own, bytes), false);
    garbled(newcomer, bytes, put_version(own, id + 1, bytes), false);
    wait(newcomer, WAIT_US, HC_DATAGRAM_HELLO);
}

/// A COOKIE refutes VERSION; then it says CONNECT, until it is denied.
static void refuted(struct newcomer *newcomer) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    const uint8_t *own = newcomer->hello.client_nonce;
    struct hc_connect connect;
    struct hc_client_event event = {.kind = HC_CLIENT_EVENT_TIMEOUT};
    size_t size = put_version(own, newcomer->hello.protocol_id + 1, bytes);
    expect(newcomer, "VERSION", hand(newcomer, bytes, size) == HC_OK);
    expect(newcomer, "VERSION again", hand(newcomer, bytes, size) == HC_DUPLICATE);
    wait(newcomer, VERSION_WAIT_US - STEP_US, HC_DATAGRAM_HELLO);
    size = put_cookie(own, bytes);
    expect(newcomer, "COOKIE", hand(newcomer, bytes, size) == HC_OK);
    expect(newcomer, "COOKIE again", hand(newcomer, bytes, size) == HC_DUPLICATE);
    size = hc_client_send(newcomer->client, bytes, newcomer->now_us);
    expect(newcomer, "CONNECT",
           hc_datagram_get_connect(bytes, size, &connect) == HC_OK && connect.slot == 77 &&
               connect.cookie[0] == 1 && connect.cookie[3] == 4 &&
               connect.protocol_id == newcomer->hello.protocol_id &&
               connect.players == newcomer->config.players &&
               memcmp(connect.client_nonce, own, HC_NONCE_SIZE) == 0);
    expect(newcomer, "the proof",
           hc_token_check_proof(newcomer->party->credential.secret, bytes) == HC_OK);
    expect(newcomer, "DENY of anybody", hand(newcomer, bytes, put_hint(own, bytes)) == HC_OK);
    wait(newcomer, CONNECT_WAIT_US, HC_DATAGRAM_CONNECT);
    expect(newcomer, "DENY", hand(newcomer, bytes, put_deny(newcomer, own, bytes)) == HC_OK);
    expect(newcomer, "what it makes of DENY",
           hc_client_state(newcomer->client) == HC_CLIENT_CLOSED &&
               hc_client_poll_event(newcomer->client, &event) &&
               event.kind == HC_CLIENT_EVENT_DENIED && event.deny == HC_DENY_LIMIT &&
               event.retry_ms == RETRY_MS);
}

/// A cookie is used for two seconds; then it says HELLO again, until it is given another one.
static void forgotten(struct newcomer *newcomer) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_connect connect;
    end(newcomer);
    newcomer->config.timeout_us = 3 * TIMEOUT_US;
    if (!begin(newcomer))
        abort();
    size_t size = put_cookie(newcomer->hello.client_nonce, bytes);
    expect(newcomer, "COOKIE", hand(newcomer, bytes, size) == HC_OK);
    wait(newcomer, COOKIE_LIFE_US - STEP_US, HC_DATAGRAM_CONNECT);
    wait(newcomer, WAIT_US, HC_DATAGRAM_HELLO);
    expect(newcomer, "COOKIE after a while", hand(newcomer, bytes, size) == HC_OK);
    hc_client_advance(newcomer->client, newcomer->now_us);
    size = hc_client_send(newcomer->client, bytes, newcomer->now_us);
    expect(newcomer, "CONNECT after a while",
           hc_datagram_get_connect(bytes, size, &connect) == HC_OK && connect.cookie[0] == 1);
    newcomer->config.timeout_us = TIMEOUT_US;
}

/// Nothing refutes VERSION.
static void outdated(struct newcomer *newcomer) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_client_event event = {.kind = HC_CLIENT_EVENT_TIMEOUT};
    size_t size = put_version(newcomer->hello.client_nonce, newcomer->hello.protocol_id + 1, bytes);
    expect(newcomer, "VERSION", hand(newcomer, bytes, size) == HC_OK);
    newcomer->now_us += VERSION_WAIT_US - 1;
    hc_client_advance(newcomer->client, newcomer->now_us++);
    expect(newcomer, "VERSION too soon", hc_client_state(newcomer->client) == HC_CLIENT_CONNECTING);
    expect(newcomer, "when VERSION is believed",
           hc_client_deadline(newcomer->client) <= newcomer->now_us);
    hc_client_advance(newcomer->client, newcomer->now_us);
    expect(newcomer, "what it makes of VERSION",
           hc_client_state(newcomer->client) == HC_CLIENT_CLOSED &&
               hc_client_poll_event(newcomer->client, &event) &&
               event.kind == HC_CLIENT_EVENT_VERSION);
}

/// Nobody answers.
static void unanswered(struct newcomer *newcomer) {
    struct hc_client_event event = {.kind = HC_CLIENT_EVENT_CLOSED};
    newcomer->now_us += TIMEOUT_US - 1;
    hc_client_advance(newcomer->client, newcomer->now_us++);
    expect(newcomer, "giving up too soon",
           hc_client_state(newcomer->client) == HC_CLIENT_CONNECTING);
    hc_client_advance(newcomer->client, newcomer->now_us);
    expect(newcomer, "giving up",
           hc_client_state(newcomer->client) == HC_CLIENT_CLOSED &&
               hc_client_poll_event(newcomer->client, &event) &&
               event.kind == HC_CLIENT_EVENT_TIMEOUT);
}

// ---- No memory ----------------------------------------------------------------------------------

/// Is accepted without that block of memory; true: it has asked for fewer.
static bool accepted(struct newcomer *newcomer, unsigned without) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct storm_purse purse = {.without = without};
    struct hc_allocator allocator = {
        .allocate = storm_purse_spend, .release = storm_purse_give_back, .context = &purse};
    struct hc_client_event event = {.kind = HC_CLIENT_EVENT_TIMEOUT};
    enum hc_status status = HC_NO_MEMORY;
    newcomer->config.allocator = &allocator;
    if (begin(newcomer)) {
        const uint8_t *nonce = newcomer->hello.client_nonce;
        status =
            hand(newcomer, bytes, put_accept(newcomer, nonce, newcomer->config.players, bytes));
        bool told = hc_client_poll_event(newcomer->client, &event);
        if (status == HC_NO_MEMORY)
            expect(newcomer, "an ACCEPT without memory",
                   told && event.kind == HC_CLIENT_EVENT_CLOSED && event.close == HC_CLOSE_ERROR &&
                       hc_client_state(newcomer->client) == HC_CLIENT_CLOSED);
        else
            expect(newcomer, "an ACCEPT",
                   status == HC_OK && told && event.kind == HC_CLIENT_EVENT_ACCEPTED &&
                       hc_client_state(newcomer->client) == HC_CLIENT_JOINING);
    }
    end(newcomer);
    newcomer->config.allocator = NULL;
    if (purse.held != 0 || (status == HC_NO_MEMORY) != (purse.asked > without))
        storm_fail(newcomer->match->verdict, STORM_WRONG, "memory", 0,
                   "a client without its block %u answers %s, and leaves %d behind", without,
                   hc_status_text(status), purse.held);
    return purse.asked <= without;
}

// ---- Goodbyes -----------------------------------------------------------------------------------

static bool is_close(const struct hc_sim *sim, const uint8_t *sealed, size_t size, uint32_t cid) {
    static _Thread_local struct hc_body body;
    uint8_t room[HC_DATAGRAM_MAX];
    const uint8_t *bytes = hc_sim_open(sim, true, sealed, size, room);
    enum hc_close_reason reason;
    struct hc_data data;
    return hc_datagram_get_data(bytes, size, &data) == HC_OK && data.cid == cid &&
           hc_body_begin(&body, data.body, data.body_size) == HC_OK &&
           hc_body_next(&body) == HC_MESSAGE_CLOSE &&
           hc_message_get_close(&body, &reason) == HC_OK && reason == HC_CLOSE_LEFT;
}

/// Says goodbye ten times, three of them at once.
static void leave(struct storm_match *match, unsigned client) {
    struct hc_client *core = hc_sim_client(match->sim, client);
    uint64_t begun_us = hc_sim_client_now(match->sim, client), now_us = begun_us;
    struct newcomer newcomer = {.match = match, .client = core};
    struct hc_client_event event = {.kind = HC_CLIENT_EVENT_TIMEOUT};
    uint8_t bytes[HC_DATAGRAM_MAX];
    unsigned said = 0;
    hc_client_leave(core, now_us);
    expect(&newcomer, "leaving", hc_client_state(core) == HC_CLIENT_LEAVING);
    while (hc_client_state(core) == HC_CLIENT_LEAVING && said <= CLOSES) {
        size_t size;
        hc_client_advance(core, now_us);
        while ((size = hc_client_send(core, bytes, now_us)) > 0) {
            said++;
            uint64_t due_us = said <= AT_ONCE ? 0 : (said - AT_ONCE) * CLOSE_PERIOD_US;
            expect(&newcomer, "goodbye",
                   is_close(match->sim, bytes, size, match->seats[client].cid) &&
                       now_us == begun_us + due_us);
        }
        if (hc_client_deadline(core) <= now_us)
            break; // it will never be done
        now_us = hc_client_deadline(core);
    }
    while (hc_client_poll_event(core, &event))
        ;
    expect(&newcomer, "how it leaves",
           said == CLOSES && hc_client_state(core) == HC_CLIENT_CLOSED &&
               event.kind == HC_CLIENT_EVENT_CLOSED && event.close == HC_CLOSE_LEFT);
}

static void leave_all(struct storm_match *match) {
    for (unsigned i = 0; i < match->clients; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        if (core != NULL && !match->seats[i].hostile && match->seats[i].cid != 0 &&
            (hc_client_state(core) == HC_CLIENT_PLAYING ||
             hc_client_state(core) == HC_CLIENT_STALLED))
            leave(match, i);
    }
}

static void expect_drawn(struct storm_match *match, uint8_t varied) {
    if (varied == 0)
        storm_fail(match->verdict, STORM_WRONG, "newcomer", 0,
                   "a byte of the nonce is the same for all fresh clients");
}

void storm_newcomers(struct storm_match *match) {
    struct newcomer newcomer = {.match = match,
                                .config = hc_sim_setup(match->sim, 0)->config,
                                .now_us = hc_sim_client_now(match->sim, 0)};
    struct hc_party party;
    hc_sim_issue(match->sim, 1, &party);
    newcomer.party = &party;
    newcomer.config.credential = party.credential;
    void (*const tales[])(struct newcomer *) = {foreign, refuted, forgotten, outdated, unanswered};
    newcomer.config.timeout_us = TIMEOUT_US;
    newcomer.config.allocator = NULL;
    for (size_t i = 0; i < sizeof tales / sizeof tales[0]; i++) {
        if (!begin(&newcomer))
            abort();
        tales[i](&newcomer);
        end(&newcomer);
    }
    unsigned blocks = 0;
    while (match->plan->seed % MEMORY_SHARE == 4 && blocks < BLOCKS_MAX &&
           !accepted(&newcomer, blocks))
        blocks++;
    if (blocks == BLOCKS_MAX)
        storm_fail(match->verdict, STORM_WRONG, "memory", 0, "a client can never be accepted");
    for (unsigned i = 0; i < HC_NONCE_SIZE; i++)
        expect_drawn(match, newcomer.varied[i]);
    leave_all(match);
}
