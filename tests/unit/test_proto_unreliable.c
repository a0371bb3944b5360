/// Tests proto/unreliable.
#include "hindcast/rng.h"
#include "proto/pack.h"
#include "proto/unreliable.h"
#include "tests/run_suite.h"

#include <string.h>

static struct hc_unreliable queue;
static struct hc_body body;
static uint8_t bytes[HC_DATA_BODY_MAX];

/// Sends what the queue holds into an empty body of `room` bytes; returns the bytes written.
static size_t send_queue(size_t room, uint32_t count) {
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert_uint_eq(hc_unreliable_send(&queue, &writer, room), count);
    ck_assert(!writer.failed && writer.at <= room);
    return writer.at;
}

/// The values of the UNRELIABLE of `size` bytes in `bytes`.
static struct hc_values read_values(size_t size) {
    ck_assert_int_eq(hc_body_begin(&body, bytes, size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_UNRELIABLE);
    return hc_body_values(&body);
}

START_TEST(messages_arrive_unaltered_and_in_the_order_of_their_datagram) {
    struct hc_rng rng = hc_rng_init(5, 0);
    static struct hc_unreliable in;
    uint8_t sent[HC_MESSAGE_SIZE_MAX];
    uint64_t dropped = 0;
    hc_unreliable_begin(&queue);
    hc_unreliable_begin(&in);
    for (unsigned round = 0; round < 500; round++) {
        size_t sizes[3], size;
        for (unsigned i = 0; i < 3; i++) {
            sizes[i] = 1 + hc_rng_below(&rng, HC_MESSAGE_SIZE_MAX);
            memset(sent, (int)(round + i), sizes[i]);
            ck_assert_int_eq(hc_unreliable_put(&queue, sent, sizes[i]), HC_OK);
        }
        struct hc_values values = read_values(send_queue(HC_DATA_BODY_MAX, 3));
        ck_assert_int_eq(hc_unreliable_check(values), HC_OK);
        ck_assert_uint_eq(hc_unreliable_take(&in, values, &dropped), 3);
        for (unsigned i = 0; i < 3; i++) {
            const uint8_t *message = hc_unreliable_next(&in, &size);
            memset(sent, (int)(round + i), sizes[i]);
            ck_assert_uint_eq(size, sizes[i]);
            ck_assert_mem_eq(message, sent, size);
        }
        ck_assert_ptr_null(hc_unreliable_next(&in, &size));
    }
    ck_assert_uint_eq(dropped, 0);
}
END_TEST

START_TEST(a_message_without_room_in_the_queue_is_refused) {
    uint8_t message[HC_MESSAGE_SIZE_MAX] = {1};
    hc_unreliable_begin(&queue);
    ck_assert_int_eq(hc_unreliable_put(&queue, message, 0), HC_INVALID);
    ck_assert_int_eq(hc_unreliable_put(&queue, message, HC_MESSAGE_SIZE_MAX + 1), HC_INVALID);
    for (unsigned i = 0; i < HC_UNRELIABLE_BYTES / 256; i++)
        ck_assert_int_eq(hc_unreliable_put(&queue, message, 255), HC_OK);
    ck_assert_int_eq(hc_unreliable_put(&queue, message, 1), HC_FULL);
    ck_assert_uint_eq(hc_unreliable_count(&queue), HC_UNRELIABLE_BYTES / 256);
}
END_TEST

START_TEST(a_datagram_carries_no_more_than_fits_and_the_rest_waits) {
    uint8_t message[100] = {7};
    hc_unreliable_begin(&queue);
    for (unsigned i = 0; i < 4; i++)
        hc_unreliable_put(&queue, message, sizeof message);
    send_queue(50, 0);
    send_queue(0, 0);
    send_queue(2 * 102 + 4, 2);
    send_queue(2 * 102 + 3, 1);
    ck_assert_uint_eq(hc_unreliable_count(&queue), 1);
    for (unsigned i = 0; i < 20; i++)
        hc_unreliable_put(&queue, message, 1);
    struct hc_values values = read_values(send_queue(HC_DATA_BODY_MAX, HC_UNRELIABLE_EACH));
    ck_assert_int_eq(hc_unreliable_check(values), HC_OK);
    ck_assert_uint_eq(hc_unreliable_count(&queue), 21 - HC_UNRELIABLE_EACH);
}
END_TEST

START_TEST(received_messages_without_room_are_dropped_and_counted) {
    static struct hc_unreliable in;
    uint8_t message[255] = {7};
    uint64_t dropped = 0;
    hc_unreliable_begin(&queue);
    hc_unreliable_begin(&in);
    for (unsigned i = 0; i < 4; i++)
        hc_unreliable_put(&queue, message, sizeof message);
    struct hc_values values = read_values(send_queue(HC_DATA_BODY_MAX, 4));
    hc_unreliable_put(&in, message, 1);
    ck_assert_uint_eq(hc_unreliable_take(&in, values, &dropped), 3);
    ck_assert_uint_eq(dropped, 1);
}
END_TEST

/// Checks an UNRELIABLE of `count` messages of `size` bytes each.
static enum hc_status check_of(uint32_t count, size_t size) {
    static const uint8_t zeros[HC_MESSAGE_SIZE_MAX + 1];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_pack_array(&writer, 1 + count);
    hc_pack_uint8(&writer, HC_MESSAGE_UNRELIABLE);
    for (uint32_t i = 0; i < count; i++) {
        hc_pack_bin(&writer, size);
        hc_pack_bin_body(&writer, zeros, size);
    }
    return hc_unreliable_check(read_values(writer.at));
}

START_TEST(a_message_outside_of_the_limits_is_malformed) {
    ck_assert_int_eq(check_of(1, 1), HC_OK);
    ck_assert_int_eq(check_of(HC_UNRELIABLE_EACH, 1), HC_OK);
    ck_assert_int_eq(check_of(1, HC_MESSAGE_SIZE_MAX), HC_OK);
    ck_assert_int_eq(check_of(0, 1), HC_MALFORMED);
    ck_assert_int_eq(check_of(HC_UNRELIABLE_EACH + 1, 1), HC_MALFORMED);
    ck_assert_int_eq(check_of(1, 0), HC_MALFORMED);
    ck_assert_int_eq(check_of(1, HC_MESSAGE_SIZE_MAX + 1), HC_MALFORMED);
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_pack_array(&writer, 2);
    hc_pack_uint8(&writer, HC_MESSAGE_UNRELIABLE);
    hc_pack_uint8(&writer, 1);
    ck_assert_int_eq(hc_unreliable_check(read_values(writer.at)), HC_MALFORMED);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto unreliable");
    TCase *tests = tcase_create("proto unreliable");
    tcase_add_test(tests, messages_arrive_unaltered_and_in_the_order_of_their_datagram);
    tcase_add_test(tests, a_message_without_room_in_the_queue_is_refused);
    tcase_add_test(tests, a_datagram_carries_no_more_than_fits_and_the_rest_waits);
    tcase_add_test(tests, received_messages_without_room_are_dropped_and_counted);
    tcase_add_test(tests, a_message_outside_of_the_limits_is_malformed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
