/// Tests proto/precheck and proto/body: the accepted msgpack, and the order of messages.
#include "hindcast/rng.h"
#include "proto/body.h"
#include "proto/datagram.h"
#include "tests/run_suite.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static struct hc_body body;

struct sample {
    const uint8_t *bytes;
    size_t size;
};

static enum hc_status check_bytes(struct sample sample) {
    size_t used = 0;
    enum hc_status status = hc_precheck(sample.bytes, sample.size, &used);
    if (status == HC_OK)
        ck_assert_uint_eq(used, sample.size);
    return status;
}

START_TEST(bombs_and_forms_outside_the_subset_are_refused) {
    const struct sample bombs[] = {
        {BYTES(0xdd, 0x7f, 0xff, 0xff, 0xff)},       // array 32
        {BYTES(0xdf, 0x7f, 0xff, 0xff, 0xff)},       // map 32
        {BYTES(0xde, 0xff, 0xff)},                   // map 16
        {BYTES(0x81, 0x01, 0x02)},                   // map
        {BYTES(0xdc, 0xff, 0xff, 0x01)},             // more values than bytes
        {BYTES(0x92, 0x01)},                         // one value short
        {BYTES(0x94, 0xdc, 0xff, 0xff, 0x01)},       // inner array too large
        {BYTES(0xc6, 0xff, 0xff, 0xff, 0xff)},       // bin 32
        {BYTES(0xdb, 0xff, 0xff, 0xff, 0xff)},       // str 32
        {BYTES(0xc5, 0xff, 0xff, 0x00)},             // binary past the end
        {BYTES(0xc7, 0x00, 0x01)},                   // extension
        {BYTES(0xd4, 0x01, 0x00)},                   // fixext
        {BYTES(0xc1)},                               // never used
        {BYTES(0xca, 0x7f, 0xc0, 0x00, 0x00)},       // NaN
        {BYTES(0xca, 0x3f, 0x80, 0x00, 0x00)},       // 1.0
        {BYTES(0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0)}, // infinity
        {BYTES(0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x01)}, // nine deep
        {BYTES(0xa1, 0x80)},                   // a continuation byte alone
        {BYTES(0xa2, 0xc0, 0x80)},             // overlong
        {BYTES(0xa3, 0xe0, 0x80, 0x80)},       // overlong
        {BYTES(0xa3, 0xed, 0xa0, 0x80)},       // surrogate
        {BYTES(0xa4, 0xf0, 0x80, 0x80, 0x80)}, // overlong
        {BYTES(0xa4, 0xf4, 0x90, 0x80, 0x80)}, // above U+10FFFF
        {BYTES(0xa2, 0xe2, 0x82)},             // shortened
        {BYTES(0xd9, 0x01, 0xff)},             // not UTF-8
        {BYTES(0xcd, 0x01)},                   // number past the end
        {(const uint8_t[]){0}, 0},
    };
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++)
        ck_assert_msg(check_bytes(bombs[i]) != HC_OK, "bomb %zu", i);
}
END_TEST

START_TEST(every_form_that_the_protocol_uses_is_accepted) {
    const struct sample samples[] = {
        {BYTES(0x90)},
        {BYTES(0x93, 0xc0, 0xc2, 0xc3)},
        {BYTES(0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x90)},
        {BYTES(0x95, 0x7f, 0xe0, 0xcc, 0xff, 0xd0, 0x80, 0xcf, 1, 2, 3, 4, 5, 6, 7, 8)},
        {BYTES(0xa4, 0xf0, 0x9f, 0x98, 0x80)},
        {BYTES(0xc4, 0x02, 0xff, 0xfe)},
        {BYTES(0xc5, 0x00, 0x01, 0xff)},
        {BYTES(0xdc, 0x00, 0x01, 0x05)},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        ck_assert_msg(check_bytes(samples[i]) == HC_OK, "sample %zu", i);
}
END_TEST

START_TEST(the_greatest_number_of_values_is_accepted_and_one_more_refused) {
    uint8_t bytes[HC_PRECHECK_NODES_MAX + 3] = {0xdc};
    for (size_t nodes = HC_PRECHECK_NODES_MAX - 1; nodes <= HC_PRECHECK_NODES_MAX + 1; nodes++) {
        size_t count = nodes - 1;
        bytes[1] = (uint8_t)(count >> 8);
        bytes[2] = (uint8_t)count;
        bool passes = check_bytes((struct sample){bytes, count + 3}) == HC_OK;
        ck_assert_int_eq(passes, nodes <= HC_PRECHECK_NODES_MAX);
    }
}
END_TEST

/// Random bytes that are often valid msgpack.
static size_t random_msgpack(struct hc_rng *rng, uint8_t *out, size_t capacity) {
    static const uint8_t tags[] = {0x90, 0x91, 0x92, 0x95, 0x9f, 0xdc, 0xc4, 0xc5, 0xd9, 0xda,
                                   0xa1, 0xa3, 0xc0, 0xc2, 0xc3, 0xcc, 0xcd, 0xce, 0xcf, 0xd0,
                                   0xd1, 0xd2, 0xd3, 0x00, 0x7f, 0xff, 0xe0, 0x01, 0x02, 0x03};
    size_t size = hc_rng_below(rng, (uint32_t)capacity + 1);
    for (size_t i = 0; i < size; i++) {
        uint32_t kind = hc_rng_below(rng, 16);
        out[i] = kind == 0  ? (uint8_t)hc_rng_next(rng)
                 : kind < 5 ? (uint8_t)hc_rng_below(rng, 3)
                            : tags[hc_rng_below(rng, sizeof tags)];
    }
    return size;
}

START_TEST(the_precheck_accepts_nothing_that_msgpack_c_refuses) {
    struct hc_rng rng = hc_rng_init(21, 0);
    msgpack_zone zone;
    ck_assert(msgpack_zone_init(&zone, sizeof body.values));
    unsigned passed = 0;
    for (int i = 0; i < 300000; i++) {
        uint8_t bytes[48];
        size_t size = random_msgpack(&rng, bytes, sizeof bytes);
        size_t used = 0, off = 0;
        if (hc_precheck(bytes, size, &used) != HC_OK)
            continue;
        passed++;
        msgpack_object object;
        msgpack_unpack_return result =
            msgpack_unpack((const char *)bytes, size, &off, &zone, &object);
        ck_assert_msg(result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_EXTRA_BYTES,
                      "round %d", i);
        ck_assert_msg(off == used, "round %d", i);
        msgpack_zone_clear(&zone);
    }
    msgpack_zone_destroy(&zone);
    ck_assert_uint_gt(passed, 50000);
}
END_TEST

START_TEST(the_largest_bodies_unpack_into_their_fixed_memory) {
    // hc_body_next aborts when a body has too many values.
    _Static_assert(sizeof body <= 32768, "the memory of a datagram");
    uint8_t bytes[HC_DATA_BODY_MAX];
    memset(bytes, 0x90, sizeof bytes); // as many arrays as fit
    bytes[0] = 0xdc;
    bytes[1] = (uint8_t)((sizeof bytes - 3) >> 8);
    bytes[2] = (uint8_t)((sizeof bytes - 3) & 0xff);
    bytes[3] = HC_MESSAGE_SNAPSHOT;
    ck_assert_int_eq(hc_body_begin(&body, bytes, sizeof bytes), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_uint_eq(hc_body_values(&body).left, sizeof bytes - 4);
    for (size_t i = 4; i + 1 < sizeof bytes; i += 2)
        bytes[i] = 0x91; // arrays of one, half as many
    bytes[1] = (uint8_t)((1 + (sizeof bytes - 4) / 2) >> 8);
    bytes[2] = (uint8_t)((1 + (sizeof bytes - 4) / 2) & 0xff);
    ck_assert_int_eq(hc_body_begin(&body, bytes, 4 + (sizeof bytes - 4) / 2 * 2), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_END);
}
END_TEST

START_TEST(random_bodies_are_read_to_their_end_or_refused) {
    struct hc_rng rng = hc_rng_init(22, 0);
    unsigned read = 0;
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[16];
        size_t size = random_msgpack(&rng, bytes, sizeof bytes);
        if (size >= 2) {
            bytes[0] = (uint8_t)(0x91 + hc_rng_below(&rng, 4));
            bytes[1] = (uint8_t)(1 + hc_rng_below(&rng, 11));
        }
        if (hc_body_begin(&body, bytes, size) != HC_OK)
            continue;
        while (hc_body_next(&body) != HC_MESSAGE_END)
            read++;
        for (uint32_t k = 0; k < body.count; k++) // messages that are skipped may lie between
            ck_assert(body.starts[k] >= (k > 0 ? body.ends[k - 1] : 0) &&
                      body.starts[k] + 2 <= body.ends[k] && body.ends[k] <= size);
    }
    ck_assert_uint_gt(read, 2000);
}
END_TEST

START_TEST(the_order_of_messages_is_part_of_the_grammar) {
    const struct {
        struct sample sample;
        bool passes;
    } cases[] = {
        {{BYTES(0x91, 2, 0x91, 3)}, true},
        {{BYTES(0x91, 3, 0x91, 5, 0x91, 8, 0x91, 6, 0x91, 7, 0x91, 2)}, true},
        {{BYTES(0x91, 3, 0x91, 2, 0x91, 2)}, false}, // two INPUTs
        {{BYTES(0x91, 8, 0x91, 8)}, false},
        {{BYTES(0x91, 3, 0x91, 3)}, false}, // two SNAPSHOTs
        {{BYTES(0x91, 3, 0x91, 2, 0x91, 3)}, false},
        {{BYTES(0x92, 4, 1)}, true},           // CLOSE
        {{BYTES(0x91, 3, 0x92, 4, 1)}, false}, // CLOSE is alone
        {{BYTES(0x92, 4, 1, 0x91, 3)}, false},
        {{BYTES(0x91, 1)}, true}, // and so is WELCOME
        {{BYTES(0x91, 1, 0x91, 2)}, false},
        {{BYTES(0x91, 2, 0x91, 1)}, false},
        {{BYTES(0x91, 0)}, false},
        {{BYTES(0x91, 10)}, true},
        {{BYTES(0x91, 10, 0x91, 10)}, false}, // two NAMES
        {{BYTES(0x91, 13)}, false},
        {{BYTES(0x91, 0xcc, 3)}, false}, // a type has one form
        {{BYTES(0x90)}, false},
        {{BYTES(0x03)}, false},
        {{(const uint8_t[]){0}, 0}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum hc_status status = hc_body_begin(&body, cases[i].sample.bytes, cases[i].sample.size);
        ck_assert_msg((status == HC_OK) == cases[i].passes, "case %zu", i);
    }
}
END_TEST

START_TEST(messages_of_later_versions_are_skipped_if_they_are_well_formed) {
    const struct {
        struct sample sample;
        enum hc_message_type types[3];
    } cases[] = {
        {{BYTES(0x91, 113)}, {HC_MESSAGE_END}},
        {{BYTES(0x91, 127, 0x93, 3, 7, 8)}, {HC_MESSAGE_SNAPSHOT}},
        {{BYTES(0x93, 113, 0x91, 0xc0, 0xc4, 1, 0, 0x91, 113, 0x91, 5, 0x92, 120, 9, 0x91, 8)},
         {HC_MESSAGE_TICKET, HC_MESSAGE_RELIABLE}},
        {{BYTES(0x91, 113, 0x92, 4, 1, 0x91, 114)}, {HC_MESSAGE_CLOSE}}, // CLOSE is still alone
        {{BYTES(0x91, 1, 0xdc, 0, 2, 113, 0xc3)}, {HC_MESSAGE_WELCOME}},
    };
    const struct sample refused[] = {
        {BYTES(0x91, 111)},
        {BYTES(0x91, 0xcc, 113)},             // a long form
        {BYTES(0x91, 0xcc, 128)},             // not of one byte
        {BYTES(0x91, 0xe0)},                  // negative
        {BYTES(0x92, 113)},                   // a value is missing
        {BYTES(0x92, 113, 0x80)},             // a map
        {BYTES(0x91, 3, 0x91, 113, 0x91, 3)}, // two SNAPSHOTs still
        {BYTES(0x91, 4, 0x91, 113, 0x91, 3)}, // beside CLOSE
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sample *sample = &cases[i].sample;
        ck_assert_int_eq(hc_body_begin(&body, sample->bytes, sample->size), HC_OK);
        for (size_t k = 0; k == 0 || cases[i].types[k - 1] != HC_MESSAGE_END; k++)
            ck_assert_msg(hc_body_next(&body) == cases[i].types[k], "case %zu, message %zu", i, k);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_msg(hc_body_begin(&body, refused[i].bytes, refused[i].size) != HC_OK,
                      "refused case %zu", i);
    // The values of a message are those between the skipped ones.
    ck_assert_int_eq(hc_body_begin(&body, cases[1].sample.bytes, cases[1].sample.size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    struct hc_values values = hc_body_values(&body);
    ck_assert_uint_eq(hc_values_unsigned(&values, 9), 7);
    ck_assert_uint_eq(hc_values_unsigned(&values, 9), 8);
    ck_assert_int_eq(hc_values_done(&values), HC_OK);
}
END_TEST

START_TEST(a_value_outside_its_range_fails_and_the_failure_sticks) {
    const uint8_t bytes[] = {0x94, 3,    0xcf, 0xff, 0xff, 0xff, 0xff,
                             0xff, 0xff, 0xff, 0xff, 0xe0, 5};
    ck_assert_int_eq(hc_body_begin(&body, bytes, sizeof bytes), HC_OK);
    hc_body_next(&body);
    struct hc_values all = hc_body_values(&body), values = all;
    ck_assert(hc_values_unsigned(&values, UINT64_MAX) == UINT64_MAX);
    ck_assert_int_eq(hc_values_signed(&values, -32, 0), -32);
    ck_assert_int_eq(hc_values_signed(&values, 5, 5), 5);
    ck_assert_int_eq(hc_values_done(&values), HC_OK);
    values = all;
    ck_assert_int_eq(hc_values_signed(&values, INT64_MIN, INT64_MAX), 0); // 2^64 - 1
    ck_assert(values.failed && hc_values_unsigned(&values, UINT64_MAX) == 0);
    values = all;
    (void)hc_values_unsigned(&values, UINT64_MAX);
    ck_assert_uint_eq(hc_values_unsigned(&values, UINT64_MAX), 0); // negative
    ck_assert_int_eq(hc_values_done(&values), HC_MALFORMED);
    ck_assert_int_eq(hc_values_done(&all), HC_MALFORMED); // values are left
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_precheck");
    TCase *tests = tcase_create("precheck");
    tcase_add_test(tests, bombs_and_forms_outside_the_subset_are_refused);
    tcase_add_test(tests, every_form_that_the_protocol_uses_is_accepted);
    tcase_add_test(tests, the_greatest_number_of_values_is_accepted_and_one_more_refused);
    tcase_add_test(tests, the_precheck_accepts_nothing_that_msgpack_c_refuses);
    tcase_add_test(tests, the_largest_bodies_unpack_into_their_fixed_memory);
    tcase_add_test(tests, random_bodies_are_read_to_their_end_or_refused);
    tcase_add_test(tests, the_order_of_messages_is_part_of_the_grammar);
    tcase_add_test(tests, messages_of_later_versions_are_skipped_if_they_are_well_formed);
    tcase_add_test(tests, a_value_outside_its_range_fails_and_the_failure_sticks);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
