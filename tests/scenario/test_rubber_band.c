/// A player's own movement never jumps, however far the server is: the snapshot's tick is chosen
/// so that all of its inputs are in it.
#include "tests/scenario/alone.h"
#include "tests/sim/lanes.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { LATENCY_MS = 150 };

/// One play's comparisons, of every client.
struct trial {
    struct play *play;
    struct alone *alone[PLAY_CLIENTS_MAX];
};

static void compare(struct play *play, unsigned client) {
    struct trial *trial = play->context;
    if (trial->alone[client] != NULL)
        alone_compare(trial->alone[client], play);
}

static struct trial begin(const struct hc_game *game, unsigned clients,
                          struct hc_network_sim_config link, bool show_head, uint64_t seed) {
    struct hc_sim_config config = play_config(game, clients, LATENCY_MS, seed);
    config.client.input_delay = 0;
    config.host.show_head = show_head;
    config.up = config.down = link;
    struct trial trial = {.play = play_create(&config)};
    for (unsigned i = 0; i < clients; i++)
        trial.alone[i] = alone_create(trial.play, i);
    trial.play->client_changed = compare;
    return trial;
}

static void end(struct trial *trial) {
    for (unsigned i = 0; i < PLAY_CLIENTS_MAX; i++)
        if (trial->alone[i] != NULL)
            alone_destroy(trial->alone[i]);
    play_destroy(trial->play);
}

/// Fails the test unless each client has predicted about `ticks` ticks, none of them wrong.
static void check_never_wrong(const struct trial *trial, uint64_t ticks, const char *label) {
    for (unsigned i = 0; i < hc_sim_clients(trial->play->sim); i++) {
        struct alone_count count = alone_count(trial->alone[i]);
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
    trial.play->context = &trial;
    play_join_all(trial.play);
    hc_sim_run(trial.play->sim, 20 * PLAY_S);
    check_never_wrong(&trial, 20 * 60, label);
    play_check_hashes(trial.play);
    end(&trial);
}

START_TEST(own_predictions_equal_the_same_game_played_alone) {
    run_trial(&hc_arena, 1, play_link(LATENCY_MS, 0), 11, "arena");
    run_trial(&lanes, 1, play_link(LATENCY_MS, 0), 12, "lanes");
}
END_TEST

START_TEST(own_predictions_equal_the_same_game_played_alone_under_loss) {
    run_trial(&hc_arena, 1, play_link(LATENCY_MS, 20), 13, "arena, 20 % loss");
    run_trial(&lanes, 1, play_link(LATENCY_MS, 20), 14, "lanes, 20 % loss");
}
END_TEST

START_TEST(own_predictions_equal_the_same_game_played_alone_under_jitter) {
    struct hc_network_sim_config link = play_link(LATENCY_MS, 0);
    link.jitter_us = 50 * PLAY_MS;
    run_trial(&hc_arena, 1, link, 15, "arena, 50 ms of jitter");
}
END_TEST

START_TEST(eight_players_apart_are_each_predicted_as_if_alone) {
    run_trial(&lanes, 8, play_link(LATENCY_MS, 0), 16, "lanes of eight");
    run_trial(&lanes, 8, play_link(LATENCY_MS, 20), 17, "lanes of eight, 20 % loss");
}
END_TEST

START_TEST(own_predictions_are_right_again_after_a_blackout_of_a_second) {
    struct trial trial = begin(&hc_arena, 1, play_link(LATENCY_MS, 0), false, 18);
    trial.play->context = &trial;
    play_join_all(trial.play);
    hc_sim_run(trial.play->sim, 5 * PLAY_S);
    check_never_wrong(&trial, 5 * 60, "before the blackout");
    play_set_links(trial.play, play_link(LATENCY_MS, 100));
    hc_sim_run(trial.play->sim, PLAY_S);
    play_set_links(trial.play, play_link(LATENCY_MS, 0));
    hc_sim_run(trial.play->sim, 2 * PLAY_S);
    ck_assert_int_eq(play_state(trial.play, 0), HC_CLIENT_PLAYING);
    alone_restart(trial.alone[0], trial.play);
    hc_sim_run(trial.play->sim, 10 * PLAY_S);
    check_never_wrong(&trial, 10 * 60, "after it");
    play_check_hashes(trial.play);
    end(&trial);
}
END_TEST

START_TEST(the_same_measure_finds_a_server_that_shows_its_head_wrong) {
    struct trial naive = begin(&hc_arena, 1, play_link(LATENCY_MS, 0), true, 11);
    naive.play->context = &naive;
    play_join_all(naive.play);
    hc_sim_run(naive.play->sim, 20 * PLAY_S);
    struct alone_count count = alone_count(naive.alone[0]);
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
    tcase_add_test(own, eight_players_apart_are_each_predicted_as_if_alone);
    tcase_add_test(own, own_predictions_are_right_again_after_a_blackout_of_a_second);
    tcase_add_test(own, the_same_measure_finds_a_server_that_shows_its_head_wrong);
    suite_add_tcase(suite, own);
    return run_suite(suite);
}
