/// A client that receives nothing stalls at its prediction limit, and recovers by itself.
#include "tests/scenario/prediction_check.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 4, VICTIM = 1, LATENCY_MS = 60 };

/// Fails the test if a client predicts beyond its limit.
static void check_limit(void *context, struct hc_sim *sim, unsigned client) {
    const struct hc_client *core = hc_sim_client(sim, client);
    hc_tick shown, as_of;
    (void)context;
    if (!hc_client_snapshot(core, &shown, &as_of))
        return;
    hc_tick head = hc_timeline_head(hc_client_timeline(core));
    REQUIRE(head <= shown + hc_sim_config(sim)->client.prediction_limit,
            "client %u predicts %u, but has seen %u", client, head, shown);
}

static uint64_t snapshots_of(const struct scenario *scenario, unsigned client) {
    return hc_client_stats(hc_sim_client(scenario->sim, client))->snapshots;
}

START_TEST(a_blackout_stalls_only_its_client) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 141);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.client_changed = check_limit}, NULL);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    uint64_t before[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++)
        before[i] = snapshots_of(scenario, i);
    struct hc_network_sim_config dead = hc_sim_link(LATENCY_MS, 100),
                                 good = hc_sim_link(LATENCY_MS, 0);
    hc_sim_set_link(scenario->sim, VICTIM, &dead, &dead);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, VICTIM), HC_CLIENT_STALLED);
    ck_assert_uint_eq(hc_sim_events(scenario->sim, VICTIM)->count[HC_CLIENT_EVENT_STALLED], 1);
    ck_assert_uint_eq(hc_sim_events(scenario->sim, VICTIM)->last.kind, HC_CLIENT_EVENT_STALLED);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (i != VICTIM)
            ck_assert_uint_ge(snapshots_of(scenario, i) - before[i], 119);
    hc_sim_set_link(scenario->sim, VICTIM, &good, &good);
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, VICTIM), HC_CLIENT_PLAYING);
    // Right after the blackout it may stall again until its inputs are acked.
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(scenario->sim, VICTIM));
    const struct hc_sim_events *events = hc_sim_events(scenario->sim, VICTIM);
    ck_assert_uint_le(stats->stalls, 3);
    ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_STALLED], stats->stalls);
    ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_UNSTALLED], stats->stalls);
    ck_assert_uint_ge(stats->stalled_ticks, 120 - config.client.prediction_limit);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    hc_tick server = hc_timeline_head(hc_server_timeline(hc_sim_host(scenario->sim)));
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct hc_client *core = hc_sim_client(scenario->sim, i);
        ck_assert(i == VICTIM || hc_client_stats(core)->stalls == 0);
        hc_tick head = hc_timeline_head(hc_client_timeline(core));
        ck_assert(head + 1 >= server && head <= server + 1);
        scenario_check_final(scenario, i);
    }
    scenario_check_hashes(scenario);
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(own_predictions_are_right_again_after_a_stall) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, LATENCY_MS, 142);
    hc_sim_fix_delays(&config.client, 0, 0);
    struct scenario *scenario = scenario_create(&config);
    struct prediction_check *check = prediction_check_create(scenario, 0);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.client_changed = check_limit}, NULL);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    hc_sim_set_links(scenario->sim, hc_sim_link(LATENCY_MS, 100));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    hc_sim_set_links(scenario->sim, hc_sim_link(LATENCY_MS, 0));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    prediction_check_restart(check);
    hc_sim_run(scenario->sim, 5 * SECOND_US);
    struct prediction_count count = prediction_check_count(check);
    ck_assert_uint_gt(count.predicted, 290);
    ck_assert_msg(count.predicted_wrong == 0 && count.looks_wrong == 0, "wrong first at %u",
                  count.first_wrong);
    prediction_check_destroy(check);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_client_with_a_fixed_redundancy_recovers_from_a_stall) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, LATENCY_MS, 143);
    config.client.prediction_limit = 40;
    config.client.input_redundancy = 4;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    struct hc_network_sim_config dead = hc_sim_link(LATENCY_MS, 100),
                                 good = hc_sim_link(LATENCY_MS, 0);
    hc_sim_set_link(scenario->sim, VICTIM, &dead, &dead);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, VICTIM), HC_CLIENT_STALLED);
    hc_sim_set_link(scenario->sim, VICTIM, &good, &good);
    // Inputs that were lost for good leave the window within a second or so.
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    for (unsigned n = 0; n < 100; n++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, VICTIM), HC_CLIENT_PLAYING);
        hc_sim_run(scenario->sim, 20 * MS_US);
    }
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    scenario_check_final(scenario, VICTIM);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("stall");
    TCase *tests = tcase_create("stall");
    tcase_add_test(tests, a_blackout_stalls_only_its_client);
    tcase_add_test(tests, own_predictions_are_right_again_after_a_stall);
    tcase_add_test(tests, a_client_with_a_fixed_redundancy_recovers_from_a_stall);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
