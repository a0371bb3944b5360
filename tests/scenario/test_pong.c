/// The example game Pong over several links: server and clients agree on every final tick.
#include "examples/pong/pong.h"
#include "tests/run_suite.h"
#include "tests/scenario/scenario.h"

static const struct {
    uint32_t latency_ms, jitter_ms, loss_percent, input_delay, display_offset;
} links[] = {
    {0, 0, 0, 3, 0},      {50, 10, 1, 3, 0},  {80, 20, 5, 0, 10},
    {150, 50, 20, 3, 10}, {150, 0, 0, 12, 0},
};

START_TEST(pong_agrees_at_every_final_tick) {
    struct hc_sim_config config =
        hc_sim_config_players(&pong, 2, links[_i].latency_ms, 900 + (uint64_t)_i);
    config.up = config.down = hc_sim_link(links[_i].latency_ms, links[_i].loss_percent);
    config.up.jitter_us = config.down.jitter_us = links[_i].jitter_ms * MS_US;
    hc_sim_fix_delays(&config.client, links[_i].input_delay, 0);
    config.client.display_offset = links[_i].display_offset;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 30 * SECOND_US);
    hc_sim_release_keys(scenario->sim);
    hc_sim_set_links(scenario->sim, hc_sim_link(links[_i].latency_ms, 0));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    const struct hc_server *host = hc_sim_host(scenario->sim);
    for (unsigned client = 0; client < 2; client++)
        ck_assert_uint_gt(scenario_check_final(scenario, client),
                          hc_timeline_head(hc_server_timeline(host)) - 40);
    record_check_plain(scenario->record);
    scenario_check_hashes(scenario);
    // The clients' keys have met the ball, and it has not met them all.
    const struct pong_paddle *paddle =
        (const void *)(hc_timeline_states(hc_server_timeline(host),
                                          hc_timeline_head(hc_server_timeline(host))) +
                       (size_t)hc_world_player(record_world(scenario->record), 0) *
                           record_world(scenario->record)->stride);
    ck_assert_uint_gt(paddle->score, 0);
    if (links[_i].latency_ms > 0 && links[_i].input_delay < 12)
        ck_assert_uint_gt(hc_timeline_stats(hc_server_timeline(host))->changed, 100);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pong");
    TCase *tests = tcase_create("pong");
    tcase_add_loop_test(tests, pong_agrees_at_every_final_tick, 0,
                        (int)(sizeof links / sizeof links[0]));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
