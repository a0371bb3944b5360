/// Fuzzes a connected client: it receives any bodies in sealed DATA, and any datagrams. It must not
/// crash, and its time must advance.
///
/// The input is a list of actions: a byte for the kind, a byte of length, and that many bytes.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/client.h"
#include "proto/message.h"
#include "tests/sim/endpoint.h"

#include <string.h>

enum { CID = 77, TICK_US = 16667 };

struct world {
    struct hc_endpoint endpoint;
    struct hc_client *client;
    uint64_t now_us;
    uint32_t seq;
};

static size_t next_datagram(struct world *w, enum hc_datagram_kind kind,
                            uint8_t out[static HC_DATAGRAM_MAX]) {
    size_t size;
    while ((size = hc_client_send(w->client, out, w->now_us)) > 0)
        if (hc_datagram_kind(out, size) == kind)
            return size;
    return 0;
}

static void connect_client(struct world *w) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_hello hello;
    hc_client_advance(w->client, w->now_us);
    size_t size = next_datagram(w, HC_DATAGRAM_HELLO, bytes);
    HC_ASSERT(hc_datagram_get_hello(bytes, size, &hello) == HC_OK);
    struct hc_datagram_cookie cookie = {.slot = 0};
    memcpy(cookie.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    hc_client_receive(w->client, bytes, hc_datagram_put_cookie(&cookie, bytes), w->now_us);
    hc_client_advance(w->client, w->now_us);
    HC_ASSERT(next_datagram(w, HC_DATAGRAM_CONNECT, bytes) > 0);
    struct hc_writer body = hc_bytes_writer(bytes + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    struct hc_welcome welcome = {.tick_rate = 60,
                                 .players = 2,
                                 .history = 16,
                                 .future = 16,
                                 .late_limit = 16,
                                 .tick = 100,
                                 .own_count = 1};
    HC_ASSERT(hc_message_put_welcome(&body, &welcome));
    struct hc_accept accept = {.cid = CID, .body = bytes + HC_ACCEPT_BODY_AT, .body_size = body.at};
    memcpy(accept.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    hc_endpoint_serve(&w->endpoint, w->client);
    HC_ASSERT(hc_client_receive(w->client, bytes,
                                hc_endpoint_put_accept(&w->endpoint, &accept, bytes),
                                w->now_us) == HC_OK);
}

static void act(struct world *w, uint8_t action, const uint8_t *bytes, size_t size) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = CID, .seq = w->seq + 1, .body = bytes, .body_size = size};
    struct hc_client_shown shown;
    switch (action % 4) {
    case 0:
    case 1:
        w->seq++;
        hc_client_receive(w->client, out, hc_endpoint_put_data(&w->endpoint, false, &data, out),
                          w->now_us);
        break;
    case 2:
        hc_client_receive(w->client, bytes, size, w->now_us);
        break;
    default:
        w->now_us += (1 + (action >> 2) % 8) * (uint64_t)TICK_US;
        hc_client_advance(w->client, w->now_us);
        while (hc_client_send(w->client, out, w->now_us) > 0) {
        }
        for (hc_entity next = 0; hc_client_show_next(w->client, w->now_us, &next, &shown);) {
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hc_client_config config = hc_client_config_default();
    static const uint8_t entropy[HC_CLIENT_ENTROPY_SIZE] = {1};
    struct hc_client_event event;
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(config.game);
    config.entropy = entropy;
    struct world w = {.client = NULL};
    hc_endpoint_issue_token(&w.endpoint, &hc_arena, 1, 1);
    config.credential = w.endpoint.credential;
    w.client = hc_client_create(&config, 0);
    HC_ASSERT(w.client != NULL);
    connect_client(&w);
    for (size_t at = 0; at + 2 <= size;) {
        size_t length = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
        act(&w, data[at], data + at + 2, length);
        at += 2 + length;
    }
    while (hc_client_poll_event(w.client, &event)) {
    }
    hc_client_destroy(w.client);
    return 0;
}
