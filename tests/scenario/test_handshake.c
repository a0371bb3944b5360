/// Connections begin and end, over good and bad links.
#include "tests/sim/games.h"
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hc_client_event *last_event(const struct scenario *scenario, unsigned client) {
    return &hc_sim_events(scenario->sim, client)->last;
}

START_TEST(all_join_although_two_datagrams_in_five_are_lost) {
    for (uint64_t seed = 101; seed < 111; seed++) {
        struct hc_sim_config config = hc_sim_config_players(&lanes, 8, 80, seed);
        config.up = config.down = hc_sim_link(80, 40);
        struct scenario *scenario = scenario_create(&config);
        ck_assert(hc_sim_join_all(scenario->sim)); // within 10 s
        for (unsigned i = 0; i < 8; i++) {
            const struct hc_sim_events *events = hc_sim_events(scenario->sim, i);
            ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_ACCEPTED], 1);
            ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_PLAYING], 1);
        }
        ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->joins, 8);
        scenario_destroy(scenario);
    }
}
END_TEST

/// Loses the first ACCEPT.
static void lose_accept(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    unsigned *accepts = context;
    bool first = hc_datagram_kind(bytes, size) == HC_DATAGRAM_ACCEPT && (*accepts)++ == 0;
    struct hc_network_sim_config link = hc_sim_link(150, first ? 100 : 0);
    hc_sim_set_link(sim, client, NULL, &link);
}

START_TEST(a_far_client_whose_accept_was_lost_plays_soon_and_never_stalls) {
    unsigned accepts = 0;
    struct hc_sim_config config = hc_sim_config_players(&lanes, 1, 150, 131);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.host_sent = lose_accept}, &accepts);
    ck_assert(hc_sim_connect(scenario->sim, 0));
    // HELLO, COOKIE, CONNECT take 450 ms; eight DATA 133, the ACCEPT again 150, two ticks.
    hc_sim_run(scenario->sim, 770 * MS_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 0), HC_CLIENT_PLAYING);
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(scenario->sim, 0))->stalls, 0);
    scenario_destroy(scenario);
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

START_TEST(forged_cookies_that_arrive_first_keep_no_client_out) {
    uint8_t nonce[HC_NONCE_SIZE], bytes[HC_DATAGRAM_MAX];
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 80, 121);
    config.hooks.tamper = see_hello;
    config.context = nonce;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL && hc_sim_connect(sim, 0));
    struct hc_client *client = hc_sim_client(sim, 0);
    for (unsigned ms = 0; ms < 9000; ms += 20) { // a forged COOKIE, another each time
        struct hc_datagram_cookie cookie = {.slot = ms};
        hc_sim_run(sim, 20 * MS_US);
        memcpy(cookie.client_nonce, nonce, sizeof nonce);
        hc_client_receive(client, bytes, hc_datagram_put_cookie(&cookie, bytes),
                          hc_sim_client_now(sim, 0));
    }
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_full_server_denies_with_its_reason) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 3, 30, 111);
    config.host.clients = 2;
    struct scenario *scenario = scenario_create(&config);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(hc_sim_connect(scenario->sim, i));
        hc_sim_run(scenario->sim, SECOND_US);
    }
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 2), HC_CLIENT_CLOSED);
    ck_assert_int_eq(last_event(scenario, 2)->kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(last_event(scenario, 2)->deny, HC_DENY_FULL);
    ck_assert_uint_ge(hc_server_stats(hc_sim_host(scenario->sim))->denied, 1);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 0), HC_CLIENT_PLAYING);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 1), HC_CLIENT_PLAYING);
    // A slot that becomes free can be taken.
    hc_sim_leave(scenario->sim, 0);
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert(hc_sim_connect(scenario->sim, 2));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 2), HC_CLIENT_PLAYING);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_client_with_more_players_than_free_slots_is_denied_and_takes_none) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 3, 30, 112);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_setup(scenario->sim, 0)->config.players = 4;
    hc_sim_setup(scenario->sim, 1)->config.players = 3;
    ck_assert(hc_sim_connect(scenario->sim, 0));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(last_event(scenario, 0)->kind, HC_CLIENT_EVENT_DENIED);
    ck_assert(hc_sim_connect(scenario->sim, 1));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 1), HC_CLIENT_PLAYING);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_client_of_another_version_learns_the_reason) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 2, 30, 113);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_setup(scenario->sim, 1)->config.game = &lanes_next;
    ck_assert(hc_sim_connect_all(scenario->sim));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 0), HC_CLIENT_PLAYING);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 1), HC_CLIENT_CLOSED);
    ck_assert_int_eq(last_event(scenario, 1)->kind, HC_CLIENT_EVENT_VERSION);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(scenario->sim)), 1);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(client_and_server_give_up_after_the_timeout_without_datagrams) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 2, 30, 114);
    config.client.timeout_us = 3 * SECOND_US;
    config.client.reconnect_us = 0;
    config.host.timeout_us = 4 * SECOND_US;
    config.host.linger_us = 0;
    struct scenario *scenario = scenario_create(&config);
    struct hc_network_sim_config dead = hc_sim_link(30, 100);
    hc_sim_set_link(scenario->sim, 1, &dead, &dead);
    ck_assert(hc_sim_connect_all(scenario->sim));
    hc_sim_run(scenario->sim, 2900 * MS_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 1), HC_CLIENT_CONNECTING);
    hc_sim_run(scenario->sim, 200 * MS_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 1), HC_CLIENT_CLOSED);
    ck_assert_int_eq(last_event(scenario, 1)->kind, HC_CLIENT_EVENT_TIMEOUT);
    // Of a playing client's connection first the client gives up, then the server.
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 0), HC_CLIENT_PLAYING);
    hc_sim_set_link(scenario->sim, 0, &dead, &dead);
    hc_sim_run(scenario->sim, 3200 * MS_US);
    ck_assert_int_eq(last_event(scenario, 0)->kind, HC_CLIENT_EVENT_TIMEOUT);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(scenario->sim)), 1);
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(scenario->sim)), 0);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->timeouts, 1);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(the_servers_close_reaches_every_client_although_half_the_datagrams_are_lost) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 16, 60, 115);
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_set_links(scenario->sim, hc_sim_link(60, 50));
    hc_sim_run(scenario->sim, SECOND_US);
    hc_sim_shutdown(scenario->sim);
    hc_sim_run(scenario->sim, SECOND_US);
    for (unsigned i = 0; i < 16; i++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_CLOSED);
        ck_assert_int_eq(last_event(scenario, i)->kind, HC_CLIENT_EVENT_CLOSED);
        ck_assert_int_eq(last_event(scenario, i)->close, HC_CLOSE_SHUTDOWN);
    }
    ck_assert(hc_server_closed(hc_sim_host(scenario->sim)));
    // No client can join any more.
    hc_sim_set_links(scenario->sim, hc_sim_link(60, 0));
    scenario_drop_stamps(scenario);
    ck_assert(hc_sim_connect(scenario->sim, 3));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(last_event(scenario, 3)->kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(last_event(scenario, 3)->deny, HC_DENY_SHUTDOWN);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_clients_close_reaches_the_server_although_half_the_datagrams_are_lost) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 16, 60, 116);
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_set_links(scenario->sim, hc_sim_link(60, 50));
    for (unsigned i = 0; i < 16; i++)
        hc_sim_leave(scenario->sim, i);
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(scenario->sim)), 0);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->leaves, 16);
    for (unsigned i = 0; i < 16; i++)
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_CLOSED);
    scenario_destroy(scenario);
}
END_TEST

/// Fails the test if a spectator's snapshot is not of the head.
static void check_head(void *context, struct hc_sim *sim, unsigned client) {
    hc_tick shown, as_of;
    (void)context;
    if (client == 1 && hc_client_snapshot(hc_sim_client(sim, client), &shown, &as_of))
        REQUIRE(shown == as_of, "tick %u is shown as of %u", shown, as_of);
}

START_TEST(a_spectator_sees_the_head) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 80, 117);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_setup(scenario->sim, 1)->config.players = 0;
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.client_changed = check_head}, NULL);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    const struct hc_client *core = hc_sim_client(scenario->sim, 1);
    ck_assert_uint_eq(hc_client_player(core, 0), HC_NO_PLAYER);
    ck_assert_uint_gt(hc_client_stats(core)->snapshots, 150);
    const struct hc_world *world = hc_client_world(core);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_player other = hc_client_player(hc_sim_client(scenario->sim, 0), 0);
    ck_assert_int_eq(
        hc_timeline_presence(timeline, hc_timeline_head(timeline))[hc_world_player(world, other)],
        HC_ALIVE);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(two_players_share_a_client) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 2, 80, 118);
    config.up = config.down = hc_sim_link(80, 10);
    config.client.players = 2;
    config.host.clients = 4;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 5 * SECOND_US);
    hc_tick final = record_final(scenario->record);
    for (unsigned i = 0; i < 2; i++) {
        hc_tick first = hc_client_player(hc_sim_client(scenario->sim, i), 0);
        hc_tick second = hc_client_player(hc_sim_client(scenario->sim, i), 1);
        ck_assert_uint_ne(first, second);
        for (unsigned k = 0; k < 2; k++) {
            const struct stamped_inputs *stamps = scenario->stamps[i][k];
            hc_player player = hc_client_player(hc_sim_client(scenario->sim, i), k);
            uint32_t pressed = 0;
            for (hc_tick tick = final - 200; tick < final; tick++) {
                const uint8_t *taken =
                    record_inputs(scenario->record, tick) + player * sizeof(struct lanes_input);
                ck_assert_ptr_nonnull(stamped_input(stamps, tick));
                ck_assert_mem_eq(taken, stamped_input(stamps, tick), sizeof(struct lanes_input));
                pressed += taken[0] != 0;
            }
            ck_assert_uint_gt(pressed, 100);
        }
    }
    record_check_plain(scenario->record);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_client_whose_clock_is_wrong_and_drifts_stays_in_step) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 3, 50, 119);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_setup(scenario->sim, 1)->clock_offset_us = UINT64_C(86400) * SECOND_US;
    hc_sim_setup(scenario->sim, 1)->clock_ppm = 300;
    hc_sim_setup(scenario->sim, 2)->clock_offset_us = 17;
    hc_sim_setup(scenario->sim, 2)->clock_ppm = -300;
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 30 * SECOND_US);
    hc_tick server = hc_timeline_head(hc_server_timeline(hc_sim_host(scenario->sim)));
    for (unsigned i = 0; i < 3; i++) {
        const struct hc_client *core = hc_sim_client(scenario->sim, i);
        hc_tick head = hc_timeline_head(hc_client_timeline(core));
        ck_assert_msg(head + 1 >= server && head <= server + 1, "client %u is at %u, not %u", i,
                      head, server);
        ck_assert_uint_eq(hc_client_stats(core)->stalls, 0);
        ck_assert_uint_eq(hc_client_stats(core)->restarts, 0);
    }
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("handshake");
    TCase *tests = tcase_create("handshake");
    tcase_add_test(tests, all_join_although_two_datagrams_in_five_are_lost);
    tcase_add_test(tests, a_far_client_whose_accept_was_lost_plays_soon_and_never_stalls);
    tcase_add_test(tests, forged_cookies_that_arrive_first_keep_no_client_out);
    tcase_add_test(tests, a_full_server_denies_with_its_reason);
    tcase_add_test(tests, a_client_with_more_players_than_free_slots_is_denied_and_takes_none);
    tcase_add_test(tests, a_client_of_another_version_learns_the_reason);
    tcase_add_test(tests, client_and_server_give_up_after_the_timeout_without_datagrams);
    tcase_add_test(tests,
                   the_servers_close_reaches_every_client_although_half_the_datagrams_are_lost);
    tcase_add_test(tests, a_clients_close_reaches_the_server_although_half_the_datagrams_are_lost);
    tcase_add_test(tests, a_spectator_sees_the_head);
    tcase_add_test(tests, two_players_share_a_client);
    tcase_add_test(tests, a_client_whose_clock_is_wrong_and_drifts_stays_in_step);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
