/// Narrow links: the bound on the bytes in flight keeps queues short, and free links are free.
#include "tests/scenario/require.h"
#include "tests/sim/congestion_match.h"

#include "hindcast/arena.h"
#include "proto/limits.h"
#include "tests/run_suite.h"

enum { LATENCY_MS = 20 };

static void end(struct hc_congestion *play) {
    struct hc_sim *sim = hc_congestion_sim(play);
    for (unsigned i = 0; i < hc_sim_clients(sim); i++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, i))->hash_mismatches, 0);
    hc_congestion_end(play);
}

START_TEST(narrow_links_and_dips_keep_queues_short) {
    const struct hc_congestion_case *of = &hc_congestion_cases[_i];
    struct hc_congestion_result result;
    ck_assert(hc_congestion_dips(of, 5 + (uint64_t)(of->shares ? 0 : _i), &result));
    ck_assert_uint_gt(result.round_trips, 1000);
    REQUIRE(result.queue_p95_ms <= HC_CONGESTION_QUEUE_MS,
            "the queues of round trips are %u ms, and %u at 95 %%", result.queue_p50_ms,
            result.queue_p95_ms);
    for (unsigned i = 0; i < HC_CONGESTION_DIPS; i++)
        REQUIRE(result.again_ms[i] <= HC_CONGESTION_AGAIN_MS,
                "after a dip of %u ms all play again after %u ms", hc_congestion_dips_ms[i],
                result.again_ms[i]);
    REQUIRE(result.over_ms <= HC_CONGESTION_OVER_MS, "twice the offer was exceeded for %u ms",
            result.over_ms);
    REQUIRE(!of->shares || result.snapshots_least * 5 >= result.snapshots_most * 4,
            "one client received %u snapshots, another %u", (unsigned)result.snapshots_least,
            (unsigned)result.snapshots_most);
    ck_assert_uint_eq(result.lost, 0);
    ck_assert_uint_eq(result.mismatches, 0);
    ck_assert_uint_gt(result.held_back, 0);
}
END_TEST

/// Jitter and random losses are no congestion: no datagram waits, from the first on.
START_TEST(a_free_link_has_no_bound) {
    struct hc_sim_config config =
        hc_sim_config_players(&hc_arena, 8, LATENCY_MS, 50 + (uint64_t)_i);
    config.up = config.down = hc_congestion_free[_i];
    struct hc_congestion *play = hc_congestion_begin(&config, 0, 0);
    ck_assert_ptr_nonnull(play);
    struct hc_sim *sim = hc_congestion_sim(play);
    ck_assert(hc_sim_join_all(sim));
    hc_sim_run(sim, 20 * SECOND_US);
    ck_assert_uint_eq(hc_congestion_held(play), 0);
    for (unsigned i = 0; i < 8; i++) {
        struct hc_client_recent recent;
        ck_assert(hc_client_recent(hc_sim_client(sim, i), &recent));
        ck_assert_uint_eq(recent.in_flight_bound_bytes, 0);
        ck_assert_uint_gt(recent.in_flight_bytes, 0);
    }
    end(play);
}
END_TEST

/// Without acks snapshots have old baselines and would be larger.
START_TEST(a_client_whose_acks_are_old_is_sent_no_more_bytes) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 8, LATENCY_MS, 7);
    struct hc_congestion *play = hc_congestion_begin(&config, 0, 0);
    ck_assert_ptr_nonnull(play);
    struct hc_sim *sim = hc_congestion_sim(play);
    struct hc_network_sim_config dead = hc_sim_link(LATENCY_MS, 100),
                                 good = hc_sim_link(LATENCY_MS, 0);
    ck_assert(hc_sim_join_all(sim));
    hc_sim_run(sim, 5 * SECOND_US);
    const uint64_t fewer = 60 - 10; // datagrams, whose headers of IP and UDP are not counted here
    uint64_t before = hc_congestion_sent_down(play, 0) + fewer * HC_FLIGHT_OVERHEAD;
    hc_sim_set_link(sim, 0, &dead, &good);
    hc_sim_run(sim, SECOND_US); // in which the server learns that
    for (int second = 1; second < 4; second++) {
        hc_sim_run(sim, SECOND_US);
        REQUIRE(hc_congestion_sent_down(play, 0) <= before, "%u bytes a second after %u",
                (unsigned)hc_congestion_sent_down(play, 0), (unsigned)before);
    }
    ck_assert_uint_ge(hc_congestion_sent_down(play, 0),
                      10 * 30); // it is still sent a DATA each 100 ms
    hc_sim_set_link(sim, 0, &good, &good);
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, 0)), HC_CLIENT_PLAYING);
    end(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("congestion");
    TCase *tests = add_long_plays(suite), *brief = tcase_create("congestion");
    suite_add_tcase(suite, brief);
    tcase_set_timeout(brief, 600);
    tcase_add_test(brief, a_client_whose_acks_are_old_is_sent_no_more_bytes);
    tcase_add_loop_test(tests, narrow_links_and_dips_keep_queues_short, 0, HC_CONGESTION_NARROW);
    tcase_add_loop_test(tests, a_free_link_has_no_bound, 0, HC_CONGESTION_FREE);
    return run_suite(suite);
}
