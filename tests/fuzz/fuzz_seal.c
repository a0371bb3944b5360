/// Fuzzes seals: any bytes must not open and must show nothing; any sealed content must open to
/// itself, and only with its own key and kind.
///
/// The input is a byte for the kind, two for the bit that is changed, and the datagram.
#include "hindcast/check.h"
#include "proto/seal.h"
#include "tests/fuzz/actions.h"

#include <string.h>

enum { SIZE_MAX_TRIED = HC_DATAGRAM_MAX + 16, SEQ_AT = 5 };

typedef enum hc_status opener(const uint8_t *key, const uint8_t *datagram, size_t size,
                              uint8_t out[static HC_DATAGRAM_MAX]);

static const uint8_t key[HC_SEAL_KEY_SIZE] = {1}, another[HC_SEAL_KEY_SIZE] = {2};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Opens a datagram, which must fail and show nothing.
static void check_refused(opener *open, const uint8_t *with, const uint8_t *bytes, size_t size) {
    uint8_t shown[HC_DATAGRAM_MAX] = {0};
    HC_ASSERT(open(with, bytes, size, shown) != HC_OK);
    for (size_t i = 0; i < sizeof shown; i++)
        HC_ASSERT(shown[i] == 0);
}

static void try_any(opener *open, const uint8_t *bytes, size_t size) {
    uint8_t plain[HC_DATAGRAM_MAX] = {0};
    struct hc_sealer sealer;
    if (open(key, bytes, size, plain) != HC_OK) {
        check_refused(open, key, bytes, size);
        return;
    }
    hc_seal_init(&sealer, key); // the input was sealed with the key
    (bytes[0] == HC_DATAGRAM_DATA ? hc_seal_data : hc_seal_accept)(&sealer, plain, size);
    HC_ASSERT(memcmp(plain, bytes, size) == 0);
}

/// Seals the content and opens it; it must not open with another key, as another kind, or changed.
static void try_sealed(bool data, uint64_t bit, const uint8_t *content, size_t size) {
    uint8_t sealed[HC_DATAGRAM_MAX], plain[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    opener *open = data ? hc_seal_open_data : hc_seal_open_accept;
    size_t least = (data ? (size_t)HC_DATA_BODY_AT : (size_t)HC_ACCEPT_BODY_AT) + HC_TAG_SIZE;
    struct hc_sealer sealer;
    if (size < least || size > HC_DATAGRAM_MAX)
        return;
    memcpy(sealed, content, size);
    sealed[0] = data ? HC_DATAGRAM_DATA : HC_DATAGRAM_ACCEPT;
    sealed[SEQ_AT] |= data; // DATA has no seq 0
    memcpy(plain, sealed, size);
    hc_seal_init(&sealer, key);
    (data ? hc_seal_data : hc_seal_accept)(&sealer, sealed, size);
    check_refused(open, another, sealed, size);
    check_refused(data ? hc_seal_open_accept : hc_seal_open_data, key, sealed, size);
    sealed[bit / 8 % size] ^= (uint8_t)(1 << bit % 8);
    check_refused(open, key, sealed, size);
    sealed[bit / 8 % size] ^= (uint8_t)(1 << bit % 8);
    HC_ASSERT(open(key, sealed, size, opened) == HC_OK);
    HC_ASSERT(memcmp(opened, plain, size - HC_TAG_SIZE) == 0);
}

/// Derives keys and reset tokens; each bit of their material must matter.
static void try_derived(uint64_t bit, struct fuzz_source *source) {
    struct from {
        uint8_t secret[HC_TOKEN_SECRET_SIZE], protocol_id[8], token[HC_TOKEN_SIZE];
        uint8_t nonces[2][HC_NONCE_SIZE], keys[3][HC_EXCHANGE_KEY_SIZE], cid[4], audience[8],
            ip[16], port[2];
    } from[2];
    struct hc_seal_keys keys[2];
    uint8_t resets[2][HC_RESET_TOKEN_SIZE];
    size_t material_size =
        sizeof from[0] - sizeof from[0].audience - sizeof from[0].ip - sizeof from[0].port;
    fuzz_take_bytes(source, &from[0], sizeof from[0]);
    from[1] = from[0];
    ((uint8_t *)&from[1])[bit / 8 % sizeof from[1]] ^= (uint8_t)(1 << bit % 8);
    for (int i = 0; i < 2; i++) {
        uint64_t protocol_id, audience;
        uint32_t cid;
        struct hc_token_key token_key = {.id = 1};
        memcpy(&protocol_id, from[i].protocol_id, sizeof protocol_id);
        memcpy(&audience, from[i].audience, sizeof audience);
        memcpy(&cid, from[i].cid, sizeof cid);
        memcpy(token_key.key, from[i].secret, sizeof token_key.key);
        struct hc_seal_material material = {.protocol_id = protocol_id, .cid = cid};
        memcpy(material.secret, from[i].secret, sizeof material.secret);
        memcpy(material.token, from[i].token, sizeof material.token);
        memcpy(material.client_nonce, from[i].nonces[0], HC_NONCE_SIZE);
        memcpy(material.server_nonce, from[i].nonces[1], HC_NONCE_SIZE);
        memcpy(material.client_key, from[i].keys[0], HC_EXCHANGE_KEY_SIZE);
        memcpy(material.server_key, from[i].keys[1], HC_EXCHANGE_KEY_SIZE);
        memcpy(material.shared, from[i].keys[2], HC_EXCHANGE_KEY_SIZE);
        hc_seal_derive(&material, &keys[i]);
        struct hc_address address;
        memcpy(address.ip, from[i].ip, sizeof address.ip);
        memcpy(&address.port, from[i].port, sizeof address.port);
        hc_seal_reset_token(&token_key, cid, audience, &address, resets[i]);
        HC_ASSERT(hc_seal_reset_equal(resets[i], resets[i]));
        HC_ASSERT(memcmp(keys[i].c2s, keys[i].s2c, HC_SEAL_KEY_SIZE) != 0);
    }
    size_t at = (size_t)(bit / 8 % sizeof from[1]);
    bool in_reset = at < sizeof from[0].secret || at >= material_size - sizeof from[0].cid;
    HC_ASSERT((memcmp(&keys[0], &keys[1], sizeof keys[0]) != 0) == (at < material_size));
    HC_ASSERT(hc_seal_reset_equal(resets[0], resets[1]) == !in_reset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_source source = {.bytes = data, .left = size};
    uint8_t kind = fuzz_take(&source);
    uint64_t bit = fuzz_take_number(&source, 2);
    uint8_t bytes[SIZE_MAX_TRIED];
    size = source.left < sizeof bytes ? source.left : sizeof bytes;
    memcpy(bytes, source.bytes, size);
    switch (kind % 5) {
    case 0:
        try_any(hc_seal_open_data, bytes, size);
        break;
    case 1:
        try_any(hc_seal_open_accept, bytes, size);
        break;
    case 2:
    case 3:
        try_sealed(kind % 5 == 2, bit, bytes, size);
        break;
    default:
        try_derived(bit, &source);
    }
    return 0;
}
