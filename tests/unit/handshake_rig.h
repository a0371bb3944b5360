/// A host under test, and clients whose handshakes a test does by hand.
#pragma once

#include "hindcast/arena.h"
#include "proto/message.h"
#include "server/host.h"
#include "server/state.h"
#include "tests/sim/endpoint.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000, CLIENTS = 8, SPECTATORS = 4, PER_ADDRESS = 6 };

static struct hc_server_config config;
static struct hc_server *host;
static uint64_t now_us, serial;
static size_t answered; ///< bytes of the newest answer
static uint8_t answer[HC_DATAGRAM_MAX];
static uint64_t in, out; ///< bytes received from, and sent to, unvalidated addresses

static inline void set_up(void) {
    now_us = 7 * (uint64_t)SECOND_US;
    config = hc_test_server_config(&hc_arena);
    config.clients = CLIENTS;
    config.spectators = SPECTATORS;
    config.clients_per_address = PER_ADDRESS;
    config.audience = 5;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    serial = in = out = 0;
}

static inline void tear_down(void) {
    hc_server_destroy(host);
}

/// Delivers a datagram and collects all answers. The last one to its sender stays in `answer`.
static inline enum hc_status deliver(const struct hc_address *from, const uint8_t *bytes,
                                     size_t size) {
    uint8_t sent[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t got;
    enum hc_status status = hc_server_receive(host, from, bytes, size, now_us);
    answered = 0;
    in += size;
    while ((got = hc_server_send(host, &to, sent, now_us)) > 0) {
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
    uint32_t cid, seq; ///< connection of the client; the newest seq that it sent
    uint8_t server_nonce[HC_NONCE_SIZE];
    bool resumed; ///< its session, by the newest ACCEPT
};

static inline struct hc_token token_of(uint64_t user) {
    return (struct hc_token){.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = HC_TEST_UNIX_S + 60,
                             .client_id = user,
                             .audience = config.audience};
}

static inline void issue_token(struct client *client, const struct hc_token *token) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    hc_endpoint_issue_token_as(&client->endpoint, &hc_arena, &ring.keys[0], token, ++serial);
}

/// Gives the client a ticket with this number, of a session that has just begun, as its token.
static inline void issue_ticket(struct client *client, uint64_t user, uint64_t number) {
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
static inline void begin_attempt_as(struct client *client, uint64_t attempt) {
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
static inline void begin_attempt(struct client *client) {
    begin_attempt_as(client, ++serial);
}

static inline struct client client_at(struct hc_address from, uint64_t user) {
    struct client client = {.from = from};
    struct hc_token token = token_of(user);
    issue_token(&client, &token);
    begin_attempt(&client);
    return client;
}

static inline struct hc_address loopback(uint16_t port) {
    return hc_address_ipv4(127, 0, 0, 1, port);
}

/// Sends a CONNECT.
static inline enum hc_status send_connect(const struct client *client) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    return deliver(&client->from, bytes,
                   hc_endpoint_put_connect(&client->endpoint, &client->connect, bytes));
}

/// Sends a CONNECT. Returns whether the answer is an ACCEPT.
static inline bool connects(struct client *client) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_welcome welcome;
    struct hc_body body;
    if (send_connect(client) != HC_OK ||
        hc_endpoint_get_accept(&client->endpoint, answer, answered, opened, &accept) != HC_OK)
        return false;
    ck_assert_int_eq(hc_body_begin(&body, accept.body, accept.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_WELCOME);
    ck_assert_int_eq(hc_message_get_welcome(&body, &hc_arena, &welcome), HC_OK);
    client->resumed = welcome.resumed;
    client->cid = accept.cid;
    client->seq = 0;
    memcpy(client->server_nonce, accept.server_nonce, sizeof client->server_nonce);
    return true;
}

/// Sends a DATA with this body.
static inline enum hc_status send_data(struct client *client, const uint8_t *body, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = client->cid, .seq = ++client->seq, .body = body};
    data.body_size = size;
    return deliver(&client->from, bytes,
                   hc_endpoint_put_data(&client->endpoint, true, &data, bytes));
}

/// Sends a DATA without messages.
static inline enum hc_status send_empty(struct client *client) {
    return send_data(client, NULL, 0);
}

static inline void leave(struct client *client) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert(hc_message_put_close(&body, &(struct hc_close){.reason = HC_CLOSE_LEFT}));
    ck_assert_int_eq(send_data(client, bytes, body.at), HC_OK);
}

/// Whether the answer is a DENY for this reason; `proven`: authenticated by the token's secret.
static inline bool is_denied(const struct client *client, enum hc_deny_reason reason, bool proven) {
    struct hc_deny deny;
    return hc_datagram_get_deny(answer, answered, &deny) == HC_OK && deny.reason == reason &&
           hc_token_check_deny_mac(client->endpoint.credential.secret, answer) ==
               (proven ? HC_OK : HC_UNEXPECTED);
}
