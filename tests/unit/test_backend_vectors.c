/// The vectors of docs/BACKEND.md are what the server makes of their fields, and it opens them.
#include "proto/token.h"
#include "tests/run_suite.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VECTORS = 3,
    LINE_SIZE = 512,
    FIELDS_MAX = 32,
    NAME_SIZE = 32,
    VALUE_SIZE = 1024,
    VALUE_COLUMN = 17, ///< where the values of the page begin
};

struct field {
    char name[NAME_SIZE];
    char value[VALUE_SIZE];
};

/// The fields of a vector of the page, as text.
struct vector {
    struct field fields[FIELDS_MAX];
    size_t count;
};

/// Takes a line `    name         value`, or one without a name, which continues the last value.
static void take_line(struct vector *vector, const char *line) {
    char name[NAME_SIZE] = "", value[LINE_SIZE] = "";
    if (strlen(line) <= VALUE_COLUMN || sscanf(line + VALUE_COLUMN, "%511s", value) != 1)
        return;
    if (line[4] != ' ') {
        ck_assert_int_eq(sscanf(line, "%31s", name), 1);
        ck_assert_uint_lt(vector->count, FIELDS_MAX);
        memcpy(vector->fields[vector->count++].name, name, sizeof name);
    }
    ck_assert_uint_gt(vector->count, 0);
    struct field *field = &vector->fields[vector->count - 1];
    size_t length = strlen(field->value);
    ck_assert_uint_lt(length + strlen(value), sizeof field->value);
    snprintf(field->value + length, sizeof field->value - length, "%s", value);
}

static void read_vector(int number, struct vector *vector) {
    char line[LINE_SIZE], head[NAME_SIZE];
    bool inside = false;
    FILE *page = fopen("docs/BACKEND.md", "r");
    ck_assert_msg(page != NULL, "docs/BACKEND.md is not there");
    memset(vector, 0, sizeof *vector);
    snprintf(head, sizeof head, "### Vector %d:", number);
    while (fgets(line, sizeof line, page) != NULL) {
        if (line[0] == '#')
            inside = strncmp(line, head, strlen(head)) == 0;
        else if (inside && strncmp(line, "    ", 4) == 0)
            take_line(vector, line);
    }
    fclose(page);
    ck_assert_msg(vector->count > 0, "there is no vector %d", number);
}

static const char *text(const struct vector *vector, const char *name) {
    for (size_t i = 0; i < vector->count; i++)
        if (strcmp(vector->fields[i].name, name) == 0)
            return vector->fields[i].value;
    ck_abort_msg("the vector has no %s", name);
}

static uint64_t number(const struct vector *vector, const char *name) {
    return strtoull(text(vector, name), NULL, 0);
}

static void bytes(const struct vector *vector, const char *name, uint8_t *out, size_t size) {
    const char *hex = text(vector, name);
    size_t count = 0;
    ck_assert_int_eq(sodium_hex2bin(out, size, hex, strlen(hex), NULL, &count, NULL), 0);
    ck_assert_msg(count == size, "%s has %zu bytes, and not %zu", name, count, size);
}

static struct hc_token token_of(const struct vector *vector) {
    struct hc_token token = {.kind = (enum hc_token_kind)number(vector, "kind"),
                             .players = (uint8_t)number(vector, "players"),
                             .watch = number(vector, "watch") != 0,
                             .match = (uint16_t)number(vector, "match"),
                             .expire_s = number(vector, "expire_s"),
                             .issued_s = number(vector, "issued_s"),
                             .client_id = number(vector, "client_id"),
                             .audience = number(vector, "audience")};
    bytes(vector, "token_id", token.token_id, sizeof token.token_id);
    bytes(vector, "secret", token.secret, sizeof token.secret);
    bytes(vector, "name", token.name, sizeof token.name);
    bytes(vector, "user_data", token.user_data, sizeof token.user_data);
    return token;
}

static struct hc_token_key key_of(const struct vector *vector) {
    struct hc_token_key key = {.id = (uint8_t)number(vector, "key_id")};
    bytes(vector, "key", key.key, sizeof key.key);
    return key;
}

START_TEST(the_server_seals_the_same_token_of_the_fields) {
    struct vector vector;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE], sealed[HC_TOKEN_SIZE], shown[HC_TOKEN_SIZE];
    read_vector(_i, &vector);
    struct hc_token token = token_of(&vector);
    struct hc_token_key key = key_of(&vector);
    bytes(&vector, "nonce", nonce, sizeof nonce);
    bytes(&vector, "token", shown, sizeof shown);
    hc_token_seal(&key, number(&vector, "protocol_id"), &token, nonce, sealed);
    ck_assert_mem_eq(sealed, shown, sizeof sealed);
}
END_TEST

START_TEST(the_server_opens_the_shown_token_until_it_expires_and_reads_the_fields) {
    struct vector vector;
    uint8_t shown[HC_TOKEN_SIZE];
    struct hc_token opened;
    read_vector(_i, &vector);
    struct hc_token token = token_of(&vector);
    struct hc_token_ring ring = {.keys = {key_of(&vector)}, .count = 1};
    uint64_t protocol_id = number(&vector, "protocol_id");
    bytes(&vector, "token", shown, sizeof shown);
    ck_assert_int_eq(
        hc_token_open(&ring, protocol_id, token.audience, token.expire_s, shown, &opened),
        HC_TOO_OLD);
    ck_assert_int_eq(
        hc_token_open(&ring, protocol_id, token.audience, token.expire_s - 1, shown, &opened),
        HC_OK);
    ck_assert_uint_eq(opened.players, token.players);
    ck_assert_uint_eq(opened.watch, token.watch);
    ck_assert_uint_eq(opened.match, token.match);
    ck_assert_uint_eq(opened.issued_s, token.issued_s);
    ck_assert_uint_eq(opened.client_id, token.client_id);
    ck_assert_mem_eq(opened.secret, token.secret, sizeof token.secret);
    ck_assert_mem_eq(opened.name, token.name, sizeof token.name);
    ck_assert_mem_eq(opened.user_data, token.user_data, sizeof token.user_data);
    ck_assert_int_eq(
        hc_token_open(&ring, protocol_id ^ 1, token.audience, token.expire_s - 1, shown, &opened),
        HC_MALFORMED);
}
END_TEST

START_TEST(the_text_for_the_user_is_the_token_and_its_secret) {
    struct vector vector;
    struct hc_credential credential;
    char written[HC_CREDENTIAL_TEXT_SIZE + 1];
    read_vector(_i, &vector);
    bytes(&vector, "token", credential.token, sizeof credential.token);
    bytes(&vector, "secret", credential.secret, sizeof credential.secret);
    hc_token_write_credential(&credential, written);
    ck_assert_str_eq(written, text(&vector, "text"));
}
END_TEST

START_TEST(the_shown_steps_lead_to_the_token) {
    struct vector vector;
    uint8_t key[HC_TOKEN_KEY_SIZE], nonce[HC_TOKEN_NONCE_SIZE], clear[12], aad[36], plain[192];
    uint8_t subkey[32], made[32], sealed[192], tag[16], shown[HC_TOKEN_SIZE], rest[12] = {0};
    read_vector(_i, &vector);
    bytes(&vector, "key", key, sizeof key);
    bytes(&vector, "nonce", nonce, sizeof nonce);
    bytes(&vector, "clear", clear, sizeof clear);
    bytes(&vector, "aad", aad, sizeof aad);
    bytes(&vector, "plain", plain, sizeof plain);
    bytes(&vector, "subkey", subkey, sizeof subkey);
    bytes(&vector, "token", shown, sizeof shown);
    crypto_core_hchacha20(made, nonce, key, NULL);
    ck_assert_mem_eq(made, subkey, sizeof made);
    memcpy(rest + 4, nonce + 16, 8);
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(sealed, tag, NULL, plain, sizeof plain, aad,
                                                       sizeof aad, NULL, rest, subkey);
    ck_assert_mem_eq(clear, shown, sizeof clear);
    ck_assert_mem_eq(sealed, shown + 36, sizeof sealed);
    ck_assert_mem_eq(tag, shown + 228, sizeof tag);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("backend vectors");
    TCase *tests = tcase_create("vectors of docs/BACKEND.md");
    if (sodium_init() < 0)
        return 1;
    tcase_add_loop_test(tests, the_server_seals_the_same_token_of_the_fields, 1, VECTORS + 1);
    tcase_add_loop_test(tests,
                        the_server_opens_the_shown_token_until_it_expires_and_reads_the_fields, 1,
                        VECTORS + 1);
    tcase_add_loop_test(tests, the_text_for_the_user_is_the_token_and_its_secret, 1, VECTORS + 1);
    tcase_add_loop_test(tests, the_shown_steps_lead_to_the_token, 1, VECTORS + 1);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
