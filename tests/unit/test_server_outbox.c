/// Tests of the outbox: the order of what waits, its room, and the cursor.
#include "server/outbox.h"
#include "tests/run_suite.h"

#include <string.h>

static struct hc_sv_outbox outbox;
static const struct hc_address here = {.ip = {1}, .port = 1}, there = {.ip = {2}, .port = 2};

static void set_up(void) {
    memset(&outbox, 0xa5, sizeof outbox);
    hc_sv_outbox_init(&outbox);
}

static void put_reply(uint8_t byte) {
    hc_sv_outbox_reply(&outbox, &here, &byte, 1);
}

/// The first byte of the datagram that is sent next, which must go to `to`.
static int take(const struct hc_address *to) {
    struct hc_address address;
    uint8_t out[HC_DATAGRAM_MAX];
    if (hc_sv_outbox_take(&outbox, &address, out) == 0)
        return -1;
    ck_assert(hc_address_equal(&address, to));
    return out[0];
}

START_TEST(new_outbox_has_nothing_to_send) {
    ck_assert_int_eq(take(&here), -1);
    ck_assert(!hc_sv_outbox_is_full(&outbox));
    ck_assert(!hc_sv_outbox_is_crowded(&outbox));
    ck_assert_uint_eq(outbox.cursor, 0);
}
END_TEST

START_TEST(replies_are_sent_in_their_order) {
    for (unsigned round = 0; round < 2 * HC_REPLIES_MAX; round++) {
        put_reply((uint8_t)round);
        put_reply((uint8_t)(round + 1));
        ck_assert_int_eq(take(&here), (uint8_t)round);
        ck_assert_int_eq(take(&here), (uint8_t)(round + 1));
    }
    ck_assert_int_eq(take(&here), -1);
}
END_TEST

START_TEST(copy_of_a_snapshot_goes_before_the_replies) {
    const uint8_t snapshot[] = {9, 8, 7};
    put_reply(1);
    hc_sv_outbox_copy(&outbox, &there, snapshot, sizeof snapshot);
    ck_assert_int_eq(take(&there), 9);
    ck_assert_int_eq(take(&here), 1);
    hc_sv_outbox_copy(&outbox, &there, snapshot, sizeof snapshot);
    ck_assert_int_eq(take(&there), 9);
    ck_assert_int_eq(take(&there), -1);
}
END_TEST

START_TEST(half_of_the_replies_are_kept_for_handshakes) {
    for (unsigned i = 0; i < HC_SV_OUTBOX_CROWDED; i++) {
        ck_assert(!hc_sv_outbox_is_crowded(&outbox));
        put_reply(1);
    }
    ck_assert(hc_sv_outbox_is_crowded(&outbox));
    for (unsigned i = HC_SV_OUTBOX_CROWDED; i < HC_REPLIES_MAX; i++) {
        ck_assert(!hc_sv_outbox_is_full(&outbox));
        put_reply(1);
    }
    ck_assert(hc_sv_outbox_is_full(&outbox));
    ck_assert_int_eq(take(&here), 1);
    ck_assert(!hc_sv_outbox_is_full(&outbox));
}
END_TEST

START_TEST(cursor_stays_where_it_was_set) {
    hc_sv_outbox_seek(&outbox, 5);
    put_reply(1);
    ck_assert_int_eq(take(&here), 1);
    ck_assert_uint_eq(outbox.cursor, 5);
    hc_sv_outbox_seek(&outbox, 0);
    ck_assert_uint_eq(outbox.cursor, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("outbox");
    TCase *group = tcase_create("outbox");
    tcase_add_checked_fixture(group, set_up, NULL);
    tcase_add_test(group, new_outbox_has_nothing_to_send);
    tcase_add_test(group, replies_are_sent_in_their_order);
    tcase_add_test(group, copy_of_a_snapshot_goes_before_the_replies);
    tcase_add_test(group, half_of_the_replies_are_kept_for_handshakes);
    tcase_add_test(group, cursor_stays_where_it_was_set);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
