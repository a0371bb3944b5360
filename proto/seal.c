/// Seals: the keys of a connection, sealing and opening, and reset tokens.
#include "proto/seal.h"

#include "common/bytes.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <string.h>

#define KEYS_LABEL "HCAST03 keys"
#define CONTINUES_LABEL "HCAST03 continues"
#define RESET_LABEL "HCAST03 reset"

enum {
    KEYS_LABEL_SIZE = sizeof KEYS_LABEL - 1,
    KEYS_MESSAGE_SIZE =
        KEYS_LABEL_SIZE + 8 + HC_TOKEN_SIZE + 2 * HC_NONCE_SIZE + 4 + 3 * HC_EXCHANGE_KEY_SIZE,
    RESET_MESSAGE_SIZE = 4 + 8 + 16 + 2,
    CIPHER_NONCE_SIZE = 12,
    SEQ_AT = 5, ///< in DATA
    ACCEPT_MIN = HC_ACCEPT_BODY_AT + HC_TAG_SIZE,
    DATA_MIN = HC_DATA_BODY_AT + HC_TAG_SIZE,
};

_Static_assert(HC_SEAL_KEY_SIZE == crypto_aead_chacha20poly1305_ietf_KEYBYTES &&
                   CIPHER_NONCE_SIZE == crypto_aead_chacha20poly1305_ietf_NPUBBYTES &&
                   HC_TAG_SIZE == crypto_aead_chacha20poly1305_ietf_ABYTES,
               "the cipher's sizes");
_Static_assert(HC_EXCHANGE_KEY_SIZE == crypto_scalarmult_BYTES, "X25519's keys");
_Static_assert(HC_EXCHANGE_KEY_SIZE == crypto_scalarmult_SCALARBYTES, "X25519's secrets");
_Static_assert(SEQ_AT + 4 == HC_DATA_CLEAR_SIZE, "seq ends the clear bytes");

void hc_seal_public(const uint8_t secret[static HC_EXCHANGE_KEY_SIZE],
                    uint8_t out[static HC_EXCHANGE_KEY_SIZE]) {
    int failed = crypto_scalarmult_base(out, secret);
    HC_ASSERT(!failed);
}

enum hc_status hc_seal_exchange(const uint8_t secret[static HC_EXCHANGE_KEY_SIZE],
                                const uint8_t key[static HC_EXCHANGE_KEY_SIZE],
                                uint8_t out[static HC_EXCHANGE_KEY_SIZE]) {
    if (crypto_scalarmult(out, secret, key) == 0)
        return HC_OK;
    memset(out, 0, HC_EXCHANGE_KEY_SIZE);
    return HC_MALFORMED;
}

void hc_seal_derive(const struct hc_seal_material *material, struct hc_seal_keys *out) {
    uint8_t message[KEYS_MESSAGE_SIZE];
    struct hc_writer writer = hc_bytes_writer(message, sizeof message);
    hc_bytes_put(&writer, KEYS_LABEL, KEYS_LABEL_SIZE);
    hc_bytes_put_u64(&writer, material->protocol_id);
    hc_bytes_put(&writer, material->token, HC_TOKEN_SIZE);
    hc_bytes_put(&writer, material->client_nonce, HC_NONCE_SIZE);
    hc_bytes_put(&writer, material->server_nonce, HC_NONCE_SIZE);
    hc_bytes_put_u32(&writer, material->cid);
    hc_bytes_put(&writer, material->client_key, HC_EXCHANGE_KEY_SIZE);
    hc_bytes_put(&writer, material->server_key, HC_EXCHANGE_KEY_SIZE);
    hc_bytes_put(&writer, material->shared, HC_EXCHANGE_KEY_SIZE);
    HC_ASSERT(!writer.failed && writer.at == sizeof message);

    uint8_t both[2 * HC_SEAL_KEY_SIZE];
    int failed = crypto_generichash(both, sizeof both, message, sizeof message, material->secret,
                                    HC_TOKEN_SECRET_SIZE);
    HC_ASSERT(!failed);
    memcpy(out->c2s, both, HC_SEAL_KEY_SIZE);
    memcpy(out->s2c, both + HC_SEAL_KEY_SIZE, HC_SEAL_KEY_SIZE);
    failed =
        crypto_generichash(out->continues, sizeof out->continues, (const uint8_t *)CONTINUES_LABEL,
                           sizeof CONTINUES_LABEL - 1, both, sizeof both);
    HC_ASSERT(!failed);
    sodium_memzero(both, sizeof both);
    sodium_memzero(message, sizeof message);
}

void hc_seal_init(struct hc_sealer *sealer, const uint8_t key[static HC_SEAL_KEY_SIZE]) {
    memcpy(sealer->key, key, HC_SEAL_KEY_SIZE);
    sealer->next = 0;
}

static void nonce_of(uint32_t seq, uint8_t out[static CIPHER_NONCE_SIZE]) {
    struct hc_writer writer = hc_bytes_writer(out, CIPHER_NONCE_SIZE);
    hc_bytes_put_u64(&writer, 0);
    hc_bytes_put_u32(&writer, seq);
    HC_ASSERT(!writer.failed && writer.at == CIPHER_NONCE_SIZE);
}

/// The seq of a DATA, which must be long enough.
static uint32_t data_seq(const uint8_t *datagram) {
    struct hc_reader reader = hc_bytes_reader(datagram + SEQ_AT, 4);
    return hc_bytes_get_u32(&reader);
}

/// Seals the bytes between the first `clear` ones and the tag, with a seq that is used once.
static void seal_once(const struct hc_sealer *sealer, uint32_t seq, uint8_t *datagram, size_t clear,
                      size_t size) {
    uint8_t nonce[CIPHER_NONCE_SIZE];
    nonce_of(seq, nonce);
    int failed = crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        datagram + clear, datagram + size - HC_TAG_SIZE, NULL, datagram + clear,
        size - HC_TAG_SIZE - clear, datagram, clear, NULL, nonce, sealer->key);
    HC_ASSERT(!failed);
}

/// Seals the bytes between the first `clear` ones and the tag.
static void seal(struct hc_sealer *sealer, uint32_t seq, uint8_t *datagram, size_t clear,
                 size_t size) {
    // A repeated nonce would reveal both plaintexts and the key of the tags.
    HC_ASSERT(seq >= sealer->next);
    sealer->next = (uint64_t)seq + 1;
    seal_once(sealer, seq, datagram, clear, size);
}

void hc_seal_accept(struct hc_sealer *sealer, uint8_t *datagram, size_t size) {
    HC_ASSERT(size >= ACCEPT_MIN && size <= HC_DATAGRAM_MAX);
    HC_ASSERT(datagram[0] == HC_DATAGRAM_ACCEPT);
    seal(sealer, 0, datagram, HC_ACCEPT_BODY_AT, size);
}

void hc_seal_data(struct hc_sealer *sealer, uint8_t *datagram, size_t size) {
    HC_ASSERT(size >= DATA_MIN && size <= HC_DATAGRAM_MAX);
    HC_ASSERT(datagram[0] == HC_DATAGRAM_DATA && data_seq(datagram) > 0);
    seal(sealer, data_seq(datagram), datagram, HC_DATA_CLEAR_SIZE, size);
}

void hc_seal_farewell(const struct hc_sealer *sealer, uint8_t *datagram, size_t size) {
    uint32_t seq = data_seq(datagram);
    HC_ASSERT(size >= DATA_MIN && size <= HC_DATAGRAM_MAX);
    HC_ASSERT(seq >= HC_SEQ_FAREWELL && sealer->next <= HC_SEQ_FAREWELL);
    seal_once(sealer, seq, datagram, HC_DATA_CLEAR_SIZE, size);
}

static enum hc_status open(const uint8_t key[static HC_SEAL_KEY_SIZE], uint32_t seq,
                           const uint8_t *datagram, size_t clear, size_t size,
                           uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t nonce[CIPHER_NONCE_SIZE];
    nonce_of(seq, nonce);
    // If the tag is wrong, the cipher fills its output with zeros.
    if (crypto_aead_chacha20poly1305_ietf_decrypt_detached(
            out + clear, NULL, datagram + clear, size - HC_TAG_SIZE - clear,
            datagram + size - HC_TAG_SIZE, datagram, clear, nonce, key) != 0)
        return HC_MALFORMED;
    memcpy(out, datagram, clear);
    return HC_OK;
}

enum hc_status hc_seal_open_accept(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                   const uint8_t *datagram, size_t size,
                                   uint8_t out[static HC_DATAGRAM_MAX]) {
    if (size < ACCEPT_MIN || size > HC_DATAGRAM_MAX)
        return HC_TRUNCATED;
    if (datagram[0] != HC_DATAGRAM_ACCEPT)
        return HC_MALFORMED;
    return open(key, 0, datagram, HC_ACCEPT_BODY_AT, size, out);
}

enum hc_status hc_seal_open_data(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                 const uint8_t *datagram, size_t size,
                                 uint8_t out[static HC_DATAGRAM_MAX]) {
    if (size < DATA_MIN || size > HC_DATAGRAM_MAX)
        return HC_TRUNCATED;
    uint32_t seq = data_seq(datagram);
    if (datagram[0] != HC_DATAGRAM_DATA || seq == 0)
        return HC_MALFORMED;
    return open(key, seq, datagram, HC_DATA_CLEAR_SIZE, size, out);
}

static void make_continue_proof(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                const uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE],
                                uint8_t out[static HC_PROOF_SIZE]) {
    int failed = crypto_generichash(out, HC_PROOF_SIZE, connect, HC_CONNECT_CONTINUE_PROOF_AT, key,
                                    HC_SEAL_KEY_SIZE);
    HC_ASSERT(!failed);
}

void hc_seal_put_continue_proof(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]) {
    HC_ASSERT(connect[0] == HC_DATAGRAM_CONNECT);
    make_continue_proof(key, connect, connect + HC_CONNECT_CONTINUE_PROOF_AT);
}

bool hc_seal_continue_proof_holds(const uint8_t key[static HC_SEAL_KEY_SIZE],
                                  const uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]) {
    uint8_t expected[HC_PROOF_SIZE];
    make_continue_proof(key, connect, expected);
    return sodium_memcmp(expected, connect + HC_CONNECT_CONTINUE_PROOF_AT, sizeof expected) == 0;
}

void hc_seal_reset_token(const struct hc_token_key *key, uint32_t cid, uint64_t audience,
                         const struct hc_address *address,
                         uint8_t out[static HC_RESET_TOKEN_SIZE]) {
    uint8_t reset_key[HC_SEAL_KEY_SIZE];
    int failed = crypto_generichash(reset_key, sizeof reset_key, (const uint8_t *)RESET_LABEL,
                                    sizeof RESET_LABEL - 1, key->key, HC_TOKEN_KEY_SIZE);
    HC_ASSERT(!failed);
    uint8_t message[RESET_MESSAGE_SIZE];
    struct hc_writer writer = hc_bytes_writer(message, sizeof message);
    hc_bytes_put_u32(&writer, cid);
    hc_bytes_put_u64(&writer, audience);
    hc_bytes_put(&writer, address->ip, sizeof address->ip);
    hc_bytes_put_u16(&writer, address->port);
    HC_ASSERT(!writer.failed && writer.at == sizeof message);
    failed = crypto_generichash(out, HC_RESET_TOKEN_SIZE, message, sizeof message, reset_key,
                                sizeof reset_key);
    HC_ASSERT(!failed);
    sodium_memzero(reset_key, sizeof reset_key);
}

bool hc_seal_reset_equal(const uint8_t own[static HC_RESET_TOKEN_SIZE],
                         const uint8_t received[static HC_RESET_TOKEN_SIZE]) {
    return sodium_memcmp(own, received, HC_RESET_TOKEN_SIZE) == 0;
}
