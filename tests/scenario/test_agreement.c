/// Server and clients agree on each snapshot's states and on every final tick.
#include "tests/scenario/scenario.h"
#include "tests/scenario/snapshot_check.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Each snapshot ------------------------------------------------------------------------------

START_TEST(clients_hold_the_states_that_each_snapshot_sent) {
    enum { CLIENTS = 6 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 100, 51);
    config.up = config.down = hc_sim_link(100, 10);
    config.up.jitter_us = config.down.jitter_us = 40 * MS_US;
    config.down.duplicate_ppm = 100000;
    config.client.display_offset = 10;
    struct scenario *scenario = scenario_create(&config);
    struct snapshot_check *check = snapshot_check_create(scenario);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 10 * SECOND_US);
    struct snapshot_count all = {.snapshots = 0};
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct snapshot_count count = snapshot_check_count(check, i);
        all.snapshots += count.snapshots;
        all.past += count.past;
        all.units += count.units;
        all.corrections += count.corrections;
    }
    printf("%lu snapshots agreed, %lu of them of a past tick; %lu units, %lu corrections\n",
           (unsigned long)all.snapshots, (unsigned long)all.past, (unsigned long)all.units,
           (unsigned long)all.corrections);
    ck_assert_uint_gt(all.snapshots, CLIENTS * 250);
    ck_assert_uint_gt(all.past, CLIENTS * 200);
    ck_assert_uint_gt(all.units, CLIENTS * 250 * CLIENTS);
    ck_assert_uint_gt(all.corrections, 100);
    scenario_check_hashes(scenario);
    snapshot_check_destroy(check);
    scenario_destroy(scenario);
}
END_TEST

// ---- The final tick -----------------------------------------------------------------------------

START_TEST(all_agree_at_every_final_tick_after_inputs_stop_and_links_heal) {
    enum { CLIENTS = 6, LATENCY_MS = 80 };
    for (uint64_t seed = 61; seed < 64; seed++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, seed);
        config.up = config.down = hc_sim_link(LATENCY_MS, 20);
        config.up.jitter_us = config.down.jitter_us = 30 * MS_US;
        config.client.display_offset = 15;
        struct scenario *scenario = scenario_create(&config);
        ck_assert(hc_sim_join_all(scenario->sim));
        hc_sim_run(scenario->sim, 8 * SECOND_US);
        hc_sim_release_keys(scenario->sim);
        hc_sim_set_links(scenario->sim, hc_sim_link(LATENCY_MS, 0));
        // W ticks of 1/60 s and a round trip.
        hc_sim_run(scenario->sim,
                   (uint64_t)config.host.history * SECOND_US / 60 + 2 * LATENCY_MS * 1000);
        hc_tick last[CLIENTS] = {0};
        for (unsigned n = 0; n < 60; n++) {
            hc_sim_run(scenario->sim, 20 * MS_US);
            for (unsigned i = 0; i < CLIENTS; i++) {
                hc_tick final = scenario_check_final(scenario, i);
                ck_assert_uint_ge(final, last[i]);
                last[i] = final;
            }
        }
        hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(scenario->sim)));
        for (unsigned i = 0; i < CLIENTS; i++)
            ck_assert_uint_gt(last[i], head - 30);
        record_check_plain(scenario->record);
        scenario_check_hashes(scenario);
        scenario_destroy(scenario);
    }
}
END_TEST

static hc_tick final_lag(const struct scenario *scenario) {
    const struct hc_server *host = hc_sim_host(scenario->sim);
    return hc_timeline_head(hc_server_timeline(host)) - hc_sv_host_final(host, NULL);
}

START_TEST(a_silent_client_delays_the_final_tick_by_the_window_until_its_timeout) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 4, 50, 71);
    config.host.timeout_us = 3 * SECOND_US;
    config.host.late_margin = HC_HISTORY_MAX; // the window is W
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_le(final_lag(scenario),
                      6); // 3 ticks of latency, D 3, and the ways between ticks
    hc_sim_kill(scenario->sim, 2);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    for (unsigned n = 0; n < 30; n++) { // the record checks at each tick that it is at most W
        ck_assert_uint_eq(final_lag(scenario), config.host.history);
        hc_sim_run(scenario->sim, 20 * MS_US);
    }
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->lost, 1);
    ck_assert_uint_le(final_lag(scenario), 6); // though its player lingers
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_spectator_delays_no_final_tick_and_agrees) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 3, 60, 72);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_setup(scenario->sim, 2)->config.players = 0;
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    struct hc_network_sim_config dead = hc_sim_link(60, 100);
    hc_sim_set_link(scenario->sim, 2, &dead, NULL);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_le(final_lag(scenario), 8);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 2),
                     HC_CLIENT_PLAYING); // it still receives datagrams
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    for (unsigned i = 0; i < 3; i++)
        scenario_check_final(scenario, i);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("agreement");
    TCase *tests = tcase_create("agreement");
    tcase_add_test(tests, clients_hold_the_states_that_each_snapshot_sent);
    tcase_add_test(tests, all_agree_at_every_final_tick_after_inputs_stop_and_links_heal);
    tcase_add_test(tests, a_silent_client_delays_the_final_tick_by_the_window_until_its_timeout);
    tcase_add_test(tests, a_spectator_delays_no_final_tick_and_agrees);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
