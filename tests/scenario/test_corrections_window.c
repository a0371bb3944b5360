/// Corrections of past ticks reach all that a client shows, and end when no late input changes
/// these any more.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <string.h>
#include <xxhash.h>

enum { CLIENTS = 3, LATENCY_MS = 100, DISPLAY_OFFSET = 20 };

static bool quiet;

static void press(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                  void *input) {
    (void)context, (void)sim, (void)index;
    uint64_t random = hc_random(7, client, tick / 6, 1);
    struct hc_arena_input keys = {.move_x = (int8_t)((int)(random % 3) - 1),
                                  .move_y = (int8_t)((int)(random / 8 % 3) - 1),
                                  .aim = (uint8_t)(random >> 16)};
    if (!quiet)
        memcpy(input, &keys, sizeof keys);
}

static uint64_t corrections(struct hc_sim *sim) {
    return hc_server_stats(hc_sim_host(sim))->corrections;
}

START_TEST(corrections_end_when_inputs_do) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 3);
    config.hooks.script = press;
    hc_sim_fix_delays(&config.client, 0, 0);
    config.client.display_offset = DISPLAY_OFFSET;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    quiet = false;
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 4 * SECOND_US);
    uint64_t busy = corrections(sim);
    ck_assert_uint_gt(busy, 0);
    quiet = true;
    hc_sim_run(sim, 2 * SECOND_US);
    uint64_t rest = corrections(sim);
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_uint_eq(corrections(sim), rest);
    hc_sim_destroy(sim);
}
END_TEST

/// A client close to the server, and one far away, whose inputs are ENOUGH ticks late.
enum { NEAR = 0, FAR = 1, FAR_MS = 150, TICKS = 1024, ENOUGH = 9 };

/// The states that the near client has shown, by tick.
struct shown {
    hc_tick first, end, checked;
    uint64_t digests[TICKS];
    uint32_t wrong;
};

static uint64_t digest(const struct hc_world *world, const struct hc_timeline *timeline,
                       hc_tick tick) {
    return XXH3_64bits(hc_timeline_states(timeline, tick), (size_t)world->entities * world->stride);
}

/// Takes in the tick that is shown, and compares those shown before once they are final.
static void look(void *context, struct hc_sim *sim, unsigned client) {
    struct shown *shown = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *server = hc_server_timeline(hc_sim_host(sim));
    hc_tick tick, final = hc_sv_host_final(hc_sim_host(sim), NULL);
    uint32_t fraction;
    if (client != NEAR || hc_sim_now(sim) < 3 * SECOND_US ||
        !hc_client_show_tick(core, hc_sim_client_now(sim, client), &tick, &fraction))
        return;
    ck_assert_uint_lt(tick, TICKS);
    if (shown->end == 0)
        shown->first = shown->checked = tick;
    shown->end = tick + 1;
    shown->digests[tick] = digest(hc_client_world(core), hc_client_timeline(core), tick);
    for (; shown->checked < hc_tick_min(tick, final); shown->checked++)
        shown->wrong +=
            digest(hc_client_world(core), server, shown->checked) != shown->digests[shown->checked];
}

START_TEST(a_client_that_shows_late_ticks_shows_them_as_they_end_up) {
    struct shown shown = {.wrong = 0};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 0, 5);
    struct hc_network_sim_config far = hc_sim_link(FAR_MS, 0);
    config.hooks.script = press;
    config.hooks.client_changed = look;
    config.context = &shown;
    hc_sim_fix_delays(&config.client, 0, 0);
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    quiet = false;
    hc_sim_set_link(sim, FAR, &far, &far);
    hc_sim_setup(sim, NEAR)->config.display_offset = ENOUGH;
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 10 * SECOND_US);
    ck_assert_uint_gt(shown.checked - shown.first, 100);
    ck_assert_uint_eq(shown.wrong, 0);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("corrections window");
    TCase *tests = tcase_create("corrections window");
    tcase_add_test(tests, corrections_end_when_inputs_do);
    tcase_add_test(tests, a_client_that_shows_late_ticks_shows_them_as_they_end_up);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
