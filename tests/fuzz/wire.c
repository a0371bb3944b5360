/// The network of a fuzz program: flights, and forged or changed datagrams with right seals.
#include "tests/fuzz/wire.h"

#include "client/client.h"
#include "hindcast/check.h"

#include <string.h>

/// Learns the connection's secrets from a CONNECT and its token.
static void learn_connect(struct fuzz_wire *wire, const uint8_t *bytes, size_t size) {
    struct hc_connect connect;
    struct hc_token token;
    if (hc_datagram_get_connect(bytes, size, &connect) != HC_OK ||
        hc_token_open(&wire->ring, connect.protocol_id, 0, 0, connect.token, &token) != HC_OK)
        return;
    wire->endpoint.protocol_id = connect.protocol_id;
    memcpy(wire->endpoint.credential.token, connect.token, HC_TOKEN_SIZE);
    memcpy(wire->endpoint.credential.secret, token.secret, HC_TOKEN_SECRET_SIZE);
    memcpy(wire->endpoint.secret, wire->client->link.handshake.attempt.secret,
           HC_EXCHANGE_KEY_SIZE);
}

/// Learns nonce, cid and seqs from a datagram of an end.
static void learn(struct fuzz_wire *wire, enum fuzz_way way, const uint8_t *bytes, size_t size) {
    struct hc_hello hello;
    struct hc_accept accept;
    uint32_t cid, seq;
    if (way == FUZZ_UP && hc_datagram_get_hello(bytes, size, &hello) == HC_OK)
        memcpy(wire->client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    if (way == FUZZ_UP)
        learn_connect(wire, bytes, size);
    if (way == FUZZ_DOWN && hc_datagram_get_accept(bytes, size, &accept) == HC_OK &&
        accept.cid != wire->cid &&
        memcmp(accept.client_nonce, wire->client_nonce, HC_NONCE_SIZE) == 0) {
        wire->cid = accept.cid;
        wire->newest[FUZZ_UP] = wire->newest[FUZZ_DOWN] = 0;
        (void)hc_endpoint_derive_keys(&wire->endpoint, &accept);
    }
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK && cid == wire->cid)
        wire->newest[way] = seq;
}

static void drop(struct fuzz_wire *wire, uint32_t index) {
    HC_ASSERT(index < wire->count);
    memmove(&wire->flights[index], &wire->flights[index + 1],
            (--wire->count - index) * sizeof wire->flights[0]);
}

void fuzz_wire_put(struct fuzz_wire *wire, enum fuzz_way way, uint16_t port, const uint8_t *bytes,
                   size_t size) {
    HC_ASSERT(size <= HC_DATAGRAM_MAX);
    learn(wire, way, bytes, size);
    if (wire->count == FUZZ_WIRE_FLIGHTS)
        drop(wire, 0);
    struct fuzz_flight *flight = &wire->flights[wire->count++];
    flight->way = way;
    flight->port = port;
    flight->taken = false;
    flight->size = size;
    memcpy(flight->bytes, bytes, size);
}

void fuzz_wire_take(struct fuzz_wire *wire, uint32_t index, bool again, struct fuzz_flight *out) {
    HC_ASSERT(index < wire->count);
    *out = wire->flights[index];
    if (!again)
        drop(wire, index);
}

/// Bytes of the tag, proof or MAC at the end.
static size_t tag_size(enum hc_datagram_kind kind) {
    bool tagged = kind == HC_DATAGRAM_CONNECT || kind == HC_DATAGRAM_ACCEPT ||
                  kind == HC_DATAGRAM_DENY || kind == HC_DATAGRAM_DATA;
    return tagged ? HC_TAG_SIZE : 0;
}

/// Opens the flight if the keys are those of the connection.
static bool open(const struct fuzz_wire *wire, struct fuzz_flight *flight) {
    uint8_t opened[HC_DATAGRAM_MAX] = {0};
    enum hc_status status = HC_UNEXPECTED;
    if (hc_datagram_kind(flight->bytes, flight->size) == HC_DATAGRAM_DATA)
        status = hc_endpoint_open(&wire->endpoint, flight->way == FUZZ_UP, flight->bytes,
                                  flight->size, opened);
    else if (flight->way == FUZZ_DOWN)
        status = hc_seal_open_accept(wire->endpoint.keys.s2c, flight->bytes, flight->size, opened);
    if (status == HC_OK)
        memcpy(flight->bytes, opened, flight->size);
    return status == HC_OK;
}

/// Seals the flight, unless a change has made it a datagram that is never sealed.
static void seal(const struct fuzz_wire *wire, struct fuzz_flight *flight) {
    struct hc_endpoint endpoint = wire->endpoint;
    struct hc_accept accept;
    uint32_t cid, seq;
    if (hc_datagram_get_data_clear(flight->bytes, flight->size, &cid, &seq) == HC_OK && seq > 0)
        hc_endpoint_seal(&endpoint, flight->way == FUZZ_UP, flight->bytes, flight->size);
    else if (hc_datagram_get_accept(flight->bytes, flight->size, &accept) == HC_OK) {
        struct hc_sealer sealer;
        if (hc_endpoint_derive_keys(&endpoint, &accept) != HC_OK)
            return; // a key that every end refuses
        hc_seal_init(&sealer, endpoint.keys.s2c);
        hc_seal_accept(&sealer, flight->bytes, flight->size);
    }
}

/// Writes the proof of a CONNECT, and the MAC of a DENY that had one.
static void authenticate(const struct fuzz_wire *wire, struct fuzz_flight *flight) {
    static const uint8_t none[HC_TAG_SIZE];
    enum hc_datagram_kind kind = hc_datagram_kind(flight->bytes, flight->size);
    const uint8_t *end = flight->bytes + flight->size, *secret = wire->endpoint.credential.secret;
    if (kind == HC_DATAGRAM_CONNECT && flight->size == HC_DATAGRAM_CONNECT_SIZE)
        hc_token_put_proof(secret, flight->bytes);
    if (kind == HC_DATAGRAM_DENY && flight->size == HC_DATAGRAM_DENY_SIZE &&
        memcmp(end - sizeof none, none, sizeof none) != 0)
        hc_token_put_deny_mac(secret, flight->bytes);
}

void fuzz_wire_change(const struct fuzz_wire *wire, struct fuzz_flight *flight,
                      struct fuzz_source *source) {
    size_t size = flight->size - tag_size(hc_datagram_kind(flight->bytes, flight->size));
    bool opened = open(wire, flight);
    while (source->left > 0 && size > 0) {
        uint64_t place = fuzz_take_number(source, 2) % size;
        flight->bytes[place] ^= fuzz_take(source);
    }
    if (opened)
        seal(wire, flight);
    authenticate(wire, flight);
}

/// Writes the RESET of the connection, as the server would.
static size_t put_reset(const struct fuzz_wire *wire, unsigned key, uint8_t *out) {
    struct hc_reset reset = {.cid = wire->cid};
    hc_seal_reset_token(&wire->ring.keys[key % wire->ring.count], wire->cid, 0, &wire->address,
                        reset.token);
    return hc_datagram_put_reset(&reset, out);
}

void fuzz_wire_answer(const struct fuzz_wire *wire, struct fuzz_source *source,
                      struct fuzz_flight *out) {
    struct hc_datagram_cookie cookie;
    struct hc_deny deny;
    struct hc_version version;
    uint8_t how = fuzz_take(source);
    out->way = FUZZ_DOWN;
    switch (how % 4) {
    case 0:
        memcpy(cookie.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        cookie.slot = (uint32_t)fuzz_take_number(source, 4);
        fuzz_take_bytes(source, cookie.cookie, HC_COOKIE_SIZE);
        out->size = hc_datagram_put_cookie(&cookie, out->bytes);
        break;
    case 1:
        memcpy(deny.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        deny.reason = (enum hc_deny_reason)(how >> 5);
        deny.retry_ms = (uint32_t)fuzz_take_number(source, 4);
        out->size = hc_datagram_put_deny(&deny, out->bytes);
        if ((how & 16) == 0)
            hc_token_put_deny_mac(wire->endpoint.credential.secret, out->bytes);
        break;
    case 2:
        out->size = put_reset(wire, how >> 4, out->bytes);
        break;
    default:
        memcpy(version.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        version.protocol_id = fuzz_take_number(source, 8);
        out->size = hc_datagram_put_version(&version, out->bytes);
    }
}

void fuzz_wire_forge(struct fuzz_wire *wire, enum fuzz_way way, struct fuzz_source *source,
                     struct fuzz_flight *out) {
    uint8_t acks = fuzz_take(source), body[UINT8_MAX];
    struct hc_data data = {.cid = wire->cid, .seq = ++wire->newest[way], .body = body};
    if ((acks & 1) != 0)
        data.ack = wire->newest[1 - way] - (acks >> 4);
    if ((acks & 2) != 0)
        data.ack_bits = (uint32_t)fuzz_take_number(source, 4);
    data.body_size = source->left;
    fuzz_take_bytes(source, body, data.body_size);
    out->way = way;
    out->size = hc_endpoint_put_data(&wire->endpoint, way == FUZZ_UP, &data, out->bytes);
}
