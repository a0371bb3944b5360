/// Players come and go, politely or not, in the middle of rewinds, and the history stays one.
#include "tests/scenario/play.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 8, SLOTS = 6 };

/// Does something to a random client.
static void disturb(struct play *play, struct hc_rng *rng) {
    unsigned client = hc_rng_below(rng, CLIENTS);
    enum hc_client_state state = play_state(play, client);
    if (state == HC_CLIENT_CLOSED || state == HC_CLIENT_LEAVING) {
        hc_sim_setup(play->sim, client)->keeps_port = hc_rng_chance(rng, 300000);
        ck_assert(hc_sim_connect(play->sim, client));
    } else if (state != HC_CLIENT_CONNECTING && hc_rng_chance(rng, 700000)) {
        hc_sim_leave(play->sim, client);
    } else if (hc_rng_chance(rng, 300000)) {
        hc_sim_kill(play->sim, client);
    } else if (hc_rng_chance(rng, 300000)) {
        ck_assert(hc_sim_connect(play->sim, client)); // begins anew without a goodbye
    }
}

/// Counts joins by player slot in the ledger.
static uint32_t most_joins_of_a_slot(const struct play *play, uint32_t *leaves) {
    uint32_t joins[SLOTS] = {0}, most = 0;
    *leaves = 0;
    for (hc_tick tick = 0; tick < ledger_final(play->sent_log); tick++) {
        const uint8_t *roster_changes = ledger_controls(play->sent_log, tick);
        for (hc_player p = 0; p < SLOTS; p++) {
            joins[p] += roster_changes[p] == HC_ROSTER_JOIN;
            *leaves += roster_changes[p] == HC_ROSTER_LEAVE;
            most = joins[p] > most ? joins[p] : most;
        }
    }
    return most;
}

static void play_with_comings_and_goings(uint64_t seed) {
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, 60, seed);
    struct hc_rng rng = hc_rng_init(seed, 1);
    config.up = config.down = play_link(60, 10);
    config.up.jitter_us = config.down.jitter_us = 40 * PLAY_MS;
    config.host.clients = SLOTS;
    config.host.timeout_us = 2 * PLAY_S;
    config.client.timeout_us = 2 * PLAY_S;
    config.client.input_delay = hc_rng_below(&rng, 4);
    config.client.display_offset = hc_rng_below(&rng, 20);
    struct play *play = play_create(&config);
    play_without_stamps(play);
    while (hc_sim_now(play->sim) < 20 * PLAY_S) {
        disturb(play, &rng);
        hc_sim_run(play->sim, hc_rng_below(&rng, 250 * PLAY_MS));
    }
    play->hands_off = true;
    play_set_links(play, play_link(60, 0));
    hc_sim_run(play->sim, 4 * PLAY_S);
    unsigned agreeing = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (play_state(play, i) != HC_CLIENT_PLAYING)
            continue;
        play_check_final(play, i);
        agreeing++;
    }
    uint32_t leaves, most = most_joins_of_a_slot(play, &leaves);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(play->sim));
    printf("seed %lu: %lu joins, %lu leaves, %lu timeouts, a slot was used %u times, %u agree\n",
           (unsigned long)seed, (unsigned long)stats->joins, (unsigned long)stats->leaves,
           (unsigned long)stats->timeouts, most, agreeing);
    ck_assert_uint_ge(most, 2);
    ck_assert_uint_gt(leaves, 5);
    ck_assert_uint_eq(agreeing, hc_sv_host_clients(hc_sim_host(play->sim)));
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}

START_TEST(joins_and_leaves_amid_rewinds_leave_one_history) {
    for (uint64_t seed = 81; seed < 89; seed++)
        play_with_comings_and_goings(seed);
}
END_TEST

START_TEST(a_late_joiner_sees_the_world_as_it_is) {
    struct hc_sim_config config = play_config(&hc_arena, 4, 80, 91);
    struct play *play = play_create(&config);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(hc_sim_connect(play->sim, i));
    hc_sim_run(play->sim, 10 * PLAY_S);
    ck_assert(hc_sim_connect(play->sim, 3));
    hc_sim_run(play->sim, 3 * PLAY_S);
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_int_eq(play_state(play, 3), HC_CLIENT_PLAYING);
    for (unsigned i = 0; i < 4; i++)
        play_check_final(play, i);
    play_check_hashes(play);
    play_destroy(play);
}
END_TEST

START_TEST(a_leave_frees_the_slot_for_the_next) {
    struct hc_sim_config config = play_config(&hc_arena, 2, 30, 92);
    config.host.clients = 1;
    struct play *play = play_create(&config);
    ck_assert(hc_sim_connect(play->sim, 0));
    hc_sim_run(play->sim, PLAY_S);
    hc_player player = hc_client_player(hc_sim_client(play->sim, 0), 0);
    hc_sim_leave(play->sim, 0);
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(play_state(play, 0), HC_CLIENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(play->sim, 0)->last.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(play->sim, 0)->last.close, HC_CLOSE_LEFT);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(play->sim)), 0);
    ck_assert(hc_sim_connect(play->sim, 1));
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(play_state(play, 1), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(hc_client_player(hc_sim_client(play->sim, 1), 0), player);
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("membership");
    TCase *tests = tcase_create("membership");
    tcase_add_test(tests, joins_and_leaves_amid_rewinds_leave_one_history);
    tcase_add_test(tests, a_late_joiner_sees_the_world_as_it_is);
    tcase_add_test(tests, a_leave_frees_the_slot_for_the_next);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
