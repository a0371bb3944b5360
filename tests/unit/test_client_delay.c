/// Tests of the input delay and the lead that are in effect on a connection.
#include "tests/run_suite.h"
#include "tests/unit/client_rig.h"

/// Joins a server that takes inputs for `future` ticks in advance, and plays. The client may have a
/// CLOSE of the server before to acknowledge.
static void play_with_future(uint32_t future) {
    now_us += 100 * TICK_US - (now_us - START_US) % (100 * TICK_US);
    struct sent sent = next_datagram();
    if (sent.kind == HC_DATAGRAM_DATA)
        sent = next_datagram();
    ck_assert_int_eq(sent.kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(give_cookie(), HC_OK);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_CONNECT);
    struct hc_welcome welcome = welcome_now();
    welcome.future = future;
    seq = ack = 0;
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    next_datagram();
    ck_assert_int_eq(give_tick(welcome.tick), HC_OK);
    hc_client_advance(client, now_us);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
}

START_TEST(each_server_limits_the_configured_delay_and_lead_anew) {
    static const struct {
        uint32_t future, input_delay, lead;
    } servers[] = {{2, 2, 0}, {64, 3, 2}, {4, 3, 1}, {1, 1, 0}, {5, 3, 2}};
    struct hc_client_recent recent;
    config.lead = 2;
    now_us = START_US + 50 * TICK_US;
    begin();
    for (unsigned i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
        play_with_future(servers[i].future);
        now_us += TICK_US;
        struct sent sent = next_datagram();
        hc_tick tick = snapshot_of(1).as_of;
        ck_assert_uint_eq(head(), tick + servers[i].lead);
        ck_assert_uint_eq(sent.input.first + sent.input.count - head(), servers[i].input_delay);
        ck_assert(hc_client_recent(client, &recent));
        ck_assert_uint_eq(recent.input_delay, servers[i].input_delay);
        ck_assert_uint_eq(recent.lead, servers[i].lead);
        while (!no_event())
            continue;
        ck_assert_int_eq(give_close(HC_CLOSE_TIMEOUT).kind, HC_CLIENT_EVENT_LOST);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_delay");
    TCase *tests = tcase_create("client_delay");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, each_server_limits_the_configured_delay_and_lead_anew);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
