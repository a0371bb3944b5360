/// A client and its server count the datagrams to each other that were lost.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

/// Percents of the datagrams that each end counts as lost.
struct losses {
    double client, server;
};

static double percent(uint64_t lost, uint64_t sent) {
    return 100 * (double)lost / (double)sent;
}

/// The losses over links of this latency and loss, both ways.
static struct losses measure(uint32_t latency_ms, uint32_t jitter_ms, uint32_t loss_percent) {
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
    const struct hc_server_stats *server = hc_server_stats(hc_sim_host(scenario->sim));
    struct losses losses = {percent(stats->datagrams_lost, stats->datagrams_out - sent),
                            percent(server->datagrams_lost, server->datagrams_out)};
    scenario_destroy(scenario);
    return losses;
}

START_TEST(both_ends_count_the_datagrams_that_were_lost) {
    struct losses none = measure(50, 0, 0), some = measure(50, 0, 20);
    struct losses late = measure(150, 50, 20);
    ck_assert_double_eq(none.client, 0);
    ck_assert_double_eq(none.server, 0);
    ck_assert_double_eq_tol(some.client, 20, 4);
    ck_assert_double_eq_tol(some.server, 20, 4);
    ck_assert_double_eq_tol(late.client, 20, 4);
    ck_assert_double_eq_tol(late.server, 20, 4);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client stats");
    TCase *tests = tcase_create("client stats");
    tcase_add_test(tests, both_ends_count_the_datagrams_that_were_lost);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
