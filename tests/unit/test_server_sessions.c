/// Tests the places that sessions take, the events about them, and their list.
#include "tests/unit/handshake_rig.h"

#include "tests/run_suite.h"

/// A client of another user at its port, which wants so many players.
static struct client client_with(uint64_t user, uint8_t players) {
    struct client client = client_at(loopback((uint16_t)(1000 + user)), user);
    client.connect.players = players;
    return client;
}

START_TEST(spectators_and_clients_that_play_take_no_places_of_each_other) {
    struct client watching[2], playing[CLIENTS], more;
    hc_server_destroy(host);
    config.spectators = 2;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    for (unsigned i = 0; i < 2; i++) {
        watching[i] = client_with(100 + i, 0);
        ck_assert(connects(&watching[i]));
    }
    more = client_with(200, 0);
    ck_assert(send_connect(&more) == HC_OK && is_denied(&more, HC_DENY_SPECTATORS, true));
    for (unsigned i = 0; i < CLIENTS; i++) {
        playing[i] = client_with(300 + i, 1);
        ck_assert(connects(&playing[i]));
    }
    more = client_with(400, 1);
    ck_assert(send_connect(&more) == HC_OK && is_denied(&more, HC_DENY_FULL, true));
    ck_assert_uint_eq(hc_server_clients(host), CLIENTS + 2);
    // A place that is left is taken by its kind alone.
    leave(&watching[0]);
    begin_attempt(&more);
    more.connect.players = 1;
    ck_assert(send_connect(&more) == HC_OK && is_denied(&more, HC_DENY_FULL, true));
    more = client_with(500, 0);
    ck_assert(connects(&more));
    leave(&playing[0]);
    more = client_with(600, 0);
    ck_assert(send_connect(&more) == HC_OK && is_denied(&more, HC_DENY_SPECTATORS, true));
    more = client_with(700, 1);
    ck_assert(connects(&more));
}
END_TEST

/// Takes the next event; fails the test if it is not of this kind and connection.
static void take_event(enum hc_server_event_kind kind, uint32_t cid, uint32_t before) {
    struct hc_server_event event;
    ck_assert(hc_server_poll_event(host, &event));
    ck_assert_int_eq(event.kind, kind);
    ck_assert_uint_eq(event.cid, cid);
    ck_assert_uint_eq(event.before, before);
}

START_TEST(no_join_and_no_end_of_a_session_is_lost_however_late_it_is_read) {
    enum { MOST = 2 * (CLIENTS + SPECTATORS) + HC_SV_EVENTS_MORE };
    struct hc_server_event event;
    struct client clients[CLIENTS];
    uint64_t users = 0, joined = 0, left = 0;
    bool plays[MOST] = {false};
    for (; users < CLIENTS - 1; users++) {
        clients[users] = client_at(loopback((uint16_t)(1000 + users)), users);
        ck_assert(connects(&clients[users]));
    }
    for (;; users++) { // others come and go, until too many events wait
        struct client *last = &clients[CLIENTS - 1];
        *last = client_at(loopback((uint16_t)(1000 + users)), users);
        if (!connects(last))
            break;
        leave(last);
    }
    ck_assert(is_denied(&clients[CLIENTS - 1], HC_DENY_FULL, true));
    ck_assert_uint_ge(users, MOST / 2);
    for (unsigned i = 0; i < CLIENTS - 1; i++)
        ck_assert_int_eq(hc_server_kick(host, clients[i].cid, HC_CLOSE_KICKED, now_us), HC_OK);
    while (hc_server_poll_event(host, &event)) {
        bool joins = event.kind == HC_SERVER_EVENT_JOINED;
        ck_assert(joins || event.kind == HC_SERVER_EVENT_LEFT);
        ck_assert(event.client_id < MOST && plays[event.client_id] != joins);
        plays[event.client_id] = joins;
        joined += joins;
        left += !joins;
    }
    ck_assert_uint_eq(joined, users);
    ck_assert_uint_eq(left, users);
    ck_assert(connects(&clients[CLIENTS - 1]));
}
END_TEST

START_TEST(events_that_are_read_late_show_how_a_session_stands) {
    struct client client = client_at(loopback(1000), 1);
    struct hc_server_event event;
    ck_assert(connects(&client));
    uint32_t first = client.cid;
    take_event(HC_SERVER_EVENT_JOINED, first, 0);
    for (unsigned i = 0; i < 5; i++) { // the first three are not read
        ck_assert_int_eq(send_empty(&client), HC_OK);
        now_us += config.timeout_us;
        hc_server_advance(host, now_us);
        client.from.port++;
        begin_attempt(&client);
        ck_assert(connects(&client));
        hc_sv_program_changed(&host->program, &host->clients.peers[0], HC_SERVER_EVENT_MOVED);
        if (i < 3)
            continue;
        take_event(HC_SERVER_EVENT_RECONNECTED, client.cid, first);
        take_event(HC_SERVER_EVENT_MOVED, client.cid, 0);
        ck_assert(!hc_server_poll_event(host, &event));
        first = client.cid;
    }
    // The end names the connection that the program knows.
    now_us += 2 * (uint64_t)SECOND_US;
    begin_attempt(&client);
    ck_assert(connects(&client));
    leave(&client);
    take_event(HC_SERVER_EVENT_LEFT, first, 0);
    ck_assert(!hc_server_poll_event(host, &event));
}
END_TEST

START_TEST(server_lists_its_sessions) {
    struct hc_server_session sessions[CLIENTS];
    struct client clients[3];
    for (unsigned i = 0; i < 3; i++) {
        clients[i] = client_at(loopback((uint16_t)(1000 + i)), 10 + i);
        clients[i].connect.players = (uint8_t)i; // the first one watches
        ck_assert(connects(&clients[i]));
        ck_assert_int_eq(send_empty(&clients[i]), HC_OK);
    }
    leave(&clients[0]);
    ck_assert_uint_eq(hc_server_sessions(host, sessions, CLIENTS), 2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(sessions[i].client_id, 11 + i);
        ck_assert_uint_eq(sessions[i].cid, clients[1 + i].cid);
        ck_assert_uint_eq(sessions[i].player_count, 1 + i);
        ck_assert(sessions[i].connected);
    }
    now_us += config.timeout_us;
    hc_server_advance(host, now_us); // both are lost, and linger
    ck_assert_uint_eq(hc_server_sessions(host, sessions, 1), 2);
    ck_assert(!sessions[0].connected);
}
END_TEST

START_TEST(server_lists_what_it_counts_of_a_session) {
    struct hc_server_client listed[CLIENTS];
    struct client clients[2];
    for (unsigned i = 0; i < 2; i++) {
        clients[i] = client_at(loopback((uint16_t)(1000 + i)), 10 + i);
        ck_assert(connects(&clients[i]));
        for (unsigned n = 0; n < 1 + 2 * i; n++)
            ck_assert_int_eq(send_empty(&clients[i]), HC_OK);
    }
    uint64_t from_us = now_us;
    now_us += 1000;
    ck_assert_uint_eq(hc_server_list_clients(host, listed, CLIENTS, now_us), 2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(listed[i].session.client_id, 10 + i);
        ck_assert(hc_address_equal(&listed[i].address, &clients[i].from));
        ck_assert_uint_eq(listed[i].datagrams_received, 1 + 2 * i);
        ck_assert_uint_ge(listed[i].connected_us, now_us - from_us);
        ck_assert(!listed[i].has_margin);
    }
    ck_assert_uint_eq(listed[1].bytes_received, 3 * listed[0].bytes_received);
    // The counts go on over another connection of the session.
    now_us += 2 * (uint64_t)SECOND_US;
    begin_attempt(&clients[1]);
    ck_assert(connects(&clients[1]));
    ck_assert_int_eq(send_empty(&clients[1]), HC_OK);
    ck_assert_uint_eq(hc_server_list_clients(host, listed, CLIENTS, now_us), 2);
    ck_assert_uint_eq(listed[1].datagrams_received, 4);
    ck_assert_uint_lt(listed[1].connected_us, SECOND_US);
    // Another session begins with none.
    leave(&clients[1]);
    clients[1] = client_at(loopback(1001), 12);
    ck_assert(connects(&clients[1]));
    ck_assert_uint_eq(hc_server_list_clients(host, listed, CLIENTS, now_us), 2);
    ck_assert_uint_eq(listed[1].session.client_id, 12);
    ck_assert_uint_eq(listed[1].datagrams_received, 0);
    // A lost client lingers with its counts.
    now_us += config.timeout_us;
    hc_server_advance(host, now_us);
    ck_assert_uint_ge(hc_server_list_clients(host, listed, 1, now_us), 1);
    ck_assert(!listed[0].session.connected);
    ck_assert_uint_eq(listed[0].datagrams_received, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_sessions");
    TCase *tests = tcase_create("sessions");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, spectators_and_clients_that_play_take_no_places_of_each_other);
    tcase_add_test(tests, no_join_and_no_end_of_a_session_is_lost_however_late_it_is_read);
    tcase_add_test(tests, events_that_are_read_late_show_how_a_session_stands);
    tcase_add_test(tests, server_lists_its_sessions);
    tcase_add_test(tests, server_lists_what_it_counts_of_a_session);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
