/// Every input takes effect once, at its tick, or its client learns that the server forced it.
#include "tests/sim/games.h"
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Counts one player's inputs up to the final tick.
struct outcome {
    uint32_t taken, forced, retracted;
    uint32_t forced_later; ///< forced more than a window after the join
};

/// Fails the test unless each slot of the player from its first stamp on is known with the stamped
/// input, or forced.
static struct outcome check_inputs(const struct scenario *scenario, unsigned client,
                                   unsigned index) {
    const struct stamped_inputs *stamps = scenario->stamps[client][index];
    const uint16_t size = record_world(scenario->record)->game->input_size;
    hc_player player = hc_client_player(hc_sim_client(scenario->sim, client), index);
    struct outcome outcome = {0};
    hc_tick first = hc_tick_max(scenario->joined[player] + 1, stamped_first(stamps));
    for (hc_tick tick = first; tick < record_final(scenario->record); tick++) {
        enum hc_slot slot = record_slot(scenario->record, player, tick);
        const uint8_t *stamped = stamped_input(stamps, tick);
        outcome.retracted += stamped_retracted(stamps, tick);
        if (slot == HC_SLOT_FORCED) {
            outcome.forced++;
            outcome.forced_later +=
                tick > scenario->joined[player] + hc_sim_config(scenario->sim)->host.history;
            continue;
        }
        ck_assert_msg(slot == HC_SLOT_KNOWN, "slot %u of player %u is open", tick, player);
        ck_assert_msg(stamped != NULL, "the input at %u was not stamped", tick);
        ck_assert_mem_eq(record_inputs(scenario->record, tick) + (size_t)player * size, stamped,
                         size);
        outcome.taken++;
    }
    return outcome;
}

/// Fails the test unless the client's retracted inputs from `first` on are the server's forced
/// ones.
static void check_retracted(const struct scenario *scenario, unsigned client, hc_tick first) {
    const struct stamped_inputs *stamps = scenario->stamps[client][0];
    hc_player player = hc_client_player(hc_sim_client(scenario->sim, client), 0);
    for (hc_tick tick = first; tick < record_final(scenario->record); tick++) {
        bool forced = record_slot(scenario->record, player, tick) == HC_SLOT_FORCED;
        ck_assert_msg(stamped_retracted(stamps, tick) == forced,
                      "slot %u of client %u: forced %d, retracted %d", tick, client, forced,
                      !forced);
    }
}

START_TEST(every_input_takes_effect_once_over_a_link_that_loses_duplicates_and_reorders) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 4, 200, 21);
    struct hc_network_sim_config bad = hc_sim_link(200, 25);
    bad.duplicate_ppm = 250000;
    bad.reorder_ppm = 250000;
    bad.jitter_us = 30 * MS_US;
    config.up = config.down = bad;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 20 * SECOND_US);
    uint64_t forced = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct outcome outcome = check_inputs(scenario, i, 0);
        printf("client %u: %u inputs took effect, %u forced\n", i, outcome.taken, outcome.forced);
        ck_assert_uint_gt(outcome.taken, 17 * 60);
        check_retracted(scenario, i, stamped_first(scenario->stamps[i][0]));
        forced += outcome.forced_later;
    }
    // A handshake with losses can outlast the window, which forces the first slots. Later some 40
    // datagrams carry each input, and that all are lost is too improbable.
    ck_assert_uint_eq(forced, 0);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->inputs_lost, 0);
    record_check_plain(scenario->record);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(the_digest_of_all_inputs_equals_that_of_the_stamped_inputs) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 2, 100, 22);
    config.up = config.down = hc_sim_link(100, 25);
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 10 * SECOND_US);
    for (unsigned i = 0; i < 2; i++) {
        hc_player player = hc_client_player(hc_sim_client(scenario->sim, i), 0);
        hc_tick final = record_final(scenario->record);
        uint16_t digest = 0, inputs = 0;
        for (hc_tick tick = scenario->joined[player] + 1; tick < final; tick++) {
            const struct lanes_input *input =
                (const struct lanes_input *)stamped_input(scenario->stamps[i][0], tick);
            struct lanes_input none = {0};
            input = input != NULL ? input : &none;
            digest = (uint16_t)(digest * 31u + (uint8_t)input->push * 7u + input->touch + 1u);
            inputs++;
        }
        const struct hc_world *world = record_world(scenario->record);
        struct lanes_runner runner;
        memcpy(&runner,
               record_states(scenario->record, final) +
                   (size_t)hc_world_player(world, player) * world->stride,
               sizeof runner);
        ck_assert_uint_eq(runner.inputs, inputs);
        ck_assert_uint_eq(runner.digest, digest);
    }
    scenario_destroy(scenario);
}
END_TEST

/// Two clients over 60 ms, of which client 0 loses all that it sends for `burst_ms`.
static struct scenario *play_with_burst(uint32_t burst_ms, uint64_t seed, hc_tick *before) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 2, 60, seed);
    config.host.late_margin = HC_HISTORY_MAX; // the window is W
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    *before = record_final(scenario->record);
    struct hc_network_sim_config void_link = hc_sim_link(60, 100), good = hc_sim_link(60, 0);
    hc_sim_set_link(scenario->sim, 0, &void_link, NULL);
    hc_sim_run(scenario->sim, (uint64_t)burst_ms * MS_US);
    hc_sim_set_link(scenario->sim, 0, &good, NULL);
    hc_sim_run(scenario->sim, 5 * SECOND_US);
    return scenario;
}

START_TEST(the_default_input_delay_covers_a_good_link) {
    enum { CLIENTS = 8, JOIN_TICKS = 3 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 20, 26);
    config.up.jitter_us = config.down.jitter_us = 2 * MS_US;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 10 * SECOND_US);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
    ck_assert_uint_gt(stats->inputs_received, CLIENTS * 9 * 60);
    // Inputs are late only while their client does not know its join yet.
    ck_assert_uint_le(stats->inputs_late, CLIENTS * JOIN_TICKS);
    ck_assert_uint_eq(stats->inputs_forced, 0);
    ck_assert_uint_eq(hc_timeline_stats(hc_server_timeline(hc_sim_host(sim)))->rewinds, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_loss_burst_inside_the_window_loses_no_input) {
    hc_tick before;
    struct scenario *scenario = play_with_burst(800, 23, &before);
    hc_player player = hc_client_player(hc_sim_client(scenario->sim, 0), 0);
    ck_assert_uint_eq(
        record_count_forced(scenario->record, player, before, record_final(scenario->record)), 0);
    struct outcome outcome = check_inputs(scenario, 0, 0);
    ck_assert_uint_gt(outcome.taken, 8 * 60);
    ck_assert_uint_eq(outcome.retracted, 0);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(scenario->sim, 0))->inputs_forced, 0);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    ck_assert_uint_eq(stats->inputs_forced, 0); // not even at the join
    ck_assert_uint_eq(stats->inputs_lost, 0);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_client_knows_its_forced_inputs_after_a_longer_burst) {
    hc_tick before;
    struct scenario *scenario = play_with_burst(2500, 24, &before);
    hc_player player = hc_client_player(hc_sim_client(scenario->sim, 0), 0);
    hc_tick final = record_final(scenario->record);
    uint32_t forced = record_count_forced(scenario->record, player, before, final);
    struct outcome outcome = check_inputs(scenario, 0, 0);
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(scenario->sim, 0));
    printf("forced by the server %u, counted by the client %lu\n", forced,
           (unsigned long)stats->inputs_forced);
    ck_assert_uint_ge(forced, 60);
    ck_assert_uint_le(forced, 150);
    ck_assert_uint_eq(stats->inputs_forced, outcome.forced);
    ck_assert_uint_eq(outcome.retracted, outcome.forced);
    check_retracted(scenario, 0, stamped_first(scenario->stamps[0][0]));
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->inputs_lost, 0);
    // The other client loses nothing.
    ck_assert_uint_eq(check_inputs(scenario, 1, 0).forced, 0);
    record_check_plain(scenario->record);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_fixed_redundancy_forces_no_input_that_may_still_arrive) {
    struct hc_sim_config config = hc_sim_config_players(&lanes, 2, 100, 25);
    config.up = config.down = hc_sim_link(100, 5);
    config.up.jitter_us = 40 * MS_US;
    config.client.input_redundancy = 8;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 10 * SECOND_US);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->inputs_lost, 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_uint_gt(check_inputs(scenario, i, 0).taken, 9 * 60);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(a_server_without_history_refuses_late_inputs_and_its_client_predicts_them) {
    for (uint32_t history = 0; history <= 1; history++) {
        struct hc_sim_config config = hc_sim_config_players(&lanes, 1, 100, 26);
        config.host.history = history;
        struct scenario *scenario = scenario_create(&config);
        ck_assert(hc_sim_join_all(scenario->sim));
        hc_sim_run(scenario->sim, 5 * SECOND_US);
        struct hc_server *host = hc_sim_host(scenario->sim);
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, 0), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_timeline_stats(hc_server_timeline(host))->rewinds, 0);
        // All of them: D 3 is less than 6 ticks of latency.
        ck_assert_uint_gt(hc_server_stats(host)->inputs_forced, 4 * 60);
        ck_assert_uint_eq(hc_server_stats(host)->inputs_received, 0);
        if (history > 0)
            ck_assert_uint_eq(check_inputs(scenario, 0, 0).taken, 0);
        if (history > 0)
            record_check_plain(scenario->record);
        scenario_check_hashes(scenario);
        scenario_destroy(scenario);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("inputs");
    TCase *tests = tcase_create("inputs");
    tcase_add_test(tests,
                   every_input_takes_effect_once_over_a_link_that_loses_duplicates_and_reorders);
    tcase_add_test(tests, the_digest_of_all_inputs_equals_that_of_the_stamped_inputs);
    tcase_add_test(tests, the_default_input_delay_covers_a_good_link);
    tcase_add_test(tests, a_loss_burst_inside_the_window_loses_no_input);
    tcase_add_test(tests, a_client_knows_its_forced_inputs_after_a_longer_burst);
    tcase_add_test(tests, a_fixed_redundancy_forces_no_input_that_may_still_arrive);
    tcase_add_test(tests,
                   a_server_without_history_refuses_late_inputs_and_its_client_predicts_them);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
