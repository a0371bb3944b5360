/// Tests proto/token: tokens, key rings, proofs, the MAC of DENY and credentials.
#include "common/bytes.h"
#include "hindcast/rng.h"
#include "proto/token.h"
#include "tests/run_suite.h"
#include "tests/unit/count_up.h"
#include "tests/unit/secure_vectors.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t PROTOCOL_ID = 0x0123456789abcdef, AUDIENCE = 0xa1a2a3a4a5a6a7a8;
static const uint64_t EXPIRE_S = 1800000000;

/// The token of the known bytes.
static struct hc_token known_token(enum hc_token_kind kind) {
    struct hc_token token = {.kind = kind,
                             .players = 3,
                             .watch = kind == HC_TOKEN_CONNECT,
                             .expire_s = EXPIRE_S,
                             .issued_s = EXPIRE_S - 60,
                             .client_id = 0xb1b2b3b4b5b6b7b8,
                             .audience = AUDIENCE,
                             .name = "Ada"};
    count_up(token.token_id, sizeof token.token_id, 0x50);
    count_up(token.secret, sizeof token.secret, 0x60);
    count_up(token.user_data, sizeof token.user_data, 0xe0);
    return token;
}

static struct hc_token_key key_of(uint8_t id, uint8_t first) {
    struct hc_token_key key = {.id = id};
    count_up(key.key, sizeof key.key, first);
    return key;
}

static struct hc_token_ring ring_of(const struct hc_token_key *key) {
    return (struct hc_token_ring){.keys = {*key}, .count = 1};
}

static void seal_known(const struct hc_token_key *key, const struct hc_token *token,
                       uint8_t out[static HC_TOKEN_SIZE]) {
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    count_up(nonce, sizeof nonce, 0x30);
    hc_token_seal(key, PROTOCOL_ID, token, nonce, out);
}

/// Opens one second before it expires.
static enum hc_status open_known(const struct hc_token_ring *ring, const uint8_t *bytes,
                                 struct hc_token *out) {
    return hc_token_open(ring, PROTOCOL_ID, AUDIENCE, EXPIRE_S - 1, bytes, out);
}

static void assert_same_token(const struct hc_token *a, const struct hc_token *b) {
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_uint_eq(a->players, b->players);
    ck_assert_int_eq(a->watch, b->watch);
    ck_assert_uint_eq(a->match, b->match);
    ck_assert_uint_eq(a->expire_s, b->expire_s);
    ck_assert_uint_eq(a->issued_s, b->issued_s);
    ck_assert_mem_eq(a->token_id, b->token_id, sizeof a->token_id);
    ck_assert_uint_eq(a->client_id, b->client_id);
    ck_assert_mem_eq(a->secret, b->secret, sizeof a->secret);
    ck_assert_uint_eq(a->audience, b->audience);
    ck_assert_mem_eq(a->name, b->name, sizeof a->name);
    ck_assert_mem_eq(a->user_data, b->user_data, sizeof a->user_data);
}

START_TEST(tokens_and_tickets_equal_those_of_an_independent_implementation) {
    struct hc_token_key key = key_of(7, 0x10);
    struct hc_token_ring ring = ring_of(&key);
    for (int kind = HC_TOKEN_CONNECT; kind <= HC_TOKEN_RESUME; kind++) {
        const uint8_t *known = kind == HC_TOKEN_CONNECT ? vector_token : vector_ticket;
        struct hc_token token = known_token((enum hc_token_kind)kind), opened;
        uint8_t bytes[HC_TOKEN_SIZE];
        seal_known(&key, &token, bytes);
        ck_assert_mem_eq(bytes, known, sizeof bytes);
        ck_assert_int_eq(open_known(&ring, known, &opened), HC_OK);
        assert_same_token(&opened, &token);
    }
}
END_TEST

START_TEST(a_token_names_a_match_in_the_clear_and_under_the_seal) {
    struct hc_token_key key = key_of(7, 0x10);
    struct hc_token_ring ring = ring_of(&key);
    for (int kind = HC_TOKEN_CONNECT; kind <= HC_TOKEN_RESUME; kind++) {
        for (uint16_t match = 0; match <= HC_MATCH_MAX; match++) {
            struct hc_token token = known_token((enum hc_token_kind)kind), opened;
            uint8_t bytes[HC_TOKEN_SIZE];
            token.match = match;
            seal_known(&key, &token, bytes);
            ck_assert_uint_eq(hc_token_match(bytes), match);
            ck_assert_int_eq(open_known(&ring, bytes, &opened), HC_OK);
            assert_same_token(&opened, &token);
            bytes[2] ^= 2;
            ck_assert_int_eq(open_known(&ring, bytes, &opened), HC_MALFORMED);
        }
    }
}
END_TEST

START_TEST(a_token_with_any_bit_changed_is_refused_and_writes_nothing) {
    // One key has two ids, so that the seal refuses a changed id.
    struct hc_token_key key = key_of(7, 0x10), twin = key_of(6, 0x10);
    struct hc_token_ring ring = {.keys = {key, twin}, .count = 2};
    struct hc_token token = known_token(HC_TOKEN_CONNECT), opened, before;
    uint8_t bytes[HC_TOKEN_SIZE];
    seal_known(&key, &token, bytes);
    memset(&opened, 0x5a, sizeof opened);
    before = opened;
    unsigned by_seal = 0;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum hc_status status = open_known(&ring, bytes, &opened);
        // Most other key ids are not in the ring.
        ck_assert_msg(status == HC_MALFORMED || (status == HC_UNEXPECTED && bit >= 8 && bit < 16),
                      "bit %zu", bit);
        // The seal alone refuses a changed field that is valid in the clear.
        bool shown = bit < 8 || (bit > 8 && bit < 16) || (bit > 16 && bit < 32);
        by_seal += !shown && status == HC_MALFORMED;
        ck_assert_mem_eq(&opened, &before, sizeof opened);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    // All bits but those of the version, and most of id, kind and rights.
    ck_assert_uint_eq(by_seal, 8 * sizeof bytes - 8 - 7 - 15);
    ck_assert_int_eq(open_known(&ring, bytes, &opened), HC_OK);
}
END_TEST

START_TEST(a_token_is_valid_for_one_protocol_audience_and_key) {
    struct hc_token_key key = key_of(7, 0x10);
    struct hc_token_ring ring = ring_of(&key);
    struct hc_token token = known_token(HC_TOKEN_CONNECT), opened, before;
    uint8_t bytes[HC_TOKEN_SIZE];
    seal_known(&key, &token, bytes);
    memset(&opened, 0x5a, sizeof opened);
    before = opened;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t flip = UINT64_C(1) << bit;
        ck_assert_int_eq(
            hc_token_open(&ring, PROTOCOL_ID ^ flip, AUDIENCE, EXPIRE_S - 1, bytes, &opened),
            HC_MALFORMED);
    }
    for (size_t bit = 0; bit < 8 * HC_TOKEN_KEY_SIZE; bit++) {
        struct hc_token_key other = key;
        other.key[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct hc_token_ring others = ring_of(&other);
        ck_assert_int_eq(open_known(&others, bytes, &opened), HC_MALFORMED);
    }
    ck_assert_mem_eq(&opened, &before, sizeof opened);
    for (int bit = 0; bit < 64; bit++) {
        struct hc_token denied;
        ck_assert_int_eq(hc_token_open(&ring, PROTOCOL_ID, AUDIENCE ^ (UINT64_C(1) << bit),
                                       EXPIRE_S - 1, bytes, &denied),
                         HC_INVALID);
        ck_assert_mem_eq(denied.secret, token.secret, sizeof token.secret); // for the MAC of DENY
    }
    ck_assert_int_eq(open_known(&ring, bytes, &opened), HC_OK);
}
END_TEST

START_TEST(a_token_expires_at_its_second) {
    struct hc_token_key key = key_of(7, 0x10);
    struct hc_token_ring ring = ring_of(&key);
    static const uint64_t ends[] = {0, 1, EXPIRE_S, UINT32_MAX - 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct hc_token token = known_token(HC_TOKEN_CONNECT), opened;
        uint8_t bytes[HC_TOKEN_SIZE];
        token.expire_s = ends[i];
        seal_known(&key, &token, bytes);
        const struct {
            uint64_t now_s;
            bool there;
        } looks[] = {{0, true},
                     {ends[i] - 1, ends[i] > 0},
                     {ends[i], true},
                     {ends[i] + 1, ends[i] < UINT64_MAX},
                     {UINT64_MAX, true}};
        for (size_t k = 0; k < sizeof looks / sizeof looks[0]; k++)
            if (looks[k].there)
                ck_assert_int_eq(
                    hc_token_open(&ring, PROTOCOL_ID, AUDIENCE, looks[k].now_s, bytes, &opened),
                    looks[k].now_s < ends[i] ? HC_OK : HC_TOO_OLD);
    }
}
END_TEST

START_TEST(the_faults_of_a_token_are_checked_in_the_documented_order) {
    struct hc_token_key key = key_of(7, 0x10), held = key_of(8, 0x11);
    struct hc_token_ring without = ring_of(&held), with = ring_of(&key);
    struct hc_token token = known_token(HC_TOKEN_CONNECT), opened;
    uint8_t good[HC_TOKEN_SIZE], bytes[HC_TOKEN_SIZE];
    seal_known(&key, &token, good);
    memcpy(bytes, good, sizeof bytes);
    // The token has every fault first; then they are corrected one by one.
    bytes[0] = 2;
    bytes[3] = 128;
    bytes[200] ^= 1;
    uint64_t late = EXPIRE_S, other = AUDIENCE + 1;
    ck_assert_int_eq(hc_token_open(&without, PROTOCOL_ID, other, late, bytes, &opened),
                     HC_MALFORMED);
    bytes[0] = good[0];
    ck_assert_int_eq(hc_token_open(&without, PROTOCOL_ID, other, late, bytes, &opened),
                     HC_MALFORMED);
    bytes[3] = good[3];
    ck_assert_int_eq(hc_token_open(&without, PROTOCOL_ID, other, late, bytes, &opened),
                     HC_UNEXPECTED);
    ck_assert_int_eq(hc_token_open(&with, PROTOCOL_ID, other, late, bytes, &opened), HC_MALFORMED);
    bytes[200] = good[200];
    ck_assert_int_eq(hc_token_open(&with, PROTOCOL_ID, other, late, bytes, &opened), HC_TOO_OLD);
    ck_assert_int_eq(hc_token_open(&with, PROTOCOL_ID, other, late - 1, bytes, &opened),
                     HC_INVALID);
    ck_assert_int_eq(hc_token_open(&with, PROTOCOL_ID, AUDIENCE, late - 1, bytes, &opened), HC_OK);
}
END_TEST

START_TEST(unknown_versions_and_rights_are_refused_before_the_key) {
    struct hc_token_ring none = {0};
    struct hc_token opened;
    uint8_t bytes[HC_TOKEN_SIZE];
    memcpy(bytes, vector_token, sizeof bytes);
    for (unsigned kind = 0; kind <= UINT16_MAX; kind++) {
        bytes[2] = (uint8_t)kind;
        bytes[3] = (uint8_t)(kind >> 8);
        enum hc_status status = open_known(&none, bytes, &opened);
        bool known = bytes[3] < 128 && bytes[3] % 8 <= 4;
        if (status != (known ? HC_UNEXPECTED : HC_MALFORMED))
            ck_abort_msg("kind and rights %u: %s", kind, hc_status_text(status));
    }
    memcpy(bytes, vector_token, sizeof bytes);
    for (unsigned version = 0; version < 256; version++) {
        bytes[0] = (uint8_t)version;
        ck_assert_int_eq(open_known(&none, bytes, &opened),
                         version == HC_TOKEN_VERSION ? HC_UNEXPECTED : HC_MALFORMED);
    }
}
END_TEST

/// The bytes of key `i`.
static void key_bytes(uint32_t i, uint8_t out[static HC_TOKEN_KEY_SIZE]) {
    struct hc_writer writer = hc_bytes_writer(out, HC_TOKEN_KEY_SIZE);
    memset(out, 0, HC_TOKEN_KEY_SIZE);
    hc_bytes_put_u32(&writer, i);
}

START_TEST(after_each_rotation_only_the_used_and_the_former_key_open) {
    enum { KEYS = 300 }; // ids wrap
    struct hc_token_ring ring = {0};
    struct hc_token token = known_token(HC_TOKEN_CONNECT), opened;
    static uint8_t sealed[KEYS][HC_TOKEN_SIZE];
    for (uint32_t i = 0; i < KEYS; i++) {
        uint8_t bytes[HC_TOKEN_KEY_SIZE];
        key_bytes(i, bytes);
        ck_assert_int_eq(hc_token_ring_publish(&ring, bytes), HC_OK);
        if (i > 0)
            ck_assert_int_eq(hc_token_ring_use(&ring), HC_OK);
        ck_assert_uint_eq(ring.keys[0].id, i % 256);
        ck_assert_mem_eq(ring.keys[0].key, bytes, sizeof bytes);
        seal_known(&ring.keys[0], &token, sealed[i]);
        for (uint32_t k = 0; k <= i; k++)
            ck_assert_msg((open_known(&ring, sealed[k], &opened) == HC_OK) == (k + 2 > i),
                          "token of key %u after key %u", k, i);
    }
}
END_TEST

START_TEST(a_published_key_is_accepted_before_and_after_it_is_used) {
    struct hc_token token = known_token(HC_TOKEN_CONNECT), opened;
    struct hc_token_key first = key_of(255, 0x10), second = key_of(0, 0x20);
    struct hc_token_ring ring = ring_of(&first);
    uint8_t of_first[HC_TOKEN_SIZE], of_second[HC_TOKEN_SIZE];
    seal_known(&first, &token, of_first);
    seal_known(&second, &token, of_second);
    ck_assert_int_eq(hc_token_ring_publish(&ring, second.key), HC_OK);
    ck_assert_mem_eq(&ring.keys[0], &first, sizeof first); // it still issues tokens
    for (unsigned used = 0; used < 2; used++) {
        ck_assert_int_eq(open_known(&ring, of_first, &opened), HC_OK);
        ck_assert_int_eq(open_known(&ring, of_second, &opened), HC_OK);
        if (used == 0)
            ck_assert_int_eq(hc_token_ring_use(&ring), HC_OK);
    }
    ck_assert_mem_eq(&ring.keys[0], &second, sizeof second);
    ck_assert_mem_eq(&ring.keys[1], &first, sizeof first);
}
END_TEST

START_TEST(a_rotation_step_out_of_order_changes_nothing) {
    struct hc_token_key first = key_of(7, 0x10), other = key_of(200, 0x20);
    struct hc_token_ring ring = ring_of(&first), before = ring;
    uint8_t second[HC_TOKEN_KEY_SIZE], third[HC_TOKEN_KEY_SIZE];
    key_bytes(2, second);
    key_bytes(3, third);
    ck_assert_int_eq(hc_token_ring_use(&ring), HC_UNEXPECTED); // nothing is published
    ck_assert_mem_eq(&ring, &before, sizeof ring);
    ck_assert_int_eq(hc_token_ring_publish(&ring, second), HC_OK);
    before = ring;
    ck_assert_int_eq(hc_token_ring_publish(&ring, third), HC_UNEXPECTED); // before it is used
    ck_assert_mem_eq(&ring, &before, sizeof ring);
    ck_assert_int_eq(hc_token_ring_use(&ring), HC_OK);
    before = ring;
    ck_assert_int_eq(hc_token_ring_use(&ring), HC_UNEXPECTED); // never back to the former key
    ck_assert_mem_eq(&ring, &before, sizeof ring);
    // A second key with any other id is a former one, as in a file written by hand.
    ring.keys[1] = other;
    ck_assert_int_eq(hc_token_ring_use(&ring), HC_UNEXPECTED);
    ck_assert_int_eq(hc_token_ring_publish(&ring, third), HC_OK);
    ck_assert_uint_eq(ring.keys[0].id, 8);
    ck_assert_uint_eq(ring.keys[1].id, 9);
}
END_TEST

static void known_connect(uint8_t connect[static HC_DATAGRAM_CONNECT_SIZE]) {
    count_up(connect, HC_DATAGRAM_CONNECT_SIZE, 0);
    connect[0] = HC_DATAGRAM_CONNECT;
}

START_TEST(a_proof_covers_every_bit_of_connect_and_of_the_secret) {
    uint8_t connect[HC_DATAGRAM_CONNECT_SIZE], secret[HC_TOKEN_SECRET_SIZE];
    known_connect(connect);
    count_up(secret, sizeof secret, 0x60);
    hc_token_put_proof(secret, connect);
    ck_assert_mem_eq(connect + sizeof connect - HC_PROOF_SIZE, vector_proof, HC_PROOF_SIZE);
    ck_assert_int_eq(hc_token_check_proof(secret, connect), HC_OK);
    for (size_t bit = 0; bit < 8 * sizeof connect; bit++) {
        connect[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_msg(hc_token_check_proof(secret, connect) == HC_MALFORMED, "bit %zu", bit);
        connect[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof secret; bit++) {
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(hc_token_check_proof(secret, connect), HC_MALFORMED);
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}
END_TEST

START_TEST(a_deny_is_valid_with_its_mac_and_a_hint_without) {
    uint8_t deny[HC_DATAGRAM_DENY_SIZE], secret[HC_TOKEN_SECRET_SIZE];
    count_up(deny, sizeof deny, 0);
    deny[0] = HC_DATAGRAM_DENY;
    count_up(secret, sizeof secret, 0x60);
    memset(deny + sizeof deny - HC_TAG_SIZE, 0, HC_TAG_SIZE);
    ck_assert_int_eq(hc_token_check_deny_mac(secret, deny), HC_UNEXPECTED);
    for (size_t bit = 8 * (sizeof deny - HC_TAG_SIZE); bit < 8 * sizeof deny; bit++) {
        deny[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(hc_token_check_deny_mac(secret, deny), HC_MALFORMED);
        deny[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    hc_token_put_deny_mac(secret, deny);
    ck_assert_mem_eq(deny + sizeof deny - HC_TAG_SIZE, vector_deny_mac, HC_TAG_SIZE);
    ck_assert_int_eq(hc_token_check_deny_mac(secret, deny), HC_OK);
    for (size_t bit = 0; bit < 8 * sizeof deny; bit++) {
        deny[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(hc_token_check_deny_mac(secret, deny), HC_MALFORMED);
        deny[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof secret; bit++) {
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(hc_token_check_deny_mac(secret, deny), HC_MALFORMED);
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}
END_TEST

START_TEST(a_credential_is_one_word_and_reads_back) {
    struct hc_credential credential, back;
    char text[HC_CREDENTIAL_TEXT_SIZE + 1];
    memcpy(credential.token, vector_token, HC_TOKEN_SIZE);
    count_up(credential.secret, HC_TOKEN_SECRET_SIZE, 0x60);
    hc_token_write_credential(&credential, text);
    ck_assert_str_eq(text, vector_credential);
    struct hc_rng rng = hc_rng_init(31, 0);
    for (int round = 0; round < 500; round++) {
        uint8_t *bytes = (uint8_t *)&credential;
        for (size_t i = 0; i < sizeof credential; i++)
            bytes[i] = (uint8_t)hc_rng_next(&rng);
        hc_token_write_credential(&credential, text);
        ck_assert_uint_eq(strlen(text), HC_CREDENTIAL_TEXT_SIZE);
        ck_assert_uint_eq(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_"),
                          HC_CREDENTIAL_TEXT_SIZE);
        memset(&back, 0, sizeof back);
        ck_assert_int_eq(hc_token_read_credential(text, HC_CREDENTIAL_TEXT_SIZE, &back), HC_OK);
        ck_assert_mem_eq(&back, &credential, sizeof back);
    }
}
END_TEST

START_TEST(a_credential_may_end_with_a_line_feed_and_nothing_else) {
    enum { SIZE = HC_CREDENTIAL_TEXT_SIZE };
    struct hc_credential back, before;
    char text[SIZE + 4];
    memset(&back, 0x5a, sizeof back);
    before = back;
    memcpy(text, vector_credential, SIZE);
    for (size_t size = 0; size < SIZE; size++)
        ck_assert_int_eq(hc_token_read_credential(text, size, &back), HC_TRUNCATED);
    static const char *const tails[] = {"A",      "=",    " ",    "\r", "\n\n",
                                        "\r\n\n", "\n\r", "AAAA", " \n"};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        memcpy(text + SIZE, tails[i], strlen(tails[i]));
        ck_assert_msg(hc_token_read_credential(text, SIZE + strlen(tails[i]), &back) ==
                          HC_MALFORMED,
                      "tail %zu", i);
    }
    for (size_t at = 0; at < SIZE; at++)
        for (int byte = 0; byte < 256; byte++) {
            bool good = byte < 128 && byte != 0 &&
                        strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                               byte) != NULL;
            if (good)
                continue;
            text[at] = (char)byte;
            ck_assert_msg(hc_token_read_credential(text, SIZE, &back) != HC_OK, "byte %d at %zu",
                          byte, at);
            text[at] = vector_credential[at];
        }
    ck_assert_mem_eq(&back, &before, sizeof back);
    static const char *const ends[] = {"", "\n", "\r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        memset(&back, 0, sizeof back);
        memcpy(text + SIZE, ends[i], strlen(ends[i]));
        ck_assert_int_eq(hc_token_read_credential(text, SIZE + strlen(ends[i]), &back), HC_OK);
        ck_assert_mem_eq(back.token, vector_token, HC_TOKEN_SIZE);
    }
}
END_TEST

int main(void) {
    if (sodium_init() < 0)
        return EXIT_FAILURE;
    Suite *suite = suite_create("proto_token");
    TCase *tests = tcase_create("token");
    tcase_add_test(tests, tokens_and_tickets_equal_those_of_an_independent_implementation);
    tcase_add_test(tests, a_token_with_any_bit_changed_is_refused_and_writes_nothing);
    tcase_add_test(tests, a_token_is_valid_for_one_protocol_audience_and_key);
    tcase_add_test(tests, a_token_expires_at_its_second);
    tcase_add_test(tests, the_faults_of_a_token_are_checked_in_the_documented_order);
    tcase_add_test(tests, a_token_names_a_match_in_the_clear_and_under_the_seal);
    tcase_add_test(tests, unknown_versions_and_rights_are_refused_before_the_key);
    tcase_add_test(tests, after_each_rotation_only_the_used_and_the_former_key_open);
    tcase_add_test(tests, a_published_key_is_accepted_before_and_after_it_is_used);
    tcase_add_test(tests, a_rotation_step_out_of_order_changes_nothing);
    tcase_add_test(tests, a_proof_covers_every_bit_of_connect_and_of_the_secret);
    tcase_add_test(tests, a_deny_is_valid_with_its_mac_and_a_hint_without);
    tcase_add_test(tests, a_credential_is_one_word_and_reads_back);
    tcase_add_test(tests, a_credential_may_end_with_a_line_feed_and_nothing_else);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
