/// The server's ticks follow its schedule, and snapshots their rate.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum {
    RATE = 60,
    CLIENTS = 3,
    BURST = 16, ///< ticks_per_advance
    BEGIN_US = 5000000,
};

static struct hc_sv_host *begin_host(void) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct hc_sv_host_test test = hc_sv_host_test_default();
    test.ticks_per_advance = BURST;
    config.tick_rate = RATE;
    struct hc_sv_host *host = hc_sv_host_create(&config, &test, HC_TEST_UNIX_US, BEGIN_US);
    ck_assert_ptr_nonnull(host);
    return host;
}

static hc_tick head_of(struct hc_sv_host *host) {
    return hc_timeline_head(hc_sv_host_timeline(host));
}

START_TEST(a_server_that_is_a_burst_late_catches_up) {
    struct hc_sv_host *host = begin_host();
    hc_sv_host_advance(host, BEGIN_US + hc_tick_due_us(BURST, RATE));
    ck_assert_uint_eq(head_of(host), BURST);
    ck_assert_uint_eq(hc_sv_host_stats(host)->ticks_missed, 0);
    ck_assert_uint_eq(hc_sv_host_deadline(host), BEGIN_US + hc_tick_due_us(BURST + 1, RATE));
    hc_sv_host_destroy(host);
}
END_TEST

START_TEST(a_server_that_is_later_leaves_out_ticks_and_keeps_its_schedule) {
    struct hc_sv_host *host = begin_host();
    uint64_t missed_us = SECOND_US; // a whole number of ticks
    uint64_t next_us = BEGIN_US + missed_us + hc_tick_due_us(BURST + 1, RATE);
    hc_sv_host_advance(host, next_us - SECOND_US / RATE / 2);
    ck_assert_uint_eq(head_of(host), BURST);
    ck_assert_uint_eq(hc_sv_host_stats(host)->ticks_missed, RATE);
    ck_assert_uint_eq(hc_sv_host_deadline(host), next_us);
    hc_sv_host_advance(host, next_us);
    ck_assert_uint_eq(head_of(host), BURST + 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->ticks_missed, RATE);
    hc_sv_host_destroy(host);
}
END_TEST

START_TEST(the_longest_wait_of_a_unit_is_the_snapshot_interval_while_all_fit) {
    struct hc_sim_config config = scenario_config_bare(CLIENTS, 20, 7);
    config.host.snapshot_rate = (uint16_t)(config.host.tick_rate / 3);
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert(hc_sim_connect(sim, i));
    hc_sim_run(sim, 3 * SECOND_US);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(sim))->longest_unsent_ticks, 3);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("schedule");
    tcase_add_test(tests, a_server_that_is_a_burst_late_catches_up);
    tcase_add_test(tests, a_server_that_is_later_leaves_out_ticks_and_keeps_its_schedule);
    tcase_add_test(tests, the_longest_wait_of_a_unit_is_the_snapshot_interval_while_all_fit);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
