#include "tests/sim/tap.h"

#include <stdlib.h>
#include <string.h>

enum {
    ASKED = 8192,    ///< CONNECTs remembered
    PLACE_BITS = 12, ///< of a cid, the lowest: a place that connections have after one another
    EACH = 4,        ///< connections of a place that are remembered
    ASKED_AT_ONCE = 64,
    OPENED = 512, ///< datagrams whose insides are remembered, for when they are looked at again
};

/// A CONNECT that may be answered.
struct asked {
    uint8_t client_nonce[HC_NONCE_SIZE];
    bool told; ///< the secret, else it is a party's
    struct hc_party party;
};

struct known {
    uint32_t cid;
    struct hc_party party;
};

struct place {
    unsigned next;
    struct known known[EACH];
};

/// A datagram that was opened.
struct opened {
    bool to_server;
    uint32_t cid, seq;
    uint8_t sealed[HC_DATAGRAM_MAX], plain[HC_DATAGRAM_MAX];
};

/// Most is obtained when it is needed: few simulations need much of it.
struct hc_tap {
    struct hc_token_ring ring;
    uint64_t protocol_id, audience;
    unsigned asked_count;
    struct asked *asked[ASKED / ASKED_AT_ONCE]; ///< NULL: none yet
    struct place *places[1 << PLACE_BITS];      ///< NULL: none yet
    struct opened *opened;                      ///< [OPENED]
    size_t sizes[OPENED];                       ///< of those; 0: none
};

struct hc_tap *hc_tap_create(const struct hc_token_ring *ring, uint64_t protocol_id,
                             uint64_t audience) {
    struct hc_tap *tap = calloc(1, sizeof *tap);
    if (tap == NULL)
        return NULL;
    tap->opened = malloc(OPENED * sizeof *tap->opened); // not cleared: little of it is touched
    if (tap->opened == NULL) {
        free(tap);
        return NULL;
    }
    tap->ring = *ring;
    tap->protocol_id = protocol_id;
    tap->audience = audience;
    return tap;
}

void hc_tap_destroy(struct hc_tap *tap) {
    if (tap == NULL)
        return;
    for (unsigned i = 0; i < ASKED / ASKED_AT_ONCE; i++)
        free(tap->asked[i]);
    for (unsigned i = 0; i < 1 << PLACE_BITS; i++)
        free(tap->places[i]);
    free(tap->opened);
    free(tap);
}

/// What is at `at`, obtained if there is nothing yet.
static void *obtain(void *at, size_t size) {
    if (at == NULL)
        at = calloc(1, size);
    if (at == NULL)
        abort();
    return at;
}

static struct asked *asked_at(struct hc_tap *tap, unsigned index) {
    struct asked **at = &tap->asked[index % ASKED / ASKED_AT_ONCE];
    *at = obtain(*at, ASKED_AT_ONCE * sizeof **at);
    return &(*at)[index % ASKED_AT_ONCE];
}

static struct asked *find_asked(struct hc_tap *tap, const uint8_t *nonce) {
    for (unsigned i = 0; i < ASKED && i < tap->asked_count; i++) {
        struct asked *asked = asked_at(tap, tap->asked_count - 1 - i);
        if (memcmp(asked->client_nonce, nonce, HC_NONCE_SIZE) == 0)
            return asked;
    }
    return NULL;
}

void hc_tap_connect(struct hc_tap *tap, const uint8_t *bytes, size_t size, const uint8_t *secret) {
    struct hc_connect connect;
    struct hc_token token;
    if (hc_datagram_get_connect(bytes, size, &connect) != HC_OK ||
        hc_token_open(&tap->ring, tap->protocol_id, tap->audience, 0, connect.token, &token) !=
            HC_OK ||
        hc_token_check_proof(token.secret, bytes) != HC_OK)
        return;
    struct asked *asked = find_asked(tap, connect.client_nonce);
    if (asked == NULL)
        asked = asked_at(tap, tap->asked_count++);
    else if (asked->told && secret == NULL)
        return;
    *asked = (struct asked){.told = secret != NULL, .party = {.protocol_id = tap->protocol_id}};
    memcpy(asked->client_nonce, connect.client_nonce, HC_NONCE_SIZE);
    memcpy(asked->party.credential.token, connect.token, HC_TOKEN_SIZE);
    memcpy(asked->party.credential.secret, token.secret, HC_TOKEN_SECRET_SIZE);
    hc_party_draw(&asked->party);
    if (secret != NULL)
        memcpy(asked->party.secret, secret, HC_EXCHANGE_KEY_SIZE);
}

static struct place *place_of(struct hc_tap *tap, uint32_t cid) {
    struct place **at = &tap->places[cid & ((1u << PLACE_BITS) - 1)];
    *at = obtain(*at, sizeof **at);
    return *at;
}

void hc_tap_accept(struct hc_tap *tap, const uint8_t *bytes, size_t size) {
    struct hc_accept accept;
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK ||
        hc_tap_party(tap, accept.cid) != NULL)
        return;
    const struct asked *asked = find_asked(tap, accept.client_nonce);
    if (asked == NULL)
        return;
    struct place *place = place_of(tap, accept.cid);
    struct known *known = &place->known[place->next++ % EACH];
    *known = (struct known){.cid = accept.cid, .party = asked->party};
    (void)hc_party_derive(&known->party, &accept);
}

const struct hc_party *hc_tap_party(const struct hc_tap *tap, uint32_t cid) {
    const struct place *place = tap->places[cid & ((1u << PLACE_BITS) - 1)];
    for (unsigned i = 0; place != NULL && i < EACH; i++)
        if (cid != 0 && place->known[i].cid == cid)
            return &place->known[i].party;
    return NULL;
}

/// A DATA of a connection whose keys are known; HC_OK, or why it cannot be opened. Most are looked
/// at when they are sent and when they arrive.
static enum hc_status open_data(struct hc_tap *tap, const struct hc_party *party, uint32_t cid,
                                uint32_t seq, bool to_server, const uint8_t *bytes, size_t size,
                                uint8_t room[static HC_DATAGRAM_MAX]) {
    uint32_t place = (cid * 97 + seq * 2 + to_server) % OPENED;
    struct opened *opened = &tap->opened[place];
    if (tap->sizes[place] == size && opened->cid == cid && opened->seq == seq &&
        opened->to_server == to_server && memcmp(opened->sealed, bytes, size) == 0) {
        memcpy(room, opened->plain, size);
        return HC_OK;
    }
    enum hc_status status = hc_party_open(party, to_server, bytes, size, room);
    if (status != HC_OK)
        return status;
    opened->to_server = to_server;
    opened->cid = cid;
    opened->seq = seq;
    tap->sizes[place] = size;
    memcpy(opened->sealed, bytes, size);
    memcpy(opened->plain, room, size);
    return HC_OK;
}

const uint8_t *hc_tap_open(struct hc_tap *tap, bool to_server, const uint8_t *bytes, size_t size,
                           uint8_t room[static HC_DATAGRAM_MAX]) {
    const struct hc_party *party = NULL;
    uint32_t cid, seq;
    struct hc_accept accept;
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK)
        party = hc_tap_party(tap, cid);
    if (party != NULL && open_data(tap, party, cid, seq, to_server, bytes, size, room) == HC_OK)
        return room;
    if (to_server || hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return bytes;
    party = hc_tap_party(tap, accept.cid);
    if (party == NULL || hc_seal_open_accept(party->keys.s2c, bytes, size, room) != HC_OK)
        return bytes;
    memset(room + size - HC_TAG_SIZE, 0, HC_TAG_SIZE);
    return room;
}
