/// Server and clients agree: on what each snapshot shows, and in the end on every final tick.
#include "tests/scenario/play.h"
#include "tests/scenario/told.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Each snapshot ------------------------------------------------------------------------------

static void sent(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    told_sent(play->context, play, client, bytes, size);
}

static void changed(struct play *play, unsigned client) {
    told_changed(play->context, play, client);
}

START_TEST(a_client_holds_what_the_server_held_when_it_sent_each_snapshot) {
    enum { CLIENTS = 6 };
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, 100, 51);
    config.up = config.down = play_link(100, 10);
    config.up.jitter_us = config.down.jitter_us = 40 * PLAY_MS;
    config.down.duplicate_ppm = 100000;
    config.client.display_offset = 10;
    struct play *play = play_create(&config);
    struct told *told = told_create(play);
    play->context = told;
    play->host_sent = sent;
    play->client_changed = changed;
    play_join_all(play);
    hc_sim_run(play->sim, 10 * PLAY_S);
    struct value_count all = {.snapshots = 0};
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct value_count count = value_count(told, i);
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
    play_check_hashes(play);
    told_destroy(told);
    play_destroy(play);
}
END_TEST

// ---- The final tick -----------------------------------------------------------------------------

START_TEST(once_inputs_stop_and_links_heal_all_agree_at_every_final_tick) {
    enum { CLIENTS = 6, LATENCY_MS = 80 };
    for (uint64_t seed = 61; seed < 64; seed++) {
        struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, seed);
        config.up = config.down = play_link(LATENCY_MS, 20);
        config.up.jitter_us = config.down.jitter_us = 30 * PLAY_MS;
        config.client.display_offset = 15;
        struct play *play = play_create(&config);
        play_join_all(play);
        hc_sim_run(play->sim, 8 * PLAY_S);
        play->hands_off = true;
        play_set_links(play, play_link(LATENCY_MS, 0));
        // W ticks of 1/60 s and a round trip.
        hc_sim_run(play->sim, (uint64_t)config.host.history * PLAY_S / 60 + 2 * LATENCY_MS * 1000);
        hc_tick last[CLIENTS] = {0};
        for (unsigned n = 0; n < 60; n++) {
            hc_sim_run(play->sim, 20 * PLAY_MS);
            for (unsigned i = 0; i < CLIENTS; i++) {
                hc_tick final = play_check_final(play, i);
                ck_assert_uint_ge(final, last[i]);
                last[i] = final;
            }
        }
        hc_tick head = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(play->sim)));
        for (unsigned i = 0; i < CLIENTS; i++)
            ck_assert_uint_gt(last[i], head - 30);
        ledger_check_plain(play->sent_log);
        play_check_hashes(play);
        play_destroy(play);
    }
}
END_TEST

static hc_tick final_lag(const struct play *play) {
    const struct hc_sv_host *host = hc_sim_host(play->sim);
    return hc_timeline_head(hc_sv_host_timeline(host)) - hc_sv_host_final(host, NULL);
}

START_TEST(a_silent_client_holds_the_final_tick_back_by_the_window_and_then_no_more) {
    struct hc_sim_config config = play_config(&hc_arena, 4, 50, 71);
    config.host.timeout_us = 3 * PLAY_S;
    config.host.late_margin = HC_HISTORY_MAX; // the window is W
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_uint_le(final_lag(play), 6); // 3 ticks of latency, D 3, and the ways between ticks
    hc_sim_kill(play->sim, 2);
    hc_sim_run(play->sim, 2 * PLAY_S);
    for (unsigned n = 0; n < 30; n++) { // the ledger sees at each tick that it is not more than W
        ck_assert_uint_eq(final_lag(play), config.host.history);
        hc_sim_run(play->sim, 20 * PLAY_MS);
    }
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->lost, 1);
    ck_assert_uint_le(final_lag(play), 6); // though its player is kept
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}
END_TEST

START_TEST(a_spectator_holds_nothing_back_and_agrees_too) {
    struct hc_sim_config config = play_config(&hc_arena, 3, 60, 72);
    struct play *play = play_create(&config);
    hc_sim_setup(play->sim, 2)->config.players = 0;
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    struct hc_network_sim_config dead = play_link(60, 100);
    hc_sim_set_link(play->sim, 2, &dead, NULL);
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_uint_le(final_lag(play), 8);
    ck_assert_int_eq(play_state(play, 2), HC_CLIENT_PLAYING); // it still hears the server
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    for (unsigned i = 0; i < 3; i++)
        play_check_final(play, i);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("agreement");
    TCase *tests = tcase_create("agreement");
    tcase_add_test(tests, a_client_holds_what_the_server_held_when_it_sent_each_snapshot);
    tcase_add_test(tests, once_inputs_stop_and_links_heal_all_agree_at_every_final_tick);
    tcase_add_test(tests, a_silent_client_holds_the_final_tick_back_by_the_window_and_then_no_more);
    tcase_add_test(tests, a_spectator_holds_nothing_back_and_agrees_too);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
