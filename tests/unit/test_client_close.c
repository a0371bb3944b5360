/// How a client's connection is closed, by either side (hindcast/client.h).
#include "client/client.h"
#include "tests/unit/client_rig.h"
#include "tests/run_suite.h"

/// Gives the client an empty DATA that acks its datagram `acked`.
static enum hc_status give_ack(uint32_t acked) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = CID, .seq = ++seq, .ack = acked};
    return give(out, hc_datagram_put_data(&data, out));
}

START_TEST(client_sends_close_until_it_is_acked_or_some_seconds_have_passed) {
    uint64_t begun_us;
    unsigned closes = 0;
    config.timeout_us = HC_TIMEOUT_US;
    play();
    hc_client_leave(client, now_us);
    for (begun_us = now_us; hc_client_state(client) == HC_CLIENT_LEAVING; closes++) {
        if (closes >= HC_CLOSES_AT_ONCE) {
            ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
            ck_assert_uint_gt(hc_client_deadline(client), now_us);
            now_us = hc_client_deadline(client);
        }
        ck_assert(next_datagram().has_close);
    }
    ck_assert_uint_eq(closes, HC_CLOSES);
    ck_assert_uint_lt(now_us - begun_us, 3000000);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert(event_is(HC_CLIENT_EVENT_CLOSED));
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
    ck_assert_int_eq(give_tick(101), HC_UNEXPECTED);
}
END_TEST

START_TEST(client_has_left_when_a_close_is_acked) {
    struct hc_client_event event;
    play();
    uint32_t before = ack;
    hc_client_leave(client, now_us);
    for (unsigned n = 0; n < HC_CLOSES_AT_ONCE; n++)
        ck_assert(next_datagram().has_close);
    ck_assert_int_eq(give_ack(before), HC_OK);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_LEAVING);
    ck_assert_int_eq(give_ack(before + 2), HC_OK);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert(hc_client_poll_event(client, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(event.close, HC_CLOSE_LEFT);
    now_us += 1000000;
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
}
END_TEST

START_TEST(close_of_the_server_ends_the_session_at_once) {
    play();
    struct hc_client_event event = give_close(HC_CLOSE_KICKED);
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(event.close, HC_CLOSE_KICKED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert_uint_le(hc_client_deadline(client), now_us); // for the answer
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_DATA);
    ck_assert_uint_eq(hc_client_deadline(client), UINT64_MAX);
}
END_TEST

/// Requires that the next datagram answers the newest of the server: it acks it, and is empty.
static void require_answer(void) {
    struct sent sent = next_datagram();
    ck_assert_int_eq(sent.kind, HC_DATAGRAM_DATA); // read_data has compared its ack
    ck_assert(sent.is_empty);
}

/// Gives the client a CLOSE, and nothing takes its events.
static enum hc_status repeat_close(enum hc_close_reason reason) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    ck_assert(hc_message_put_close(&writer, &(struct hc_close){.reason = reason}));
    struct hc_data data = {
        .cid = CID, .seq = ++seq, .body = out + HC_DATA_BODY_AT, .body_size = writer.at};
    return give(out, hc_datagram_put_data(&data, out));
}

START_TEST(each_close_of_the_server_is_answered_also_after_the_end) {
    static const enum hc_close_reason reasons[] = {HC_CLOSE_KICKED, HC_CLOSE_TIMEOUT};
    play();
    (void)give_close(reasons[_i]);
    require_answer();
    for (unsigned n = 0; n < 5; n++) {
        ck_assert_int_eq(repeat_close(reasons[_i]), HC_OK);
        require_answer();
        ck_assert(!event_is(HC_CLIENT_EVENT_CLOSED));
        ck_assert_int_ne(next_datagram().kind, HC_DATAGRAM_DATA);
    }
    now_us += TICK_US;
    ck_assert_int_eq(give_tick(101), HC_UNEXPECTED);
    ck_assert_int_ne(next_datagram().kind, HC_DATAGRAM_DATA);
}
END_TEST

START_TEST(close_of_a_silent_client_makes_it_reconnect_at_once) {
    play();
    struct hc_client_event event = give_close(HC_CLOSE_TIMEOUT);
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_LOST);
    ck_assert_int_eq(event.loss, HC_CLIENT_LOSS_TIMEOUT);
    require_answer();
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_HELLO);
}
END_TEST

START_TEST(close_of_a_restarting_server_makes_the_client_wait_and_then_try_for_half_a_minute) {
    play();
    struct hc_client_event event = give_close(HC_CLOSE_RESTARTING); // after 5 s
    uint64_t closed_us = now_us, first_us = 0, last_us = 0;
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_LOST);
    ck_assert_int_eq(event.loss, HC_CLIENT_LOSS_RESTART);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_RECONNECTING);
    require_answer();
    for (; hc_client_state(client) == HC_CLIENT_RECONNECTING; now_us += 10000)
        if (next_datagram().kind == HC_DATAGRAM_HELLO) {
            first_us = first_us == 0 ? now_us : first_us;
            last_us = now_us;
        }
    ck_assert_uint_ge(first_us - closed_us, 5000000);
    ck_assert_uint_le(first_us - closed_us, 5000000 + HC_RESTART_SPREAD_US + 10000);
    ck_assert_uint_le(first_us - closed_us - 10000, (uint64_t)event.retry_ms * 1000);
    ck_assert_uint_ge(last_us - first_us, HC_RECONNECT_US - 2 * RETRY_US);
    ck_assert(event_is(HC_CLIENT_EVENT_TIMEOUT));
}
END_TEST

START_TEST(client_that_does_not_reconnect_ends_at_a_restart) {
    config.reconnect_us = 0;
    play();
    struct hc_client_event event = give_close(HC_CLOSE_RESTARTING);
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(event.close, HC_CLOSE_RESTARTING);
}
END_TEST

START_TEST(server_ends_a_session_for_any_reason_but_not_for_one_of_a_client) {
    enum hc_close_reason reason = (enum hc_close_reason)_i;
    bool clients = reason == HC_CLOSE_LEFT || reason == HC_CLOSE_DESYNC;
    bool lost = reason == HC_CLOSE_TIMEOUT || reason == HC_CLOSE_RESTARTING;
    play();
    struct hc_client_event event = give_close(reason);
    ck_assert_int_eq(event.kind, lost ? HC_CLIENT_EVENT_LOST : HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(event.close, lost ? 0 : clients ? HC_CLOSE_KICKED : reason);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_close");
    TCase *tests = tcase_create("close");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, client_sends_close_until_it_is_acked_or_some_seconds_have_passed);
    tcase_add_test(tests, client_has_left_when_a_close_is_acked);
    tcase_add_test(tests, close_of_the_server_ends_the_session_at_once);
    tcase_add_loop_test(tests, each_close_of_the_server_is_answered_also_after_the_end, 0, 2);
    tcase_add_test(tests, close_of_a_silent_client_makes_it_reconnect_at_once);
    tcase_add_test(
        tests, close_of_a_restarting_server_makes_the_client_wait_and_then_try_for_half_a_minute);
    tcase_add_test(tests, client_that_does_not_reconnect_ends_at_a_restart);
    tcase_add_loop_test(tests, server_ends_a_session_for_any_reason_but_not_for_one_of_a_client, 1,
                        HC_CLOSE_GAME_LAST + 1);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
