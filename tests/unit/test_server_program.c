/// Tests of what waits for the program: events of sessions and rounds, and messages.
#include "server/program.h"
#include "tests/unit/clients_rig.h"

static const struct hc_address home = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 1};

static struct hc_sv_program program;

static void set_up(void) {
    rig_create();
    ck_assert_uint_gt(hc_sv_program_memory(RIG_PLACES), 0);
    ck_assert(hc_sv_program_init(&program, RIG_PLACES, NULL));
}

static void tear_down(void) {
    hc_sv_program_free(&program);
    hc_sv_program_free(&program); // has no effect
    rig_destroy();
}

static struct hc_sv_peer *join(uint64_t client_id) {
    struct hc_sv_peer *peer = rig_join(client_id, 0, &home);
    hc_sv_program_joined(&program, peer);
    return peer;
}

static void end(struct hc_sv_peer *peer, enum hc_close_reason reason) {
    const struct hc_close close = {.reason = reason};
    hc_sv_program_ended(&program, peer, HC_SERVER_EVENT_LEFT, false, reason);
    hc_sv_peer_end(peer, &close, false, 0);
}

/// The kind of the next event, which it writes to `*event`; -1: there is none.
static int poll(struct hc_server_event *event) {
    return hc_sv_program_poll(&program, &clients, event) ? (int)event->kind : -1;
}

START_TEST(events_of_a_session_come_in_their_order) {
    struct hc_server_event event;
    struct hc_sv_peer *peer = join(1);
    uint32_t cid = peer->connection.cid;
    ck_assert_uint_eq(program.sessions, 1);
    end(peer, HC_CLOSE_KICKED);
    ck_assert_uint_eq(program.sessions, 0);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_JOINED);
    ck_assert_uint_eq(event.cid, cid);
    ck_assert_uint_eq(event.client_id, 1);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_LEFT);
    ck_assert_uint_eq(event.cid, cid);
    ck_assert_int_eq(event.close, HC_CLOSE_KICKED);
    ck_assert(!event.by_client);
    ck_assert_int_eq(poll(&event), -1);
}
END_TEST

START_TEST(changes_come_after_the_queue_and_only_the_newest) {
    struct hc_server_event event;
    struct hc_sv_peer *peer = join(1), *other = join(2);
    uint32_t cid = peer->connection.cid;
    hc_sv_program_changed(&program, peer, HC_SERVER_EVENT_MOVED);
    hc_sv_program_changed(&program, peer, HC_SERVER_EVENT_LOST);
    rig_connect(peer, 1, 77, &home, 0);
    hc_sv_program_changed(&program, peer, HC_SERVER_EVENT_RECONNECTED);
    hc_sv_program_changed(&program, peer, HC_SERVER_EVENT_MOVED);
    hc_sv_program_changed(&program, other, HC_SERVER_EVENT_LOST);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_JOINED);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_JOINED);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_RECONNECTED);
    ck_assert_uint_eq(event.before, cid);
    ck_assert_uint_eq(event.cid, peer->connection.cid);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_MOVED);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_LOST);
    ck_assert_uint_eq(event.client_id, 2);
    ck_assert_int_eq(event.close, HC_CLOSE_TIMEOUT);
    ck_assert_int_eq(poll(&event), -1);
}
END_TEST

START_TEST(end_of_a_session_drops_its_unread_changes) {
    struct hc_server_event event;
    struct hc_sv_peer *peer = join(1);
    uint32_t known = peer->connection.cid;
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_JOINED);
    rig_connect(peer, 1, 77, &home, 0);
    hc_sv_program_changed(&program, peer, HC_SERVER_EVENT_RECONNECTED);
    end(peer, HC_CLOSE_LEFT);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_LEFT);
    ck_assert_uint_eq(event.cid, known); // by which the program knows the session
    ck_assert_int_eq(poll(&event), -1);
}
END_TEST

START_TEST(no_session_begins_without_a_place_for_its_end) {
    struct hc_server_event event;
    struct hc_sv_peer *peer = NULL;
    unsigned sessions = 0;
    for (; hc_sv_program_has_room(&program); sessions++) {
        peer = join(1);
        end(peer, HC_CLOSE_LEFT);
    }
    ck_assert_uint_eq(sessions, (2 * RIG_PLACES + HC_SV_EVENTS_MORE) / 2);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_JOINED);
    ck_assert(!hc_sv_program_has_room(&program));
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_LEFT);
    ck_assert(hc_sv_program_has_room(&program));
}
END_TEST

START_TEST(end_of_a_round_is_queued_once_and_dropped_for_want_of_room) {
    struct hc_server_event event;
    hc_sv_program_note_round(&program, false, 1);
    hc_sv_program_note_round(&program, true, 2);
    hc_sv_program_note_round(&program, true, 3);
    hc_sv_program_note_round(&program, false, 4);
    hc_sv_program_note_round(&program, true, 5);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_ROUND_ENDED);
    ck_assert_uint_eq(event.tick, 2);
    ck_assert_int_eq(poll(&event), HC_SERVER_EVENT_ROUND_ENDED);
    ck_assert_uint_eq(event.tick, 5);
    struct hc_sv_peer *peer = join(1);
    for (hc_tick tick = 6; tick < 1000; tick++)
        hc_sv_program_note_round(&program, tick % 2 == 0, tick);
    end(peer, HC_CLOSE_LEFT); // its place is reserved
    unsigned count = 0;
    while (poll(&event) >= 0)
        count++;
    ck_assert_uint_eq(count, program.event_places);
    ck_assert_int_eq(event.kind, HC_SERVER_EVENT_LEFT);
}
END_TEST

/// Gives the peer an unreliable message of `byte`.
static void give_unreliable(struct hc_sv_peer *peer, uint8_t byte) {
    ck_assert_int_eq(hc_unreliable_put(&peer->messages.unreliable_in, &byte, 1), HC_OK);
    hc_sv_program_arrived(&program, 0, 1);
}

START_TEST(unreliable_messages_are_read_from_all_clients) {
    struct hc_server_message received;
    struct hc_sv_peer *first = join(1), *second = join(2);
    ck_assert_ptr_null(hc_sv_program_next_unreliable(&program, &clients, &received));
    give_unreliable(second, 20);
    give_unreliable(first, 10);
    ck_assert_uint_eq(*hc_sv_program_next_unreliable(&program, &clients, &received), 10);
    ck_assert_uint_eq(received.client_id, 1);
    ck_assert_uint_eq(received.cid, first->connection.cid);
    ck_assert_uint_eq(received.size, 1);
    give_unreliable(first, 11);
    ck_assert_uint_eq(*hc_sv_program_next_unreliable(&program, &clients, &received), 11);
    ck_assert_uint_eq(*hc_sv_program_next_unreliable(&program, &clients, &received), 20);
    ck_assert_ptr_null(hc_sv_program_next_unreliable(&program, &clients, &received));
}
END_TEST

START_TEST(messages_are_read_in_order_or_dropped_with_their_session) {
    static uint8_t bytes[HC_DATAGRAM_MAX], store[4096];
    static struct hc_reliable_out out;
    struct hc_server_message received;
    struct hc_body body;
    struct hc_sv_peer *peer = join(1);
    hc_reliable_out_init(&out, 1, store, sizeof store);
    for (uint8_t byte = 1; byte <= 3; byte++)
        ck_assert_int_eq(hc_reliable_put(&out, &byte, 1), HC_OK);
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert_uint_eq(hc_reliable_send(&out, &writer, 500, 1, 0, 0), 3);
    ck_assert_int_eq(hc_body_begin(&body, bytes, writer.at), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_RELIABLE);
    hc_sv_program_arrived(&program, hc_reliable_channel_take(&peer->messages, &body), 0);
    give_unreliable(peer, 9);
    ck_assert_uint_eq(program.messages, 3);
    for (uint8_t byte = 1; byte <= 2; byte++)
        ck_assert_uint_eq(*hc_sv_program_next_message(&program, &clients, &received), byte);
    hc_sv_program_drop(&program, peer);
    ck_assert_uint_eq(program.messages, 0);
    ck_assert_uint_eq(program.unreliable, 0);
    ck_assert_ptr_null(hc_sv_program_next_message(&program, &clients, &received));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_program");
    TCase *tests = tcase_create("program");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, events_of_a_session_come_in_their_order);
    tcase_add_test(tests, changes_come_after_the_queue_and_only_the_newest);
    tcase_add_test(tests, end_of_a_session_drops_its_unread_changes);
    tcase_add_test(tests, no_session_begins_without_a_place_for_its_end);
    tcase_add_test(tests, end_of_a_round_is_queued_once_and_dropped_for_want_of_room);
    tcase_add_test(tests, unreliable_messages_are_read_from_all_clients);
    tcase_add_test(tests, messages_are_read_in_order_or_dropped_with_their_session);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
