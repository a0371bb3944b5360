/// Tests proto/datagram and proto/address: layouts, encoding and decoding of any bytes.
#include "hindcast/rng.h"
#include "hindcast/scene.h"
#include "hindcast/address.h"
#include "proto/datagram.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

/// Any decoded datagram.
union decoded {
    struct hc_hello hello;
    struct hc_datagram_cookie cookie;
    struct hc_connect connect;
    struct hc_accept accept;
    struct hc_deny deny;
    struct hc_version version;
    struct hc_data data;
    struct hc_reset reset;
};

static enum hc_status get(const uint8_t *bytes, size_t size, union decoded *out) {
    switch (hc_datagram_kind(bytes, size)) {
    case HC_DATAGRAM_HELLO:
        return hc_datagram_get_hello(bytes, size, &out->hello);
    case HC_DATAGRAM_COOKIE:
        return hc_datagram_get_cookie(bytes, size, &out->cookie);
    case HC_DATAGRAM_CONNECT:
        return hc_datagram_get_connect(bytes, size, &out->connect);
    case HC_DATAGRAM_ACCEPT:
        return hc_datagram_get_accept(bytes, size, &out->accept);
    case HC_DATAGRAM_DENY:
        return hc_datagram_get_deny(bytes, size, &out->deny);
    case HC_DATAGRAM_VERSION:
        return hc_datagram_get_version(bytes, size, &out->version);
    case HC_DATAGRAM_DATA:
        return hc_datagram_get_data(bytes, size, &out->data);
    case HC_DATAGRAM_RESET:
        return hc_datagram_get_reset(bytes, size, &out->reset);
    case HC_DATAGRAM_NONE:
        break;
    }
    return HC_MALFORMED;
}

/// Encodes a decoded datagram.
static size_t put(enum hc_datagram_kind kind, const union decoded *in, uint8_t *out) {
    switch (kind) {
    case HC_DATAGRAM_HELLO:
        return hc_datagram_put_hello(&in->hello, out);
    case HC_DATAGRAM_COOKIE:
        return hc_datagram_put_cookie(&in->cookie, out);
    case HC_DATAGRAM_CONNECT:
        return hc_datagram_put_connect(&in->connect, out);
    case HC_DATAGRAM_ACCEPT:
        return hc_datagram_put_accept(&in->accept, out);
    case HC_DATAGRAM_DENY:
        return hc_datagram_put_deny(&in->deny, out);
    case HC_DATAGRAM_VERSION:
        return hc_datagram_put_version(&in->version, out);
    case HC_DATAGRAM_DATA:
        return hc_datagram_put_data(&in->data, out);
    case HC_DATAGRAM_RESET:
        return hc_datagram_put_reset(&in->reset, out);
    case HC_DATAGRAM_NONE:
        break;
    }
    return 0;
}

static const enum hc_datagram_kind kinds[] = {
    HC_DATAGRAM_HELLO, HC_DATAGRAM_COOKIE,  HC_DATAGRAM_CONNECT, HC_DATAGRAM_ACCEPT,
    HC_DATAGRAM_DENY,  HC_DATAGRAM_VERSION, HC_DATAGRAM_DATA,    HC_DATAGRAM_RESET,
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void random_bytes(struct hc_rng *rng, uint8_t *out, size_t size) {
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)hc_rng_next(rng);
}

/// Encodes a random datagram of `kind`.
static size_t random_datagram(struct hc_rng *rng, enum hc_datagram_kind kind, uint8_t *out) {
    uint8_t body[HC_DATAGRAM_MAX];
    union decoded in;
    random_bytes(rng, (uint8_t *)&in, sizeof in);
    random_bytes(rng, body, sizeof body);
    if (kind == HC_DATAGRAM_CONNECT)
        in.connect.players = (uint8_t)hc_rng_below(rng, HC_OWN_PLAYERS_MAX + 1);
    if (kind == HC_DATAGRAM_DENY)
        in.deny.reason = (enum hc_deny_reason)(HC_DENY_FULL + hc_rng_below(rng, 5));
    if (kind == HC_DATAGRAM_ACCEPT) {
        in.accept.cid |= 1;
        in.accept.body = body;
        in.accept.body_size = HC_ACCEPT_BODY_MAX;
    }
    if (kind == HC_DATAGRAM_CONNECT)
        in.connect.extrapolations %= 1 << HC_EXTRAPOLATION_STEP;
    if (kind == HC_DATAGRAM_DATA) {
        in.data.seq |= 1;
        in.data.body = body;
        in.data.body_size = hc_rng_below(rng, HC_DATA_BODY_MAX + 1);
    }
    return put(kind, &in, out);
}

START_TEST(every_decoded_datagram_encodes_to_the_same_bytes) {
    struct hc_rng rng = hc_rng_init(1, 0);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[HC_DATAGRAM_MAX], again[HC_DATAGRAM_MAX];
        enum hc_datagram_kind kind = kinds[round % KINDS];
        size_t size = random_datagram(&rng, kind, bytes);
        ck_assert_uint_le(size, HC_DATAGRAM_MAX);
        union decoded out;
        ck_assert_int_eq(get(bytes, size, &out), HC_OK);
        ck_assert_uint_eq(put(kind, &out, again), size);
        ck_assert_mem_eq(bytes, again, size);
    }
}
END_TEST

START_TEST(a_deny_has_a_reason_of_any_version_and_each_known_one_has_a_text) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    union decoded in = {0}, out;
    for (unsigned reason = 0; reason < 256; reason++) {
        in.deny.reason = (enum hc_deny_reason)reason;
        size_t size = put(HC_DATAGRAM_DENY, &in, bytes);
        bool known = (reason >= HC_DENY_FULL && reason < HC_DENY_REASONS_END) || reason >= 64;
        ck_assert_int_eq(get(bytes, size, &out), reason != 0 ? HC_OK : HC_MALFORMED);
        ck_assert_int_eq(strstr(hc_deny_text(in.deny.reason), "does not know") == NULL, known);
        ck_assert_int_eq(strcmp(hc_deny_word(in.deny.reason), "unknown") != 0, known);
    }
}
END_TEST

START_TEST(a_shortened_or_lengthened_datagram_of_fixed_size_never_decodes) {
    struct hc_rng rng = hc_rng_init(2, 0);
    for (int k = 0; k < KINDS; k++) {
        uint8_t bytes[HC_DATAGRAM_MAX + 1] = {0};
        size_t size = random_datagram(&rng, kinds[k], bytes);
        bool fixed = kinds[k] != HC_DATAGRAM_DATA;
        for (size_t cut = 0; cut <= HC_DATAGRAM_MAX + 1; cut++) {
            uint8_t *exact = malloc(cut + 1); // a sanitizer notices reads behind its end
            memcpy(exact, bytes, cut);
            union decoded out;
            enum hc_status status = get(exact, cut, &out);
            if (cut != size && (fixed || cut > HC_DATAGRAM_MAX))
                ck_assert_int_ne(status, HC_OK);
            free(exact);
        }
    }
}
END_TEST

/// Whether the byte at `at` is of a tag, a proof or a MAC, which decoders skip.
static bool is_tag(enum hc_datagram_kind kind, size_t size, size_t at) {
    if (kind == HC_DATAGRAM_CONNECT && at >= HC_CONNECT_CONTINUE_PROOF_AT &&
        at < HC_CONNECT_CONTINUE_PROOF_AT + HC_PROOF_SIZE)
        return true;
    return at + HC_TAG_SIZE >= size && (kind == HC_DATAGRAM_CONNECT || kind == HC_DATAGRAM_ACCEPT ||
                                        kind == HC_DATAGRAM_DENY || kind == HC_DATAGRAM_DATA);
}

START_TEST(a_flipped_bit_is_refused_or_decoded) {
    struct hc_rng rng = hc_rng_init(3, 0);
    for (int k = 0; k < KINDS; k++) {
        uint8_t bytes[HC_DATAGRAM_MAX], again[HC_DATAGRAM_MAX];
        size_t size = random_datagram(&rng, kinds[k], bytes);
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            union decoded out;
            // VERSION may come from any version: its digits are not decoded.
            bool skipped = kinds[k] == HC_DATAGRAM_VERSION && (bit / 8 == 6 || bit / 8 == 7);
            skipped |= is_tag(kinds[k], size, bit / 8);
            if (get(bytes, size, &out) == HC_OK && !skipped) {
                ck_assert_uint_eq(put(hc_datagram_kind(bytes, size), &out, again), size);
                ck_assert_mem_eq(bytes, again, size);
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}
END_TEST

START_TEST(random_bytes_of_every_length_decode_without_fault) {
    struct hc_rng rng = hc_rng_init(4, 0);
    for (int round = 0; round < 20000; round++) {
        size_t size = hc_rng_below(&rng, 1501);
        uint8_t *bytes = malloc(size + 1);
        random_bytes(&rng, bytes, size);
        if (size > 8) {
            bytes[0] = (uint8_t)kinds[round % KINDS];
            memcpy(bytes + 1, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
        }
        union decoded out;
        (void)get(bytes, size, &out);
        free(bytes);
    }
}
END_TEST

START_TEST(padding_must_be_zero) {
    struct hc_rng rng = hc_rng_init(5, 0);
    static const struct {
        enum hc_datagram_kind kind;
        size_t first, last;
    } rooms[] = {{HC_DATAGRAM_HELLO, 32, 1199}, {HC_DATAGRAM_CONNECT, 350, 1183}};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        uint8_t bytes[HC_DATAGRAM_MAX];
        size_t size = random_datagram(&rng, rooms[i].kind, bytes);
        for (size_t at = rooms[i].first; at <= rooms[i].last; at++) {
            ck_assert_uint_eq(bytes[at], 0);
            bytes[at] = 1;
            union decoded out;
            ck_assert_int_eq(get(bytes, size, &out), HC_MALFORMED);
            bytes[at] = 0;
        }
    }
}
END_TEST

START_TEST(an_encoder_leaves_zeros_for_tag_proof_and_mac) {
    struct hc_rng rng = hc_rng_init(6, 0);
    static const uint8_t zeros[HC_TAG_SIZE];
    for (int k = 0; k < KINDS; k++) {
        uint8_t bytes[HC_DATAGRAM_MAX];
        size_t size = random_datagram(&rng, kinds[k], bytes);
        if (is_tag(kinds[k], size, size - 1))
            ck_assert_mem_eq(bytes + size - HC_TAG_SIZE, zeros, HC_TAG_SIZE);
    }
}
END_TEST

START_TEST(the_clear_bytes_of_a_sealed_data_are_its_cid_and_seq) {
    struct hc_rng rng = hc_rng_init(7, 0);
    uint8_t bytes[HC_DATAGRAM_MAX];
    uint32_t cid, seq;
    for (size_t size = 0; size <= sizeof bytes; size++) {
        random_bytes(&rng, bytes, size);
        bytes[0] = HC_DATAGRAM_DATA;
        memcpy(bytes + 1, "\1\2\3\4\5\6\7\10", 8);
        enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
        ck_assert_int_eq(status, size < 33 ? HC_TRUNCATED : HC_OK);
        if (status == HC_OK)
            ck_assert(cid == 0x04030201 && seq == 0x08070605);
    }
    memset(bytes + 5, 0, 4);
    ck_assert_int_eq(hc_datagram_get_data_clear(bytes, 40, &cid, &seq), HC_MALFORMED);
}
END_TEST

START_TEST(a_hello_of_another_wire_version_can_still_be_answered) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_hello hello = {.protocol_id = 77, .client_nonce = {1, 2, 3}}, out;
    size_t size = hc_datagram_put_hello(&hello, bytes);
    memcpy(bytes + 6, "99", 2);
    bytes[700] = 9; // other versions define this byte
    ck_assert_int_eq(hc_datagram_get_hello(bytes, size, &out), HC_UNEXPECTED);
    ck_assert_mem_eq(out.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    bytes[1] ^= 1;
    ck_assert_int_eq(hc_datagram_get_hello(bytes, size, &out), HC_MALFORMED);
}
END_TEST

START_TEST(a_connect_with_too_many_players_is_invalid_instead_of_malformed) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_connect connect = {.players = 5, .slot = 3}, out;
    size_t size = hc_datagram_put_connect(&connect, bytes);
    ck_assert_int_eq(hc_datagram_get_connect(bytes, size, &out), HC_INVALID);
    ck_assert_uint_eq(out.slot, 3);
}
END_TEST

START_TEST(a_connect_that_continues_nothing_has_no_proof_of_it) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (uint32_t continues = 0; continues < 2; continues++) {
        struct hc_connect connect = {.players = 1, .continues = continues}, out;
        size_t size = hc_datagram_put_connect(&connect, bytes);
        ck_assert_int_eq(hc_datagram_get_connect(bytes, size, &out), HC_OK);
        bytes[HC_CONNECT_CONTINUE_PROOF_AT + HC_PROOF_SIZE - 1] = 1;
        ck_assert_int_eq(hc_datagram_get_connect(bytes, size, &out),
                         continues == 0 ? HC_MALFORMED : HC_OK);
        bytes[HC_CONNECT_CONTINUE_PROOF_AT + HC_PROOF_SIZE] = 1;
        ck_assert_int_eq(hc_datagram_get_connect(bytes, size, &out), HC_MALFORMED);
    }
}
END_TEST

START_TEST(cid_zero_and_seq_zero_are_malformed) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    union decoded out;
    struct hc_data data = {.cid = 1, .seq = 1};
    size_t size = hc_datagram_put_data(&data, bytes);
    ck_assert_uint_eq(size, 33);
    ck_assert_int_eq(get(bytes, size, &out), HC_OK);
    memset(bytes + 5, 0, 4);
    ck_assert_int_eq(get(bytes, size, &out), HC_MALFORMED);
    const uint8_t body[HC_ACCEPT_BODY_MAX] = {0};
    struct hc_accept accept = {.cid = 1, .body = body, .body_size = sizeof body};
    size = hc_datagram_put_accept(&accept, bytes);
    ck_assert_int_eq(get(bytes, size, &out), HC_OK);
    memset(bytes + 40, 0, 4);
    ck_assert_int_eq(get(bytes, size, &out), HC_MALFORMED);
}
END_TEST

START_TEST(the_protocol_id_depends_on_the_game) {
    struct hc_game other = small_game;
    other.version++;
    ck_assert_uint_ne(hc_datagram_protocol_id(&small_game, 7), hc_datagram_protocol_id(&other, 7));
}
END_TEST

START_TEST(addresses_print_as_rfc_5952_demands) {
    static const struct {
        struct hc_address address;
        const char *text;
    } cases[] = {
        {{.ip = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 7}, .port = 65535}, "192.0.2.7:65535"},
        {{.port = 1}, "[::]:1"},
        {{.ip = {[15] = 1}, .port = 9}, "[::1]:9"},
        {{.ip = {0x20, 1, 0x0d, 0xb8, [15] = 1}, .port = 80}, "[2001:db8::1]:80"},
        {{.ip = {0xfe, 0x80, [14] = 0}, .port = 80}, "[fe80::]:80"},
        {{.ip = {0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4}, .port = 5}, "[1:0:2::3:4]:5"},
        {{.ip = {0, 1, 0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}, .port = 5},
         "[1:0:2:3:4:5:6:7]:5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[HC_ADDRESS_TEXT_MAX];
        ck_assert_str_eq(hc_address_format(&cases[i].address, text), cases[i].text);
    }
    struct hc_address longest = {.port = 65535};
    memset(longest.ip, 0xff, sizeof longest.ip);
    char text[HC_ADDRESS_TEXT_MAX];
    ck_assert_uint_eq(strlen(hc_address_format(&longest, text)), 39 + 2 + 6);
}
END_TEST

START_TEST(addresses_are_equal_by_ip_and_port) {
    struct hc_address a = hc_address_ipv4(127, 1, 2, 3, 80), b = a;
    ck_assert(hc_address_equal(&a, &b) && hc_address_is_ipv4(&a) && hc_address_is_loopback(&a));
    b.port++;
    ck_assert(!hc_address_equal(&a, &b));
    b = hc_address_ipv4(126, 1, 2, 3, 80);
    ck_assert(!hc_address_equal(&a, &b) && !hc_address_is_loopback(&b));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_datagram");
    TCase *tests = tcase_create("datagram");
    tcase_add_test(tests, every_decoded_datagram_encodes_to_the_same_bytes);
    tcase_add_test(tests, a_deny_has_a_reason_of_any_version_and_each_known_one_has_a_text);
    tcase_add_test(tests, a_shortened_or_lengthened_datagram_of_fixed_size_never_decodes);
    tcase_add_test(tests, a_flipped_bit_is_refused_or_decoded);
    tcase_add_test(tests, random_bytes_of_every_length_decode_without_fault);
    tcase_add_test(tests, padding_must_be_zero);
    tcase_add_test(tests, an_encoder_leaves_zeros_for_tag_proof_and_mac);
    tcase_add_test(tests, the_clear_bytes_of_a_sealed_data_are_its_cid_and_seq);
    tcase_add_test(tests, a_hello_of_another_wire_version_can_still_be_answered);
    tcase_add_test(tests, a_connect_with_too_many_players_is_invalid_instead_of_malformed);
    tcase_add_test(tests, a_connect_that_continues_nothing_has_no_proof_of_it);
    tcase_add_test(tests, cid_zero_and_seq_zero_are_malformed);
    tcase_add_test(tests, the_protocol_id_depends_on_the_game);
    tcase_add_test(tests, addresses_print_as_rfc_5952_demands);
    tcase_add_test(tests, addresses_are_equal_by_ip_and_port);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
