/// A client counts its lost datagrams.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

/// The part of its datagrams that a client counts as lost over links of this latency and loss, both
/// ways, in percent.
static double measure(uint32_t latency_ms, uint32_t jitter_ms, uint32_t loss_percent) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, latency_ms, 9);
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    struct hc_network_sim_config link = hc_sim_link(latency_ms, loss_percent);
    link.jitter_us = jitter_ms * MS_US;
    hc_sim_set_links(scenario->sim, link);
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(scenario->sim, 0));
    uint64_t lost = stats->datagrams_lost, sent = stats->datagrams_out;
    ck_assert_uint_eq(lost, 0);
    hc_sim_run(scenario->sim, 30 * SECOND_US);
    stats = hc_client_stats(hc_sim_client(scenario->sim, 0));
    double percent = 100 * (double)stats->datagrams_lost / (double)(stats->datagrams_out - sent);
    scenario_destroy(scenario);
    return percent;
}

START_TEST(client_counts_the_datagrams_that_were_lost) {
    ck_assert_double_eq(measure(50, 0, 0), 0);
    ck_assert_double_eq_tol(measure(50, 0, 20), 20, 4);
    ck_assert_double_eq_tol(measure(150, 50, 20), 20, 4);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client stats");
    TCase *tests = tcase_create("client stats");
    tcase_add_test(tests, client_counts_the_datagrams_that_were_lost);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
