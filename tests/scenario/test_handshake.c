/// How a connection begins and ends, and what becomes of it on a bad link.
#include "tests/sim/lanes.h"
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hc_client_event *last_event(const struct play *play, unsigned client) {
    return &hc_sim_events(play->sim, client)->last;
}

START_TEST(all_join_although_two_datagrams_in_five_are_lost) {
    for (uint64_t seed = 101; seed < 111; seed++) {
        struct hc_sim_config config = play_config(&lanes, 8, 80, seed);
        config.up = config.down = play_link(80, 40);
        struct play *play = play_create(&config);
        play_join_all(play); // within 10 s
        for (unsigned i = 0; i < 8; i++) {
            const struct hc_sim_events *events = hc_sim_events(play->sim, i);
            ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_ACCEPTED], 1);
            ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_PLAYING], 1);
        }
        ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->joins, 8);
        play_destroy(play);
    }
}
END_TEST

static bool see_hello(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                      size_t size) {
    struct hc_hello hello;
    (void)sim;
    (void)client;
    if (hc_datagram_get_hello(bytes, size, &hello) == HC_OK)
        memcpy(context, hello.client_nonce, HC_NONCE_SIZE);
    return true;
}

START_TEST(who_sees_a_hello_and_answers_first_keeps_nobody_out) {
    uint8_t nonce[HC_NONCE_SIZE], bytes[HC_DATAGRAM_MAX];
    struct hc_sim_config config = play_config_bare(1, 80, 121);
    config.hooks.tamper = see_hello;
    config.context = nonce;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL && hc_sim_connect(sim, 0));
    struct hc_client *client = hc_sim_client(sim, 0);
    for (unsigned ms = 0; ms < 9000; ms += 20) { // a COOKIE of its own, each time another
        struct hc_datagram_cookie cookie = {.slot = ms};
        hc_sim_run(sim, 20 * PLAY_MS);
        memcpy(cookie.client_nonce, nonce, sizeof nonce);
        hc_client_receive(client, bytes, hc_datagram_put_cookie(&cookie, bytes),
                          hc_sim_client_now(sim, 0));
    }
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_full_server_says_so) {
    struct hc_sim_config config = play_config(&lanes, 3, 30, 111);
    config.host.clients = 2;
    struct play *play = play_create(&config);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(hc_sim_connect(play->sim, i));
        hc_sim_run(play->sim, PLAY_S);
    }
    ck_assert_int_eq(play_state(play, 2), HC_CLIENT_CLOSED);
    ck_assert_int_eq(last_event(play, 2)->kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(last_event(play, 2)->deny, HC_DENY_FULL);
    ck_assert_uint_ge(hc_sv_host_stats(hc_sim_host(play->sim))->denied, 1);
    ck_assert_int_eq(play_state(play, 0), HC_CLIENT_PLAYING);
    ck_assert_int_eq(play_state(play, 1), HC_CLIENT_PLAYING);
    // A place that becomes free can be had.
    hc_sim_leave(play->sim, 0);
    hc_sim_run(play->sim, PLAY_S);
    ck_assert(hc_sim_connect(play->sim, 2));
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(play_state(play, 2), HC_CLIENT_PLAYING);
    play_destroy(play);
}
END_TEST

START_TEST(a_client_with_more_players_than_places_is_denied_and_takes_none) {
    struct hc_sim_config config = play_config(&lanes, 3, 30, 112);
    struct play *play = play_create(&config);
    hc_sim_setup(play->sim, 0)->config.players = 4;
    hc_sim_setup(play->sim, 1)->config.players = 3;
    ck_assert(hc_sim_connect(play->sim, 0));
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(last_event(play, 0)->kind, HC_CLIENT_EVENT_DENIED);
    ck_assert(hc_sim_connect(play->sim, 1));
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(play_state(play, 1), HC_CLIENT_PLAYING);
    play_destroy(play);
}
END_TEST

START_TEST(a_client_of_another_version_is_told) {
    struct hc_sim_config config = play_config(&lanes, 2, 30, 113);
    struct play *play = play_create(&config);
    hc_sim_setup(play->sim, 1)->config.game = &lanes_next;
    ck_assert(hc_sim_connect(play->sim, 0));
    ck_assert(hc_sim_connect(play->sim, 1));
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(play_state(play, 0), HC_CLIENT_PLAYING);
    ck_assert_int_eq(play_state(play, 1), HC_CLIENT_CLOSED);
    ck_assert_int_eq(last_event(play, 1)->kind, HC_CLIENT_EVENT_VERSION);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(play->sim)), 1);
    play_destroy(play);
}
END_TEST

START_TEST(whoever_hears_nothing_gives_up_after_the_timeout) {
    struct hc_sim_config config = play_config(&lanes, 2, 30, 114);
    config.client.timeout_us = 3 * PLAY_S;
    config.client.reconnect_us = 0;
    config.host.timeout_us = 4 * PLAY_S;
    config.host.keep_us = 0;
    struct play *play = play_create(&config);
    struct hc_network_sim_config dead = play_link(30, 100);
    hc_sim_set_link(play->sim, 1, &dead, &dead);
    ck_assert(hc_sim_connect(play->sim, 0));
    ck_assert(hc_sim_connect(play->sim, 1));
    hc_sim_run(play->sim, 2900 * PLAY_MS);
    ck_assert_int_eq(play_state(play, 1), HC_CLIENT_CONNECTING);
    hc_sim_run(play->sim, 200 * PLAY_MS);
    ck_assert_int_eq(play_state(play, 1), HC_CLIENT_CLOSED);
    ck_assert_int_eq(last_event(play, 1)->kind, HC_CLIENT_EVENT_TIMEOUT);
    // One that plays: first the client, then the server, gives up.
    ck_assert_int_eq(play_state(play, 0), HC_CLIENT_PLAYING);
    hc_sim_set_link(play->sim, 0, &dead, &dead);
    hc_sim_run(play->sim, 3200 * PLAY_MS);
    ck_assert_int_eq(last_event(play, 0)->kind, HC_CLIENT_EVENT_TIMEOUT);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(play->sim)), 1);
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(play->sim)), 0);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->timeouts, 1);
    play_destroy(play);
}
END_TEST

START_TEST(the_servers_goodbye_reaches_every_client_through_half_of_the_datagrams) {
    struct hc_sim_config config = play_config(&lanes, 16, 60, 115);
    struct play *play = play_create(&config);
    play_join_all(play);
    play_set_links(play, play_link(60, 50));
    hc_sim_run(play->sim, PLAY_S);
    hc_sim_shutdown(play->sim);
    hc_sim_run(play->sim, PLAY_S);
    for (unsigned i = 0; i < 16; i++) {
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_CLOSED);
        ck_assert_int_eq(last_event(play, i)->kind, HC_CLIENT_EVENT_CLOSED);
        ck_assert_int_eq(last_event(play, i)->close, HC_CLOSE_SHUTDOWN);
    }
    ck_assert(hc_sv_host_closed(hc_sim_host(play->sim)));
    // And nobody comes in any more.
    play_set_links(play, play_link(60, 0));
    play_without_stamps(play);
    ck_assert(hc_sim_connect(play->sim, 3));
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(last_event(play, 3)->kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(last_event(play, 3)->deny, HC_DENY_SHUTDOWN);
    play_destroy(play);
}
END_TEST

START_TEST(a_clients_goodbye_reaches_the_server_through_half_of_the_datagrams) {
    struct hc_sim_config config = play_config(&lanes, 16, 60, 116);
    struct play *play = play_create(&config);
    play_join_all(play);
    play_set_links(play, play_link(60, 50));
    for (unsigned i = 0; i < 16; i++)
        hc_sim_leave(play->sim, i);
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(play->sim)), 0);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->leaves, 16);
    for (unsigned i = 0; i < 16; i++)
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_CLOSED);
    play_destroy(play);
}
END_TEST

/// A spectator's snapshots are all of the head.
static void check_head(struct play *play, unsigned client) {
    hc_tick shown, as_of;
    if (client == 1 && hc_client_snapshot(hc_sim_client(play->sim, client), &shown, &as_of))
        REQUIRE(shown == as_of, "tick %u is shown as of %u", shown, as_of);
}

START_TEST(a_spectator_sees_the_head) {
    struct hc_sim_config config = play_config(&hc_arena, 2, 80, 117);
    struct play *play = play_create(&config);
    hc_sim_setup(play->sim, 1)->config.players = 0;
    play->client_changed = check_head;
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    const struct hc_client *core = hc_sim_client(play->sim, 1);
    ck_assert_uint_eq(hc_client_player(core, 0), HC_NO_PLAYER);
    ck_assert_uint_gt(hc_client_stats(core)->snapshots, 150);
    const struct hc_world *world = hc_client_world(core);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_player other = hc_client_player(hc_sim_client(play->sim, 0), 0);
    ck_assert_int_eq(
        hc_timeline_presence(timeline, hc_timeline_head(timeline))[hc_world_player(world, other)],
        HC_ALIVE);
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

START_TEST(two_players_share_a_client) {
    struct hc_sim_config config = play_config(&lanes, 2, 80, 118);
    config.up = config.down = play_link(80, 10);
    config.client.players = 2;
    config.host.clients = 4;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 5 * PLAY_S);
    hc_tick final = ledger_final(play->sent_log);
    for (unsigned i = 0; i < 2; i++) {
        hc_tick first = hc_client_player(hc_sim_client(play->sim, i), 0);
        hc_tick second = hc_client_player(hc_sim_client(play->sim, i), 1);
        ck_assert_uint_ne(first, second);
        for (unsigned k = 0; k < 2; k++) {
            const struct stamps *stamps = play->stamps[i][k];
            hc_player player = hc_client_player(hc_sim_client(play->sim, i), k);
            uint32_t pressed = 0;
            for (hc_tick tick = final - 200; tick < final; tick++) {
                const uint8_t *taken =
                    ledger_inputs(play->sent_log, tick) + player * sizeof(struct lanes_input);
                ck_assert_ptr_nonnull(stamps_input(stamps, tick));
                ck_assert_mem_eq(taken, stamps_input(stamps, tick), sizeof(struct lanes_input));
                pressed += taken[0] != 0;
            }
            ck_assert_uint_gt(pressed, 100);
        }
    }
    ledger_check_plain(play->sent_log);
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

START_TEST(a_clients_clock_may_be_off_and_drift) {
    struct hc_sim_config config = play_config(&hc_arena, 3, 50, 119);
    struct play *play = play_create(&config);
    hc_sim_setup(play->sim, 1)->clock_offset_us = UINT64_C(86400) * PLAY_S;
    hc_sim_setup(play->sim, 1)->clock_ppm = 300;
    hc_sim_setup(play->sim, 2)->clock_offset_us = 17;
    hc_sim_setup(play->sim, 2)->clock_ppm = -300;
    play_join_all(play);
    hc_sim_run(play->sim, 30 * PLAY_S);
    hc_tick server = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(play->sim)));
    for (unsigned i = 0; i < 3; i++) {
        const struct hc_client *core = hc_sim_client(play->sim, i);
        hc_tick head = hc_timeline_head(hc_client_timeline(core));
        ck_assert_msg(head + 1 >= server && head <= server + 1, "client %u is at %u, not %u", i,
                      head, server);
        ck_assert_uint_eq(hc_client_stats(core)->stalls, 0);
        ck_assert_uint_eq(hc_client_stats(core)->restarts, 0);
    }
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("handshake");
    TCase *tests = tcase_create("handshake");
    tcase_add_test(tests, all_join_although_two_datagrams_in_five_are_lost);
    tcase_add_test(tests, who_sees_a_hello_and_answers_first_keeps_nobody_out);
    tcase_add_test(tests, a_full_server_says_so);
    tcase_add_test(tests, a_client_with_more_players_than_places_is_denied_and_takes_none);
    tcase_add_test(tests, a_client_of_another_version_is_told);
    tcase_add_test(tests, whoever_hears_nothing_gives_up_after_the_timeout);
    tcase_add_test(tests, the_servers_goodbye_reaches_every_client_through_half_of_the_datagrams);
    tcase_add_test(tests, a_clients_goodbye_reaches_the_server_through_half_of_the_datagrams);
    tcase_add_test(tests, a_spectator_sees_the_head);
    tcase_add_test(tests, two_players_share_a_client);
    tcase_add_test(tests, a_clients_clock_may_be_off_and_drift);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
