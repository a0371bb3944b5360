/// A client that hears nothing waits at its prediction limit, and goes on by itself.
#include "tests/scenario/alone.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 4, VICTIM = 1, LATENCY_MS = 60 };

/// No client is ever further ahead of what it has received than its limit.
static void check_limit(struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    hc_tick shown, as_of;
    if (!hc_client_snapshot(core, &shown, &as_of))
        return;
    hc_tick head = hc_timeline_head(hc_client_timeline(core));
    REQUIRE(head <= shown + hc_sim_config(play->sim)->client.prediction_limit,
            "client %u predicts %u, but has seen %u", client, head, shown);
}

static uint64_t snapshots_of(const struct play *play, unsigned client) {
    return hc_client_stats(hc_sim_client(play->sim, client))->snapshots;
}

START_TEST(a_blackout_stalls_a_client_and_nobody_else) {
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, 141);
    struct play *play = play_create(&config);
    play->client_changed = check_limit;
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    uint64_t before[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++)
        before[i] = snapshots_of(play, i);
    struct hc_network_sim_config dead = play_link(LATENCY_MS, 100), good = play_link(LATENCY_MS, 0);
    hc_sim_set_link(play->sim, VICTIM, &dead, &dead);
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_int_eq(play_state(play, VICTIM), HC_CLIENT_STALLED);
    ck_assert_uint_eq(hc_sim_events(play->sim, VICTIM)->count[HC_CLIENT_EVENT_STALLED], 1);
    ck_assert_uint_eq(hc_sim_events(play->sim, VICTIM)->last.kind, HC_CLIENT_EVENT_STALLED);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (i != VICTIM)
            ck_assert_uint_ge(snapshots_of(play, i) - before[i], 119);
    hc_sim_set_link(play->sim, VICTIM, &good, &good);
    hc_sim_run(play->sim, PLAY_S);
    ck_assert_int_eq(play_state(play, VICTIM), HC_CLIENT_PLAYING);
    // Right after the blackout it may have to wait again, for its inputs to be acknowledged.
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(play->sim, VICTIM));
    const struct hc_sim_events *events = hc_sim_events(play->sim, VICTIM);
    ck_assert_uint_le(stats->stalls, 3);
    ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_STALLED], stats->stalls);
    ck_assert_uint_eq(events->count[HC_CLIENT_EVENT_RESUMED], stats->stalls);
    ck_assert_uint_ge(stats->stalled_ticks, 120 - config.client.prediction_limit);
    play->hands_off = true;
    hc_sim_run(play->sim, 3 * PLAY_S);
    hc_tick server = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(play->sim)));
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct hc_client *core = hc_sim_client(play->sim, i);
        ck_assert(i == VICTIM || hc_client_stats(core)->stalls == 0);
        hc_tick head = hc_timeline_head(hc_client_timeline(core));
        ck_assert(head + 1 >= server && head <= server + 1);
        play_check_final(play, i);
    }
    play_check_hashes(play);
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}
END_TEST

static void compare(struct play *play, unsigned client) {
    check_limit(play, client);
    alone_compare(play->context, play);
}

START_TEST(after_a_stall_own_predictions_are_right_again) {
    struct hc_sim_config config = play_config(&hc_arena, 1, LATENCY_MS, 142);
    config.client.input_delay = 0;
    struct play *play = play_create(&config);
    struct alone *alone = alone_create(play, 0);
    play->context = alone;
    play->client_changed = compare;
    play_join_all(play);
    hc_sim_run(play->sim, 2 * PLAY_S);
    play_set_links(play, play_link(LATENCY_MS, 100));
    hc_sim_run(play->sim, 2 * PLAY_S);
    play_set_links(play, play_link(LATENCY_MS, 0));
    hc_sim_run(play->sim, 2 * PLAY_S);
    alone_restart(alone, play);
    hc_sim_run(play->sim, 5 * PLAY_S);
    struct alone_count count = alone_count(alone);
    ck_assert_uint_gt(count.predicted, 290);
    ck_assert_msg(count.predicted_wrong == 0 && count.looks_wrong == 0, "wrong first at %u",
                  count.first_wrong);
    alone_destroy(alone);
    play_destroy(play);
}
END_TEST

START_TEST(a_client_with_a_fixed_redundancy_recovers_from_a_stall) {
    struct hc_sim_config config = play_config(&hc_arena, 2, LATENCY_MS, 143);
    config.client.prediction_limit = 40;
    config.client.input_redundancy = 4;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    struct hc_network_sim_config dead = play_link(LATENCY_MS, 100), good = play_link(LATENCY_MS, 0);
    hc_sim_set_link(play->sim, VICTIM, &dead, &dead);
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_int_eq(play_state(play, VICTIM), HC_CLIENT_STALLED);
    hc_sim_set_link(play->sim, VICTIM, &good, &good);
    // What was lost for good leaves the window within a second or so.
    hc_sim_run(play->sim, 3 * PLAY_S);
    for (unsigned n = 0; n < 100; n++) {
        ck_assert_int_eq(play_state(play, VICTIM), HC_CLIENT_PLAYING);
        hc_sim_run(play->sim, 20 * PLAY_MS);
    }
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    play_check_final(play, VICTIM);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("stall");
    TCase *tests = tcase_create("stall");
    tcase_add_test(tests, a_blackout_stalls_a_client_and_nobody_else);
    tcase_add_test(tests, after_a_stall_own_predictions_are_right_again);
    tcase_add_test(tests, a_client_with_a_fixed_redundancy_recovers_from_a_stall);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
