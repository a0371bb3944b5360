/// One seed, one history; and a server that does not care how often it is told.
#include "tests/scenario/play.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdlib.h>

/// The trace of a play in which everything happens.
static uint64_t trace_of(uint64_t seed) {
    struct hc_sim_config config = play_config(&hc_arena, 6, 60, seed);
    hc_network_sim_preset("awful", &config.up);
    hc_network_sim_preset("bad", &config.down);
    config.up.duplicate_ppm = config.down.reorder_ppm = 50000;
    config.client.display_offset = 8;
    struct play *play = play_create(&config);
    play_without_stamps(play);
    hc_sim_setup(play->sim, 3)->clock_ppm = 200;
    for (unsigned i = 0; i < 6; i++) {
        ck_assert(hc_sim_connect(play->sim, i));
        hc_sim_run(play->sim, 100 * PLAY_MS);
    }
    hc_sim_run(play->sim, 3 * PLAY_S);
    hc_sim_leave(play->sim, 1);
    hc_sim_kill(play->sim, 2);
    hc_sim_run(play->sim, PLAY_S);
    ck_assert(hc_sim_connect(play->sim, 2));
    hc_sim_run(play->sim, 3 * PLAY_S);
    uint64_t trace = hc_sim_trace(play->sim);
    play_destroy(play);
    return trace;
}

START_TEST(one_seed_gives_one_history) {
    uint64_t first = trace_of(131), again = trace_of(131), other = trace_of(132);
    ck_assert_uint_eq(first, again);
    ck_assert_uint_ne(first, other);
}
END_TEST

START_TEST(the_size_of_the_steps_in_which_a_simulation_is_run_changes_nothing) {
    uint64_t traces[2];
    for (unsigned n = 0; n < 2; n++) {
        struct hc_sim_config config = play_config(&hc_arena, 3, 60, 133);
        struct play *play = play_create(&config);
        for (unsigned i = 0; i < 3; i++)
            ck_assert(hc_sim_connect(play->sim, i));
        for (unsigned step = 0; step < (n == 0 ? 1 : 1000); step++)
            hc_sim_run(play->sim, n == 0 ? 3 * PLAY_S : 3 * PLAY_MS);
        traces[n] = hc_sim_trace(play->sim);
        play_destroy(play);
    }
    ck_assert_uint_eq(traces[0], traces[1]);
}
END_TEST

START_TEST(server_keeps_playing_when_every_datagram_is_duplicated) {
    struct hc_sim_config config = play_config(&hc_arena, 4, 60, 134);
    config.up.duplicate_ppm = config.down.duplicate_ppm = HC_NETWORK_SIM_PPM;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 5 * PLAY_S);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
    ck_assert_uint_gt(stats->rejected[HC_DUPLICATE], 4 * 250);
    ck_assert_uint_eq(stats->joins, 4);
    ck_assert_uint_eq(stats->inputs_forced, 0);
    ck_assert_uint_gt(stats->inputs_received, 4 * 250);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_PLAYING);
        const struct hc_client *core = hc_sim_client(play->sim, i);
        ck_assert_uint_gt(hc_client_stats(core)->rejected[HC_DUPLICATE], 250);
        hc_player player = hc_client_player(core, 0);
        for (hc_tick tick = ledger_final(play->sent_log) - 200; tick < ledger_final(play->sent_log);
             tick++)
            ck_assert_int_eq(ledger_slot(play->sent_log, player, tick), HC_SLOT_KNOWN);
    }
    ledger_check_plain(play->sent_log);
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("determinism");
    TCase *tests = tcase_create("determinism");
    tcase_add_test(tests, one_seed_gives_one_history);
    tcase_add_test(tests, the_size_of_the_steps_in_which_a_simulation_is_run_changes_nothing);
    tcase_add_test(tests, server_keeps_playing_when_every_datagram_is_duplicated);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
