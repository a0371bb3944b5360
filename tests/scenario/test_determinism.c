/// One seed gives one history, and duplicated datagrams change nothing.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdlib.h>

/// The trace of a scenario with joins, leaves, losses and clock drift.
static uint64_t trace_of(uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 6, 60, seed);
    hc_network_sim_preset("awful", &config.up);
    hc_network_sim_preset("bad", &config.down);
    config.up.duplicate_ppm = config.down.reorder_ppm = 50000;
    config.client.display_offset = 8;
    config.trace_worlds = true;
    struct scenario *scenario = scenario_create(&config);
    scenario_drop_stamps(scenario);
    hc_sim_setup(scenario->sim, 3)->clock_ppm = 200;
    for (unsigned i = 0; i < 6; i++) {
        ck_assert(hc_sim_connect(scenario->sim, i));
        hc_sim_run(scenario->sim, 100 * MS_US);
    }
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    hc_sim_leave(scenario->sim, 1);
    hc_sim_kill(scenario->sim, 2);
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert(hc_sim_connect(scenario->sim, 2));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    uint64_t trace = hc_sim_trace(scenario->sim);
    scenario_destroy(scenario);
    return trace;
}

START_TEST(one_seed_gives_one_history) {
    uint64_t first = trace_of(131), again = trace_of(131), other = trace_of(132);
    ck_assert_uint_eq(first, again);
    ck_assert_uint_ne(first, other);
}
END_TEST

START_TEST(the_size_of_the_simulators_steps_changes_nothing) {
    uint64_t traces[2];
    for (unsigned n = 0; n < 2; n++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 3, 60, 133);
        config.trace_worlds = true;
        struct scenario *scenario = scenario_create(&config);
        ck_assert(hc_sim_connect_all(scenario->sim));
        for (unsigned step = 0; step < (n == 0 ? 1 : 1000); step++)
            hc_sim_run(scenario->sim, n == 0 ? 3 * SECOND_US : 3 * MS_US);
        traces[n] = hc_sim_trace(scenario->sim);
        scenario_destroy(scenario);
    }
    ck_assert_uint_eq(traces[0], traces[1]);
}
END_TEST

START_TEST(server_keeps_playing_when_every_datagram_is_duplicated) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 4, 60, 134);
    config.up.duplicate_ppm = config.down.duplicate_ppm = HC_NETWORK_SIM_PPM;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 5 * SECOND_US);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    ck_assert_uint_gt(stats->rejected[HC_DUPLICATE], 4 * 250);
    ck_assert_uint_eq(stats->joins, 4);
    ck_assert_uint_eq(stats->inputs_forced, 0);
    ck_assert_uint_gt(stats->inputs_received, 4 * 250);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_PLAYING);
        const struct hc_client *core = hc_sim_client(scenario->sim, i);
        ck_assert_uint_gt(hc_client_stats(core)->rejected[HC_DUPLICATE], 250);
        hc_player player = hc_client_player(core, 0);
        for (hc_tick tick = record_final(scenario->record) - 200;
             tick < record_final(scenario->record); tick++)
            ck_assert_int_eq(record_slot(scenario->record, player, tick), HC_SLOT_KNOWN);
    }
    record_check_plain(scenario->record);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("determinism");
    TCase *tests = tcase_create("determinism");
    tcase_add_test(tests, one_seed_gives_one_history);
    tcase_add_test(tests, the_size_of_the_simulators_steps_changes_nothing);
    tcase_add_test(tests, server_keeps_playing_when_every_datagram_is_duplicated);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
