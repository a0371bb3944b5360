/// Tests proto/seal: keys, sealed datagrams, seqs used once, reset tokens.
#include "common/bytes.h"
#include "hindcast/rng.h"
#include "proto/seal.h"
#include "tests/run_suite.h"
#include "tests/sim/crypto_calls.h"
#include "tests/unit/count_up.h"
#include "tests/unit/secure_vectors.h"

#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t CID = 0xc1c2c3c4;

static uint8_t opened[HC_DATAGRAM_MAX];

static enum hc_status open_data(const uint8_t *key, const uint8_t *datagram, size_t size) {
    return hc_seal_open_data(key, datagram, size, opened);
}

static enum hc_status open_accept(const uint8_t *key, const uint8_t *datagram, size_t size) {
    return hc_seal_open_accept(key, datagram, size, opened);
}

/// The material of the known keys.
static struct hc_seal_material known_material(void) {
    struct hc_seal_material known = {.protocol_id = 0x0123456789abcdef, .cid = CID};
    count_up(known.secret, sizeof known.secret, 0x60);
    memcpy(known.token, vector_token, sizeof known.token);
    count_up(known.client_nonce, sizeof known.client_nonce, 0x80);
    count_up(known.server_nonce, sizeof known.server_nonce, 0x90);
    memcpy(known.client_key, vector_client_key, sizeof known.client_key);
    memcpy(known.server_key, vector_server_key, sizeof known.server_key);
    memcpy(known.shared, vector_shared, sizeof known.shared);
    return known;
}

static struct hc_seal_keys derive(const struct hc_seal_material *material) {
    struct hc_seal_keys keys;
    hc_seal_derive(material, &keys);
    return keys;
}

static struct hc_seal_keys known_keys(void) {
    struct hc_seal_material shared = known_material();
    return derive(&shared);
}

static struct hc_sealer sealer_of(const uint8_t *key) {
    struct hc_sealer sealer;
    hc_seal_init(&sealer, key);
    return sealer;
}

/// Writes the clear bytes of a DATA.
static void put_clear(uint32_t cid, uint32_t seq, uint8_t *datagram) {
    struct hc_writer writer = hc_bytes_writer(datagram, HC_DATA_CLEAR_SIZE);
    hc_bytes_put_u8(&writer, HC_DATAGRAM_DATA);
    hc_bytes_put_u32(&writer, cid);
    hc_bytes_put_u32(&writer, seq);
}

/// A DATA of `size` bytes whose sealed part counts up.
static void plain_data(uint32_t seq, uint8_t *datagram, size_t size) {
    memset(datagram, 0, size);
    put_clear(CID, seq, datagram);
    count_up(datagram + HC_DATA_CLEAR_SIZE, size - HC_DATA_CLEAR_SIZE - HC_TAG_SIZE, 0x70);
}

START_TEST(keys_equal_those_of_an_independent_implementation) {
    struct hc_seal_keys keys = known_keys();
    ck_assert_mem_eq(keys.c2s, vector_keys, HC_SEAL_KEY_SIZE);
    ck_assert_mem_eq(keys.s2c, vector_keys + HC_SEAL_KEY_SIZE, HC_SEAL_KEY_SIZE);
    ck_assert_mem_eq(keys.continues, vector_continue_key, HC_SEAL_KEY_SIZE);
}
END_TEST

START_TEST(every_bit_of_the_material_changes_all_keys) {
    struct hc_seal_keys known = known_keys();
    struct hc_seal_material shared = known_material();
    uint8_t *const parts[] = {
        shared.secret,       (uint8_t *)&shared.protocol_id, shared.token,      shared.client_nonce,
        shared.server_nonce, (uint8_t *)&shared.cid,         shared.client_key, shared.server_key,
        shared.shared};
    static const size_t sizes[] = {32, 8, HC_TOKEN_SIZE, HC_NONCE_SIZE, HC_NONCE_SIZE, 4, 32,
                                   32, 32};
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
        for (size_t bit = 0; bit < 8 * sizes[part]; bit++) {
            parts[part][bit / 8] ^= (uint8_t)(1u << bit % 8);
            struct hc_seal_keys other = derive(&shared);
            ck_assert_mem_ne(other.c2s, known.c2s, HC_SEAL_KEY_SIZE);
            ck_assert_mem_ne(other.s2c, known.s2c, HC_SEAL_KEY_SIZE);
            ck_assert_mem_ne(other.continues, known.continues, HC_SEAL_KEY_SIZE);
            parts[part][bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
}
END_TEST

START_TEST(a_continue_proof_covers_every_byte_before_it_and_the_key) {
    struct hc_seal_keys keys = known_keys();
    uint8_t connect[HC_DATAGRAM_CONNECT_SIZE] = {HC_DATAGRAM_CONNECT};
    count_up(connect + 1, HC_CONNECT_CONTINUE_PROOF_AT - 1, 1);
    hc_seal_put_continue_proof(keys.continues, connect);
    ck_assert_mem_eq(connect + HC_CONNECT_CONTINUE_PROOF_AT, vector_continue_proof, HC_PROOF_SIZE);
    ck_assert(hc_seal_continue_proof_holds(keys.continues, connect));
    for (size_t at = 0; at < HC_CONNECT_CONTINUE_PROOF_AT + HC_PROOF_SIZE; at++) {
        connect[at] ^= 1;
        ck_assert(!hc_seal_continue_proof_holds(keys.continues, connect));
        connect[at] ^= 1;
    }
    ck_assert(!hc_seal_continue_proof_holds(keys.c2s, connect));
}
END_TEST

START_TEST(an_exchange_gives_both_sides_the_secret_of_an_independent_implementation) {
    uint8_t client[HC_EXCHANGE_KEY_SIZE], server[HC_EXCHANGE_KEY_SIZE], out[HC_EXCHANGE_KEY_SIZE];
    count_up(client, sizeof client, 0xa0);
    count_up(server, sizeof server, 0xc0);
    hc_seal_public(client, out);
    ck_assert_mem_eq(out, vector_client_key, sizeof out);
    hc_seal_public(server, out);
    ck_assert_mem_eq(out, vector_server_key, sizeof out);
    ck_assert_int_eq(hc_seal_exchange(client, vector_server_key, out), HC_OK);
    ck_assert_mem_eq(out, vector_shared, sizeof out);
    ck_assert_int_eq(hc_seal_exchange(server, vector_client_key, out), HC_OK);
    ck_assert_mem_eq(out, vector_shared, sizeof out);
}
END_TEST

START_TEST(a_key_of_low_order_is_refused) {
    // All points of low order (https://cr.yp.to/ecdh.html#validate); the top bit is ignored.
    static const char *const points[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    for (size_t i = 0; i < 2 * sizeof points / sizeof points[0]; i++) {
        uint8_t secret[HC_EXCHANGE_KEY_SIZE], key[HC_EXCHANGE_KEY_SIZE], out[HC_EXCHANGE_KEY_SIZE];
        count_up(secret, sizeof secret, (uint8_t)i);
        sodium_hex2bin(key, sizeof key, points[i / 2], 64, NULL, NULL, NULL);
        key[31] |= (uint8_t)(i % 2 << 7);
        ck_assert_int_eq(hc_seal_exchange(secret, key, out), HC_MALFORMED);
        ck_assert(sodium_is_zero(out, sizeof out));
    }
}
END_TEST

START_TEST(sealed_datagrams_equal_those_of_an_independent_implementation) {
    struct hc_seal_keys keys = known_keys();
    struct hc_sealer client = sealer_of(keys.c2s), server = sealer_of(keys.s2c);
    uint8_t data[sizeof vector_data], plain[sizeof vector_data];
    plain_data(0x01020304, data, sizeof data);
    memcpy(plain, data, sizeof data);
    hc_seal_data(&client, data, sizeof data);
    ck_assert_mem_eq(data, vector_data, sizeof data);
    ck_assert_int_eq(open_data(keys.c2s, data, sizeof data), HC_OK);
    ck_assert_mem_eq(opened, plain, sizeof data - HC_TAG_SIZE);

    uint8_t accept[sizeof vector_accept], body[sizeof accept - HC_ACCEPT_BODY_AT - HC_TAG_SIZE];
    count_up(accept, HC_ACCEPT_BODY_AT, 0);
    accept[0] = HC_DATAGRAM_ACCEPT;
    count_up(body, sizeof body, 0x20);
    memcpy(accept + HC_ACCEPT_BODY_AT, body, sizeof body);
    hc_seal_accept(&server, accept, sizeof accept);
    ck_assert_mem_eq(accept, vector_accept, sizeof accept);
    ck_assert_int_eq(open_accept(keys.s2c, accept, sizeof accept), HC_OK);
    ck_assert_mem_eq(opened, accept, HC_ACCEPT_BODY_AT);
    ck_assert_mem_eq(opened + HC_ACCEPT_BODY_AT, body, sizeof body);
}
END_TEST

START_TEST(a_sealed_data_opens_to_the_same_bytes_at_every_size) {
    struct hc_seal_keys keys = known_keys();
    struct hc_sealer sealer = sealer_of(keys.s2c);
    struct hc_rng rng = hc_rng_init(41, 0);
    for (uint32_t size = HC_DATA_BODY_AT + HC_TAG_SIZE; size <= HC_DATAGRAM_MAX; size++) {
        // Exactly, for the sanitizers.
        uint8_t *datagram = malloc(size), plain[HC_DATAGRAM_MAX];
        for (uint32_t i = 0; i < size; i++)
            datagram[i] = (uint8_t)hc_rng_next(&rng);
        put_clear((uint32_t)hc_rng_next(&rng), size, datagram);
        memcpy(plain, datagram, size);
        hc_seal_data(&sealer, datagram, size);
        ck_assert_mem_eq(datagram, plain, HC_DATA_CLEAR_SIZE);
        size_t same = 0;
        for (size_t i = HC_DATA_CLEAR_SIZE; i < size - HC_TAG_SIZE; i++)
            same += datagram[i] == plain[i];
        ck_assert_uint_lt(same, 8 + (size - HC_DATA_CLEAR_SIZE) / 16);
        ck_assert_int_eq(open_data(keys.s2c, datagram, size), HC_OK);
        ck_assert_mem_eq(opened, plain, size - HC_TAG_SIZE);
        free(datagram);
    }
}
END_TEST

START_TEST(a_data_with_any_bit_changed_is_refused_and_reveals_nothing) {
    struct hc_seal_keys keys = known_keys();
    static const size_t sizes[] = {33, 34, 64, 200, 1200};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct hc_sealer sealer = sealer_of(keys.c2s);
        uint8_t datagram[HC_DATAGRAM_MAX], plain[HC_DATAGRAM_MAX];
        plain_data(77, datagram, sizes[i]);
        memcpy(plain, datagram, sizes[i]);
        hc_seal_data(&sealer, datagram, sizes[i]);
        for (size_t bit = 0; bit < 8 * sizes[i]; bit++) {
            memset(opened, 0, sizeof opened);
            datagram[bit / 8] ^= (uint8_t)(1u << bit % 8);
            ck_assert_msg(open_data(keys.c2s, datagram, sizes[i]) == HC_MALFORMED,
                          "bit %zu of %zu bytes", bit, sizes[i]);
            size_t sealed = sizes[i] - HC_DATA_CLEAR_SIZE - HC_TAG_SIZE;
            ck_assert_mem_ne(opened + HC_DATA_CLEAR_SIZE, plain + HC_DATA_CLEAR_SIZE, sealed);
            datagram[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        ck_assert_int_eq(open_data(keys.c2s, datagram, sizes[i]), HC_OK);
    }
}
END_TEST

START_TEST(an_accept_with_any_bit_changed_is_refused_and_reveals_nothing) {
    struct hc_seal_keys keys = known_keys();
    uint8_t accept[sizeof vector_accept], plain[sizeof vector_accept];
    size_t sealed = sizeof accept - HC_ACCEPT_BODY_AT - HC_TAG_SIZE;
    memcpy(accept, vector_accept, sizeof accept);
    ck_assert_int_eq(open_accept(keys.s2c, accept, sizeof accept), HC_OK);
    memcpy(plain, opened, sizeof plain);
    for (size_t bit = 0; bit < 8 * sizeof accept; bit++) {
        memset(opened, 0, sizeof opened);
        accept[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_msg(open_accept(keys.s2c, accept, sizeof accept) == HC_MALFORMED, "bit %zu", bit);
        ck_assert_mem_ne(opened + HC_ACCEPT_BODY_AT, plain + HC_ACCEPT_BODY_AT, sealed);
        accept[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_int_eq(open_accept(keys.s2c, accept, sizeof accept), HC_OK);
}
END_TEST

START_TEST(a_shortened_or_lengthened_datagram_is_refused) {
    struct hc_seal_keys keys = known_keys();
    struct hc_sealer sealer = sealer_of(keys.c2s);
    uint8_t datagram[HC_DATAGRAM_MAX + 1] = {0}, accept[HC_DATAGRAM_MAX + 1] = {0};
    plain_data(77, datagram, 100);
    hc_seal_data(&sealer, datagram, 100);
    memcpy(accept, vector_accept, sizeof vector_accept);
    for (size_t size = 0; size <= sizeof datagram; size++) {
        enum hc_status status = size < 33 || size > 1200 ? HC_TRUNCATED : HC_MALFORMED;
        if (size != 100)
            ck_assert_int_eq(open_data(keys.c2s, datagram, size), status);
        status = size < 92 || size > 1200 ? HC_TRUNCATED : HC_MALFORMED;
        if (size != sizeof vector_accept)
            ck_assert_int_eq(open_accept(keys.s2c, accept, size), status);
    }
    ck_assert_int_eq(open_data(keys.c2s, datagram, 100), HC_OK);
}
END_TEST

START_TEST(a_datagram_sent_back_or_to_another_connection_is_refused) {
    struct hc_seal_keys keys = known_keys();
    struct hc_seal_material shared = known_material();
    shared.server_nonce[15] ^= 1;
    struct hc_seal_keys next = derive(&shared);
    struct hc_sealer sealer = sealer_of(keys.c2s);
    uint8_t datagram[64];
    plain_data(1, datagram, sizeof datagram);
    hc_seal_data(&sealer, datagram, sizeof datagram);
    ck_assert_int_eq(open_data(keys.s2c, datagram, sizeof datagram), HC_MALFORMED);
    ck_assert_int_eq(open_data(next.c2s, datagram, sizeof datagram), HC_MALFORMED);
    ck_assert_int_eq(open_data(keys.c2s, datagram, sizeof datagram), HC_OK);
}
END_TEST

/// Seals as both ends with `keys` do: ACCEPT, then DATA with the seqs in [1, last].
static void seal_a_session(const struct hc_seal_keys *keys, uint32_t last) {
    struct hc_sealer client = sealer_of(keys->c2s), server = sealer_of(keys->s2c);
    uint8_t datagram[128] = {HC_DATAGRAM_ACCEPT};
    hc_seal_accept(&server, datagram, sizeof datagram);
    for (uint32_t seq = 1; seq <= last; seq++) {
        plain_data(seq, datagram, sizeof datagram);
        hc_seal_data(&client, datagram, sizeof datagram);
        plain_data(seq, datagram, sizeof datagram);
        hc_seal_data(&server, datagram, sizeof datagram);
    }
}

START_TEST(no_key_seals_twice_with_one_nonce_in_connections_of_the_same_token) {
    hc_crypto_calls_reset();
    struct hc_seal_material shared = known_material();
    enum { CONNECTIONS = 4, LAST = 1000 };
    for (uint8_t i = 0; i < CONNECTIONS; i++) {
        // The same client with a new nonce, a new nonce of the server, a new cid.
        shared.client_nonce[0] ^= i == 1;
        shared.server_nonce[0] ^= i == 2;
        shared.cid += i == 3;
        struct hc_seal_keys keys = derive(&shared);
        seal_a_session(&keys, LAST);
    }
    struct hc_crypto_calls seen = hc_crypto_calls();
    ck_assert_uint_eq(seen.sealed, CONNECTIONS * (2 * LAST + 1));
    ck_assert_uint_eq(seen.keys, CONNECTIONS * 2);
    ck_assert_uint_eq(seen.repeats, 0);
    // The spy must notice the same connection once more.
    struct hc_seal_keys again = derive(&shared);
    seal_a_session(&again, 10);
    ck_assert_uint_eq(hc_crypto_calls().repeats, 21);
    ck_assert_uint_eq(hc_crypto_calls().keys, seen.keys);
}
END_TEST

START_TEST(the_spy_sees_tokens_that_share_a_nonce) {
    hc_crypto_calls_reset();
    struct hc_token_key key = {.id = 1};
    struct hc_token token = {0};
    uint8_t nonce[HC_TOKEN_NONCE_SIZE] = {0}, out[HC_TOKEN_SIZE];
    hc_token_seal(&key, 1, &token, nonce, out);
    nonce[HC_TOKEN_NONCE_SIZE - 1] = 1;
    hc_token_seal(&key, 1, &token, nonce, out);
    ck_assert_uint_eq(hc_crypto_calls().repeats, 0);
    hc_token_seal(&key, 2, &token, nonce, out);
    ck_assert_uint_eq(hc_crypto_calls().repeats, 1);
}
END_TEST

START_TEST(seqs_may_be_skipped_up_to_the_last) {
    struct hc_seal_keys keys = known_keys();
    struct hc_sealer sealer = sealer_of(keys.c2s);
    static const uint32_t seqs[] = {1, 2, 900, (1u << 31) - 1, 1u << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof seqs / sizeof seqs[0]; i++) {
        uint8_t datagram[40];
        plain_data(seqs[i], datagram, sizeof datagram);
        hc_seal_data(&sealer, datagram, sizeof datagram);
        ck_assert_int_eq(open_data(keys.c2s, datagram, sizeof datagram), HC_OK);
    }
}
END_TEST

/// Programming errors: each must abort before anything is sealed.
static const struct {
    uint32_t before; ///< the seq sealed first; 0: an ACCEPT
    uint32_t after;
} mistakes[] = {{0, 0}, {5, 5}, {5, 4}, {1, 0}, {UINT32_MAX, 1}, {UINT32_MAX, UINT32_MAX}};

static void seal_one(struct hc_sealer *sealer, uint32_t seq) {
    uint8_t datagram[64] = {HC_DATAGRAM_ACCEPT};
    if (seq > 0)
        plain_data(seq, datagram, sizeof datagram);
    if (seq > 0)
        hc_seal_data(sealer, datagram, sizeof datagram);
    else
        hc_seal_accept(sealer, datagram, sizeof datagram);
}

START_TEST(a_seq_used_again_aborts) {
    struct hc_seal_keys keys = known_keys();
    struct hc_sealer sealer = sealer_of(keys.s2c);
    seal_one(&sealer, mistakes[_i].before);
    hc_crypto_calls_reset();
    seal_one(&sealer, mistakes[_i].after);
}
END_TEST

START_TEST(a_data_without_a_seq_is_refused_and_cannot_be_sealed) {
    struct hc_seal_keys keys = known_keys();
    struct hc_sealer sealer = sealer_of(keys.s2c);
    // No side seals like this: the seq of an ACCEPT with the clear bytes of a DATA.
    uint8_t datagram[64], nonce[12] = {0};
    plain_data(0, datagram, sizeof datagram);
    size_t sealed = sizeof datagram - HC_DATA_CLEAR_SIZE - HC_TAG_SIZE;
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        datagram + HC_DATA_CLEAR_SIZE, datagram + sizeof datagram - HC_TAG_SIZE, NULL,
        datagram + HC_DATA_CLEAR_SIZE, sealed, datagram, HC_DATA_CLEAR_SIZE, NULL, nonce, keys.s2c);
    if (open_data(keys.s2c, datagram, sizeof datagram) != HC_MALFORMED)
        exit(EXIT_FAILURE); // a failed ck_assert would abort as expected below
    plain_data(0, datagram, sizeof datagram);
    hc_seal_data(&sealer, datagram, sizeof datagram);
}
END_TEST

START_TEST(a_restarted_server_makes_the_same_reset_token) {
    struct hc_token_key key = {.id = 7};
    struct hc_address address = {.port = 0xf1f2};
    uint8_t token[HC_RESET_TOKEN_SIZE], again[HC_RESET_TOKEN_SIZE];
    count_up(key.key, sizeof key.key, 0x10);
    count_up(address.ip, sizeof address.ip, 0xd0);
    hc_seal_reset_token(&key, CID, 0xa1a2a3a4a5a6a7a8, &address, token);
    ck_assert_mem_eq(token, vector_reset, sizeof token);
    // The token does not depend on the id of the key.
    key.id = 8;
    hc_seal_reset_token(&key, CID, 0xa1a2a3a4a5a6a7a8, &address, again);
    ck_assert(hc_seal_reset_equal(token, again));
}
END_TEST

START_TEST(a_reset_token_is_valid_for_one_connection_server_address_and_key) {
    struct {
        uint8_t key[HC_TOKEN_KEY_SIZE];
        uint64_t audience;
        struct hc_address address;
        uint32_t cid;
    } all = {.cid = CID, .audience = 9};
    uint8_t *const parts[] = {all.key, (uint8_t *)&all.audience, all.address.ip,
                              (uint8_t *)&all.address.port, (uint8_t *)&all.cid};
    static const size_t sizes[] = {sizeof all.key, 8, 16, 2, 4};
    uint8_t token[HC_RESET_TOKEN_SIZE], other[HC_RESET_TOKEN_SIZE];
    struct hc_token_key key = {.id = 7};
    hc_seal_reset_token(&key, all.cid, all.audience, &all.address, token);
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
        for (size_t bit = 0; bit < 8 * sizes[part]; bit++) {
            parts[part][bit / 8] ^= (uint8_t)(1u << bit % 8);
            memcpy(key.key, all.key, sizeof all.key);
            hc_seal_reset_token(&key, all.cid, all.audience, &all.address, other);
            ck_assert(!hc_seal_reset_equal(token, other));
            parts[part][bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    for (size_t bit = 0; bit < 8 * sizeof token; bit++) {
        memcpy(other, token, sizeof token);
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert(!hc_seal_reset_equal(token, other));
    }
}
END_TEST

int main(void) {
    if (sodium_init() < 0)
        return EXIT_FAILURE;
    Suite *suite = suite_create("proto_seal");
    TCase *tests = tcase_create("seal");
    tcase_add_test(tests, keys_equal_those_of_an_independent_implementation);
    tcase_add_test(tests, an_exchange_gives_both_sides_the_secret_of_an_independent_implementation);
    tcase_add_test(tests, a_key_of_low_order_is_refused);
    tcase_add_test(tests, a_continue_proof_covers_every_byte_before_it_and_the_key);
    tcase_add_test(tests, every_bit_of_the_material_changes_all_keys);
    tcase_add_test(tests, sealed_datagrams_equal_those_of_an_independent_implementation);
    tcase_add_test(tests, a_sealed_data_opens_to_the_same_bytes_at_every_size);
    tcase_add_test(tests, a_data_with_any_bit_changed_is_refused_and_reveals_nothing);
    tcase_add_test(tests, an_accept_with_any_bit_changed_is_refused_and_reveals_nothing);
    tcase_add_test(tests, a_shortened_or_lengthened_datagram_is_refused);
    tcase_add_test(tests, a_datagram_sent_back_or_to_another_connection_is_refused);
    tcase_add_test(tests, no_key_seals_twice_with_one_nonce_in_connections_of_the_same_token);
    tcase_add_test(tests, the_spy_sees_tokens_that_share_a_nonce);
    tcase_add_test(tests, seqs_may_be_skipped_up_to_the_last);
    tcase_add_loop_test_raise_signal(tests, a_seq_used_again_aborts, SIGABRT, 0,
                                     (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_test_raise_signal(tests, a_data_without_a_seq_is_refused_and_cannot_be_sealed,
                                SIGABRT);
    tcase_add_test(tests, a_restarted_server_makes_the_same_reset_token);
    tcase_add_test(tests, a_reset_token_is_valid_for_one_connection_server_address_and_key);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
