/// Tests server/handshake: which clients it admits, and what it answers the others.
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/message.h"
#include "server/host_internal.h"
#include "tests/run_suite.h"
#include "tests/sim/endpoint.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000, CLIENTS = 8, PER_ADDRESS = 6 };

static struct hc_server_config config;
static struct hc_sv_host *host;
static uint64_t now_us, serial;
static size_t answered; ///< bytes of the newest answer
static uint8_t answer[HC_DATAGRAM_MAX];
static uint64_t in, out; ///< bytes received from, and sent to, unvalidated addresses

static void set_up(void) {
    now_us = 7 * (uint64_t)SECOND_US;
    config = hc_test_server_config(&hc_arena);
    config.clients = CLIENTS;
    config.clients_per_address = PER_ADDRESS;
    config.audience = 5;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    serial = in = out = 0;
}

static void tear_down(void) {
    hc_sv_host_destroy(host);
}

/// Delivers a datagram and collects all answers. The last one to its sender stays in `answer`.
static enum hc_status deliver(const struct hc_address *from, const uint8_t *bytes, size_t size) {
    uint8_t sent[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t got;
    enum hc_status status = hc_sv_host_receive(host, from, bytes, size, now_us);
    answered = 0;
    in += size;
    while ((got = hc_sv_host_send(host, &to, sent, now_us)) > 0) {
        out += got;
        if (!hc_address_equal(&to, from))
            continue;
        memcpy(answer, sent, got);
        answered = got;
    }
    return status;
}

/// A client with a token, and with a cookie for `from`.
struct client {
    struct hc_address from;
    struct hc_endpoint endpoint;
    struct hc_connect connect;
    uint32_t cid, seq; ///< its connection; the newest seq that it sent
    uint8_t server_nonce[HC_NONCE_SIZE];
};

static struct hc_token token_of(uint64_t user) {
    return (struct hc_token){.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = HC_TEST_UNIX_S + 60,
                             .client_id = user,
                             .audience = config.audience};
}

static void issue_token(struct client *client, const struct hc_token *token) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    hc_endpoint_issue_token_as(&client->endpoint, &hc_arena, &ring.keys[0], token, ++serial);
}

/// Gives the client a ticket with this number, of a session that has just begun, as its token.
static void issue_ticket(struct client *client, uint64_t user, uint64_t number) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = token_of(user);
    uint8_t nonce[HC_TOKEN_NONCE_SIZE] = {0};
    issue_token(client, &token);
    memcpy(nonce, &serial, sizeof serial);
    token.kind = HC_TOKEN_RESUME;
    memcpy(token.secret, client->endpoint.credential.secret, sizeof token.secret);
    hc_token_put_ticket_id(token.token_id, number, HC_TEST_UNIX_S);
    hc_token_seal(&ring.keys[0], client->endpoint.protocol_id, &token, nonce,
                  client->endpoint.credential.token);
}

/// Begins an attempt with the nonce `attempt`: sends HELLO and receives the COOKIE.
static void begin_attempt_as(struct client *client, uint64_t attempt) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
    struct hc_datagram_cookie cookie;
    memcpy(hello.client_nonce, &attempt, sizeof attempt);
    ck_assert_int_eq(deliver(&client->from, bytes, hc_datagram_put_hello(&hello, bytes)), HC_OK);
    ck_assert_int_eq(hc_datagram_get_cookie(answer, answered, &cookie), HC_OK);
    client->connect =
        (struct hc_connect){.protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(client->connect.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    memcpy(client->connect.cookie, cookie.cookie, HC_COOKIE_SIZE);
}

/// Begins an attempt with a new nonce.
static void begin_attempt(struct client *client) {
    begin_attempt_as(client, ++serial);
}

static struct client client_at(struct hc_address from, uint64_t user) {
    struct client client = {.from = from};
    struct hc_token token = token_of(user);
    issue_token(&client, &token);
    begin_attempt(&client);
    return client;
}

static struct hc_address loopback(uint16_t port) {
    return hc_address_ipv4(127, 0, 0, 1, port);
}

/// Sends a CONNECT.
static enum hc_status send_connect(const struct client *client) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    return deliver(&client->from, bytes,
                   hc_endpoint_put_connect(&client->endpoint, &client->connect, bytes));
}

/// Sends a CONNECT. Returns whether the answer is an ACCEPT.
static bool connects(struct client *client) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    if (send_connect(client) != HC_OK ||
        hc_endpoint_get_accept(&client->endpoint, answer, answered, opened, &accept) != HC_OK)
        return false;
    client->cid = accept.cid;
    client->seq = 0;
    memcpy(client->server_nonce, accept.server_nonce, sizeof client->server_nonce);
    return true;
}

/// Sends a DATA with this body.
static enum hc_status send_data(struct client *client, const uint8_t *body, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = client->cid, .seq = ++client->seq, .body = body};
    data.body_size = size;
    return deliver(&client->from, bytes,
                   hc_endpoint_put_data(&client->endpoint, true, &data, bytes));
}

/// Sends a DATA without messages.
static enum hc_status send_empty(struct client *client) {
    return send_data(client, NULL, 0);
}

static void leave(struct client *client) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert(hc_message_put_close(&body, &(struct hc_close){.reason = HC_CLOSE_LEFT}));
    ck_assert_int_eq(send_data(client, bytes, body.at), HC_OK);
}

/// Whether the answer is a DENY for this reason; `proven`: authenticated by the token's secret.
static bool is_denied(const struct client *client, enum hc_deny_reason reason, bool proven) {
    struct hc_deny deny;
    return hc_datagram_get_deny(answer, answered, &deny) == HC_OK && deny.reason == reason &&
           hc_token_check_deny_mac(client->endpoint.credential.secret, answer) ==
               (proven ? HC_OK : HC_UNEXPECTED);
}

START_TEST(client_with_the_secret_of_a_valid_token_is_admitted_once) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    uint8_t first[HC_DATAGRAM_MAX];
    size_t size = answered;
    memcpy(first, answer, size);
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert_uint_eq(answered, size);
    ck_assert_mem_eq(answer, first, size);
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
}
END_TEST

START_TEST(admitted_attempt_is_not_checked_again) {
    struct client client = client_at(loopback(1000), 1);
    uint8_t first[HC_DATAGRAM_MAX];
    ck_assert(connects(&client));
    memcpy(first, answer, sizeof first);
    hc_sv_host_set_time(host, HC_TEST_UNIX_US + 100 * (uint64_t)SECOND_US, now_us); // expired
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert_uint_eq(answered, sizeof first);
    ck_assert_mem_eq(answer, first, sizeof first);
    ck_assert_uint_eq(hc_sv_host_stats(host)->denied, 0);
}
END_TEST

START_TEST(attempt_has_one_connection_and_one_accept_at_any_address) {
    struct client client = client_at(loopback(1000), 1), elsewhere = client;
    uint8_t first[HC_DATAGRAM_MAX];
    elsewhere.from.port = 2000;
    begin_attempt_as(&elsewhere, serial);
    ck_assert(connects(&client));
    memcpy(first, answer, sizeof first);
    for (unsigned n = 0; n < 4; n++) { // also after a second without DATA
        ck_assert(connects(&elsewhere));
        ck_assert_mem_eq(answer, first, sizeof first);
        ck_assert(hc_address_equal(&host->peers[0].address, &elsewhere.from));
        ck_assert(connects(&client));
        ck_assert(hc_address_equal(&host->peers[0].address, &client.from));
        now_us += SECOND_US;
    }
    ck_assert(connects(&elsewhere));
    ck_assert_int_eq(send_empty(&elsewhere), HC_OK);
    ck_assert_int_eq(send_connect(&client), HC_DUPLICATE); // from now on its DATA show its address
    ck_assert(hc_address_equal(&host->peers[0].address, &elsewhere.from));
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 0);
}
END_TEST

START_TEST(attempt_cannot_move_to_an_address_that_is_full) {
    struct client client = client_at(hc_address_ipv4(192, 0, 2, 2, 1000), 1), elsewhere = client;
    elsewhere.from = hc_address_ipv4(192, 0, 2, 1, 1000);
    begin_attempt_as(&elsewhere, serial);
    ck_assert(connects(&client));
    for (uint64_t user = 2; user < 2 + PER_ADDRESS; user++) {
        struct client neighbour =
            client_at(hc_address_ipv4(192, 0, 2, 1, (uint16_t)(2000 + user)), user);
        ck_assert(connects(&neighbour));
        now_us += SECOND_US;
    }
    ck_assert_int_eq(send_connect(&elsewhere), HC_OK);
    ck_assert(is_denied(&elsewhere, HC_DENY_LIMIT, true));
    ck_assert(hc_address_equal(&host->peers[0].address, &client.from));
}
END_TEST

START_TEST(connect_with_a_key_of_low_order_changes_nothing) {
    enum { CLIENT_KEY_AT = 301 };
    struct client client = client_at(loopback(1000), 1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (uint8_t key = 0; key < 2; key++) { // the points 0 and 1
        size_t size = hc_endpoint_put_connect(&client.endpoint, &client.connect, bytes);
        memset(bytes + CLIENT_KEY_AT, 0, HC_EXCHANGE_KEY_SIZE);
        bytes[CLIENT_KEY_AT] = key;
        hc_token_put_proof(client.endpoint.credential.secret, bytes);
        ck_assert_int_eq(deliver(&client.from, bytes, size), HC_MALFORMED);
        ck_assert_uint_eq(answered, 0);
        ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    }
    ck_assert(connects(&client)); // neither the token nor the nonce is used
}
END_TEST

START_TEST(deny_names_the_fault_of_the_token) {
    // A token that the server cannot open has no secret that authenticates the DENY.
    static const enum hc_deny_reason reasons[] = {HC_DENY_TOKEN, HC_DENY_TOKEN, HC_DENY_EXPIRED,
                                                  HC_DENY_AUDIENCE, HC_DENY_TOKEN};
    struct hc_token_ring ring = hc_endpoint_token_ring();
    for (unsigned fault = 0; fault < 5; fault++) {
        struct hc_token token = token_of(1);
        struct hc_token_key key = ring.keys[0];
        struct client client = client_at(loopback((uint16_t)(1000 + fault)), 1);
        const struct hc_server_denials *denials = &hc_sv_host_stats(host)->denials[reasons[fault]];
        uint64_t before = denials->count;
        key.id = (uint8_t)(key.id + (fault == 0));
        key.key[3] ^= fault == 1;
        token.expire_s = fault == 2 ? HC_TEST_UNIX_S : token.expire_s;
        token.audience += fault == 3;
        hc_endpoint_issue_token_as(&client.endpoint, &hc_arena, &key, &token, ++serial);
        if (fault == 4)
            client.endpoint.credential.token[100] ^= 1;
        ck_assert_int_eq(send_connect(&client), HC_OK);
        bool proven = reasons[fault] != HC_DENY_TOKEN;
        ck_assert_msg(is_denied(&client, reasons[fault], proven), "fault %u", fault);
        ck_assert_uint_eq(denials->count, before + 1);
        ck_assert(hc_address_equal(&denials->address, &client.from));
        ck_assert(denials->proven == proven && denials->client_id == (proven ? 1 : 0));
    }
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
}
END_TEST

START_TEST(expired_token_without_its_secret_gets_no_answer) {
    struct hc_token token = token_of(1);
    struct client thief = client_at(loopback(1000), 1);
    token.expire_s = HC_TEST_UNIX_S;
    issue_token(&thief, &token);
    thief.endpoint.credential.secret[0] ^= 1;
    ck_assert_int_eq(send_connect(&thief), HC_MALFORMED);
    ck_assert_uint_eq(answered, 0);
    ck_assert_uint_eq(hc_sv_host_stats(host)->unproven, 1);
}
END_TEST

START_TEST(connected_user_is_denied_until_its_connection_is_silent) {
    struct client first = client_at(loopback(1000), 1), second = client_at(loopback(1001), 1);
    ck_assert(connects(&first));
    ck_assert_int_eq(send_connect(&second), HC_OK);
    ck_assert(is_denied(&second, HC_DENY_CONNECTED, true));
    now_us += SECOND_US;
    begin_attempt(&second);
    ck_assert(connects(&second));
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
}
END_TEST

START_TEST(client_that_proves_its_last_connection_continues_it_at_once) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    for (unsigned n = 0; n < 3; n++) {
        uint32_t cid = client.cid;
        begin_attempt(&client);
        client.connect.continues = cid;
        ck_assert(connects(&client)); // also while the client has sent nothing with its last keys
        ck_assert(n != 1 || send_data(&client, NULL, 0) == HC_OK);
    }
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 3);
}
END_TEST

START_TEST(cid_without_its_keys_continues_nothing) {
    struct client owner = client_at(loopback(1000), 1), thief = owner;
    ck_assert(connects(&owner));
    thief.from = loopback(1001);
    for (unsigned n = 0; n <= HC_CONNECTS_AT_ONCE; n++) {
        enum hc_deny_reason reason = n < HC_CONNECTS_AT_ONCE ? HC_DENY_CONNECTED : HC_DENY_RATE;
        begin_attempt(&thief);
        thief.connect.continues = owner.cid;
        ck_assert_int_eq(send_connect(&thief), HC_OK);
        ck_assert(is_denied(&thief, reason, true));
    }
    begin_attempt(&owner);
    owner.connect.continues = owner.cid;
    ck_assert(connects(&owner)); // the tries of others do not count for it
}
END_TEST

START_TEST(nonce_of_another_user_does_not_block_a_client) {
    struct client owner = client_at(loopback(1000), 1), copier = client_at(loopback(1001), 2);
    begin_attempt_as(&copier, serial + 1);
    begin_attempt_as(&owner, serial + 1);
    ck_assert(connects(&copier));
    leave(&copier);
    ck_assert(connects(&owner));
    leave(&owner);
    ck_assert_int_eq(send_connect(&owner), HC_DUPLICATE); // its own attempt is over
}
END_TEST

START_TEST(copied_token_gets_no_answer_and_its_owner_is_admitted) {
    struct client owner = client_at(loopback(1000), 1), thief = client_at(loopback(1001), 2);
    memcpy(thief.endpoint.credential.token, owner.endpoint.credential.token, HC_TOKEN_SIZE);
    for (unsigned n = 0; n < 100; n++) {
        memset(thief.endpoint.credential.secret, (int)n, HC_TOKEN_SECRET_SIZE);
        ck_assert_int_eq(send_connect(&thief), HC_MALFORMED);
        ck_assert_uint_eq(answered, 0);
    }
    ck_assert(connects(&owner));
}
END_TEST

START_TEST(unprintable_names_are_denied) {
    static const char *const names[] = {"\n", "a\x1b[31m", "\xff", "\xe2\x80\xaexyz", "a\0b"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct hc_token token = token_of(1);
        struct client client = client_at(loopback((uint16_t)(1000 + i)), 1);
        memcpy(token.name, names[i], i == 4 ? 3 : strlen(names[i]));
        issue_token(&client, &token);
        ck_assert_int_eq(send_connect(&client), HC_OK);
        ck_assert_msg(is_denied(&client, HC_DENY_NAME, true), "name %u", i);
    }
}
END_TEST

START_TEST(token_opens_one_session_and_reopens_it_while_it_lasts) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    now_us += SECOND_US;
    begin_attempt(&client); // as if its ACCEPT was lost
    ck_assert(connects(&client));
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 1);
    leave(&client);
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    begin_attempt(&client);
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert(is_denied(&client, HC_DENY_USED, true));
}
END_TEST

/// Connects again after a second of silence and sends a DATA. Returns whether both succeeded.
static bool connects_again(struct client *client) {
    now_us += SECOND_US;
    begin_attempt(client);
    return connects(client) && send_empty(client) == HC_OK;
}

START_TEST(ticket_reopens_its_session_until_a_later_one_is_used) {
    struct client client = client_at(loopback(1000), 1), by_token = client;
    struct client first = client, second = client;
    issue_ticket(&first, 1, 100);
    issue_ticket(&second, 1, 101);
    ck_assert(connects_again(&by_token) && connects_again(&by_token));
    ck_assert(connects_again(&first) && connects_again(&first));
    now_us += SECOND_US;
    begin_attempt(&by_token); // the first ticket has voided the token
    ck_assert_int_eq(send_connect(&by_token), HC_OK);
    ck_assert(is_denied(&by_token, HC_DENY_USED, true));
    ck_assert(connects_again(&second) && connects_again(&second));
    now_us += SECOND_US;
    begin_attempt(&first);
    ck_assert_int_eq(send_connect(&first), HC_OK);
    ck_assert(is_denied(&first, HC_DENY_USED, true));
    hc_sv_host_set_time(host, HC_TEST_UNIX_US + 100 * (uint64_t)SECOND_US, now_us); // expired
    begin_attempt(&second);
    ck_assert_int_eq(send_connect(&second), HC_OK);
    ck_assert(is_denied(&second, HC_DENY_EXPIRED, true));
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
}
END_TEST

START_TEST(address_has_a_limit_of_connects_and_of_clients) {
    struct hc_address from = hc_address_ipv4(192, 0, 2, 1, 1000);
    unsigned admissions = 0, limited = 0;
    for (uint64_t user = 1; user <= 8; user++, from.port++) {
        struct client client = client_at(from, user);
        if (connects(&client))
            admissions++;
        else
            limited += is_denied(&client, HC_DENY_RATE, true);
    }
    ck_assert_uint_eq(admissions, config.connects_per_address);
    ck_assert_uint_eq(limited, 8 - admissions);
    for (uint64_t user = 9; admissions < PER_ADDRESS; user++, from.port++) {
        now_us += SECOND_US;
        struct client client = client_at(from, user);
        ck_assert(connects(&client));
        admissions++;
    }
    now_us += SECOND_US;
    struct client last = client_at(from, 98);
    ck_assert_int_eq(send_connect(&last), HC_OK);
    ck_assert(is_denied(&last, HC_DENY_LIMIT, true));
    struct client neighbour = client_at(hc_address_ipv4(192, 0, 2, 2, 1000), 99);
    ck_assert(connects(&neighbour));
}
END_TEST

START_TEST(denied_connect_does_not_count_for_its_address) {
    struct client inside[CLIENTS], client = client_at(hc_address_ipv4(192, 0, 2, 1, 1000), 99);
    for (unsigned i = 0; i < CLIENTS; i++) {
        inside[i] = client_at(loopback((uint16_t)(1000 + i)), 1 + i);
        ck_assert(connects(&inside[i]));
    }
    for (unsigned n = 0; n < 20; n++) {
        ck_assert_int_eq(send_connect(&client), HC_OK);
        ck_assert(is_denied(&client, HC_DENY_FULL, true));
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        leave(&inside[i]);
    for (unsigned i = 0; i < config.connects_per_address; i++) {
        struct client next = client_at(client.from, 100 + i);
        next.from.port = (uint16_t)(2000 + i);
        begin_attempt(&next);
        ck_assert(connects(&next));
    }
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert(is_denied(&client, HC_DENY_RATE, true));
}
END_TEST

START_TEST(client_that_is_denied_more_players_retains_its_own) {
    struct client client = client_at(loopback(1000), 1), other = client_at(loopback(1001), 2);
    other.connect.players = HC_OWN_PLAYERS_MAX;
    ck_assert(connects(&client) && connects(&other));
    now_us += SECOND_US;
    begin_attempt(&client);
    client.connect.players = HC_OWN_PLAYERS_MAX; // of eight, its own one included
    ck_assert(connects(&client));
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 1);
    struct client third = client_at(loopback(1002), 3);
    ck_assert_int_eq(send_connect(&third), HC_OK);
    ck_assert(is_denied(&third, HC_DENY_FULL, true));
    now_us += SECOND_US;
    begin_attempt(&other);
    other.connect.players = 0;
    ck_assert(connects(&other));
    ck_assert(connects(&third));
    now_us += SECOND_US;
    begin_attempt(&third);
    third.connect.players = HC_OWN_PLAYERS_MAX; // three are free besides its own
    ck_assert(connects(&third));
    now_us += SECOND_US;
    begin_attempt(&other);
    other.connect.players = 1;
    ck_assert_int_eq(send_connect(&other), HC_OK);
    ck_assert(is_denied(&other, HC_DENY_FULL, true));
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 3);
    other.connect.players = 0;
    ck_assert(connects(&other)); // it watches as before
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 3);
    ck_assert_uint_eq(hc_sv_host_clients(host), 3);
}
END_TEST

START_TEST(connects_with_a_wrong_cookie_do_not_count_for_their_address) {
    struct hc_address victim = hc_address_ipv4(192, 0, 2, 1, 1000);
    struct client client = client_at(victim, 1);
    for (unsigned n = 0; n < 10000; n++) {
        struct client junk = client;
        junk.connect.cookie[n % HC_COOKIE_SIZE] ^= (uint8_t)(1 + n % 255);
        ck_assert_int_ne(send_connect(&junk), HC_OK);
    }
    ck_assert(connects(&client));
}
END_TEST

START_TEST(server_sends_a_keep_alive_while_a_byte_may_be_sent) {
    uint8_t sent[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    ck_assert_int_eq(send_empty(&client), HC_OK);
    struct hc_sv_peer *peer = hc_sv_host_peer(host, client.cid);
    now_us += HC_KEEP_ALIVE_US;
    peer->ticket.acked = true;
    for (uint32_t room = 0; room < 2; room++) {
        struct hc_sv_bandwidth *bandwidth = &peer->replication.bandwidth;
        hc_sv_bandwidth_begin(bandwidth, config.client_rate, now_us);
        uint32_t full = (uint32_t)hc_sv_bandwidth_room(bandwidth, INT32_MAX, now_us);
        hc_sv_bandwidth_spend(bandwidth, full - HC_SV_BANDWIDTH_OVERHEAD - room);
        ck_assert_int_eq(hc_sv_bandwidth_room(bandwidth, INT32_MAX, now_us), room);
        size_t size = hc_sv_send_messages(host, peer, &to, sent, now_us);
        ck_assert_int_eq(size > 0, room == 1);
    }
}
END_TEST

START_TEST(server_does_not_reuse_a_cid_soon) {
    struct hc_ratchet first_draws;
    uint32_t first_cid = 0;
    hc_sv_host_destroy(host);
    config.clients = 1;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    for (unsigned i = 0; i < 3; i++) {
        struct client client = client_at(loopback((uint16_t)(1000 + i)), 1);
        if (i == 0)
            first_draws = host->ratchet;
        if (i == 2)
            host->ratchet = first_draws;
        ck_assert(connects(&client));
        ck_assert_uint_ne(client.cid, first_cid);
        if (i == 0)
            first_cid = client.cid;
        leave(&client);
    }
}
END_TEST

START_TEST(every_connection_has_a_nonce_of_the_server_of_its_own) {
    struct client first = client_at(loopback(1000), 1), second = client_at(loopback(1001), 2);
    ck_assert(connects(&first) && connects(&second));
    ck_assert_mem_ne(first.server_nonce, second.server_nonce, HC_NONCE_SIZE);
}
END_TEST

START_TEST(session_ends_when_its_life_is_over) {
    hc_sv_host_destroy(host);
    config.session_life_s = 30;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    for (unsigned second = 1; second <= 30; second++) {
        ck_assert_uint_eq(hc_sv_host_clients(host), 1);
        now_us += SECOND_US;
        ck_assert_int_eq(send_empty(&client), HC_OK);
        hc_sv_host_advance(host, now_us);
    }
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
}
END_TEST

START_TEST(no_answer_is_longer_than_the_received_datagram) {
    struct hc_rng rng = hc_rng_init(12, 0);
    struct hc_address from = hc_address_ipv4(192, 0, 2, 9, 1);
    for (unsigned kind = 0; kind < 256; kind++)
        for (size_t size = 0; size <= HC_DATAGRAM_MAX + 1; size += 1 + hc_rng_below(&rng, 40)) {
            uint8_t bytes[HC_DATAGRAM_MAX + 1];
            for (size_t i = 0; i < size; i++)
                bytes[i] = (uint8_t)hc_rng_next(&rng);
            if (size > 0)
                bytes[0] = (uint8_t)kind;
            if (size > 8 && kind % 2 == 1)
                memcpy(bytes + 1, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
            uint64_t out_before = out;
            from.port++;
            deliver(&from, bytes, size);
            ck_assert_uint_le(out - out_before, size);
            now_us += 10000;
        }
    for (uint64_t user = 1; user <= 20; user++) { // the same for honest clients
        in = out = 0;
        struct client client = client_at(loopback((uint16_t)(2000 + user)), user);
        send_connect(&client);
        ck_assert_uint_le(out, in);
    }
}
END_TEST

/// Runs the server for a second. Returns the number of datagrams to the client.
static unsigned wait_second(const struct client *client) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    unsigned sent = 0;
    for (unsigned tick = 0; tick < 60; tick++) {
        now_us += SECOND_US / 60 + 1;
        hc_sv_host_advance(host, now_us);
        while (hc_sv_host_send(host, &to, bytes, now_us) > 0)
            sent += hc_address_equal(&to, &client->from);
    }
    return sent;
}

START_TEST(server_sends_few_datagrams_before_the_first_data) {
    enum { MOST = 16 };
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    ck_assert_uint_eq(wait_second(&client), MOST);
    ck_assert_uint_eq(wait_second(&client), 0);
    ck_assert_int_eq(send_empty(&client), HC_OK);
    ck_assert_uint_gt(wait_second(&client), 2 * MOST);
    begin_attempt(&client); // each connection begins with the limit
    ck_assert(connects(&client));
    ck_assert_uint_eq(wait_second(&client), MOST);
}
END_TEST

START_TEST(connection_without_seqs_is_lost_and_its_client_reconnects) {
    struct client client = client_at(loopback(1000), 1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_server_event event;
    struct hc_data data = {.seq = 1};
    ck_assert(connects(&client));
    while (hc_sv_host_poll_event(host, &event))
        data.cid = event.cid;
    ck_assert_int_eq(
        deliver(&client.from, bytes, hc_endpoint_put_data(&client.endpoint, true, &data, bytes)),
        HC_OK);
    host->peers[0].connection.sent.next = HC_SEQ_LOST - 10;
    for (unsigned tick = 0; tick < 30; tick++) {
        now_us += SECOND_US / 60;
        (void)hc_sv_host_send_message(host, data.cid, "hi", 2, now_us);
        hc_sv_host_advance(host, now_us);
        while (hc_sv_host_send(host, &to, bytes, now_us) > 0) {
        }
    }
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    begin_attempt(&client);
    ck_assert(connects(&client));
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
}
END_TEST

/// Takes the next event; fails the test if it is not of this kind and connection.
static void take_event(enum hc_server_event_kind kind, uint32_t cid, uint32_t before) {
    struct hc_server_event event;
    ck_assert(hc_sv_host_poll_event(host, &event));
    ck_assert_int_eq(event.kind, kind);
    ck_assert_uint_eq(event.cid, cid);
    ck_assert_uint_eq(event.before, before);
}

START_TEST(no_join_and_no_end_of_a_session_is_lost_however_late_it_is_read) {
    enum { MOST = 2 * CLIENTS + HC_SV_EVENTS_MORE };
    struct hc_server_event event;
    struct client clients[CLIENTS];
    uint64_t users = 0, joined = 0, left = 0;
    bool plays[MOST] = {false};
    for (; users < CLIENTS - 1; users++) {
        clients[users] = client_at(loopback((uint16_t)(1000 + users)), users);
        ck_assert(connects(&clients[users]));
    }
    for (;; users++) { // others come and go, until too many events wait
        struct client *last = &clients[CLIENTS - 1];
        *last = client_at(loopback((uint16_t)(1000 + users)), users);
        if (!connects(last))
            break;
        leave(last);
    }
    ck_assert(is_denied(&clients[CLIENTS - 1], HC_DENY_FULL, true));
    ck_assert_uint_ge(users, MOST / 2);
    for (unsigned i = 0; i < CLIENTS - 1; i++)
        ck_assert_int_eq(hc_sv_host_kick(host, clients[i].cid, HC_CLOSE_KICKED, now_us), HC_OK);
    while (hc_sv_host_poll_event(host, &event)) {
        bool joins = event.kind == HC_SERVER_EVENT_JOINED;
        ck_assert(joins || event.kind == HC_SERVER_EVENT_LEFT);
        ck_assert(event.client_id < MOST && plays[event.client_id] != joins);
        plays[event.client_id] = joins;
        joined += joins;
        left += !joins;
    }
    ck_assert_uint_eq(joined, users);
    ck_assert_uint_eq(left, users);
    ck_assert(connects(&clients[CLIENTS - 1]));
}
END_TEST

START_TEST(events_that_are_read_late_show_how_a_session_stands) {
    struct client client = client_at(loopback(1000), 1);
    struct hc_server_event event;
    ck_assert(connects(&client));
    uint32_t first = client.cid;
    take_event(HC_SERVER_EVENT_JOINED, first, 0);
    for (unsigned i = 0; i < 5; i++) { // the first three are not read
        ck_assert_int_eq(send_empty(&client), HC_OK);
        now_us += config.timeout_us;
        hc_sv_host_advance(host, now_us);
        client.from.port++;
        begin_attempt(&client);
        ck_assert(connects(&client));
        hc_sv_host_changed(host, &host->peers[0], HC_SERVER_EVENT_MOVED);
        if (i < 3)
            continue;
        take_event(HC_SERVER_EVENT_RECONNECTED, client.cid, first);
        take_event(HC_SERVER_EVENT_MOVED, client.cid, 0);
        ck_assert(!hc_sv_host_poll_event(host, &event));
        first = client.cid;
    }
    // The end names the connection that the program knows.
    now_us += 2 * (uint64_t)SECOND_US;
    begin_attempt(&client);
    ck_assert(connects(&client));
    leave(&client);
    take_event(HC_SERVER_EVENT_LEFT, first, 0);
    ck_assert(!hc_sv_host_poll_event(host, &event));
}
END_TEST

START_TEST(server_lists_its_sessions) {
    struct hc_server_session sessions[CLIENTS];
    struct client clients[3];
    for (unsigned i = 0; i < 3; i++) {
        clients[i] = client_at(loopback((uint16_t)(1000 + i)), 10 + i);
        clients[i].connect.players = (uint8_t)i; // the first one watches
        ck_assert(connects(&clients[i]));
        ck_assert_int_eq(send_empty(&clients[i]), HC_OK);
    }
    leave(&clients[0]);
    ck_assert_uint_eq(hc_sv_host_sessions(host, sessions, CLIENTS), 2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(sessions[i].client_id, 11 + i);
        ck_assert_uint_eq(sessions[i].cid, clients[1 + i].cid);
        ck_assert_uint_eq(sessions[i].player_count, 1 + i);
        ck_assert(sessions[i].connected);
    }
    now_us += config.timeout_us;
    hc_sv_host_advance(host, now_us); // both are lost, and linger
    ck_assert_uint_eq(hc_sv_host_sessions(host, sessions, 1), 2);
    ck_assert(!sessions[0].connected);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_handshake");
    TCase *tests = tcase_create("handshake");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, client_with_the_secret_of_a_valid_token_is_admitted_once);
    tcase_add_test(tests, admitted_attempt_is_not_checked_again);
    tcase_add_test(tests, attempt_has_one_connection_and_one_accept_at_any_address);
    tcase_add_test(tests, attempt_cannot_move_to_an_address_that_is_full);
    tcase_add_test(tests, connect_with_a_key_of_low_order_changes_nothing);
    tcase_add_test(tests, deny_names_the_fault_of_the_token);
    tcase_add_test(tests, expired_token_without_its_secret_gets_no_answer);
    tcase_add_test(tests, connected_user_is_denied_until_its_connection_is_silent);
    tcase_add_test(tests, client_that_proves_its_last_connection_continues_it_at_once);
    tcase_add_test(tests, cid_without_its_keys_continues_nothing);
    tcase_add_test(tests, nonce_of_another_user_does_not_block_a_client);
    tcase_add_test(tests, copied_token_gets_no_answer_and_its_owner_is_admitted);
    tcase_add_test(tests, unprintable_names_are_denied);
    tcase_add_test(tests, token_opens_one_session_and_reopens_it_while_it_lasts);
    tcase_add_test(tests, ticket_reopens_its_session_until_a_later_one_is_used);
    tcase_add_test(tests, address_has_a_limit_of_connects_and_of_clients);
    tcase_add_test(tests, denied_connect_does_not_count_for_its_address);
    tcase_add_test(tests, client_that_is_denied_more_players_retains_its_own);
    tcase_add_test(tests, connects_with_a_wrong_cookie_do_not_count_for_their_address);
    tcase_add_test(tests, server_sends_a_keep_alive_while_a_byte_may_be_sent);
    tcase_add_test(tests, server_does_not_reuse_a_cid_soon);
    tcase_add_test(tests, every_connection_has_a_nonce_of_the_server_of_its_own);
    tcase_add_test(tests, session_ends_when_its_life_is_over);
    tcase_add_test(tests, no_answer_is_longer_than_the_received_datagram);
    tcase_add_test(tests, server_sends_few_datagrams_before_the_first_data);
    tcase_add_test(tests, connection_without_seqs_is_lost_and_its_client_reconnects);
    tcase_add_test(tests, no_join_and_no_end_of_a_session_is_lost_however_late_it_is_read);
    tcase_add_test(tests, events_that_are_read_late_show_how_a_session_stands);
    tcase_add_test(tests, server_lists_its_sessions);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
