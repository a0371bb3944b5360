/// Fuzzes tokens, proofs, credentials and used tokens: any bytes, and any contents sealed with a
/// key. An opened token must seal to the same bytes; nothing else may open.
///
/// The input is a byte for the kind, and the bytes to check.
#include "common/bytes.h"
#include "hindcast/check.h"
#include "proto/token.h"
#include "server/spent_tokens.h"
#include "tests/fuzz/actions.h"

#include <sodium.h>
#include <string.h>

enum {
    NOW_S = 1000,
    AUDIENCE = 7,
    PROTOCOL_ID = 9,
    HEAD = 12,
    NONCE_AT = 12,
    SEALED_AT = 36,
    SEALED = 192,
    AUDIENCE_AT = SEALED_AT + 16 + 8 + 32,
    TAG_AT = SEALED_AT + SEALED,
    SPENT_IDS = 8, ///< a power of two
    SPENT_ROOM = 3,
    SPENT_BYTES = 1024,
};

static const struct hc_token_ring ring = {.keys = {{.id = 1, .key = {1}}, {.id = 2, .key = {2}}},
                                          .count = 2};
static const struct hc_token_ring foreign = {.keys = {{.id = 1, .key = {3}}, {.id = 2}},
                                             .count = 2};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t number_at(const uint8_t *bytes, unsigned size) {
    struct fuzz_source source = {.bytes = bytes, .left = size};
    return fuzz_take_number(&source, size);
}

static enum hc_status open_here(const uint8_t bytes[static HC_TOKEN_SIZE], struct hc_token *out) {
    return hc_token_open(&ring, PROTOCOL_ID, AUDIENCE, NOW_S, bytes, out);
}

/// Seals `bytes`, whether or not they are a token.
static void seal_any(const struct hc_token_key *key, uint8_t bytes[static HC_TOKEN_SIZE]) {
    static const char label[] = "HINDCAST-TOKEN-1";
    uint8_t aad[sizeof label - 1 + 8 + HEAD] = {0};
    memcpy(aad, label, sizeof label - 1);
    aad[sizeof label - 1] = PROTOCOL_ID;
    memcpy(aad + sizeof label - 1 + 8, bytes, HEAD);
    crypto_aead_xchacha20poly1305_ietf_encrypt_detached(bytes + SEALED_AT, bytes + TAG_AT, NULL,
                                                        bytes + SEALED_AT, SEALED, aad, sizeof aad,
                                                        NULL, bytes + NONCE_AT, key->key);
}

/// The status that must come of `plain` after `key` sealed it.
static enum hc_status expected_status(const uint8_t *plain, const struct hc_token_key *key) {
    if (plain[0] != HC_TOKEN_VERSION || hc_token_match(plain) > HC_MATCH_MAX ||
        (plain[3] & 7) > HC_OWN_PLAYERS_MAX)
        return HC_MALFORMED;
    if (plain[1] != ring.keys[0].id && plain[1] != ring.keys[1].id)
        return HC_UNEXPECTED;
    if (plain[1] != key->id)
        return HC_MALFORMED;
    if (number_at(plain + 4, 4) <= NOW_S)
        return HC_TOO_OLD;
    return number_at(plain + AUDIENCE_AT, 8) == AUDIENCE ? HC_OK : HC_INVALID;
}

/// Checks an opened token: it opens only for its keys, protocol_id, audience and time, unchanged.
static void examine(const uint8_t bytes[static HC_TOKEN_SIZE], const struct hc_token *token,
                    struct fuzz_source *source) {
    uint8_t again[HC_TOKEN_SIZE];
    struct hc_token other;
    const struct hc_token_key *key = &ring.keys[bytes[1] == ring.keys[0].id ? 0 : 1];
    hc_token_seal(key, PROTOCOL_ID, token, bytes + NONCE_AT, again);
    HC_ASSERT(memcmp(bytes, again, sizeof again) == 0);
    HC_ASSERT(hc_token_open(&foreign, PROTOCOL_ID, AUDIENCE, NOW_S, bytes, &other) != HC_OK);
    HC_ASSERT(hc_token_open(&ring, PROTOCOL_ID + 1, AUDIENCE, NOW_S, bytes, &other) ==
              HC_MALFORMED);
    HC_ASSERT(hc_token_open(&ring, PROTOCOL_ID, AUDIENCE + 1, NOW_S, bytes, &other) == HC_INVALID);
    HC_ASSERT(hc_token_open(&ring, PROTOCOL_ID, AUDIENCE, token->expire_s, bytes, &other) ==
              HC_TOO_OLD);
    uint64_t bit = fuzz_take_number(source, 2) % (8 * sizeof again);
    again[bit / 8] ^= (uint8_t)(1 << bit % 8);
    HC_ASSERT(open_here(again, &other) != HC_OK);
}

static void try_token(struct fuzz_source *source) {
    uint8_t bytes[HC_TOKEN_SIZE];
    struct hc_token token;
    fuzz_take_bytes(source, bytes, sizeof bytes);
    if (open_here(bytes, &token) == HC_OK)
        examine(bytes, &token, source);
}

static void try_sealed(const struct hc_token_key *key, struct fuzz_source *source) {
    uint8_t bytes[HC_TOKEN_SIZE];
    struct hc_token token;
    fuzz_take_bytes(source, bytes, sizeof bytes);
    enum hc_status status = expected_status(bytes, key);
    seal_any(key, bytes);
    HC_ASSERT(open_here(bytes, &token) == status);
    if (status == HC_OK)
        examine(bytes, &token, source);
}

/// Checks that proofs and MACs hold for their own bytes and no others.
static void try_authenticated(struct fuzz_source *source) {
    uint8_t secret[HC_TOKEN_SECRET_SIZE], other[HC_TOKEN_SECRET_SIZE];
    uint8_t connect[HC_DATAGRAM_CONNECT_SIZE], deny[HC_DATAGRAM_DENY_SIZE];
    fuzz_take_bytes(source, secret, sizeof secret);
    memcpy(other, secret, sizeof secret);
    other[secret[0] % sizeof other] ^= 1;
    uint64_t bit = fuzz_take_number(source, 2);
    fuzz_take_bytes(source, deny, sizeof deny);
    fuzz_take_bytes(source, connect, sizeof connect);
    (void)hc_token_check_deny_mac(secret, deny);
    (void)hc_token_check_proof(secret, connect);
    connect[0] = HC_DATAGRAM_CONNECT;
    deny[0] = HC_DATAGRAM_DENY;
    hc_token_put_proof(secret, connect);
    hc_token_put_deny_mac(secret, deny);
    HC_ASSERT(hc_token_check_proof(secret, connect) == HC_OK);
    HC_ASSERT(hc_token_check_deny_mac(secret, deny) == HC_OK);
    HC_ASSERT(hc_token_check_proof(other, connect) == HC_MALFORMED);
    HC_ASSERT(hc_token_check_deny_mac(other, deny) == HC_MALFORMED);
    connect[bit / 8 % sizeof connect] ^= (uint8_t)(1 << bit % 8);
    deny[bit / 8 % sizeof deny] ^= (uint8_t)(1 << bit % 8);
    HC_ASSERT(hc_token_check_proof(secret, connect) == HC_MALFORMED);
    HC_ASSERT(hc_token_check_deny_mac(secret, deny) == HC_MALFORMED);
    memset(deny + sizeof deny - HC_TAG_SIZE, 0, HC_TAG_SIZE);
    HC_ASSERT(hc_token_check_deny_mac(secret, deny) == HC_UNEXPECTED);
}

/// Reads a text, which must be written the same, except for the end of its line.
static void try_text(const struct fuzz_source *source) {
    struct hc_credential credential;
    char text[HC_CREDENTIAL_TEXT_SIZE + 1];
    const char *given = (const char *)source->bytes;
    if (hc_token_read_credential(given, source->left, &credential) != HC_OK)
        return;
    hc_token_write_credential(&credential, text);
    HC_ASSERT(strlen(text) == HC_CREDENTIAL_TEXT_SIZE);
    HC_ASSERT(memcmp(text, given, HC_CREDENTIAL_TEXT_SIZE) == 0);
    HC_ASSERT(source->left - HC_CREDENTIAL_TEXT_SIZE <= 2);
}

/// Rotates keys in any order: the ring holds the used key and the published or former one.
static void try_rotations(struct fuzz_source *source) {
    struct hc_token_ring turning = {.count = 0};
    uint8_t used = 0, beside = 0; // their first bytes
    uint32_t keys = 0;            // of all that were used
    bool published = false;
    while (source->left > 0) {
        uint8_t byte = fuzz_take(source), key[HC_TOKEN_KEY_SIZE] = {byte};
        bool swaps = (byte & 1) != 0, good = swaps == published;
        enum hc_status status =
            swaps ? hc_token_ring_use(&turning) : hc_token_ring_publish(&turning, key);
        HC_ASSERT(status == (good ? HC_OK : HC_UNEXPECTED));
        if (good && swaps) {
            uint8_t former = used;
            used = beside;
            beside = former;
        } else if (good) {
            *(keys == 0 ? &used : &beside) = byte;
        }
        published = good ? !swaps && keys > 0 : published;
        keys += good && (swaps || keys == 0);
        HC_ASSERT(turning.count == (keys + published < 2 ? keys : 2));
        HC_ASSERT(turning.count == 0 || turning.keys[0].id == (uint8_t)(keys - 1));
        HC_ASSERT(turning.count == 0 || turning.keys[0].key[0] == used);
        HC_ASSERT(turning.count < 2 || turning.keys[1].id == (uint8_t)(keys - (published ? 0 : 2)));
        HC_ASSERT(turning.count < 2 || turning.keys[1].key[0] == beside);
    }
}

static struct hc_sv_spent new_spent(uint8_t memory[static SPENT_BYTES]) {
    struct hc_sv_spent spent = {.seed = 1};
    HC_ASSERT(hc_sv_spent_layout(&spent, SPENT_ROOM, NULL) <= SPENT_BYTES);
    memset(memory, 0, SPENT_BYTES);
    hc_sv_spent_layout(&spent, SPENT_ROOM, memory);
    return spent;
}

/// The token of a user and a number; a ticket if `kind` has the bit 64.
static struct hc_token spent_token(uint8_t kind, uint8_t id, uint8_t number) {
    struct hc_token token = {.kind = (kind & 64) != 0 ? HC_TOKEN_RESUME : HC_TOKEN_CONNECT,
                             .issued_s = number,
                             .client_id = id};
    token.expire_s = 1 + (number * 7U + id) % 15U;
    hc_token_put_ticket_id(token.token_id, number + 1U + (kind & 64U), 0);
    return token;
}

/// Checks that a copy refuses what the original refuses, the used tokens in any case.
static void check_copy(struct hc_sv_spent *spent, bool used[SPENT_IDS][SPENT_IDS],
                       uint64_t now_us) {
    static uint8_t memory[SPENT_BYTES];
    struct hc_sv_spent copy = new_spent(memory);
    hc_sv_spent_copy(&copy, spent);
    for (unsigned i = 0; i < 2 * SPENT_IDS * SPENT_IDS; i++) {
        uint8_t id = i & (SPENT_IDS - 1), number = i >> 3 & (SPENT_IDS - 1);
        struct hc_token token = spent_token((uint8_t)i, id, number);
        enum hc_deny_reason reason = hc_sv_spent_check(spent, &token, false, now_us);
        HC_ASSERT(hc_sv_spent_check(&copy, &token, false, now_us) == reason);
        HC_ASSERT(reason != 0 || (i & 64) != 0 || !used[id][number]);
        HC_ASSERT((hc_sv_spent_match(&copy, &token) == NULL) ==
                  (hc_sv_spent_match(spent, &token) == NULL));
    }
}

/// Checks that a used token is not accepted again, at any time of the clock.
static void try_spent(struct fuzz_source *source) {
    static uint8_t memory[SPENT_BYTES];
    struct hc_sv_spent spent = new_spent(memory);
    bool used[SPENT_IDS][SPENT_IDS] = {{false}}; // by client_id and number
    uint64_t now_us = 1;
    for (; source->left > 0; now_us += 10000000) {
        uint8_t byte = fuzz_take(source), second = fuzz_take(source) & 15;
        uint8_t id = byte & (SPENT_IDS - 1), number = byte >> 3 & (SPENT_IDS - 1);
        struct hc_token token = spent_token(byte, id, number);
        bool ticket = token.kind == HC_TOKEN_RESUME;
        bool was = used[id][number];
        if (ticket)
            was = number + 65U <= hc_sv_spent_ticket(&spent, id);
        if (hc_sv_spent_check(&spent, &token, false, now_us) != 0)
            continue;
        HC_ASSERT(!was);
        HC_ASSERT(hc_sv_spent_use(&spent, &token, second, now_us));
        HC_ASSERT(hc_sv_spent_check(&spent, &token, false, now_us) == HC_DENY_USED);
        HC_ASSERT(hc_sv_spent_match(&spent, &token) != NULL);
        used[id][number] |= !ticket;
        if ((byte & 128) != 0) {
            hc_sv_spent_forget(&spent, id, token.token_id, ticket);
            used[id][number] &= ticket;
        }
        HC_ASSERT(spent.counts.users <= SPENT_ROOM);
    }
    check_copy(&spent, used, now_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_source source = {.bytes = data, .left = size};
    switch (fuzz_take(&source) % 7) {
    case 0:
        try_token(&source);
        break;
    case 1:
        try_sealed(&ring.keys[0], &source);
        break;
    case 2:
        try_sealed(&ring.keys[1], &source);
        break;
    case 3:
        try_authenticated(&source);
        break;
    case 4:
        try_text(&source);
        break;
    case 5:
        try_rotations(&source);
        break;
    default:
        try_spent(&source);
    }
    return 0;
}
