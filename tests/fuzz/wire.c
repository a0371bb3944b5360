#include "tests/fuzz/wire.h"

#include "common/check.h"

#include <string.h>

/// Learns about the connection from what its ends send.
static void watch(struct fuzz_wire *wire, enum fuzz_way way, const uint8_t *bytes, size_t size) {
    struct hc_hello hello;
    struct hc_accept accept;
    struct hc_data data;
    if (way == FUZZ_UP && hc_datagram_get_hello(bytes, size, &hello) == HC_OK)
        memcpy(wire->client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    if (way == FUZZ_DOWN && hc_datagram_get_accept(bytes, size, &accept) == HC_OK &&
        accept.cid != wire->cid) {
        wire->cid = accept.cid;
        wire->newest[FUZZ_UP] = wire->newest[FUZZ_DOWN] = 0;
    }
    if (hc_datagram_get_data(bytes, size, &data) == HC_OK && data.cid == wire->cid)
        wire->newest[way] = data.seq;
}

static void lose(struct fuzz_wire *wire, uint32_t index) {
    HC_ASSERT(index < wire->count);
    memmove(&wire->flights[index], &wire->flights[index + 1],
            (--wire->count - index) * sizeof wire->flights[0]);
}

void fuzz_wire_put(struct fuzz_wire *wire, enum fuzz_way way, const uint8_t *bytes, size_t size) {
    HC_ASSERT(size <= HC_DATAGRAM_MAX);
    watch(wire, way, bytes, size);
    if (wire->count == FUZZ_WIRE_FLIGHTS)
        lose(wire, 0);
    struct fuzz_flight *flight = &wire->flights[wire->count++];
    flight->way = way;
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

/// Bytes from the front that are not the tag.
static size_t before_tag(const struct fuzz_flight *flight) {
    enum hc_datagram_kind kind = hc_datagram_kind(flight->bytes, flight->size);
    bool tagged = kind == HC_DATAGRAM_DATA || kind == HC_DATAGRAM_ACCEPT;
    return tagged && flight->size > HC_TAG_SIZE ? flight->size - HC_TAG_SIZE : flight->size;
}

void fuzz_wire_change(struct fuzz_wire *wire, struct fuzz_flight *flight,
                      struct fuzz_choices *choices) {
    size_t size = before_tag(flight);
    (void)wire;
    while (choices->left > 0 && size > 0) {
        uint64_t place = fuzz_choose_number(choices, 2) % size;
        flight->bytes[place] ^= fuzz_choose(choices);
    }
}

void fuzz_wire_answer(struct fuzz_wire *wire, struct fuzz_choices *choices,
                      struct fuzz_flight *out) {
    struct hc_datagram_cookie cookie;
    struct hc_deny deny;
    struct hc_version version;
    uint8_t how = fuzz_choose(choices);
    out->way = FUZZ_DOWN;
    switch (how % 3) {
    case 0:
        memcpy(cookie.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        cookie.slot = (uint32_t)fuzz_choose_number(choices, 4);
        fuzz_choose_bytes(choices, cookie.cookie, HC_COOKIE_SIZE);
        out->size = hc_datagram_put_cookie(&cookie, out->bytes);
        break;
    case 1:
        memcpy(deny.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        deny.reason = (enum hc_deny_reason)(how >> 4);
        deny.retry_ms = (uint32_t)fuzz_choose_number(choices, 4);
        out->size = hc_datagram_put_deny(&deny, out->bytes);
        break;
    default:
        memcpy(version.client_nonce, wire->client_nonce, HC_NONCE_SIZE);
        version.protocol_id = fuzz_choose_number(choices, 8);
        out->size = hc_datagram_put_version(&version, out->bytes);
    }
}

void fuzz_wire_forge(struct fuzz_wire *wire, enum fuzz_way way, struct fuzz_choices *choices,
                     struct fuzz_flight *out) {
    uint8_t acks = fuzz_choose(choices), body[UINT8_MAX];
    struct hc_data data = {.cid = wire->cid, .seq = ++wire->newest[way], .body = body};
    if ((acks & 1) != 0)
        data.ack = wire->newest[1 - way] - (acks >> 4);
    if ((acks & 2) != 0)
        data.ack_bits = (uint32_t)fuzz_choose_number(choices, 4);
    data.body_size = choices->left;
    fuzz_choose_bytes(choices, body, data.body_size);
    out->way = way;
    out->size = hc_datagram_put_data(&data, out->bytes);
}
