/// Tests of web/crypto: known vectors of the standards, and random ones against libsodium.
#include "hindcast/rng.h"
#include "tests/run_suite.h"
#include "tests/unit/count_up.h"
#include "web/crypto/aead.h"
#include "web/crypto/base64.h"
#include "web/crypto/blake2b.h"
#include "web/crypto/bytes.h"
#include "web/crypto/siphash.h"
#include "web/crypto/x25519.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 10000, TEXT_MAX = 1400, CLEAR_MAX = 64 };

static const char sunscreen[] = "Ladies and Gentlemen of the class of '99: If I could offer you "
                                "only one tip for the future, sunscreen would be it.";
static const uint8_t sunscreen_clear[12] = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1,
                                            0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};

static void from_hex(uint8_t *out, size_t size, const char *hex) {
    size_t read;
    int failed = sodium_hex2bin(out, size, hex, strlen(hex), NULL, &read, NULL);
    ck_assert(!failed && read == size);
}

static void assert_hex(const uint8_t *bytes, size_t size, const char *hex) {
    char found[2 * HC_WEB_BLAKE2B_MAX + 1];
    sodium_bin2hex(found, sizeof found, bytes, size);
    ck_assert_str_eq(found, hex);
}

static void draw(struct hc_rng *rng, uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)hc_rng_below(rng, 256);
}

// ---- Sealing ------------------------------------------------------------------------------------

/// Seals the text of RFC 8439 with its key, and compares the first bytes and the tag.
static void seal_sunscreen(const uint8_t *nonce, bool extended, const char *begin,
                           const char *tag_hex) {
    uint8_t key[HC_WEB_CHACHA_KEY], sealed[sizeof sunscreen - 1], tag[HC_WEB_POLY1305_TAG];
    count_up(key, sizeof key, 0x80);
    struct hc_web_aead aead = {key, nonce, extended, sunscreen_clear, sizeof sunscreen_clear};
    hc_web_aead_seal(&aead, (const uint8_t *)sunscreen, sizeof sealed, sealed, tag);
    assert_hex(sealed, 16, begin);
    assert_hex(tag, sizeof tag, tag_hex);
    ck_assert(hc_web_aead_open(&aead, sealed, sizeof sealed, tag, sealed));
    ck_assert_mem_eq(sealed, sunscreen, sizeof sealed);
}

START_TEST(sealing_is_that_of_rfc_8439) {
    uint8_t nonce[HC_WEB_CHACHA_NONCE] = {7};
    count_up(nonce + 4, 8, 0x40);
    seal_sunscreen(nonce, false, "d31a8d34648e60db7b86afbc53ef7ec2",
                   "1ae10b594f09e26a7e902ecbd0600691");
}
END_TEST

START_TEST(sealing_with_a_long_nonce_is_that_of_the_draft) {
    uint8_t nonce[HC_WEB_XCHACHA_NONCE], key[HC_WEB_CHACHA_KEY], derived[HC_WEB_CHACHA_KEY];
    count_up(nonce, sizeof nonce, 0x40);
    seal_sunscreen(nonce, true, "bd6d179d3e83d43b9576579493c0e939",
                   "c0875924c1c7987947deafd8780acf49");
    count_up(key, sizeof key, 0);
    from_hex(nonce, HC_WEB_HCHACHA_NONCE, "000000090000004a0000000031415927");
    hc_web_hchacha20(key, nonce, derived);
    assert_hex(derived, sizeof derived,
               "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc");
}
END_TEST

/// A drawn sealing.
struct sealing {
    struct hc_web_aead aead;
    uint8_t key[HC_WEB_CHACHA_KEY], nonce[HC_WEB_XCHACHA_NONCE], clear[CLEAR_MAX];
    uint8_t text[TEXT_MAX], sealed[TEXT_MAX], tag[HC_WEB_POLY1305_TAG];
    size_t size;
};

static void draw_sealing(struct sealing *drawn, struct hc_rng *rng, bool extended) {
    draw(rng, drawn->key, sizeof drawn->key);
    draw(rng, drawn->nonce, sizeof drawn->nonce);
    draw(rng, drawn->clear, sizeof drawn->clear);
    drawn->size = hc_rng_below(rng, hc_rng_below(rng, 4) == 0 ? TEXT_MAX : 150);
    draw(rng, drawn->text, drawn->size);
    drawn->aead = (struct hc_web_aead){drawn->key, drawn->nonce, extended, drawn->clear,
                                       hc_rng_below(rng, CLEAR_MAX + 1)};
    if (hc_rng_below(rng, 8) == 0) // limbs that carry everywhere
        memset(drawn->text, 0xff, drawn->size);
}

static void seal_by_sodium(const struct sealing *drawn, uint8_t *sealed, uint8_t *tag) {
    const struct hc_web_aead *aead = &drawn->aead;
    if (aead->extended)
        crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
            sealed, tag, NULL, drawn->text, drawn->size, aead->clear, aead->clear_size, NULL,
            aead->nonce, aead->key);
    else
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            sealed, tag, NULL, drawn->text, drawn->size, aead->clear, aead->clear_size, NULL,
            aead->nonce, aead->key);
}

START_TEST(random_sealings_equal_those_of_libsodium_and_open_again) {
    static struct sealing drawn;
    static uint8_t sealed[TEXT_MAX], opened[TEXT_MAX];
    uint8_t tag[HC_WEB_POLY1305_TAG];
    struct hc_rng rng = hc_rng_init(1, (uint32_t)_i);
    for (unsigned i = 0; i < VECTORS; i++) {
        draw_sealing(&drawn, &rng, _i == 1);
        hc_web_aead_seal(&drawn.aead, drawn.text, drawn.size, drawn.sealed, drawn.tag);
        seal_by_sodium(&drawn, sealed, tag);
        ck_assert_mem_eq(drawn.tag, tag, sizeof tag);
        ck_assert_mem_eq(drawn.sealed, sealed, drawn.size);
        ck_assert(hc_web_aead_open(&drawn.aead, sealed, drawn.size, tag, opened));
        ck_assert_mem_eq(opened, drawn.text, drawn.size);
    }
}
END_TEST

START_TEST(a_sealing_with_any_changed_bit_does_not_open_and_shows_nothing) {
    static struct sealing drawn;
    static uint8_t opened[TEXT_MAX];
    struct hc_rng rng = hc_rng_init(2, 0);
    for (unsigned i = 0; i < 1000; i++) {
        draw_sealing(&drawn, &rng, i % 2 == 1);
        hc_web_aead_seal(&drawn.aead, drawn.text, drawn.size, drawn.sealed, drawn.tag);
        uint8_t *parts[] = {drawn.key,   drawn.nonce,  drawn.tag,
                            drawn.clear, drawn.sealed, drawn.key + 31};
        size_t sizes[] = {32, 12, 16, drawn.aead.clear_size, drawn.size, 1};
        unsigned part = hc_rng_below(&rng, 6);
        if (sizes[part] == 0)
            continue;
        parts[part][hc_rng_below(&rng, (uint32_t)sizes[part])] ^=
            (uint8_t)(1u << hc_rng_below(&rng, 8));
        memset(opened, 1, sizeof opened);
        ck_assert(!hc_web_aead_open(&drawn.aead, drawn.sealed, drawn.size, drawn.tag, opened));
        ck_assert(hc_web_is_zero(opened, drawn.size));
    }
}
END_TEST

// ---- Hashes -------------------------------------------------------------------------------------

START_TEST(hashes_are_those_of_rfc_7693_and_of_the_authors_of_siphash) {
    uint8_t hash[HC_WEB_BLAKE2B_MAX], key[HC_WEB_SIPHASH_KEY], bytes[15];
    struct hc_web_blake2b_key none = {NULL, 0};
    hc_web_blake2b(hash, sizeof hash, (const uint8_t *)"abc", 3, &none);
    assert_hex(hash, sizeof hash,
               "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
               "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    count_up(key, sizeof key, 0);
    count_up(bytes, sizeof bytes, 0);
    ck_assert_uint_eq(hc_web_siphash(bytes, sizeof bytes, key), UINT64_C(0xa129ca6149be45e5));
}
END_TEST

START_TEST(random_hashes_equal_those_of_libsodium) {
    uint8_t key[HC_WEB_BLAKE2B_MAX], bytes[600], hash[HC_WEB_BLAKE2B_MAX], same[HC_WEB_BLAKE2B_MAX];
    struct hc_rng rng = hc_rng_init(3, 0);
    for (unsigned i = 0; i < VECTORS; i++) {
        size_t size = hc_rng_below(&rng, i % 4 == 0 ? sizeof bytes : 130);
        size_t key_size = i % 3 == 0 ? 0 : 16 + hc_rng_below(&rng, 49);
        size_t hash_size = 16 + hc_rng_below(&rng, 49);
        if (i < 8)
            size = (size_t)128 * (i % 4); // whole blocks
        draw(&rng, key, sizeof key);
        draw(&rng, bytes, size);
        struct hc_web_blake2b_key of = {key, key_size};
        hc_web_blake2b(hash, hash_size, bytes, size, &of);
        crypto_generichash(same, hash_size, bytes, size, key, key_size);
        ck_assert_mem_eq(hash, same, hash_size);
        hc_web_put_u64(hash, hc_web_siphash(bytes, size, key));
        crypto_shorthash(same, bytes, size, key);
        ck_assert_mem_eq(hash, same, 8);
    }
}
END_TEST

// ---- The key exchange ---------------------------------------------------------------------------

START_TEST(key_exchanges_are_those_of_rfc_7748) {
    static const char *const known[2][3] = {
        {"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
         "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
         "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
        {"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
         "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
         "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"}};
    uint8_t secret[HC_WEB_X25519], key[HC_WEB_X25519], shared[HC_WEB_X25519];
    for (unsigned i = 0; i < 2; i++) {
        from_hex(secret, sizeof secret, known[i][0]);
        from_hex(key, sizeof key, known[i][1]);
        ck_assert(hc_web_x25519(shared, secret, key));
        assert_hex(shared, sizeof shared, known[i][2]);
    }
}
END_TEST

START_TEST(a_thousand_key_exchanges_in_a_row_end_as_in_rfc_7748) {
    uint8_t secret[HC_WEB_X25519] = {9}, key[HC_WEB_X25519] = {9}, shared[HC_WEB_X25519];
    for (unsigned i = 0; i < 1000; i++) {
        ck_assert(hc_web_x25519(shared, secret, key));
        memcpy(key, secret, sizeof key);
        memcpy(secret, shared, sizeof secret);
    }
    assert_hex(secret, sizeof secret,
               "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}
END_TEST

static void compare_exchange(const uint8_t *secret, const uint8_t *key) {
    uint8_t shared[HC_WEB_X25519], same[HC_WEB_X25519];
    bool good = hc_web_x25519(shared, secret, key);
    ck_assert_int_eq(good, crypto_scalarmult(same, secret, key) == 0);
    if (good)
        ck_assert_mem_eq(shared, same, sizeof shared);
}

static void compare_exchanges(unsigned count) {
    uint8_t secret[HC_WEB_X25519], key[HC_WEB_X25519], public[HC_WEB_X25519], same[HC_WEB_X25519];
    struct hc_rng rng = hc_rng_init(4, count);
    for (unsigned i = 0; i < count; i++) {
        draw(&rng, secret, sizeof secret);
        draw(&rng, key, sizeof key);
        compare_exchange(secret, key);
        if (i % 8 > 0)
            continue;
        hc_web_x25519_public(public, secret);
        crypto_scalarmult_base(same, secret);
        ck_assert_mem_eq(public, same, sizeof public);
    }
}

START_TEST(random_key_exchanges_equal_those_of_libsodium) {
    compare_exchanges(200);
}
END_TEST

START_TEST(ten_thousand_key_exchanges_equal_those_of_libsodium) {
    compare_exchanges(VECTORS);
}
END_TEST

START_TEST(keys_near_the_prime_and_of_small_order_are_taken_as_libsodium_takes_them) {
    uint8_t secret[HC_WEB_X25519], key[HC_WEB_X25519];
    count_up(secret, sizeof secret, 0x55);
    // 2^255 - 256 ... 2^255 - 1, of which those from 2^255 - 19 on are not reduced; 0 ... 255.
    for (unsigned low = 0; low < 256; low++)
        for (unsigned top = 0; top < 4; top++) {
            memset(key, top % 2 == 0 ? 0xff : 0, sizeof key);
            key[0] = (uint8_t)low;
            key[31] = (uint8_t)((key[31] & 0x7f) | (top >= 2 ? 0x80 : 0));
            compare_exchange(secret, key);
        }
    // A point of order 8.
    from_hex(key, sizeof key, "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800");
    ck_assert(!hc_web_x25519(key, secret, key));
    ck_assert(hc_web_is_zero(key, sizeof key));
}
END_TEST

// ---- Base64, comparisons ------------------------------------------------------------------------

START_TEST(base64_equals_that_of_libsodium_for_texts_and_for_errors) {
    uint8_t bytes[100], read[100], same[100];
    char text[HC_WEB_BASE64_SIZE(100) + 1],
        other[sodium_base64_ENCODED_LEN(100, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    struct hc_rng rng = hc_rng_init(5, 0);
    for (unsigned i = 0; i < VECTORS; i++) {
        size_t size = hc_rng_below(&rng, sizeof bytes + 1), read_size, same_size = 0;
        draw(&rng, bytes, size);
        hc_web_base64_put(text, bytes, size);
        sodium_bin2base64(other, sizeof other, bytes, size,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING);
        ck_assert_str_eq(text, other);
        size_t letters = HC_WEB_BASE64_SIZE(size), room = sizeof read;
        if (i % 2 == 1 && letters > 0) // libsodium takes bytes above 127 for digits
            text[hc_rng_below(&rng, (uint32_t)letters)] = (char)hc_rng_below(&rng, 128);
        if (i % 5 == 1 && letters > 0)
            letters--;
        if (i % 7 == 1)
            room = size > 0 ? size - 1 : 0;
        bool good = hc_web_base64_get(read, room, text, letters, &read_size);
        bool sodium = sodium_base642bin(same, room, text, letters, NULL, &same_size, NULL,
                                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0;
        ck_assert_int_eq(good, sodium);
        if (good)
            ck_assert(read_size == same_size && memcmp(read, same, read_size) == 0);
    }
}
END_TEST

START_TEST(comparisons_find_a_difference_in_any_bit) {
    uint8_t a[40] = {0}, b[40] = {0};
    ck_assert(hc_web_equal(a, b, sizeof a) && hc_web_is_zero(a, sizeof a));
    for (unsigned bit = 0; bit < 8 * sizeof a; bit++) {
        a[bit / 8] = (uint8_t)(1u << bit % 8);
        ck_assert(!hc_web_equal(a, b, sizeof a) && !hc_web_is_zero(a, sizeof a));
        hc_web_erase(a, sizeof a);
        ck_assert(hc_web_equal(a, b, sizeof a) && hc_web_is_zero(a, sizeof a));
    }
    ck_assert(hc_web_equal(a, b, 0) && hc_web_is_zero(a, 0));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("web crypto");
    TCase *tests = tcase_create("crypto");
    int failed = sodium_init() < 0;
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, sealing_is_that_of_rfc_8439);
    tcase_add_test(tests, sealing_with_a_long_nonce_is_that_of_the_draft);
    tcase_add_loop_test(tests, random_sealings_equal_those_of_libsodium_and_open_again, 0, 2);
    tcase_add_test(tests, a_sealing_with_any_changed_bit_does_not_open_and_shows_nothing);
    tcase_add_test(tests, hashes_are_those_of_rfc_7693_and_of_the_authors_of_siphash);
    tcase_add_test(tests, random_hashes_equal_those_of_libsodium);
    tcase_add_test(tests, key_exchanges_are_those_of_rfc_7748);
    tcase_add_test(tests, random_key_exchanges_equal_those_of_libsodium);
    tcase_add_test(tests, keys_near_the_prime_and_of_small_order_are_taken_as_libsodium_takes_them);
    tcase_add_test(tests, base64_equals_that_of_libsodium_for_texts_and_for_errors);
    tcase_add_test(tests, comparisons_find_a_difference_in_any_bit);
    TCase *plays = add_long_plays(suite);
    tcase_add_test(plays, ten_thousand_key_exchanges_equal_those_of_libsodium);
    tcase_add_test(plays, a_thousand_key_exchanges_in_a_row_end_as_in_rfc_7748);
    return failed ? EXIT_FAILURE : run_suite(suite);
}
