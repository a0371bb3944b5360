/// Players join and leave, with and without CLOSE, during rewinds, and all agree on one history.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 8, SLOTS = 6 };

/// Connects, closes or kills a random client.
static void disturb(struct scenario *scenario, struct hc_rng *rng) {
    unsigned client = hc_rng_below(rng, CLIENTS);
    enum hc_client_state state = hc_sim_client_state(scenario->sim, client);
    if (state == HC_CLIENT_CLOSED || state == HC_CLIENT_LEAVING) {
        hc_sim_setup(scenario->sim, client)->keeps_port = hc_rng_chance(rng, 300000);
        ck_assert(hc_sim_connect(scenario->sim, client));
    } else if (state != HC_CLIENT_CONNECTING && hc_rng_chance(rng, 700000)) {
        hc_sim_leave(scenario->sim, client);
    } else if (hc_rng_chance(rng, 300000)) {
        hc_sim_kill(scenario->sim, client);
    } else if (hc_rng_chance(rng, 300000)) {
        ck_assert(hc_sim_connect(scenario->sim, client)); // connects again without a CLOSE
    }
}

/// Finds the slot with the most joins, and counts all leaves.
static uint32_t most_joins_of_a_slot(const struct scenario *scenario, uint32_t *leaves) {
    uint32_t joins[SLOTS] = {0}, most = 0;
    *leaves = 0;
    for (hc_tick tick = 0; tick < record_final(scenario->record); tick++) {
        const uint8_t *roster_changes = record_roster_changes(scenario->record, tick);
        for (hc_player p = 0; p < SLOTS; p++) {
            joins[p] += roster_changes[p] == HC_ROSTER_JOIN;
            *leaves += roster_changes[p] == HC_ROSTER_LEAVE;
            most = joins[p] > most ? joins[p] : most;
        }
    }
    return most;
}

static void play_with_comings_and_goings(uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, seed);
    struct hc_rng rng = hc_rng_init(seed, 1);
    config.up = config.down = hc_sim_link(60, 10);
    config.up.jitter_us = config.down.jitter_us = 40 * MS_US;
    config.host.clients = SLOTS;
    config.host.timeout_us = 2 * SECOND_US;
    config.client.timeout_us = 2 * SECOND_US;
    hc_sim_fix_delays(&config.client, hc_rng_below(&rng, 4), 0);
    config.client.display_offset = hc_rng_below(&rng, 20);
    struct scenario *scenario = scenario_create(&config);
    scenario_drop_stamps(scenario);
    while (hc_sim_now(scenario->sim) < 20 * SECOND_US) {
        disturb(scenario, &rng);
        hc_sim_run(scenario->sim, hc_rng_below(&rng, 250 * MS_US));
    }
    hc_sim_release_keys(scenario->sim);
    hc_sim_set_links(scenario->sim, hc_sim_link(60, 0));
    hc_sim_run(scenario->sim, 4 * SECOND_US);
    unsigned agreeing = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (hc_sim_client_state(scenario->sim, i) != HC_CLIENT_PLAYING)
            continue;
        scenario_check_final(scenario, i);
        agreeing++;
    }
    uint32_t leaves, most = most_joins_of_a_slot(scenario, &leaves);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    printf("seed %lu: %lu joins, %lu leaves, %lu timeouts, a slot was used %u times, %u agree\n",
           (unsigned long)seed, (unsigned long)stats->joins, (unsigned long)stats->leaves,
           (unsigned long)stats->timeouts, most, agreeing);
    ck_assert_uint_ge(most, 2);
    ck_assert_uint_gt(leaves, 5);
    ck_assert_uint_eq(agreeing, hc_server_clients(hc_sim_host(scenario->sim)));
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}

START_TEST(joins_and_leaves_during_rewinds_leave_one_history) {
    for (uint64_t seed = 81; seed < 89; seed++)
        play_with_comings_and_goings(seed);
}
END_TEST

START_TEST(a_late_joiner_agrees_with_the_server) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 4, 80, 91);
    struct scenario *scenario = scenario_create(&config);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(hc_sim_connect(scenario->sim, i));
    hc_sim_run(scenario->sim, 10 * SECOND_US);
    ck_assert(hc_sim_connect(scenario->sim, 3));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 3), HC_CLIENT_PLAYING);
    for (unsigned i = 0; i < 4; i++)
        scenario_check_final(scenario, i);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_leave_frees_the_slot_for_the_next_client) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 30, 92);
    config.host.clients = 1;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_connect(scenario->sim, 0));
    hc_sim_run(scenario->sim, SECOND_US);
    hc_player player = hc_client_player(hc_sim_client(scenario->sim, 0), 0);
    hc_sim_leave(scenario->sim, 0);
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 0), HC_CLIENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(scenario->sim, 0)->last.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(scenario->sim, 0)->last.close, HC_CLOSE_LEFT);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(scenario->sim)), 0);
    ck_assert(hc_sim_connect(scenario->sim, 1));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, 1), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(hc_client_player(hc_sim_client(scenario->sim, 1), 0), player);
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("membership");
    TCase *tests = tcase_create("membership");
    tcase_add_test(tests, joins_and_leaves_during_rewinds_leave_one_history);
    tcase_add_test(tests, a_late_joiner_agrees_with_the_server);
    tcase_add_test(tests, a_leave_frees_the_slot_for_the_next_client);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
