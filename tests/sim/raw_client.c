/// The raw client's handshake and its sealed DATA.
#include "tests/sim/raw_client.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

enum { TOKEN_LIFE_S = 3600, EPOCH_US = 5000000, DRAW_NONCE = 77 };

struct raw_host raw_host_create(const struct hc_server_config *config) {
    struct raw_host host = {.now_us = EPOCH_US};
    host.host = hc_sv_host_create(config, NULL, HC_TEST_UNIX_US, host.now_us);
    HC_ASSERT(host.host != NULL);
    return host;
}

void raw_host_destroy(struct raw_host *host) {
    hc_server_destroy(host->host);
    host->host = NULL;
}

/// Takes a datagram that the host sends, if it goes to the client.
static void take(struct raw_client *raw, const struct hc_address *to, const uint8_t *bytes,
                 size_t size) {
    uint32_t cid, seq;
    if (!hc_address_equal(to, &raw->address))
        return;
    raw->bytes_out += size;
    raw->size = size;
    memcpy(raw->answer, bytes, size);
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK && cid == raw->cid)
        raw->received = seq;
}

void raw_host_run(struct raw_host *host, uint64_t us, struct raw_client *raw) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_server_event event;
    size_t size;
    for (uint64_t end = host->now_us + us; host->now_us < end;) {
        uint64_t next = hc_server_deadline(host->host);
        host->now_us = next < end ? next : end;
        hc_server_advance(host->host, host->now_us);
        while ((size = hc_server_send(host->host, &to, bytes, host->now_us)) > 0) {
            if (host->sent != NULL)
                host->sent(host->context, &to, bytes, size);
            if (raw != NULL)
                take(raw, &to, bytes, size);
        }
        while (hc_server_poll_event(host->host, &event)) {
        }
    }
}

struct hc_token raw_client_token(uint64_t user) {
    return (struct hc_token){.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = HC_TEST_UNIX_S + TOKEN_LIFE_S,
                             .client_id = user};
}

void raw_client_begin_as(struct raw_client *raw, struct hc_server *host, struct hc_address address,
                         const struct hc_token_key *key, const struct hc_token *token,
                         uint64_t serial) {
    *raw = (struct raw_client){.host = host, .address = address};
    hc_endpoint_issue_token_as(&raw->endpoint, &hc_arena, key, token, serial);
    for (uint32_t i = 0; i < HC_NONCE_SIZE; i++)
        raw->cookie.client_nonce[i] = (uint8_t)hc_random(serial, DRAW_NONCE, i, 0);
}

void raw_client_begin(struct raw_client *raw, struct hc_server *host, struct hc_address address,
                      uint64_t user, uint64_t serial) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = raw_client_token(user);
    token.issued_s = serial;
    raw_client_begin_as(raw, host, address, &ring.keys[0], &token, serial);
}

void raw_client_receive(struct raw_client *raw, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    while ((size = hc_server_send(raw->host, &to, bytes, now_us)) > 0)
        take(raw, &to, bytes, size);
}

enum hc_status raw_client_send(struct raw_client *raw, const uint8_t *bytes, size_t size,
                               uint64_t now_us) {
    raw->size = 0;
    raw->bytes_in += size;
    enum hc_status status = hc_server_receive(raw->host, &raw->address, bytes, size, now_us);
    raw_client_receive(raw, now_us);
    return status;
}

bool raw_client_hello(struct raw_client *raw, uint64_t now_us) {
    struct hc_hello hello = {.protocol_id = raw->endpoint.protocol_id};
    uint8_t bytes[HC_DATAGRAM_HELLO_SIZE];
    memcpy(hello.client_nonce, raw->cookie.client_nonce, HC_NONCE_SIZE);
    raw_client_send(raw, bytes, hc_datagram_put_hello(&hello, bytes), now_us);
    return hc_datagram_get_cookie(raw->answer, raw->size, &raw->cookie) == HC_OK;
}

void raw_client_write_connect(const struct raw_client *raw, uint8_t players,
                              uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]) {
    struct hc_connect connect = {.extrapolations = 3,
                                 .protocol_id = raw->endpoint.protocol_id,
                                 .slot = raw->cookie.slot,
                                 .players = players};
    memcpy(connect.client_nonce, raw->cookie.client_nonce, HC_NONCE_SIZE);
    memcpy(connect.cookie, raw->cookie.cookie, HC_COOKIE_SIZE);
    hc_endpoint_put_connect(&raw->endpoint, &connect, out);
}

/// Reads an ACCEPT and its WELCOME.
static void take_accept(struct raw_client *raw) {
    static struct hc_body body;
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    if (hc_endpoint_get_accept(&raw->endpoint, raw->answer, raw->size, opened, &accept) != HC_OK)
        return;
    bool read = hc_body_begin(&body, accept.body, accept.body_size) == HC_OK &&
                hc_body_next(&body) == HC_MESSAGE_WELCOME &&
                hc_message_get_welcome(&body, &hc_arena, &raw->welcome) == HC_OK;
    HC_ASSERT(read);
    raw->cid = accept.cid;
    raw->seq = 0;
}

enum hc_datagram_kind raw_client_take_answer(struct raw_client *raw, uint64_t now_us) {
    raw_client_receive(raw, now_us);
    enum hc_datagram_kind kind = hc_datagram_kind(raw->answer, raw->size);
    if (kind == HC_DATAGRAM_ACCEPT)
        take_accept(raw);
    return kind;
}

enum hc_datagram_kind raw_client_send_connect(struct raw_client *raw,
                                              const uint8_t bytes[static HC_DATAGRAM_CONNECT_SIZE],
                                              uint64_t now_us) {
    raw_client_send(raw, bytes, HC_DATAGRAM_CONNECT_SIZE, now_us);
    return raw_client_take_answer(raw, now_us);
}

enum hc_datagram_kind raw_client_connect(struct raw_client *raw, uint8_t players, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    hc_endpoint_compute_key(&raw->endpoint);
    raw_client_write_connect(raw, players, bytes);
    return raw_client_send_connect(raw, bytes, now_us);
}

bool raw_client_join(struct raw_client *raw, uint8_t players, uint64_t now_us) {
    return raw_client_hello(raw, now_us) &&
           raw_client_connect(raw, players, now_us) == HC_DATAGRAM_ACCEPT && raw->cid != 0;
}

bool raw_client_find(const struct raw_client *raw, const uint8_t *bytes, size_t size,
                     enum hc_message_type type, uint8_t opened[static HC_DATAGRAM_MAX],
                     struct hc_body *body) {
    struct hc_data data;
    return hc_endpoint_get_data(&raw->endpoint, false, bytes, size, opened, &data) == HC_OK &&
           hc_body_begin(body, data.body, data.body_size) == HC_OK &&
           hc_body_next_of(body, type) != HC_MESSAGE_END;
}

size_t raw_client_seal(struct raw_client *raw, const uint8_t *body, size_t size,
                       uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_data data = {.cid = raw->cid,
                           .seq = ++raw->seq,
                           .ack = raw->ack,
                           .ack_bits = raw->ack_bits,
                           .body = body,
                           .body_size = size};
    return hc_endpoint_put_data(&raw->endpoint, true, &data, out);
}

enum hc_status raw_client_send_data(struct raw_client *raw, const uint8_t *body, size_t size,
                                    uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    size_t sealed = raw_client_seal(raw, body, size, bytes);
    raw->bytes_in += sealed;
    return hc_server_receive(raw->host, &raw->address, bytes, sealed, now_us);
}

bool raw_client_leave(struct raw_client *raw, uint64_t now_us) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    hc_message_put_close(&body, &(struct hc_close){.reason = HC_CLOSE_LEFT});
    return raw_client_send_data(raw, bytes, body.at, now_us) == HC_OK;
}

enum hc_status raw_client_send_input(struct raw_client *raw, struct hc_input_message message,
                                     hc_input_source *source, void *context, uint64_t now_us) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    bool fits =
        hc_message_put_input(&body, &hc_arena, raw->welcome.own_count, &message, source, context);
    HC_ASSERT(fits);
    return raw_client_send_data(raw, bytes, body.at, now_us);
}
