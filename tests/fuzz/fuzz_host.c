/// Fuzzes a server with one honest client: another client, properly connected, and strangers send
/// any bytes. The server must not crash, and must still serve the honest client.
///
/// The input is a list of actions: a byte for the kind, a byte of length, and that many bytes.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "server/host.h"
#include "tests/sim/endpoint.h"

#include <string.h>

enum { HONEST_PORT = 1000, FUZZED_PORT = 2000, STRANGER_PORT = 3000, TICK_US = 16667 };

struct world {
    struct hc_server *host;
    uint64_t now_us;
    struct hc_endpoint fuzzed, honest;
    uint32_t cid, seq; // of the fuzzed client
    uint32_t honest_cid, honest_seq;
    uint32_t served; // datagrams sent to the honest client
};

/// Drains the host; `out` gets the last datagram of `kind` to `port`.
static size_t drain(struct world *w, uint16_t port, enum hc_datagram_kind kind,
                    uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, found = 0;
    while ((size = hc_server_send(w->host, &to, bytes, w->now_us)) > 0) {
        w->served += to.port == HONEST_PORT;
        if (to.port != port || hc_datagram_kind(bytes, size) != kind)
            continue;
        memcpy(out, bytes, size);
        found = size;
    }
    return found;
}

static void receive(struct world *w, uint16_t port, const uint8_t *bytes, size_t size) {
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, port);
    hc_server_receive(w->host, &from, bytes, size, w->now_us);
}

static uint32_t join(struct world *w, uint16_t port, struct hc_endpoint *endpoint) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
    struct hc_datagram_cookie cookie;
    struct hc_accept accept;
    receive(w, port, bytes, hc_datagram_put_hello(&hello, bytes));
    size_t size = drain(w, port, HC_DATAGRAM_COOKIE, bytes);
    HC_ASSERT(hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK);
    struct hc_connect connect = {
        .extrapolations = 3, .protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(connect.cookie, cookie.cookie, sizeof cookie.cookie);
    hc_endpoint_issue_token(endpoint, &hc_arena, port, port);
    receive(w, port, bytes, hc_endpoint_put_connect(endpoint, &connect, bytes));
    size = drain(w, port, HC_DATAGRAM_ACCEPT, bytes);
    HC_ASSERT(hc_endpoint_get_accept(endpoint, bytes, size, opened, &accept) == HC_OK);
    return accept.cid;
}

static void send_data(struct world *w, uint16_t port, uint32_t cid, uint32_t seq,
                      const uint8_t *body, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = cid, .seq = seq, .body = body, .body_size = size};
    const struct hc_endpoint *endpoint = port == HONEST_PORT ? &w->honest : &w->fuzzed;
    receive(w, port, bytes, hc_endpoint_put_data(endpoint, true, &data, bytes));
}

static void tick(struct world *w) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    w->now_us += TICK_US;
    send_data(w, HONEST_PORT, w->honest_cid, ++w->honest_seq, bytes, 0);
    hc_server_advance(w->host, w->now_us);
    drain(w, 0, HC_DATAGRAM_NONE, bytes);
}

static void act(struct world *w, uint8_t action, const uint8_t *bytes, size_t size) {
    switch (action % 4) {
    case 0: // any body in a sealed DATA
        send_data(w, FUZZED_PORT, w->cid, ++w->seq, bytes, size);
        break;
    case 1: // any datagram of the client
        receive(w, FUZZED_PORT, bytes, size);
        break;
    case 2: // any datagram of a stranger
        receive(w, STRANGER_PORT, bytes, size);
        break;
    default: // time passes
        for (int i = 0; i < 1 + (action >> 2) % 8; i++)
            tick(w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct hc_sv_host_test test = hc_sv_host_test_default();
    test.future = 8;
    config.clients = 3;
    config.history = 8;
    struct world w = {.host = hc_sv_host_create(&config, &test, HC_TEST_UNIX_US, 0)};
    HC_ASSERT(w.host != NULL);
    w.honest_cid = join(&w, HONEST_PORT, &w.honest);
    w.cid = join(&w, FUZZED_PORT, &w.fuzzed);
    hc_tick final = 0;
    for (size_t at = 0; at + 2 <= size;) {
        size_t length = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
        act(&w, data[at], data + at + 2, length);
        HC_ASSERT(hc_sv_host_final(w.host, NULL) >= final);
        final = hc_sv_host_final(w.host, NULL);
        at += 2 + length;
    }
    uint32_t served = w.served;
    tick(&w);
    HC_ASSERT(w.served > served);
    hc_server_destroy(w.host);
    return 0;
}
