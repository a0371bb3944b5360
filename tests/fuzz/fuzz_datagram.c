/// Fuzzes datagrams: any bytes are decoded as every kind. A decoded datagram must encode to the
/// same bytes, so that each has one encoding.
#include "hindcast/check.h"
#include "proto/datagram.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Bytes of the tag, proof or MAC at the end, which decoders skip.
static size_t tag_size(uint8_t kind) {
    bool tagged = kind == HC_DATAGRAM_CONNECT || kind == HC_DATAGRAM_ACCEPT ||
                  kind == HC_DATAGRAM_DENY || kind == HC_DATAGRAM_DATA;
    return tagged ? HC_TAG_SIZE : 0;
}

/// Compares the datagram with the encoded one, except for tags, proofs and the two digits of
/// VERSION.
static void compare(const uint8_t *data, size_t size, uint8_t *again, size_t again_size) {
    HC_ASSERT(size == again_size);
    if (data[0] == HC_DATAGRAM_CONNECT)
        memcpy(again + HC_CONNECT_CONTINUE_PROOF_AT, data + HC_CONNECT_CONTINUE_PROOF_AT,
               HC_PROOF_SIZE);
    bool digits = data[0] == HC_DATAGRAM_VERSION;
    size_t skip = digits ? 1 + HC_MAGIC_SIZE : 0;
    HC_ASSERT(memcmp(data + skip, again + skip, size - skip - tag_size(data[0])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_hello hello;
    struct hc_datagram_cookie cookie;
    struct hc_connect connect;
    struct hc_accept accept;
    struct hc_deny deny;
    struct hc_version version;
    struct hc_data message;
    struct hc_reset reset;
    HC_ASSERT((size_t)hc_datagram_kind(data, size) <= HC_DATAGRAM_RESET);
    if (hc_datagram_get_hello(data, size, &hello) == HC_OK)
        compare(data, size, out, hc_datagram_put_hello(&hello, out));
    if (hc_datagram_get_cookie(data, size, &cookie) == HC_OK)
        compare(data, size, out, hc_datagram_put_cookie(&cookie, out));
    if (hc_datagram_get_connect(data, size, &connect) == HC_OK)
        compare(data, size, out, hc_datagram_put_connect(&connect, out));
    if (hc_datagram_get_accept(data, size, &accept) == HC_OK)
        compare(data, size, out, hc_datagram_put_accept(&accept, out));
    if (hc_datagram_get_deny(data, size, &deny) == HC_OK)
        compare(data, size, out, hc_datagram_put_deny(&deny, out));
    if (hc_datagram_get_version(data, size, &version) == HC_OK)
        compare(data, size, out, hc_datagram_put_version(&version, out));
    if (hc_datagram_get_reset(data, size, &reset) == HC_OK)
        compare(data, size, out, hc_datagram_put_reset(&reset, out));
    if (hc_datagram_get_data(data, size, &message) == HC_OK)
        compare(data, size, out, hc_datagram_put_data(&message, out));
    return 0;
}
