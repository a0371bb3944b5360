/// Tests of a peer: its states, round trips, acks, forced inputs, loss and floods.
#include "server/peer.h"
#include "server/replication/interest.h"
#include "server/replication/replicator.h"
#include "tests/run_suite.h"
#include "tests/unit/small_game.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_RATE = 100000 };

static struct hc_sv_peer peer;
static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_replicator replicator;
static uint8_t *memory;

static void open_peer(uint32_t cid) {
    struct hc_address address = hc_address_ipv4(127, 0, 0, 1, 1);
    struct hc_connect connect = {.extrapolations = 3};
    struct hc_seal_keys keys = {.c2s = {1}, .s2c = {2}};
    hc_sv_peer_open(&peer);
    hc_sv_peer_connect(&peer, cid, &keys, &connect, CLIENT_RATE, &address, 0);
}

static void set_up(void) {
    struct hc_sv_peer measured;
    ck_assert_int_eq(hc_world_init(&world, &small_game, 3, 60, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    struct hc_sv_replicator_config shared = {.world = &world,
                                             .timeline = timeline,
                                             .clients = 2,
                                             .history = config.history,
                                             .future = config.future};
    ck_assert(hc_sv_replicator_init(&replicator, &shared));
    size_t bytes = hc_sv_peer_layout(&measured, &replicator, NULL);
    memory = malloc(bytes);
    ck_assert(memory != NULL);
    memset(memory, 0xa5, bytes);
    memset(&peer, 0, sizeof peer);
    ck_assert_uint_eq(hc_sv_peer_layout(&peer, &replicator, memory), bytes);
    open_peer(1);
}

static void tear_down(void) {
    free(memory);
    hc_sv_replicator_free(&replicator);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static enum hc_status accept_data(const struct hc_data *data, uint64_t now_us) {
    bool newest;
    return hc_sv_peer_accept(&peer, data, 0, &newest, now_us);
}

static enum hc_status acknowledge(uint32_t seq, uint32_t ack) {
    return accept_data(&(struct hc_data){.cid = 1, .seq = seq, .ack = ack}, 0);
}

START_TEST(shortest_round_trip_stays_when_the_path_becomes_longer) {
    enum { SHORT_US = 50000, LONG_US = 200000, ROUNDS = 40 };
    uint8_t out[HC_DATAGRAM_MAX];
    uint64_t now_us = 0;
    for (uint32_t seq = 1; seq <= ROUNDS; seq++) {
        struct hc_data data = {.cid = 1, .seq = seq, .ack = seq};
        ck_assert_uint_gt(hc_sv_peer_wrap(&peer, out, 0, now_us), 0);
        now_us += seq == 1 ? SHORT_US : LONG_US;
        ck_assert_int_eq(accept_data(&data, now_us), HC_OK);
    }
    ck_assert_uint_gt(peer.connection.srtt_us, LONG_US * 95 / 100);
    ck_assert_uint_eq(peer.replication.round_trip, SHORT_US * 60 / 1000000);
}
END_TEST

START_TEST(server_sends_forced_ranges_until_the_client_acks_them) {
    for (hc_tick t = 10; t < 20; t++)
        hc_sv_lists_force(peer.replication.lists, 3, t, 1);
    hc_sv_lists_force(peer.replication.lists, 3, 30, 1);
    hc_sv_lists_force(peer.replication.lists, 4, 20, 1);
    ck_assert_uint_eq(peer.replication.lists->forced_count, 3);
    ck_assert_uint_eq(peer.replication.lists->forced[0].first, 10);
    ck_assert_uint_eq(peer.replication.lists->forced[0].count, 10);
    uint8_t out[HC_DATAGRAM_MAX];
    unsigned place[7] = {0};
    for (uint32_t seq = 1; seq <= 6; seq++) {
        if (seq != 4) // this one is not a snapshot
            place[seq] = hc_sv_sent_log_begin(&peer.replication.sent_log, 100 + seq, 100, seq);
        ck_assert_uint_gt(hc_sv_peer_wrap(&peer, out, 0, 0), 0);
    }
    peer.replication.lists->forced[0].carried =
        UINT64_C(1) << place[3] | UINT64_C(1) << place[5] | UINT64_C(1) << place[6];
    peer.replication.lists->forced[1].carried = UINT64_C(1) << place[6];
    ck_assert_int_eq(acknowledge(1, 2), HC_OK);
    ck_assert_uint_eq(peer.replication.lists->forced_count, 3);
    ck_assert_int_eq(acknowledge(2, 4), HC_OK);
    ck_assert_uint_eq(peer.replication.lists->forced_count, 3);
    ck_assert_int_eq(acknowledge(3, 5), HC_OK);
    ck_assert_uint_eq(peer.replication.lists->forced_count, 2);
    // The range is longer than the sent one, and must be sent again.
    hc_sv_lists_force(peer.replication.lists, 3, 31, 1);
    ck_assert_int_eq(acknowledge(4, 6), HC_OK);
    ck_assert_uint_eq(peer.replication.lists->forced_count, 2);
    ck_assert_uint_eq(peer.replication.lists->forced[0].count, 2);
}
END_TEST

/// From the first CLOSE to the last.
enum { CLOSES_US = (HC_CLOSES - HC_CLOSES_AT_ONCE) * HC_CLOSE_PERIOD_US };

/// Sends the CLOSEs that are due up to `end_us`; returns their number.
static unsigned send_closes(uint64_t end_us) {
    uint8_t out[HC_DATAGRAM_MAX];
    unsigned count = 0;
    for (uint64_t now_us = 0; now_us <= end_us; now_us += 1000)
        while (hc_sv_peer_send_close(&peer, out, now_us) > 0)
            count++;
    return count;
}

START_TEST(client_that_left_frees_its_place_after_the_last_close) {
    hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_LEFT}, true, 0);
    ck_assert(!hc_sv_peer_has_session(&peer));
    ck_assert_uint_eq(send_closes(CLOSES_US - 1000), HC_CLOSES - 1);
    ck_assert_int_eq(peer.state, HC_SV_PEER_CLOSING);
    ck_assert_uint_eq(send_closes(CLOSES_US), 1);
    ck_assert_int_eq(peer.state, HC_SV_PEER_FREE);
}
END_TEST

START_TEST(lost_client_lingers_while_its_closes_are_sent_and_after_them) {
    hc_sv_peer_lose(&peer, CLOSES_US, 0);
    ck_assert_int_eq(peer.state, HC_SV_PEER_LOST);
    ck_assert(hc_sv_peer_lingers(&peer));
    ck_assert_uint_eq(send_closes(CLOSES_US), HC_CLOSES);
    ck_assert_int_eq(peer.state, HC_SV_PEER_LINGERING);
    ck_assert(hc_sv_peer_lingers(&peer));
    hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_KICKED}, true, 1000000);
    ck_assert_int_eq(peer.state, HC_SV_PEER_FREE);
}
END_TEST

START_TEST(lost_client_that_is_dropped_is_sent_why) {
    hc_sv_peer_lose(&peer, 1000000, 0);
    ck_assert_uint_eq(send_closes(0), HC_CLOSES_AT_ONCE);
    hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_KICKED}, true, 0);
    ck_assert_int_eq(peer.state, HC_SV_PEER_CLOSING);
    ck_assert_int_eq(peer.connection.close.reason, HC_CLOSE_KICKED);
    ck_assert_uint_eq(send_closes(CLOSES_US), HC_CLOSES);
    ck_assert_int_eq(peer.state, HC_SV_PEER_FREE);
}
END_TEST

/// Gives the peer a DATA that acks its datagram `ack`, as far as its connection goes.
static void accept_ack(uint32_t seq, uint32_t ack) {
    struct hc_data data = {.seq = seq, .ack = ack};
    struct hc_accepted accepted;
    ck_assert_int_eq(hc_connection_accept(&peer.connection, &data, 0, &accepted), HC_OK);
    hc_sv_peer_close_ended(&peer);
}

START_TEST(client_that_acks_a_close_frees_its_place_at_once) {
    uint8_t out[HC_DATAGRAM_MAX];
    ck_assert_uint_gt(hc_sv_peer_wrap(&peer, out, 0, 0), 0);
    hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_KICKED}, true, 0);
    ck_assert_uint_eq(send_closes(0), HC_CLOSES_AT_ONCE);
    accept_ack(1, 1); // of the datagram before
    ck_assert_int_eq(peer.state, HC_SV_PEER_CLOSING);
    accept_ack(2, 2);
    ck_assert_int_eq(peer.state, HC_SV_PEER_FREE);
    ck_assert_uint_eq(send_closes(CLOSES_US), 0);
}
END_TEST

START_TEST(lost_client_that_acks_its_close_lingers_and_may_leave) {
    hc_sv_peer_lose(&peer, 1000000, 0);
    ck_assert_uint_eq(send_closes(0), HC_CLOSES_AT_ONCE);
    accept_ack(1, 3);
    ck_assert_int_eq(peer.state, HC_SV_PEER_LINGERING);
    hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, false, 0);
    open_peer(1);
    hc_sv_peer_lose(&peer, 1000000, 0);
    hc_sv_peer_closed(&peer, &(struct hc_close){.reason = HC_CLOSE_LEFT});
    ck_assert_int_eq(peer.state, HC_SV_PEER_FREE);
}
END_TEST

START_TEST(client_without_connection_cannot_lose_it) {
    hc_sv_peer_lose(&peer, 1000000, 0);
    hc_sv_peer_lose(&peer, 1000000, 0); // aborts
}
END_TEST

START_TEST(acked_snapshot_becomes_the_baseline_and_the_next_client_has_none) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_sv_client *client = &peer.replication;
    struct hc_sv_view *view = &client->interest.view;
    struct hc_sv_slot *slot = hc_sv_view_insert(view, &view->first, 1);
    for (hc_tick as_of = 100; as_of < 104; as_of++) {
        hc_sv_sent_log_begin(&client->sent_log, as_of, as_of, peer.connection.sent.next);
        hc_sv_items_put(&slot->items, &client->sent_log, as_of);
        ck_assert_uint_gt(hc_sv_peer_wrap(&peer, out, 0, 0), 0);
    }
    ck_assert_uint_eq(client->sent_log.base, HC_NO_TICK);
    ck_assert_int_eq(acknowledge(1, 2), HC_OK);
    ck_assert_uint_eq(client->sent_log.base, 101);
    ck_assert_uint_eq(
        hc_sv_items_state(&slot->items, &client->sent_log, client->sent_log.acked).acked, 101);
    ck_assert_int_eq(acknowledge(2, 5), HC_MALFORMED);
    ck_assert_uint_eq(client->sent_log.base, 101);
    hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_LEFT}, true, 0);
    ck_assert_uint_eq(view->first, HC_SV_NO_SLOT); // the slots are there for other clients
    open_peer(2);
    ck_assert_uint_eq(client->sent_log.base, HC_NO_TICK);
    ck_assert_uint_eq(view->first, HC_SV_NO_SLOT);
}
END_TEST

START_TEST(snapshot_is_lost_when_one_sent_six_later_is_acked) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_sv_client *client = &peer.replication;
    for (uint32_t seq = 1; seq <= 1 + HC_LOST_AFTER; seq++) {
        hc_sv_sent_log_begin(&client->sent_log, 100 + seq, 100 + seq, seq);
        ck_assert_uint_gt(hc_sv_peer_wrap(&peer, out, 0, 0), 0);
    }
    ck_assert_int_eq(acknowledge(1, HC_LOST_AFTER), HC_OK);
    ck_assert_uint_eq(client->sent_log.lost, 0);
    ck_assert_int_eq(acknowledge(2, 1 + HC_LOST_AFTER), HC_OK);
    ck_assert_uint_ne(client->sent_log.lost, 0);
}
END_TEST

START_TEST(full_list_of_forced_ranges_drops_the_oldest) {
    for (hc_tick t = 0; t < 1000; t += 2)
        hc_sv_lists_force(peer.replication.lists, 1, t, 1);
    ck_assert_uint_eq(peer.replication.lists->forced_count, HC_SV_FORCED_RANGES);
    ck_assert_uint_eq(peer.replication.lists->forced[HC_SV_FORCED_RANGES - 1].first, 998);
}
END_TEST

START_TEST(loss_lowers_the_sending_rate_and_acks_do_not) {
    uint8_t out[HC_DATAGRAM_MAX];
    for (uint32_t lost_one_in = 4; lost_one_in <= 1000; lost_one_in *= 250) {
        hc_sv_peer_end(&peer, &(struct hc_close){.reason = HC_CLOSE_LEFT}, false, 0);
        open_peer(1);
        for (uint32_t i = 1; i <= 300; i++) {
            uint64_t now_us = i * UINT64_C(16667);
            ck_assert_uint_gt(hc_sv_peer_wrap(&peer, out, 0, now_us), 0);
            struct hc_data data = {.cid = 1, .seq = i};
            for (uint32_t seq = i; seq > 0 && seq + 32 >= i; seq--) { // all but one in lost_one_in
                bool received = seq % lost_one_in != 0;
                data.ack = received && data.ack == 0 ? seq : data.ack;
                if (received && seq < data.ack)
                    data.ack_bits |= UINT32_C(1) << (data.ack - 1 - seq);
            }
            ck_assert_int_eq(accept_data(&data, now_us), HC_OK);
        }
        ck_assert(lost_one_in == 4 ? peer.replication.bandwidth.rate < CLIENT_RATE / 3 * 2
                                   : peer.replication.bandwidth.rate == CLIENT_RATE);
    }
}
END_TEST

START_TEST(client_may_send_two_datagrams_a_tick_but_not_more_for_long) {
    enum { SECONDS = 20, EACH = 10 };
    uint64_t rate = world.tick_rate, accepted = 0, us = 0;
    for (uint64_t n = 0; n < SECONDS * rate * EACH; n++) { // ten a tick
        us = n * 1000000 / (rate * EACH);
        accepted += !hc_sv_peer_floods(&peer, 50, us);
    }
    uint64_t most = (us + HC_FLOOD_US) * HC_FLOOD_DATAGRAMS * rate / 1000000 + 1;
    ck_assert_uint_le(accepted, most);
    ck_assert_uint_ge(accepted, most - 2 * HC_FLOOD_DATAGRAMS * rate);
    for (unsigned n = 0; n < SECONDS * rate; n++) // one datagram a tick: an honest client
        ck_assert(n * 1000000 / rate < HC_FLOOD_US / 2 ||
                  !hc_sv_peer_floods(&peer, 300, us + HC_FLOOD_US + n * 1000000 / rate));
    uint64_t bytes = 0, from_us = us + 100 * (uint64_t)1000000;
    for (unsigned n = 0; n < SECONDS * rate; n++) // full datagrams: too many bytes
        bytes += hc_sv_peer_floods(&peer, 1200, from_us + n * 1000000 / rate) ? 0 : 1200;
    ck_assert_uint_le(bytes,
                      (SECONDS * 1000000 + HC_FLOOD_US) * rate * HC_FLOOD_BYTES / 1000000 + 1200);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server peer");
    TCase *tc = tcase_create("peer");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, shortest_round_trip_stays_when_the_path_becomes_longer);
    tcase_add_test(tc, client_that_left_frees_its_place_after_the_last_close);
    tcase_add_test(tc, lost_client_lingers_while_its_closes_are_sent_and_after_them);
    tcase_add_test(tc, lost_client_that_is_dropped_is_sent_why);
    tcase_add_test(tc, client_that_acks_a_close_frees_its_place_at_once);
    tcase_add_test(tc, lost_client_that_acks_its_close_lingers_and_may_leave);
    tcase_add_test_raise_signal(tc, client_without_connection_cannot_lose_it, SIGABRT);
    tcase_add_test(tc, server_sends_forced_ranges_until_the_client_acks_them);
    tcase_add_test(tc, acked_snapshot_becomes_the_baseline_and_the_next_client_has_none);
    tcase_add_test(tc, snapshot_is_lost_when_one_sent_six_later_is_acked);
    tcase_add_test(tc, full_list_of_forced_ranges_drops_the_oldest);
    tcase_add_test(tc, loss_lowers_the_sending_rate_and_acks_do_not);
    tcase_add_test(tc, client_may_send_two_datagrams_a_tick_but_not_more_for_long);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
