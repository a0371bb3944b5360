/// A player's own movement never jumps at any latency, because a snapshot's tick has all of the
/// player's inputs.
#include "tests/scenario/prediction_check.h"
#include "tests/sim/games.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { LATENCY_MS = 150 };

/// One scenario and the check of every client.
struct trial {
    struct scenario *scenario;
    struct prediction_check *checks[SCENARIO_CLIENTS_MAX];
};

static struct trial begin(const struct hc_game *game, unsigned clients,
                          struct hc_network_sim_config link, bool show_head, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(game, clients, LATENCY_MS, seed);
    hc_sim_fix_delays(&config.client, 0, 0);
    config.host_test.show_head = show_head;
    config.up = config.down = link;
    struct trial trial = {.scenario = scenario_create(&config)};
    for (unsigned i = 0; i < clients; i++)
        trial.checks[i] = prediction_check_create(trial.scenario, i);
    return trial;
}

static void end(struct trial *trial) {
    for (unsigned i = 0; i < SCENARIO_CLIENTS_MAX; i++)
        if (trial->checks[i] != NULL)
            prediction_check_destroy(trial->checks[i]);
    scenario_destroy(trial->scenario);
}

/// Fails the test unless each client has predicted about `ticks` ticks, none of them wrong.
static void check_never_wrong(const struct trial *trial, uint64_t ticks, const char *label) {
    for (unsigned i = 0; i < hc_sim_clients(trial->scenario->sim); i++) {
        struct prediction_count count = prediction_check_count(trial->checks[i]);
        printf("%s, client %u: %lu of %lu predicted ticks wrong, %lu of %lu later looks\n", label,
               i, (unsigned long)count.predicted_wrong, (unsigned long)count.predicted,
               (unsigned long)count.looks_wrong, (unsigned long)count.looks);
        ck_assert_uint_ge(count.predicted, ticks - 60);
        ck_assert_uint_gt(count.looks, ticks);
        ck_assert_msg(count.predicted_wrong == 0 && count.looks_wrong == 0,
                      "client %u was wrong first at tick %u", i, count.first_wrong);
    }
}

static void run_trial(const struct hc_game *game, unsigned clients,
                      struct hc_network_sim_config link, uint64_t seed, const char *label) {
    struct trial trial = begin(game, clients, link, false, seed);
    ck_assert(hc_sim_join_all(trial.scenario->sim));
    hc_sim_run(trial.scenario->sim, 20 * SECOND_US);
    check_never_wrong(&trial, 20 * 60, label);
    scenario_check_hashes(trial.scenario);
    end(&trial);
}

START_TEST(own_predictions_equal_the_same_game_played_alone) {
    run_trial(&hc_arena, 1, hc_sim_link(LATENCY_MS, 0), 11, "arena");
    run_trial(&lanes, 1, hc_sim_link(LATENCY_MS, 0), 12, "lanes");
}
END_TEST

START_TEST(own_predictions_equal_the_same_game_played_alone_under_loss) {
    run_trial(&hc_arena, 1, hc_sim_link(LATENCY_MS, 20), 13, "arena, 20 % loss");
    run_trial(&lanes, 1, hc_sim_link(LATENCY_MS, 20), 14, "lanes, 20 % loss");
}
END_TEST

START_TEST(own_predictions_equal_the_same_game_played_alone_under_jitter) {
    struct hc_network_sim_config link = hc_sim_link(LATENCY_MS, 0);
    link.jitter_us = 50 * MS_US;
    run_trial(&hc_arena, 1, link, 15, "arena, 50 ms of jitter");
}
END_TEST

START_TEST(eight_players_far_apart_are_each_predicted_as_if_alone) {
    run_trial(&lanes, 8, hc_sim_link(LATENCY_MS, 0), 16, "lanes of eight");
    run_trial(&lanes, 8, hc_sim_link(LATENCY_MS, 20), 17, "lanes of eight, 20 % loss");
}
END_TEST

START_TEST(own_predictions_are_right_again_after_a_blackout_of_a_second) {
    struct trial trial = begin(&hc_arena, 1, hc_sim_link(LATENCY_MS, 0), false, 18);
    ck_assert(hc_sim_join_all(trial.scenario->sim));
    hc_sim_run(trial.scenario->sim, 5 * SECOND_US);
    check_never_wrong(&trial, 5 * 60, "before the blackout");
    hc_sim_set_links(trial.scenario->sim, hc_sim_link(LATENCY_MS, 100));
    hc_sim_run(trial.scenario->sim, SECOND_US);
    hc_sim_set_links(trial.scenario->sim, hc_sim_link(LATENCY_MS, 0));
    hc_sim_run(trial.scenario->sim, 2 * SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(trial.scenario->sim, 0), HC_CLIENT_PLAYING);
    prediction_check_restart(trial.checks[0]);
    hc_sim_run(trial.scenario->sim, 10 * SECOND_US);
    check_never_wrong(&trial, 10 * 60, "after it");
    scenario_check_hashes(trial.scenario);
    end(&trial);
}
END_TEST

START_TEST(the_same_measure_finds_wrong_predictions_with_snapshots_of_the_head) {
    struct trial naive = begin(&hc_arena, 1, hc_sim_link(LATENCY_MS, 0), true, 11);
    ck_assert(hc_sim_join_all(naive.scenario->sim));
    hc_sim_run(naive.scenario->sim, 20 * SECOND_US);
    struct prediction_count count = prediction_check_count(naive.checks[0]);
    printf("a server that shows its head: %lu of %lu predicted ticks wrong (%lu %%), %lu of %lu "
           "later looks (%lu %%)\n",
           (unsigned long)count.predicted_wrong, (unsigned long)count.predicted,
           (unsigned long)(100 * count.predicted_wrong / count.predicted),
           (unsigned long)count.looks_wrong, (unsigned long)count.looks,
           (unsigned long)(100 * count.looks_wrong / count.looks));
    ck_assert_uint_gt(count.predicted, 1000);
    ck_assert_uint_gt(count.predicted_wrong * 20, count.predicted);
    end(&naive);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rubber band");
    TCase *own = tcase_create("own predictions");
    tcase_add_test(own, own_predictions_equal_the_same_game_played_alone);
    tcase_add_test(own, own_predictions_equal_the_same_game_played_alone_under_loss);
    tcase_add_test(own, own_predictions_equal_the_same_game_played_alone_under_jitter);
    tcase_add_test(own, eight_players_far_apart_are_each_predicted_as_if_alone);
    tcase_add_test(own, own_predictions_are_right_again_after_a_blackout_of_a_second);
    tcase_add_test(own, the_same_measure_finds_wrong_predictions_with_snapshots_of_the_head);
    suite_add_tcase(suite, own);
    return run_suite(suite);
}
