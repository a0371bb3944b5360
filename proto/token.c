/// Tokens: sealing and opening, key rings, proofs, the MAC of DENY, and credentials as text.
#include "proto/token.h"

#include "common/bytes.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#define AAD_LABEL "HINDCAST-TOKEN-1"

enum {
    LABEL_SIZE = sizeof AAD_LABEL - 1,
    KIND_AT = 1 + 1,                ///< place of the kind, behind version and key_id
    EXPIRE_AT = KIND_AT + 1 + 1,    ///< place of expire_s, behind kind and rights, with the match
    CLEAR_SIZE = EXPIRE_AT + 4 + 4, ///< bytes of the clear part, up to issued_s
    RIGHTS_PLAYERS = 7,             ///< the bits of the most local players
    RIGHTS_WATCH = 8,
    RIGHTS_BITS = 4,    ///< lowest bits of their byte, below the high bits of the match
    MATCH_LOW_BITS = 7, ///< of the match, beside the kind
    AAD_SIZE = LABEL_SIZE + 8 + CLEAR_SIZE,
    SEALED_AT = CLEAR_SIZE + HC_TOKEN_NONCE_SIZE,
    SEALED_SIZE = HC_TOKEN_ID_SIZE + 8 + HC_TOKEN_SECRET_SIZE + 8 + HC_TOKEN_NAME_SIZE +
                  HC_TOKEN_USER_DATA_SIZE,
    TAG_AT = SEALED_AT + SEALED_SIZE,
    PROVEN_SIZE = HC_DATAGRAM_CONNECT_SIZE - HC_PROOF_SIZE,
    DENIED_SIZE = HC_DATAGRAM_DENY_SIZE - HC_TAG_SIZE,
    CREDENTIAL_SIZE = HC_TOKEN_SIZE + HC_TOKEN_SECRET_SIZE,
};

_Static_assert(SEALED_SIZE == 192 && TAG_AT + HC_TAG_SIZE == HC_TOKEN_SIZE, "token");
_Static_assert(PROVEN_SIZE == 1184 && DENIED_SIZE == 29, "the bytes under proof and MAC");
_Static_assert(CREDENTIAL_SIZE % 3 == 0, "a credential's text has no spare bits");
_Static_assert(sizeof(struct hc_credential) == CREDENTIAL_SIZE, "a credential is plain bytes");
_Static_assert(HC_TOKEN_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES &&
                   HC_TOKEN_NONCE_SIZE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES &&
                   HC_TAG_SIZE == crypto_aead_xchacha20poly1305_ietf_ABYTES,
               "the cipher's sizes");

/// Whether the second key is the published one; otherwise it is the former one.
static bool has_published(const struct hc_token_ring *ring) {
    HC_ASSERT(ring->count <= 2);
    return ring->count == 2 && ring->keys[1].id == (uint8_t)(ring->keys[0].id + 1);
}

enum hc_status hc_token_ring_publish(struct hc_token_ring *ring,
                                     const uint8_t key[static HC_TOKEN_KEY_SIZE]) {
    if (has_published(ring))
        return HC_UNEXPECTED;
    bool first = ring->count == 0;
    struct hc_token_key *place = &ring->keys[first ? 0 : 1];
    place->id = first ? 0 : (uint8_t)(ring->keys[0].id + 1);
    memcpy(place->key, key, HC_TOKEN_KEY_SIZE);
    ring->count = first ? 1 : 2;
    return HC_OK;
}

enum hc_status hc_token_ring_use(struct hc_token_ring *ring) {
    if (!has_published(ring))
        return HC_UNEXPECTED;
    struct hc_token_key former = ring->keys[0];
    ring->keys[0] = ring->keys[1];
    ring->keys[1] = former;
    return HC_OK;
}

static const struct hc_token_key *find(const struct hc_token_ring *ring, uint8_t id) {
    for (uint32_t i = 0; i < ring->count; i++)
        if (ring->keys[i].id == id)
            return &ring->keys[i];
    return NULL;
}

static void associate(uint64_t protocol_id, const uint8_t head[static CLEAR_SIZE],
                      uint8_t out[static AAD_SIZE]) {
    struct hc_writer writer = hc_bytes_writer(out, AAD_SIZE);
    hc_bytes_put(&writer, AAD_LABEL, LABEL_SIZE);
    hc_bytes_put_u64(&writer, protocol_id);
    hc_bytes_put(&writer, head, CLEAR_SIZE);
    HC_ASSERT(!writer.failed && writer.at == AAD_SIZE);
}

static uint32_t seconds(uint64_t unix_s) {
    return unix_s < UINT32_MAX ? (uint32_t)unix_s : UINT32_MAX;
}

void hc_token_seal(const struct hc_token_key *key, uint64_t protocol_id,
                   const struct hc_token *token, const uint8_t nonce[static HC_TOKEN_NONCE_SIZE],
                   uint8_t out[static HC_TOKEN_SIZE]) {
    HC_ASSERT(token->kind == HC_TOKEN_CONNECT || token->kind == HC_TOKEN_RESUME);
    HC_ASSERT(token->players <= HC_OWN_PLAYERS_MAX && token->match <= HC_MATCH_MAX);
    struct hc_writer writer = hc_bytes_writer(out, TAG_AT);
    hc_bytes_put_u8(&writer, HC_TOKEN_VERSION);
    hc_bytes_put_u8(&writer, key->id);
    hc_bytes_put_u8(&writer, (uint8_t)((unsigned)token->match << 1 | token->kind));
    hc_bytes_put_u8(&writer, (uint8_t)(token->match >> MATCH_LOW_BITS << RIGHTS_BITS |
                                       (token->watch ? RIGHTS_WATCH : 0) | token->players));
    hc_bytes_put_u32(&writer, seconds(token->expire_s));
    hc_bytes_put_u32(&writer, seconds(token->issued_s));
    hc_bytes_put(&writer, nonce, HC_TOKEN_NONCE_SIZE);
    hc_bytes_put(&writer, token->token_id, HC_TOKEN_ID_SIZE);
    hc_bytes_put_u64(&writer, token->client_id);
    hc_bytes_put(&writer, token->secret, HC_TOKEN_SECRET_SIZE);
    hc_bytes_put_u64(&writer, token->audience);
    hc_bytes_put(&writer, token->name, HC_TOKEN_NAME_SIZE);
    hc_bytes_put(&writer, token->user_data, HC_TOKEN_USER_DATA_SIZE);
    HC_ASSERT(!writer.failed && writer.at == TAG_AT);

    uint8_t aad[AAD_SIZE];
    associate(protocol_id, out, aad);
    int failed = crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
        out + SEALED_AT, out + TAG_AT, NULL, out + SEALED_AT, SEALED_SIZE, aad, sizeof aad, NULL,
        out + CLEAR_SIZE, key->key);
    HC_ASSERT(!failed);
}

/// Reads the sealed fields into `token`.
static void get_sealed(const uint8_t plain[static SEALED_SIZE], struct hc_token *token) {
    struct hc_reader reader = hc_bytes_reader(plain, SEALED_SIZE);
    hc_bytes_get(&reader, token->token_id, HC_TOKEN_ID_SIZE);
    token->client_id = hc_bytes_get_u64(&reader);
    hc_bytes_get(&reader, token->secret, HC_TOKEN_SECRET_SIZE);
    token->audience = hc_bytes_get_u64(&reader);
    hc_bytes_get(&reader, token->name, HC_TOKEN_NAME_SIZE);
    hc_bytes_get(&reader, token->user_data, HC_TOKEN_USER_DATA_SIZE);
    HC_ASSERT(!reader.failed && hc_bytes_left(&reader) == 0);
}

enum hc_status hc_token_open(const struct hc_token_ring *ring, uint64_t protocol_id,
                             uint64_t audience, uint64_t now_s,
                             const uint8_t bytes[static HC_TOKEN_SIZE], struct hc_token *out) {
    struct hc_reader reader = hc_bytes_reader(bytes, CLEAR_SIZE);
    uint8_t version = hc_bytes_get_u8(&reader), key_id = hc_bytes_get_u8(&reader);
    uint8_t kind = hc_bytes_get_u8(&reader), rights = hc_bytes_get_u8(&reader);
    uint16_t match = hc_token_match(bytes);
    if (version != HC_TOKEN_VERSION || match > HC_MATCH_MAX ||
        (rights & RIGHTS_PLAYERS) > HC_OWN_PLAYERS_MAX)
        return HC_MALFORMED;
    const struct hc_token_key *key = find(ring, key_id);
    if (key == NULL)
        return HC_UNEXPECTED;
    struct hc_token token = {.kind = kind & 1 ? HC_TOKEN_RESUME : HC_TOKEN_CONNECT,
                             .players = rights & RIGHTS_PLAYERS,
                             .watch = (rights & RIGHTS_WATCH) != 0,
                             .match = match,
                             .expire_s = hc_bytes_get_u32(&reader)};
    token.issued_s = hc_bytes_get_u32(&reader);

    uint8_t aad[AAD_SIZE], plain[SEALED_SIZE];
    associate(protocol_id, bytes, aad);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
            plain, NULL, bytes + SEALED_AT, SEALED_SIZE, bytes + TAG_AT, aad, sizeof aad,
            bytes + CLEAR_SIZE, key->key) != 0)
        return HC_MALFORMED;
    get_sealed(plain, &token);
    sodium_memzero(plain, sizeof plain);
    *out = token;
    if (now_s >= token.expire_s)
        return HC_TOO_OLD;
    return token.audience == audience ? HC_OK : HC_INVALID;
}

uint16_t hc_token_match(const uint8_t bytes[static HC_TOKEN_SIZE]) {
    const uint8_t *kind = bytes + KIND_AT, *rights = kind + 1;
    return (uint16_t)(*rights >> RIGHTS_BITS << MATCH_LOW_BITS | *kind >> 1);
}

uint64_t hc_token_number(const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    struct hc_reader reader = hc_bytes_reader(token_id, HC_TOKEN_ID_SIZE);
    return hc_bytes_get_u64(&reader);
}

uint64_t hc_token_begun_s(const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    struct hc_reader reader = hc_bytes_reader(token_id + 8, HC_TOKEN_ID_SIZE - 8);
    return hc_bytes_get_u64(&reader);
}

void hc_token_put_ticket_id(uint8_t token_id[static HC_TOKEN_ID_SIZE], uint64_t number,
                            uint64_t begun_s) {
    struct hc_writer writer = hc_bytes_writer(token_id, HC_TOKEN_ID_SIZE);
    hc_bytes_put_u64(&writer, number);
    hc_bytes_put_u64(&writer, begun_s);
}

/// BLAKE2b-128. Proofs and MACs share a key, because their bytes begin with different kinds.
static void authenticate(const uint8_t *secret, const uint8_t *bytes, size_t size,
                         uint8_t out[static HC_PROOF_SIZE]) {
    int failed = crypto_generichash(out, HC_PROOF_SIZE, bytes, size, secret, HC_TOKEN_SECRET_SIZE);
    HC_ASSERT(!failed);
}

void hc_token_put_proof(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                        uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]) {
    HC_ASSERT(connect[0] == HC_DATAGRAM_CONNECT);
    authenticate(secret, connect, PROVEN_SIZE, connect + PROVEN_SIZE);
}

enum hc_status hc_token_check_proof(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                                    const uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]) {
    uint8_t expected[HC_PROOF_SIZE];
    authenticate(secret, connect, PROVEN_SIZE, expected);
    bool same = sodium_memcmp(expected, connect + PROVEN_SIZE, sizeof expected) == 0;
    return same ? HC_OK : HC_MALFORMED;
}

void hc_token_put_deny_mac(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                           uint8_t deny[static HC_DATAGRAM_DENY_SIZE]) {
    HC_ASSERT(deny[0] == HC_DATAGRAM_DENY);
    authenticate(secret, deny, DENIED_SIZE, deny + DENIED_SIZE);
}

enum hc_status hc_token_check_deny_mac(const uint8_t secret[static HC_TOKEN_SECRET_SIZE],
                                       const uint8_t deny[static HC_DATAGRAM_DENY_SIZE]) {
    if (sodium_is_zero(deny + DENIED_SIZE, HC_TAG_SIZE))
        return HC_UNEXPECTED;
    uint8_t expected[HC_TAG_SIZE];
    authenticate(secret, deny, DENIED_SIZE, expected);
    bool same = sodium_memcmp(expected, deny + DENIED_SIZE, sizeof expected) == 0;
    return same ? HC_OK : HC_MALFORMED;
}

uint64_t hc_token_expire_s(const struct hc_credential *credential) {
    struct hc_reader reader = hc_bytes_reader(credential->token + EXPIRE_AT, 4);
    return hc_bytes_get_u32(&reader);
}

void hc_token_write_credential(const struct hc_credential *credential,
                               char text[static HC_CREDENTIAL_TEXT_SIZE + 1]) {
    uint8_t bytes[CREDENTIAL_SIZE];
    memcpy(bytes, credential->token, HC_TOKEN_SIZE);
    memcpy(bytes + HC_TOKEN_SIZE, credential->secret, HC_TOKEN_SECRET_SIZE);
    sodium_bin2base64(text, HC_CREDENTIAL_TEXT_SIZE + 1, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
}

enum hc_status hc_token_read_credential(const char *text, size_t size, struct hc_credential *out) {
    if (size > 0 && text[size - 1] == '\n')
        size -= size > 1 && text[size - 2] == '\r' ? 2 : 1;
    if (size < HC_CREDENTIAL_TEXT_SIZE)
        return HC_TRUNCATED;
    if (size > HC_CREDENTIAL_TEXT_SIZE)
        return HC_MALFORMED;
    // libsodium 1.0.18 takes bytes above 127 for digits where char is signed.
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] > 0x7f)
            return HC_MALFORMED;
    uint8_t bytes[CREDENTIAL_SIZE];
    size_t read = 0;
    if (sodium_base642bin(bytes, sizeof bytes, text, size, NULL, &read, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        read != sizeof bytes)
        return HC_MALFORMED;
    memcpy(out->token, bytes, HC_TOKEN_SIZE);
    memcpy(out->secret, bytes + HC_TOKEN_SIZE, HC_TOKEN_SECRET_SIZE);
    sodium_memzero(bytes, sizeof bytes);
    return HC_OK;
}
