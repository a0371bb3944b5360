/// Remembers CONNECTs and the keys of connections, and opens their datagrams.
#include "tests/sim/unsealer.h"

#include <stdlib.h>
#include <string.h>

enum {
    ATTEMPTS = 8192, ///< CONNECTs remembered
    ATTEMPTS_AT_ONCE = 64,
    SLOT_BITS = 12,       ///< of a cid, the lowest: connections have one slot after one another
    CONNECTIONS_EACH = 4, ///< of a slot that are remembered
    OPENED = 512,         ///< opened datagrams that are remembered, because most are opened twice
};

/// A CONNECT that may be answered.
struct attempt {
    uint8_t client_nonce[HC_NONCE_SIZE];
    bool secret_given; ///< the secret was given; false: it was drawn
    struct hc_endpoint endpoint;
};

struct connection {
    uint32_t cid;
    struct hc_endpoint endpoint;
};

struct slot {
    unsigned next;
    struct connection connections[CONNECTIONS_EACH];
};

/// A datagram that was opened.
struct opened {
    bool to_server;
    uint32_t cid, seq;
    uint8_t sealed[HC_DATAGRAM_MAX], plain[HC_DATAGRAM_MAX];
};

/// Most memory is obtained when it is needed, because few simulations need much of it.
struct hc_unsealer {
    struct hc_token_ring ring;
    uint64_t protocol_id, audience;
    unsigned attempt_count;
    struct attempt *attempts[ATTEMPTS / ATTEMPTS_AT_ONCE]; ///< NULL: none yet
    struct slot *slots[1 << SLOT_BITS];                    ///< NULL: none yet
    struct opened *opened;                                 ///< [OPENED]
    size_t sizes[OPENED];                                  ///< of those; 0: none
};

struct hc_unsealer *hc_unsealer_create(const struct hc_token_ring *ring, uint64_t protocol_id,
                                       uint64_t audience) {
    struct hc_unsealer *unsealer = calloc(1, sizeof *unsealer);
    if (unsealer == NULL)
        return NULL;
    unsealer->opened =
        malloc(OPENED * sizeof *unsealer->opened); // not cleared: little of it is touched
    if (unsealer->opened == NULL) {
        free(unsealer);
        return NULL;
    }
    unsealer->ring = *ring;
    unsealer->protocol_id = protocol_id;
    unsealer->audience = audience;
    return unsealer;
}

void hc_unsealer_destroy(struct hc_unsealer *unsealer) {
    if (unsealer == NULL)
        return;
    for (unsigned i = 0; i < ATTEMPTS / ATTEMPTS_AT_ONCE; i++)
        free(unsealer->attempts[i]);
    for (unsigned i = 0; i < 1 << SLOT_BITS; i++)
        free(unsealer->slots[i]);
    free(unsealer->opened);
    free(unsealer);
}

/// Returns `block`, or a new one if it is NULL.
static void *obtain(void *block, size_t size) {
    if (block == NULL)
        block = calloc(1, size);
    if (block == NULL)
        abort();
    return block;
}

static struct attempt *attempt_at(struct hc_unsealer *unsealer, unsigned index) {
    struct attempt **at = &unsealer->attempts[index % ATTEMPTS / ATTEMPTS_AT_ONCE];
    *at = obtain(*at, ATTEMPTS_AT_ONCE * sizeof **at);
    return &(*at)[index % ATTEMPTS_AT_ONCE];
}

static struct attempt *find_attempt(struct hc_unsealer *unsealer, const uint8_t *nonce) {
    for (unsigned i = 0; i < ATTEMPTS && i < unsealer->attempt_count; i++) {
        struct attempt *attempt = attempt_at(unsealer, unsealer->attempt_count - 1 - i);
        if (memcmp(attempt->client_nonce, nonce, HC_NONCE_SIZE) == 0)
            return attempt;
    }
    return NULL;
}

void hc_unsealer_note_connect(struct hc_unsealer *unsealer, const uint8_t *bytes, size_t size,
                              const uint8_t *secret) {
    struct hc_connect connect;
    struct hc_token token;
    if (hc_datagram_get_connect(bytes, size, &connect) != HC_OK ||
        hc_token_open(&unsealer->ring, unsealer->protocol_id, unsealer->audience, 0, connect.token,
                      &token) != HC_OK ||
        hc_token_check_proof(token.secret, bytes) != HC_OK)
        return;
    struct attempt *attempt = find_attempt(unsealer, connect.client_nonce);
    if (attempt == NULL)
        attempt = attempt_at(unsealer, unsealer->attempt_count++);
    else if (attempt->secret_given && secret == NULL)
        return;
    *attempt = (struct attempt){.secret_given = secret != NULL,
                                .endpoint = {.protocol_id = unsealer->protocol_id}};
    memcpy(attempt->client_nonce, connect.client_nonce, HC_NONCE_SIZE);
    memcpy(attempt->endpoint.credential.token, connect.token, HC_TOKEN_SIZE);
    memcpy(attempt->endpoint.credential.secret, token.secret, HC_TOKEN_SECRET_SIZE);
    hc_endpoint_draw_secret(&attempt->endpoint);
    if (secret != NULL)
        memcpy(attempt->endpoint.secret, secret, HC_EXCHANGE_KEY_SIZE);
}

static struct slot *slot_of(struct hc_unsealer *unsealer, uint32_t cid) {
    struct slot **at = &unsealer->slots[cid & ((1u << SLOT_BITS) - 1)];
    *at = obtain(*at, sizeof **at);
    return *at;
}

void hc_unsealer_note_accept(struct hc_unsealer *unsealer, const uint8_t *bytes, size_t size) {
    struct hc_accept accept;
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK ||
        hc_unsealer_endpoint(unsealer, accept.cid) != NULL)
        return;
    const struct attempt *attempt = find_attempt(unsealer, accept.client_nonce);
    if (attempt == NULL)
        return;
    struct slot *slot = slot_of(unsealer, accept.cid);
    struct connection *connection = &slot->connections[slot->next++ % CONNECTIONS_EACH];
    *connection = (struct connection){.cid = accept.cid, .endpoint = attempt->endpoint};
    (void)hc_endpoint_derive_keys(&connection->endpoint, &accept);
}

const struct hc_endpoint *hc_unsealer_endpoint(const struct hc_unsealer *unsealer, uint32_t cid) {
    const struct slot *slot = unsealer->slots[cid & ((1u << SLOT_BITS) - 1)];
    for (unsigned i = 0; slot != NULL && i < CONNECTIONS_EACH; i++)
        if (cid != 0 && slot->connections[i].cid == cid)
            return &slot->connections[i].endpoint;
    return NULL;
}

/// Opens a DATA of a known connection with its keys. Most are opened twice: when they are sent and
/// when they arrive.
static enum hc_status open_data(struct hc_unsealer *unsealer, bool to_server, const uint8_t *bytes,
                                size_t size, uint8_t out[static HC_DATAGRAM_MAX]) {
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
    if (status != HC_OK)
        return status;
    const struct hc_endpoint *endpoint = hc_unsealer_endpoint(unsealer, cid);
    if (endpoint == NULL)
        return HC_UNEXPECTED;
    uint32_t slot = (cid * 97 + seq * 2 + to_server) % OPENED;
    struct opened *opened = &unsealer->opened[slot];
    if (unsealer->sizes[slot] == size && opened->cid == cid && opened->seq == seq &&
        opened->to_server == to_server && memcmp(opened->sealed, bytes, size) == 0) {
        memcpy(out, opened->plain, size);
        return HC_OK;
    }
    status = hc_endpoint_open(endpoint, to_server, bytes, size, out);
    if (status != HC_OK)
        return status;
    opened->to_server = to_server;
    opened->cid = cid;
    opened->seq = seq;
    unsealer->sizes[slot] = size;
    memcpy(opened->sealed, bytes, size);
    memcpy(opened->plain, out, size);
    return HC_OK;
}

const uint8_t *hc_unsealer_open(struct hc_unsealer *unsealer, bool to_server, const uint8_t *bytes,
                                size_t size, uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_accept accept;
    if (open_data(unsealer, to_server, bytes, size, out) == HC_OK)
        return out;
    if (to_server || hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return bytes;
    const struct hc_endpoint *endpoint = hc_unsealer_endpoint(unsealer, accept.cid);
    if (endpoint == NULL || hc_seal_open_accept(endpoint->keys.s2c, bytes, size, out) != HC_OK)
        return bytes;
    memset(out + size - HC_TAG_SIZE, 0, HC_TAG_SIZE);
    return out;
}
