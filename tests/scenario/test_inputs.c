/// Every input takes effect once, at its tick, or its client learns that it did not.
#include "tests/sim/lanes.h"
#include "tests/scenario/play.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What became of one player's stamps up to the final tick.
struct fate {
    uint32_t taken, forced, taken_back;
    uint32_t forced_later; ///< of the forced ones: more than a window after the join
};

/// Goes through the player's slots from its first stamp on: each known one must be what the client
/// stamped, and each other one forced. Fails the test otherwise.
static struct fate follow(const struct play *play, unsigned client, unsigned index) {
    const struct stamps *stamps = play->stamps[client][index];
    const uint16_t size = ledger_world(play->sent_log)->game->input_size;
    hc_player player = hc_client_player(hc_sim_client(play->sim, client), index);
    struct fate fate = {0};
    hc_tick first = hc_tick_max(play->joined[player] + 1, stamps_first(stamps));
    for (hc_tick tick = first; tick < ledger_final(play->sent_log); tick++) {
        enum hc_slot slot = ledger_slot(play->sent_log, player, tick);
        const uint8_t *stamped = stamps_input(stamps, tick);
        fate.taken_back += stamps_retracted(stamps, tick);
        if (slot == HC_SLOT_FORCED) {
            fate.forced++;
            fate.forced_later +=
                tick > play->joined[player] + hc_sim_config(play->sim)->host.history;
            continue;
        }
        ck_assert_msg(slot == HC_SLOT_KNOWN, "slot %u of player %u is open", tick, player);
        ck_assert_msg(stamped != NULL, "an input at %u that nobody stamped", tick);
        ck_assert_mem_eq(ledger_inputs(play->sent_log, tick) + (size_t)player * size, stamped,
                         size);
        fate.taken++;
    }
    return fate;
}

/// The forced slots of the server from `first` on are those that the client has taken back.
static void check_forced_ones_are_known(const struct play *play, unsigned client, hc_tick first) {
    const struct stamps *stamps = play->stamps[client][0];
    hc_player player = hc_client_player(hc_sim_client(play->sim, client), 0);
    for (hc_tick tick = first; tick < ledger_final(play->sent_log); tick++) {
        bool forced = ledger_slot(play->sent_log, player, tick) == HC_SLOT_FORCED;
        ck_assert_msg(stamps_retracted(stamps, tick) == forced,
                      "slot %u of client %u: forced %d, taken back %d", tick, client, forced,
                      !forced);
    }
}

START_TEST(every_input_takes_effect_once_over_a_link_that_loses_doubles_and_reorders) {
    struct hc_sim_config config = play_config(&lanes, 4, 200, 21);
    struct hc_network_sim_config bad = play_link(200, 25);
    bad.duplicate_ppm = 250000;
    bad.reorder_ppm = 250000;
    bad.jitter_us = 30 * PLAY_MS;
    config.up = config.down = bad;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 20 * PLAY_S);
    uint64_t forced = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct fate fate = follow(play, i, 0);
        printf("client %u: %u inputs took effect, %u forced\n", i, fate.taken, fate.forced);
        ck_assert_uint_gt(fate.taken, 17 * 60);
        check_forced_ones_are_known(play, i, stamps_first(play->stamps[i][0]));
        forced += fate.forced_later;
    }
    // A handshake with losses can outlast the window, and then the first slots are forced. Later,
    // each input has some 40 datagrams to come in: that all are lost is out of reach.
    ck_assert_uint_eq(forced, 0);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->inputs_lost, 0);
    ledger_check_plain(play->sent_log);
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

START_TEST(the_digest_of_all_inputs_is_that_of_the_stamps) {
    struct hc_sim_config config = play_config(&lanes, 2, 100, 22);
    config.up = config.down = play_link(100, 25);
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 10 * PLAY_S);
    for (unsigned i = 0; i < 2; i++) {
        hc_player player = hc_client_player(hc_sim_client(play->sim, i), 0);
        hc_tick final = ledger_final(play->sent_log);
        uint16_t digest = 0, inputs = 0;
        for (hc_tick tick = play->joined[player] + 1; tick < final; tick++) {
            const struct lanes_input *input =
                (const struct lanes_input *)stamps_input(play->stamps[i][0], tick);
            struct lanes_input none = {0};
            input = input != NULL ? input : &none;
            digest = (uint16_t)(digest * 31u + (uint8_t)input->push * 7u + input->touch + 1u);
            inputs++;
        }
        const struct hc_world *world = ledger_world(play->sent_log);
        struct lanes_runner runner;
        memcpy(&runner,
               ledger_states(play->sent_log, final) +
                   (size_t)hc_world_player(world, player) * world->stride,
               sizeof runner);
        ck_assert_uint_eq(runner.inputs, inputs);
        ck_assert_uint_eq(runner.digest, digest);
    }
    play_destroy(play);
}
END_TEST

/// A play of two over 60 ms, in which client 0 sends for `burst_ms` into the void.
static struct play *play_with_burst(uint32_t burst_ms, uint64_t seed, hc_tick *before) {
    struct hc_sim_config config = play_config(&lanes, 2, 60, seed);
    config.host.late_margin = HC_HISTORY_MAX; // the window is W
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    *before = ledger_final(play->sent_log);
    struct hc_network_sim_config void_link = play_link(60, 100), good = play_link(60, 0);
    hc_sim_set_link(play->sim, 0, &void_link, NULL);
    hc_sim_run(play->sim, (uint64_t)burst_ms * PLAY_MS);
    hc_sim_set_link(play->sim, 0, &good, NULL);
    hc_sim_run(play->sim, 5 * PLAY_S);
    return play;
}

START_TEST(the_default_input_delay_covers_a_good_link) {
    enum { CLIENTS = 8, JOIN_TICKS = 3 };
    struct hc_sim_config config = play_config_bare(CLIENTS, 20, 26);
    config.up.jitter_us = config.down.jitter_us = 2 * PLAY_MS;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert(hc_sim_connect(sim, i));
    hc_sim_run(sim, 10 * PLAY_S);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(sim));
    ck_assert_uint_gt(stats->inputs_received, CLIENTS * 9 * 60);
    // Inputs are late only while their client does not know yet that it has joined.
    ck_assert_uint_le(stats->inputs_late, CLIENTS * JOIN_TICKS);
    ck_assert_uint_eq(stats->inputs_forced, 0);
    ck_assert_uint_eq(hc_timeline_stats(hc_sv_host_timeline(hc_sim_host(sim)))->rewinds, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_loss_burst_inside_the_window_loses_no_input) {
    hc_tick before;
    struct play *play = play_with_burst(800, 23, &before);
    hc_player player = hc_client_player(hc_sim_client(play->sim, 0), 0);
    ck_assert_uint_eq(ledger_forced(play->sent_log, player, before, ledger_final(play->sent_log)),
                      0);
    struct fate fate = follow(play, 0, 0);
    ck_assert_uint_gt(fate.taken, 8 * 60);
    ck_assert_uint_eq(fate.taken_back, 0);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(play->sim, 0))->inputs_forced, 0);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
    ck_assert_uint_eq(stats->inputs_forced, 0); // nor has the join forced any
    ck_assert_uint_eq(stats->inputs_lost, 0);
    play_destroy(play);
}
END_TEST

START_TEST(after_a_longer_burst_the_client_knows_which_inputs_were_forced) {
    hc_tick before;
    struct play *play = play_with_burst(2500, 24, &before);
    hc_player player = hc_client_player(hc_sim_client(play->sim, 0), 0);
    hc_tick final = ledger_final(play->sent_log);
    uint32_t forced = ledger_forced(play->sent_log, player, before, final);
    struct fate fate = follow(play, 0, 0);
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(play->sim, 0));
    printf("forced by the server %u, counted by the client %lu\n", forced,
           (unsigned long)stats->inputs_forced);
    ck_assert_uint_ge(forced, 60);
    ck_assert_uint_le(forced, 150);
    ck_assert_uint_eq(stats->inputs_forced, fate.forced);
    ck_assert_uint_eq(fate.taken_back, fate.forced);
    check_forced_ones_are_known(play, 0, stamps_first(play->stamps[0][0]));
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->inputs_lost, 0);
    // The other client has noticed nothing.
    ck_assert_uint_eq(follow(play, 1, 0).forced, 0);
    ledger_check_plain(play->sent_log);
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

START_TEST(a_fixed_redundancy_forces_nothing_that_may_still_come) {
    struct hc_sim_config config = play_config(&lanes, 2, 100, 25);
    config.up = config.down = play_link(100, 5);
    config.up.jitter_us = 40 * PLAY_MS;
    config.client.input_redundancy = 8;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 10 * PLAY_S);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->inputs_lost, 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_uint_gt(follow(play, i, 0).taken, 9 * 60);
    play_destroy(play);
}
END_TEST

START_TEST(with_no_history_late_inputs_are_refused_and_the_client_predicts_them) {
    for (uint32_t history = 0; history <= 1; history++) {
        struct hc_sim_config config = play_config(&lanes, 1, 100, 26);
        config.host.history = history;
        struct play *play = play_create(&config);
        play_join_all(play);
        hc_sim_run(play->sim, 5 * PLAY_S);
        struct hc_sv_host *host = hc_sim_host(play->sim);
        ck_assert_int_eq(play_state(play, 0), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_timeline_stats(hc_sv_host_timeline(host))->rewinds, 0);
        // All of them: D 3 is less than 6 ticks of latency.
        ck_assert_uint_gt(hc_sv_host_stats(host)->inputs_forced, 4 * 60);
        ck_assert_uint_eq(hc_sv_host_stats(host)->inputs_received, 0);
        if (history > 0)
            ck_assert_uint_eq(follow(play, 0, 0).taken, 0);
        if (history > 0)
            ledger_check_plain(play->sent_log);
        play_check_hashes(play);
        play_destroy(play);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("inputs");
    TCase *tests = tcase_create("inputs");
    tcase_add_test(tests,
                   every_input_takes_effect_once_over_a_link_that_loses_doubles_and_reorders);
    tcase_add_test(tests, the_digest_of_all_inputs_is_that_of_the_stamps);
    tcase_add_test(tests, the_default_input_delay_covers_a_good_link);
    tcase_add_test(tests, a_loss_burst_inside_the_window_loses_no_input);
    tcase_add_test(tests, after_a_longer_burst_the_client_knows_which_inputs_were_forced);
    tcase_add_test(tests, a_fixed_redundancy_forces_nothing_that_may_still_come);
    tcase_add_test(tests, with_no_history_late_inputs_are_refused_and_the_client_predicts_them);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
