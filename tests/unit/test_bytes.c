/// Tests of common/bytes.h.
#include "common/bytes.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

START_TEST(numbers_are_little_endian) {
    uint8_t buffer[15];
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    hc_bytes_put_u8(&writer, 0x01);
    hc_bytes_put_u16(&writer, 0x0302);
    hc_bytes_put_u32(&writer, 0x07060504);
    hc_bytes_put_u64(&writer, UINT64_C(0x0f0e0d0c0b0a0908));
    ck_assert(!writer.failed);
    for (unsigned i = 0; i < sizeof buffer; i++)
        ck_assert_uint_eq(buffer[i], i + 1);
}
END_TEST

/// Writes one item of a random script; `kind` 4 is a run of raw bytes.
static void put_one(struct hc_writer *writer, unsigned kind, uint64_t value) {
    uint8_t raw[7];
    memset(raw, (int)(value & 0xff), sizeof raw);
    switch (kind) {
    case 0:
        hc_bytes_put_u8(writer, (uint8_t)value);
        break;
    case 1:
        hc_bytes_put_u16(writer, (uint16_t)value);
        break;
    case 2:
        hc_bytes_put_u32(writer, (uint32_t)value);
        break;
    case 3:
        hc_bytes_put_u64(writer, value);
        break;
    default:
        hc_bytes_put(writer, raw, value % 8);
    }
}

static void expect_one(struct hc_reader *reader, unsigned kind, uint64_t value) {
    uint8_t raw[7], wanted[7];
    memset(wanted, (int)(value & 0xff), sizeof wanted);
    switch (kind) {
    case 0:
        ck_assert_uint_eq(hc_bytes_get_u8(reader), (uint8_t)value);
        break;
    case 1:
        ck_assert_uint_eq(hc_bytes_get_u16(reader), (uint16_t)value);
        break;
    case 2:
        ck_assert_uint_eq(hc_bytes_get_u32(reader), (uint32_t)value);
        break;
    case 3:
        ck_assert_uint_eq(hc_bytes_get_u64(reader), value);
        break;
    default:
        hc_bytes_get(reader, raw, value % 8);
        ck_assert(memcmp(raw, wanted, value % 8) == 0);
    }
}

START_TEST(items_read_back_until_the_buffer_ends) {
    for (uint32_t stream = 0; stream < 500; stream++) {
        struct hc_rng script = hc_rng_init(1, stream);
        // On the heap, so that the address sanitizer detects an overrun.
        size_t room = hc_rng_below(&script, 100);
        uint8_t *buffer = malloc(room + 1);
        struct hc_writer writer = hc_bytes_writer(buffer, room);
        struct hc_rng again = script;
        size_t items = 0;
        for (; !writer.failed; items++) {
            unsigned kind = hc_rng_below(&script, 5);
            put_one(&writer, kind, hc_rng_next(&script));
        }
        size_t used = writer.at;
        ck_assert_uint_le(used, room);
        hc_bytes_put_u8(&writer, 1);
        ck_assert_uint_eq(writer.at, used);

        struct hc_reader reader = hc_bytes_reader(buffer, used);
        for (size_t i = 0; i + 1 < items; i++) {
            unsigned kind = hc_rng_below(&again, 5);
            expect_one(&reader, kind, hc_rng_next(&again));
        }
        ck_assert_msg(!reader.failed && hc_bytes_left(&reader) == 0, "stream %u", stream);
        free(buffer);
    }
}
END_TEST

START_TEST(a_read_past_the_end_gives_zeros_and_its_failure_sticks) {
    static const uint8_t bytes[5] = {255, 255, 255, 255, 255};
    struct hc_reader reader = hc_bytes_reader(bytes, sizeof bytes);
    ck_assert_uint_eq(hc_bytes_get_u64(&reader), 0);
    ck_assert(reader.failed);
    // The buffer has enough bytes for these.
    ck_assert_uint_eq(hc_bytes_get_u8(&reader), 0);
    uint8_t raw[2] = {9, 9};
    hc_bytes_get(&reader, raw, sizeof raw);
    ck_assert(raw[0] == 0 && raw[1] == 0);
    ck_assert_ptr_null(hc_bytes_take(&reader, 0));
    ck_assert_uint_eq(hc_bytes_left(&reader), 0);
}
END_TEST

START_TEST(absurd_sizes_fail_without_overflow) {
    uint8_t byte = 7;
    struct hc_reader reader = hc_bytes_reader(&byte, 1);
    ck_assert_uint_eq(hc_bytes_get_u8(&reader), 7);
    ck_assert_ptr_nonnull(hc_bytes_take(&reader, 0));
    ck_assert_ptr_null(hc_bytes_take(&reader, SIZE_MAX));
    ck_assert(reader.failed);
    struct hc_writer writer = hc_bytes_writer(&byte, 1);
    hc_bytes_put_u8(&writer, 8);
    hc_bytes_put(&writer, &byte, SIZE_MAX);
    ck_assert(writer.failed && writer.at == 1 && byte == 8);
}
END_TEST

START_TEST(an_empty_buffer_may_be_null) {
    struct hc_reader reader = hc_bytes_reader(NULL, 0);
    ck_assert_ptr_nonnull(hc_bytes_take(&reader, 0));
    ck_assert(!reader.failed);
    ck_assert_uint_eq(hc_bytes_get_u8(&reader), 0);
    ck_assert(reader.failed);
    struct hc_writer writer = hc_bytes_writer(NULL, 0);
    hc_bytes_put(&writer, NULL, 0);
    ck_assert(!writer.failed);
    hc_bytes_put_u8(&writer, 0);
    ck_assert(writer.failed);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("bytes");
    TCase *tests = tcase_create("bytes");
    tcase_add_test(tests, numbers_are_little_endian);
    tcase_add_test(tests, items_read_back_until_the_buffer_ends);
    tcase_add_test(tests, a_read_past_the_end_gives_zeros_and_its_failure_sticks);
    tcase_add_test(tests, absurd_sizes_fail_without_overflow);
    tcase_add_test(tests, an_empty_buffer_may_be_null);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
