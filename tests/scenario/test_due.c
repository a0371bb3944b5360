/// A load test counts the snapshots that a client was due: none is missing while the server sends
/// one each tick, and each that it does not send is.
#include "client/bots/due.h"
#include "hindcast/arena.h"
#include "tests/sim/players.h"

#include "tests/run_suite.h"

#include <stdio.h>

enum { TICK_RATE = 60, STEP_US = 1000 };

/// Plays for 10 s over links of `latency_ms` each way, and counts. The server stops for `stops_ms`.
static struct hc_cl_due_snapshots play(uint32_t latency_ms, uint32_t stops_ms) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, latency_ms, 7);
    struct hc_cl_due_snapshots sum = {.sessions = 0};
    struct hc_cl_due due = {.from_us = 0};
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect(sim, 0));
    for (unsigned i = 0; i < 10 * SECOND_US / STEP_US; i++) {
        if (i == 5 * SECOND_US / STEP_US)
            hc_sim_freeze_host(sim, hc_sim_now(sim) + (uint64_t)stops_ms * MS_US);
        hc_sim_run(sim, STEP_US);
        hc_cl_due_begin(&due, hc_client_stats(hc_sim_client(sim, 0)), 0, hc_sim_now(sim));
    }
    hc_cl_due_count(&due, hc_client_stats(hc_sim_client(sim, 0)), 0, TICK_RATE, hc_sim_now(sim),
                    &sum);
    printf("%u ms: %lu due, %lu received\n", latency_ms, (unsigned long)sum.due,
           (unsigned long)sum.received);
    hc_sim_destroy(sim);
    return sum;
}

/// The server sends HC_SILENT_MAX datagrams, for 0.27 s, before it has one of a client, which takes
/// two latencies.
START_TEST(a_far_client_lacks_no_snapshot_at_the_beginning_of_its_session) {
    for (uint32_t latency_ms = 0; latency_ms <= 400; latency_ms += 50) {
        struct hc_cl_due_snapshots sum = play(latency_ms, 0);
        ck_assert_uint_eq(sum.sessions, 1);
        ck_assert_uint_gt(sum.due, 7 * TICK_RATE);
        ck_assert_uint_ge(sum.received + 1, sum.due);
        ck_assert_uint_eq(sum.incomplete, 0);
    }
}
END_TEST

START_TEST(a_client_lacks_the_snapshots_that_the_server_does_not_send) {
    struct hc_cl_due_snapshots sum = play(100, 400);
    ck_assert_uint_ge(sum.due, sum.received + 20);
    ck_assert_uint_eq(sum.incomplete, 1);
}
END_TEST

START_TEST(snapshots_that_the_link_has_lost_are_not_missing) {
    static struct hc_client_stats stats;
    struct hc_cl_due_snapshots sum = {.sessions = 0};
    struct hc_cl_due due = {.from_us = 0};
    stats.snapshots = 8;
    hc_cl_due_begin(&due, &stats, 3, SECOND_US);
    hc_cl_due_count(&due, &stats, 3, TICK_RATE, 2 * SECOND_US, &sum);
    ck_assert_uint_eq(sum.sessions, 0); // no snapshot has acked the client
    stats.rtt_us.count = 1;
    hc_cl_due_begin(&due, &stats, 3, SECOND_US);
    stats.snapshots += 10 * TICK_RATE - 20 - 6;
    hc_cl_due_count(&due, &stats, 3 + 20, TICK_RATE, 11 * SECOND_US, &sum);
    ck_assert_uint_eq(sum.due, 10 * TICK_RATE);
    ck_assert_uint_eq(sum.lost, 20);
    ck_assert_uint_eq(sum.incomplete, 0); // 0.5 % and three
    hc_cl_due_count(&due, &stats, 3 + 19, TICK_RATE, 11 * SECOND_US, &sum);
    ck_assert_uint_eq(sum.incomplete, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("due");
    TCase *snapshots = tcase_create("snapshots");
    tcase_add_test(snapshots, a_far_client_lacks_no_snapshot_at_the_beginning_of_its_session);
    tcase_add_test(snapshots, a_client_lacks_the_snapshots_that_the_server_does_not_send);
    tcase_add_test(snapshots, snapshots_that_the_link_has_lost_are_not_missing);
    suite_add_tcase(suite, snapshots);
    return run_suite(suite);
}
