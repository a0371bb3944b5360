/// Tests our datagrams, byte by byte, against those of a client written from PROTOCOL.md alone.
#include "proto/cookie.h"
#include "proto/message.h"
#include "proto/seal.h"
#include "proto/token.h"
#include "tests/run_suite.h"

#include <jansson.h>
#include <sodium.h>
#include <string.h>

static json_t *file;
static const json_t *vectors;

static void set_up(void) {
    json_error_t error;
    ck_assert_int_ge(sodium_init(), 0);
    file = json_load_file("tests/conformance/vectors.json", 0, &error);
    ck_assert_msg(file != NULL, "%s", error.text);
    vectors = json_object_get(file, "known_answers");
}

static void tear_down(void) {
    json_decref(file);
}

static const json_t *given(const char *name) {
    const json_t *in = json_object_get(json_object_get(vectors, name), "in");
    ck_assert_msg(in != NULL, "there is no vector %s", name);
    return in;
}

static uint64_t number(const json_t *in, const char *name) {
    ck_assert_msg(json_is_integer(json_object_get(in, name)), "no number %s", name);
    return (uint64_t)json_integer_value(json_object_get(in, name));
}

/// Fills `out` with the bytes of `name` and zeros; returns the number of the former.
static size_t bytes(const json_t *in, const char *name, void *out, size_t size) {
    const char *text = json_string_value(json_object_get(in, name));
    size_t used = 0;
    ck_assert_msg(text != NULL, "no bytes %s", name);
    memset(out, 0, size);
    ck_assert_int_eq(sodium_hex2bin(out, size, text, strlen(text), NULL, &used, NULL), 0);
    return used;
}

static void expect(const char *vector, const char *name, const void *ours, size_t size) {
    uint8_t theirs[HC_DATAGRAM_MAX];
    size_t count = bytes(json_object_get(vectors, vector), name, theirs, sizeof theirs);
    ck_assert_uint_eq(count, size);
    ck_assert_mem_eq(theirs, ours, size);
}

static void check_token(const char *vector) {
    const json_t *in = given(vector), *match = json_object_get(in, "match");
    struct hc_token_key key = {.id = (uint8_t)number(in, "key_id")};
    struct hc_token token = {.kind = (enum hc_token_kind)number(in, "kind"),
                             .players = (uint8_t)(number(in, "rights") & 7),
                             .watch = (number(in, "rights") & 8) != 0,
                             .match = (uint16_t)json_integer_value(match),
                             .expire_s = number(in, "expire"),
                             .issued_s = number(in, "issued"),
                             .client_id = number(in, "client_id"),
                             .audience = number(in, "audience")};
    uint8_t nonce[HC_TOKEN_NONCE_SIZE], out[HC_TOKEN_SIZE];
    bytes(in, "key", key.key, sizeof key.key);
    bytes(in, "token_id", token.token_id, sizeof token.token_id);
    bytes(in, "secret", token.secret, sizeof token.secret);
    bytes(in, "name", token.name, sizeof token.name);
    bytes(in, "user", token.user_data, sizeof token.user_data);
    bytes(in, "nonce", nonce, sizeof nonce);
    hc_token_seal(&key, number(in, "protocol_id"), &token, nonce, out);
    expect(vector, "out", out, sizeof out);
}

START_TEST(a_token_is_sealed_by_the_standard) {
    check_token("token");
    check_token("token_of_a_match");
}
END_TEST

START_TEST(a_cookie_is_made_by_the_standard) {
    const json_t *in = given("cookie");
    struct hc_cookie_jar jar;
    struct hc_address address = {.port = (uint16_t)number(in, "port")};
    uint8_t secret[HC_COOKIE_SECRET_SIZE], nonce[HC_NONCE_SIZE], cookie[HC_COOKIE_SIZE];
    bytes(in, "server_secret", secret, sizeof secret);
    bytes(in, "ip", address.ip, sizeof address.ip);
    bytes(in, "client_nonce", nonce, sizeof nonce);
    hc_cookie_init(&jar, secret);
    hc_cookie_make(&jar, (uint32_t)number(in, "slot"), &address, nonce, cookie);
    expect("cookie", "out", cookie, sizeof cookie);
}
END_TEST

START_TEST(a_connect_is_encoded_and_proven_by_the_standard) {
    const json_t *in = given("connect");
    struct hc_connect connect = {.protocol_id = number(in, "protocol_id"),
                                 .slot = (uint32_t)number(in, "slot"),
                                 .players = (uint8_t)number(in, "players"),
                                 .continues = (uint32_t)number(in, "continues"),
                                 .extrapolations = (uint8_t)number(in, "extrapolations")};
    uint8_t secret[HC_TOKEN_SECRET_SIZE], continue_key[HC_SEAL_KEY_SIZE];
    uint8_t out[HC_DATAGRAM_CONNECT_SIZE];
    bytes(in, "client_nonce", connect.client_nonce, sizeof connect.client_nonce);
    bytes(in, "cookie", connect.cookie, sizeof connect.cookie);
    bytes(in, "token", connect.token, sizeof connect.token);
    bytes(in, "secret", secret, sizeof secret);
    bytes(in, "client_key", connect.client_key, sizeof connect.client_key);
    bytes(in, "continue_key", continue_key, sizeof continue_key);
    hc_datagram_put_connect(&connect, out);
    hc_seal_put_continue_proof(continue_key, out);
    ck_assert(hc_seal_continue_proof_holds(continue_key, out));
    hc_token_put_proof(secret, out);
    expect("connect", "out", out, sizeof out);
    expect("continue_proof", "out", out + HC_CONNECT_CONTINUE_PROOF_AT, HC_PROOF_SIZE);
    expect("proof", "out", out + sizeof out - HC_PROOF_SIZE, HC_PROOF_SIZE);
}
END_TEST

START_TEST(keys_are_derived_by_the_standard) {
    const json_t *in = given("keys");
    struct hc_seal_material material = {.protocol_id = number(in, "protocol_id"),
                                        .cid = (uint32_t)number(in, "cid")};
    struct hc_seal_keys keys;
    uint8_t client_secret[HC_EXCHANGE_KEY_SIZE];
    bytes(in, "secret", material.secret, sizeof material.secret);
    bytes(in, "token", material.token, sizeof material.token);
    bytes(in, "client_nonce", material.client_nonce, sizeof material.client_nonce);
    bytes(in, "server_nonce", material.server_nonce, sizeof material.server_nonce);
    bytes(in, "client_secret", client_secret, sizeof client_secret);
    bytes(in, "server_key", material.server_key, sizeof material.server_key);
    hc_seal_public(client_secret, material.client_key);
    expect("keys", "client_key", material.client_key, sizeof material.client_key);
    ck_assert_int_eq(hc_seal_exchange(client_secret, material.server_key, material.shared), HC_OK);
    expect("keys", "shared", material.shared, sizeof material.shared);
    hc_seal_derive(&material, &keys);
    expect("keys", "c2s", keys.c2s, sizeof keys.c2s);
    expect("keys", "s2c", keys.s2c, sizeof keys.s2c);
    expect("keys", "continues", keys.continues, sizeof keys.continues);
}
END_TEST

START_TEST(an_accept_is_sealed_by_the_standard) {
    const json_t *in = given("accept");
    struct hc_sealer sealer;
    uint8_t body[HC_ACCEPT_BODY_MAX], key[HC_SEAL_KEY_SIZE], out[HC_DATAGRAM_MAX];
    struct hc_accept accept = {.cid = (uint32_t)number(in, "cid"), .body = body};
    accept.body_size = bytes(in, "body", body, sizeof body);
    bytes(in, "client_nonce", accept.client_nonce, sizeof accept.client_nonce);
    bytes(in, "server_nonce", accept.server_nonce, sizeof accept.server_nonce);
    bytes(in, "server_key", accept.server_key, sizeof accept.server_key);
    bytes(in, "s2c", key, sizeof key);
    size_t size = hc_datagram_put_accept(&accept, out);
    hc_seal_init(&sealer, key);
    hc_seal_accept(&sealer, out, size);
    expect("accept", "out", out, size);
}
END_TEST

START_TEST(a_data_is_sealed_by_the_standard) {
    const json_t *in = given("data_input"), *vector = json_object_get(vectors, "data_input");
    struct hc_sealer sealer;
    uint8_t body[HC_DATA_BODY_MAX], key[HC_SEAL_KEY_SIZE], out[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = (uint32_t)number(in, "cid"),
                           .seq = (uint32_t)number(in, "seq"),
                           .ack = (uint32_t)number(in, "ack"),
                           .ack_bits = (uint32_t)number(in, "ack_bits"),
                           .body = body};
    data.body_size = bytes(vector, "body", body, sizeof body);
    bytes(in, "c2s", key, sizeof key);
    size_t size = hc_datagram_put_data(&data, out);
    hc_seal_init(&sealer, key);
    hc_seal_data(&sealer, out, size);
    expect("data_input", "out", out, size);
}
END_TEST

START_TEST(names_are_encoded_by_the_standard) {
    const json_t *list = json_object_get(given("names"), "names"), *entry;
    struct hc_player_name names[HC_NAMES_EACH];
    uint8_t out[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(out, sizeof out);
    size_t i;
    json_array_foreach(list, i, entry) {
        const char *text = json_string_value(json_array_get(entry, 2));
        names[i] = (struct hc_player_name){
            .player = (hc_player)json_integer_value(json_array_get(entry, 0)),
            .since = (hc_tick)json_integer_value(json_array_get(entry, 1))};
        ck_assert_int_eq(sodium_hex2bin(names[i].name, sizeof names[i].name, text, strlen(text),
                                        NULL, NULL, NULL),
                         0);
    }
    ck_assert(hc_message_put_names(&writer, names, (uint32_t)i));
    expect("names", "out", out, writer.at);
}
END_TEST

static void check_deny(const char *vector) {
    const json_t *in = given(vector);
    struct hc_deny read, deny = {.reason = (enum hc_deny_reason)number(in, "reason"),
                                 .retry_ms = (uint32_t)number(in, "retry_ms")};
    uint8_t secret[HC_TOKEN_SECRET_SIZE], out[HC_DATAGRAM_DENY_SIZE];
    bytes(in, "client_nonce", deny.client_nonce, sizeof deny.client_nonce);
    bytes(in, "secret", secret, sizeof secret);
    size_t size = hc_datagram_put_deny(&deny, out);
    hc_token_put_deny_mac(secret, out);
    expect(vector, "out", out, size);
    ck_assert_int_eq(hc_datagram_get_deny(out, size, &read), HC_OK);
    ck_assert(read.reason == deny.reason && read.retry_ms == deny.retry_ms);
}

START_TEST(a_deny_is_encoded_by_the_standard_also_one_of_a_later_version) {
    check_deny("deny");
    check_deny("deny_of_a_later_version");
}
END_TEST

START_TEST(a_reset_is_encoded_by_the_standard) {
    const json_t *of = given("reset");
    struct hc_reset reset = {.cid = (uint32_t)number(of, "cid")};
    struct hc_token_key key = {.id = 0};
    uint8_t out[HC_DATAGRAM_MAX];
    bytes(of, "token_key", key.key, sizeof key.key);
    struct hc_address address = {.port = (uint16_t)number(of, "port")};
    bytes(of, "ip", address.ip, sizeof address.ip);
    hc_seal_reset_token(&key, reset.cid, number(of, "audience"), &address, reset.token);
    expect("reset", "reset_token", reset.token, sizeof reset.token);
    size_t size = hc_datagram_put_reset(&reset, out);
    expect("reset", "out", out, size);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto vectors");
    TCase *tests = tcase_create("vectors");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_token_is_sealed_by_the_standard);
    tcase_add_test(tests, a_cookie_is_made_by_the_standard);
    tcase_add_test(tests, a_connect_is_encoded_and_proven_by_the_standard);
    tcase_add_test(tests, keys_are_derived_by_the_standard);
    tcase_add_test(tests, an_accept_is_sealed_by_the_standard);
    tcase_add_test(tests, a_data_is_sealed_by_the_standard);
    tcase_add_test(tests, names_are_encoded_by_the_standard);
    tcase_add_test(tests, a_deny_is_encoded_by_the_standard_also_one_of_a_later_version);
    tcase_add_test(tests, a_reset_is_encoded_by_the_standard);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
