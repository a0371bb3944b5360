#include "tests/fuzz/wire.h"

#include "client/session_internal.h"
#include "hindcast/check.h"

#include <string.h>

/// A CONNECT: its token holds the secret of all that follows.
static void watch_connect(struct fuzz_wire *wire, const uint8_t *bytes, size_t size) {
    struct hc_connect connect;
    struct hc_token token;
    if (hc_datagram_get_connect(bytes, size, &connect) != HC_OK ||
        hc_token_open(&wire->ring, connect.protocol_id, 0, 0, connect.token, &token) != HC_OK)
        return;
    wire->party.protocol_id = connect.protocol_id;
    memcpy(wire->party.credential.token, connect.token, HC_TOKEN_SIZE);
    memcpy(wire->party.credential.secret, token.secret, HC_TOKEN_SECRET_SIZE);
    memcpy(wire->party.secret, wire->client->handshake.secret, HC_EXCHANGE_KEY_SIZE);
}

/// Learns about the connection from what its ends send.
static void watch(struct fuzz_wire *wire, enum fuzz_way way, const uint8_t *bytes, size_t size) {
    struct hc_hello hello;
    struct hc_accept accept;
    uint32_t cid, seq;
    if (way == FUZZ_UP && hc_datagram_get_hello(bytes, size, &hello) == HC_OK)
        memcpy(wire->client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    if (way == FUZZ_UP)
        watch_connect(wire, bytes, size);
    if (way == FUZZ_DOWN && hc_datagram_get_accept(bytes, size, &accept) == HC_OK &&
        accept.cid != wire->cid &&
        memcmp(accept.client_nonce, wire->client_nonce, HC_NONCE_SIZE) == 0) {
        wire->cid = accept.cid;
        wire->newest[FUZZ_UP] = wire->newest[FUZZ_DOWN] = 0;
        (void)hc_party_derive(&wire->party, &accept);
    }
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK && cid == wire->cid)
        wire->newest[way] = seq;
}

static void lose(struct fuzz_wire *wire, uint32_t index) {
    HC_ASSERT(index < wire->count);
    memmove(&wire->flights[index], &wire->flights[index + 1],
            (--wire->count - index) * sizeof wire->flights[0]);
}

void fuzz_wire_put(struct fuzz_wire *wire, enum fuzz_way way, uint16_t port, const uint8_t *bytes,
                   size_t size) {
    HC_ASSERT(size <= HC_DATAGRAM_MAX);
    watch(wire, way, bytes, size);
    if (wire->count == FUZZ_WIRE_FLIGHTS)
        lose(wire, 0);
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
        lose(wire, index);
}

/// Bytes at the end that vouch for the others.
static size_t vouching(enum hc_datagram_kind kind) {
    bool vouched = kind == HC_DATAGRAM_CONNECT || kind == HC_DATAGRAM_ACCEPT ||
                   kind == HC_DATAGRAM_DENY || kind == HC_DATAGRAM_DATA;
    return vouched ? HC_TAG_SIZE : 0;
}

/// Shows what is behind the seal, if the keys are those of the connection.
static bool open(const struct fuzz_wire *wire, struct fuzz_flight *flight) {
    uint8_t opened[HC_DATAGRAM_MAX] = {0};
    enum hc_status status = HC_UNEXPECTED;
    if (hc_datagram_kind(flight->bytes, flight->size) == HC_DATAGRAM_DATA)
        status = hc_party_open(&wire->party, flight->way == FUZZ_UP, flight->bytes, flight->size,
                               opened);
    else if (flight->way == FUZZ_DOWN)
        status = hc_seal_open_accept(wire->party.keys.s2c, flight->bytes, flight->size, opened);
    if (status == HC_OK)
        memcpy(flight->bytes, opened, flight->size);
    return status == HC_OK;
}

/// Seals what may be changed so that it is nothing any more that could be sealed.
static void seal(const struct fuzz_wire *wire, struct fuzz_flight *flight) {
    struct hc_party party = wire->party;
    struct hc_accept accept;
    uint32_t cid, seq;
    if (hc_datagram_get_data_clear(flight->bytes, flight->size, &cid, &seq) == HC_OK && seq > 0)
        hc_party_seal(&party, flight->way == FUZZ_UP, flight->bytes, flight->size);
    else if (hc_datagram_get_accept(flight->bytes, flight->size, &accept) == HC_OK) {
        struct hc_sealer sealer;
        if (hc_party_derive(&party, &accept) != HC_OK)
            return; // a key that nobody takes
        hc_seal_init(&sealer, party.keys.s2c);
        hc_seal_accept(&sealer, flight->bytes, flight->size);
    }
}

/// Proves a CONNECT, and vouches for a DENY that was vouched for.
static void vouch(const struct fuzz_wire *wire, struct fuzz_flight *flight) {
    static const uint8_t none[HC_TAG_SIZE];
    enum hc_datagram_kind kind = hc_datagram_kind(flight->bytes, flight->size);
    const uint8_t *end = flight->bytes + flight->size, *secret = wire->party.credential.secret;
    if (kind == HC_DATAGRAM_CONNECT && flight->size == HC_DATAGRAM_CONNECT_SIZE)
        hc_token_put_proof(secret, flight->bytes);
    if (kind == HC_DATAGRAM_DENY && flight->size == HC_DATAGRAM_DENY_SIZE &&
        memcmp(end - sizeof none, none, sizeof none) != 0)
        hc_token_put_deny_mac(secret, flight->bytes);
}

void fuzz_wire_change(const struct fuzz_wire *wire, struct fuzz_flight *flight,
                      struct fuzz_choices *selections) {
    size_t size = flight->size - vouching(hc_datagram_kind(flight->bytes, flight->size));
    bool opened = open(wire, flight);
    while (selections->left > 0 && size > 0) {
        uint64_t place = fuzz_choose_number(selections, 2) % size;
        flight->bytes[place] ^= fuzz_choose(selections);
    }
    if (opened)
        seal(wire, flight);
    vouch(wire, flight);
}

/// What the server would say of a connection that it does not know.
static size_t put_reset(const struct fuzz_wire *wire, unsigned key, uint8_t *out) {
    struct hc_reset reset = {.cid = wire->cid};
    hc_seal_reset_token(&wire->ring.keys[key % wire->ring.count], wire->cid, 0, &wire->address,
                        reset.token);
    return hc_datagram_put_reset(&reset, out);
}

void fuzz_wire_answer(const struct fuzz_wire *wire, struct fuzz_choices *selections,
                      struct fuzz_flight *out) {
    struct hc_datagram_cookie cookie;
    struct hc_deny deny;
    struct hc_version version;
    uint8_t how = fuzz_choose(selections);
    out->way = FUZZ_DOWN;
    switch (how % 4) {
    case 0:
        memcpy(cookie.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        cookie.slot = (uint32_t)fuzz_choose_number(selections, 4);
        fuzz_choose_bytes(selections, cookie.cookie, HC_COOKIE_SIZE);
        out->size = hc_datagram_put_cookie(&cookie, out->bytes);
        break;
    case 1:
        memcpy(deny.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        deny.reason = (enum hc_deny_reason)(how >> 5);
        deny.retry_ms = (uint32_t)fuzz_choose_number(selections, 4);
        out->size = hc_datagram_put_deny(&deny, out->bytes);
        if ((how & 16) == 0)
            hc_token_put_deny_mac(wire->party.credential.secret, out->bytes);
        break;
    case 2:
        out->size = put_reset(wire, how >> 4, out->bytes);
        break;
    default:
        memcpy(version.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        version.protocol_id = fuzz_choose_number(selections, 8);
        out->size = hc_datagram_put_version(&version, out->bytes);
    }
}

void fuzz_wire_forge(struct fuzz_wire *wire, enum fuzz_way way, struct fuzz_choices *selections,
                     struct fuzz_flight *out) {
    uint8_t acks = fuzz_choose(selections), body[UINT8_MAX];
    struct hc_data data = {.cid = wire->cid, .seq = ++wire->newest[way], .body = body};
    if ((acks & 1) != 0)
        data.ack = wire->newest[1 - way] - (acks >> 4);
    if ((acks & 2) != 0)
        data.ack_bits = (uint32_t)fuzz_choose_number(selections, 4);
    data.body_size = selections->left;
    fuzz_choose_bytes(selections, body, data.body_size);
    out->way = way;
    out->size = hc_party_put_data(&wire->party, way == FUZZ_UP, &data, out->bytes);
}
