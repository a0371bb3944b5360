/// Tests of common/bits.h.
#include "common/bits.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

START_TEST(low_bits_come_first) {
    uint8_t buffer[2] = {0xff, 0xff};
    struct hc_bits_writer writer = hc_bits_writer(buffer, sizeof buffer);
    hc_bits_put(&writer, 1, 1);
    hc_bits_put(&writer, 0x5a, 7);
    hc_bits_put_signed(&writer, -1, 3);
    ck_assert_uint_eq(hc_bits_written(&writer), 11);
    ck_assert_uint_eq(hc_bits_finish(&writer), 2);
    ck_assert_uint_eq(buffer[0], 0xb5);
    ck_assert_uint_eq(buffer[1], 0x07);
}
END_TEST

/// One number of a random script.
struct item {
    unsigned bits;
    bool is_signed;
    uint32_t value;
};

static struct item next_item(struct hc_rng *rng) {
    struct item item = {.bits = hc_rng_below(rng, 33), .is_signed = hc_rng_below(rng, 2) == 1};
    item.value = (uint32_t)(hc_rng_next(rng) & ((UINT64_C(1) << item.bits) - 1));
    return item;
}

/// The value of an item's bits as a two's complement.
static int32_t as_signed(struct item item) {
    if (item.bits == 0)
        return 0;
    int64_t half = INT64_C(1) << (item.bits - 1);
    return (int32_t)(item.value >= half ? (int64_t)item.value - 2 * half : item.value);
}

START_TEST(numbers_read_back_until_the_buffer_ends) {
    for (uint32_t stream = 0; stream < 2000; stream++) {
        struct hc_rng script = hc_rng_init(2, stream);
        size_t room = hc_rng_below(&script, 60);
        uint8_t *buffer = malloc(room + 1);
        struct hc_bits_writer writer = hc_bits_writer(buffer, room);
        struct hc_rng again = script;
        size_t bits = 0;
        for (;;) {
            struct item item = next_item(&script);
            if (bits + item.bits > room * 8)
                break;
            bits += item.bits;
            if (item.is_signed)
                hc_bits_put_signed(&writer, as_signed(item), item.bits);
            else
                hc_bits_put(&writer, item.value, item.bits);
            ck_assert_msg(!hc_bits_failed(&writer), "stream %u", stream);
            ck_assert_uint_eq(hc_bits_written(&writer), bits);
        }
        size_t used = hc_bits_finish(&writer);
        ck_assert_uint_eq(used, (bits + 7) / 8);

        struct hc_bits_reader reader = hc_bits_reader(buffer, used);
        for (size_t left = bits; left > 0;) {
            struct item item = next_item(&again);
            left -= item.bits;
            if (item.is_signed)
                ck_assert_int_eq(hc_bits_get_signed(&reader, item.bits), as_signed(item));
            else
                ck_assert_uint_eq(hc_bits_get(&reader, item.bits), item.value);
        }
        ck_assert_msg(hc_bits_done(&reader), "stream %u", stream);
        free(buffer);
    }
}
END_TEST

START_TEST(a_put_past_the_end_fails_writes_nothing_there_and_its_failure_sticks) {
    for (unsigned room = 0; room < 12; room++) {
        uint8_t buffer[13] = {0};
        buffer[room] = 0xa5;
        struct hc_bits_writer writer = hc_bits_writer(buffer, room);
        for (unsigned i = 0; i < room * 8; i++)
            hc_bits_put(&writer, 1, 1);
        ck_assert(!hc_bits_failed(&writer));
        hc_bits_put(&writer, 0, 1);
        ck_assert(hc_bits_failed(&writer));
        hc_bits_put(&writer, 0, 0);
        ck_assert_uint_eq(hc_bits_finish(&writer), 0);
        ck_assert_uint_eq(buffer[room], 0xa5);
    }
}
END_TEST

START_TEST(a_read_past_the_end_gives_zero_and_its_failure_sticks) {
    for (uint32_t stream = 0; stream < 1000; stream++) {
        struct hc_rng rng = hc_rng_init(3, stream);
        size_t size = hc_rng_below(&rng, 20);
        uint8_t *bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)hc_rng_next(&rng);
        struct hc_bits_reader reader = hc_bits_reader(bytes, size);
        size_t left = size * 8;
        bool failed = false;
        for (int i = 0; i < 30; i++) {
            unsigned bits = hc_rng_below(&rng, 34);
            uint32_t value = hc_bits_get(&reader, bits);
            failed = failed || bits > 32 || bits > left;
            ck_assert_msg(reader.failed == failed, "stream %u, get %d", stream, i);
            ck_assert(!failed || value == 0);
            ck_assert(bits >= 32 || value < UINT32_C(1) << bits);
            left -= failed ? 0 : bits;
        }
        ck_assert(!failed || !hc_bits_done(&reader));
        free(bytes);
    }
}
END_TEST

START_TEST(padding_must_be_short_and_zero) {
    static const uint8_t good[1] = {0x03}, dirty[1] = {0x07}, lengthy[2] = {0x03, 0x00};
    struct hc_bits_reader reader = hc_bits_reader(good, sizeof good);
    ck_assert(!hc_bits_done(&reader));
    ck_assert_uint_eq(hc_bits_get(&reader, 2), 3);
    ck_assert(hc_bits_done(&reader));
    reader = hc_bits_reader(dirty, sizeof dirty);
    ck_assert_uint_eq(hc_bits_get(&reader, 2), 3);
    ck_assert(!hc_bits_done(&reader));
    reader = hc_bits_reader(lengthy, sizeof lengthy);
    ck_assert_uint_eq(hc_bits_get(&reader, 2), 3);
    ck_assert(!hc_bits_done(&reader));
}
END_TEST

START_TEST(a_number_has_one_encoding_and_at_most_32_bits) {
    for (unsigned group = 1; group <= 16; group++) {
        uint8_t data[16];
        for (uint32_t i = 0; i < 3000; i++) {
            struct hc_rng rng = hc_rng_init(79, i);
            uint32_t value = (uint32_t)hc_rng_next(&rng) >> hc_rng_below(&rng, 32);
            value = i == 0 ? UINT32_MAX : i < 1000 ? i : value;
            struct hc_bits_writer writer = hc_bits_writer(data, sizeof data);
            hc_bits_put_number(&writer, value, group);
            struct hc_bits_reader reader = hc_bits_reader(data, hc_bits_finish(&writer));
            ck_assert_uint_eq(hc_bits_get_number(&reader, group), value);
            ck_assert(hc_bits_done(&reader));
        }
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const uint8_t two[2] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
            struct hc_bits_reader reader = hc_bits_reader(two, sizeof two);
            uint32_t value = hc_bits_get_number(&reader, group);
            if (reader.failed || !hc_bits_done(&reader))
                continue;
            struct hc_bits_writer writer = hc_bits_writer(data, sizeof data);
            hc_bits_put_number(&writer, value, group);
            ck_assert_uint_eq(hc_bits_finish(&writer), 2);
            ck_assert_mem_eq(data, two, 2);
        }
        memset(data, 0xff, sizeof data);
        struct hc_bits_reader reader = hc_bits_reader(data, sizeof data);
        ck_assert_uint_eq(hc_bits_get_number(&reader, group), 0);
        ck_assert(reader.failed);
    }
}
END_TEST

/// Any of the three codes with one encoding for each value: flags, masks, and residuals of `bits`.
struct code {
    enum { SOME, MASK, RESIDUAL } type;
    unsigned bits, k;
};

static void put_code(struct hc_bits_writer *writer, const struct code *code, uint64_t value) {
    if (code->type == SOME)
        hc_bits_put_some(writer, (uint32_t)value, code->bits);
    else if (code->type == MASK)
        hc_bits_put_mask(writer, value, code->bits);
    else
        hc_bits_put_residual(writer, (uint32_t)value, code->bits, code->k);
}

static uint64_t get_code(struct hc_bits_reader *reader, const struct code *code) {
    uint64_t all = UINT64_MAX >> (64 - code->bits);
    if (code->type == SOME)
        return hc_bits_get_some(reader, code->bits);
    if (code->type == MASK)
        return hc_bits_get_mask(reader, code->bits);
    return hc_bits_get_residual(reader, code->bits, code->k) & all;
}

/// Checks that a value reads back, and that any bits that are read are its only encoding.
static void check_code(const struct code *code, struct hc_rng *rng) {
    uint64_t all = UINT64_MAX >> (64 - code->bits);
    uint64_t value = hc_rng_next(rng) & hc_rng_next(rng) & all;
    uint8_t data[16], any[16], again[16];
    value = value == 0 && code->type != MASK ? all : value;
    struct hc_bits_writer writer = hc_bits_writer(data, sizeof data);
    put_code(&writer, code, value);
    struct hc_bits_reader reader = hc_bits_reader(data, hc_bits_finish(&writer));
    ck_assert_uint_eq(get_code(&reader, code), value);
    ck_assert(hc_bits_done(&reader));
    for (size_t i = 0; i < sizeof any; i++)
        any[i] = (uint8_t)hc_rng_next(rng);
    reader = hc_bits_reader(any, sizeof any);
    value = get_code(&reader, code);
    size_t used = 8 * reader.at - reader.count;
    if (reader.failed)
        return;
    writer = hc_bits_writer(again, sizeof again);
    put_code(&writer, code, value);
    ck_assert_uint_eq(hc_bits_written(&writer), used);
    hc_bits_finish(&writer);
    for (size_t i = 0; i < used; i++)
        ck_assert_uint_eq(any[i / 8] >> i % 8 & 1, again[i / 8] >> i % 8 & 1);
}

START_TEST(flags_and_residuals_have_one_encoding) {
    struct hc_rng rng = hc_rng_init(80, 0);
    for (struct code code = {.bits = 1}; code.bits <= 64; code.bits++)
        for (unsigned i = 0; i < 600; i++) {
            code.type = code.bits > 32 ? MASK : i % 3; // only masks are longer
            code.k = hc_rng_below(&rng, code.bits);
            check_code(&code, &rng);
        }
}
END_TEST

START_TEST(more_follows_where_the_next_bit_is_1_and_nowhere_else) {
    const uint8_t bytes[] = {0x05};
    struct hc_bits_reader reader = hc_bits_reader(bytes, sizeof bytes);
    const bool more[] = {true, false, true, false};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(hc_bits_more(&reader) == more[i]);
        ck_assert_uint_eq(hc_bits_get(&reader, 1), more[i]);
    }
    ck_assert(hc_bits_done(&reader));
    hc_bits_skip(&reader, 4);
    ck_assert(!hc_bits_more(&reader)); // no bit follows
    ck_assert(hc_bits_done(&reader));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("bits");
    TCase *tests = tcase_create("bits");
    tcase_add_test(tests, low_bits_come_first);
    tcase_add_test(tests, more_follows_where_the_next_bit_is_1_and_nowhere_else);
    tcase_add_test(tests, numbers_read_back_until_the_buffer_ends);
    tcase_add_test(tests, a_put_past_the_end_fails_writes_nothing_there_and_its_failure_sticks);
    tcase_add_test(tests, a_read_past_the_end_gives_zero_and_its_failure_sticks);
    tcase_add_test(tests, padding_must_be_short_and_zero);
    tcase_add_test(tests, a_number_has_one_encoding_and_at_most_32_bits);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, flags_and_residuals_have_one_encoding);
    return run_suite(suite);
}
