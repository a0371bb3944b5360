/// The server reports the end of a round once, at the final tick at which it is over.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { CLIENTS = 3, LATENCY_MS = 120, PERIOD = 100, OVER = 10 };

/// The ends of rounds, by the events and by the states of the final ticks.
struct ends {
    unsigned reported, counted;
    hc_tick newest; ///< end that was reported
    hc_tick final;  ///< the newest final tick whose state was looked at
    bool over;      ///< the round is over at `final`
};

/// Rounds of PERIOD ticks: the last OVER of them are over.
static bool round_over(const struct hc_world *world, const void *state) {
    const struct hc_arena_referee *referee = state;
    (void)world;
    return referee->phase == HC_ARENA_PLAYING && referee->clock % PERIOD < OVER;
}

static bool is_over(const struct hc_server *host, hc_tick tick) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    return round_over(NULL, hc_timeline_states(timeline, tick));
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_server_event *event) {
    struct ends *ends = context;
    const struct hc_server *host = hc_sim_host(sim);
    if (event->kind != HC_SERVER_EVENT_ROUND_ENDED)
        return;
    ends->reported++;
    ck_assert_uint_gt(event->tick, ends->newest);
    ck_assert_uint_le(event->tick, hc_sv_host_final(host, NULL));
    ck_assert(is_over(host, event->tick) && !is_over(host, event->tick - 1));
    ends->newest = event->tick;
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct ends *ends = context;
    const struct hc_server *host = hc_sim_host(sim);
    while (ends->final < hc_sv_host_final(host, NULL)) {
        bool over = is_over(host, ++ends->final);
        ends->counted += over && !ends->over;
        ends->over = over;
    }
    ck_assert_uint_eq(ends->reported, ends->counted);
}

START_TEST(each_end_of_a_round_is_reported_once_when_its_tick_is_final) {
    struct hc_game game = hc_arena;
    struct ends ends = {0};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 71);
    game.round_over = round_over;
    config.host.game = config.client.game = &game;
    config.up.loss_ppm = config.down.loss_ppm = 50000;
    config.hooks.host_event = host_event;
    config.hooks.host_ticked = host_ticked;
    config.context = &ends;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 15 * (uint64_t)SECOND_US);
    ck_assert_uint_ge(ends.reported, 7);
    ck_assert_uint_gt(hc_server_stats(hc_sim_host(sim))->rewind_depth.count, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_game_without_ends_has_none) {
    struct ends ends = {0};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 72);
    struct hc_game game = hc_arena;
    game.round_over = NULL;
    config.host.game = config.client.game = &game;
    config.hooks.host_event = host_event;
    config.context = &ends;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 3 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(ends.reported, 0);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("round end");
    TCase *tests = tcase_create("round end");
    tcase_add_test(tests, each_end_of_a_round_is_reported_once_when_its_tick_is_final);
    tcase_add_test(tests, a_game_without_ends_has_none);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
