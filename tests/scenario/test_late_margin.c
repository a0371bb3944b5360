/// The default late margin forces no input of honest clients, on any link preset, when they move
/// and when they reconnect.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>

enum { CLIENTS = 8, MOVES_S = 5, SECONDS = 30, AWFUL = 3 };

static const char *const presets[] = {"good", "ok", "bad", [AWFUL] = "awful"};

/// Counts forced inputs while all clients play over a preset; one moves every five seconds, and one
/// connects again.
static uint64_t forced_on(const char *preset, uint32_t late_margin, uint64_t seed,
                          uint64_t *refused) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 0, seed);
    struct hc_network_sim_config link;
    ck_assert(hc_network_sim_preset(preset, &link));
    config.up = config.down = link;
    config.host.late_margin = late_margin;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    hc_sim_setup(sim, 1)->user = 5;
    ck_assert(hc_sim_connect_all(sim));
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
    for (unsigned n = 0; n < SECONDS / MOVES_S; n++) {
        hc_sim_run(sim, MOVES_S * SECOND_US);
        hc_sim_rebind(sim, 0);
        if (n == 2)
            ck_assert(hc_sim_connect(sim, 1)); // without a CLOSE of its former connection
    }
    uint64_t forced = stats->inputs_forced;
    ck_assert_uint_gt(stats->inputs_received, (uint64_t)CLIENTS * (SECONDS - 4) * 60);
    *refused = stats->inputs_refused;
    hc_sim_destroy(sim);
    return forced;
}

START_TEST(default_late_margin_forces_no_input_of_honest_clients) {
    struct hc_server_config defaults = hc_server_config_default();
    const char *preset = presets[_i];
    uint64_t seed = 31 + (uint64_t)_i, refused, without;
    ck_assert_uint_lt(defaults.late_margin, defaults.history);
    uint64_t bound = forced_on(preset, defaults.late_margin, seed, &refused);
    uint64_t unbound = forced_on(preset, HC_HISTORY_MAX, seed, &without);
    printf("%s: %lu inputs forced and %lu refused, without a bound %lu and %lu\n", preset,
           (unsigned long)bound, (unsigned long)refused, (unsigned long)unbound,
           (unsigned long)without);
    ck_assert_uint_le(bound, unbound);
    ck_assert_uint_le(refused, without);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("lateness");
    TCase *tests = tcase_create("awful link");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, default_late_margin_forces_no_input_of_honest_clients, AWFUL,
                        AWFUL + 1);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_loop_test(long_plays, default_late_margin_forces_no_input_of_honest_clients, 0,
                        AWFUL);
    return run_suite(suite);
}
