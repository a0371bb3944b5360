/// Taps of a button around a reconnect: each that begins while the client plays counts once.
#include "common/timeline.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"
#include "tests/sim/players.h"

#include <stdio.h>

enum {
    TAP_US = 5000,
    PHASES = 24, ///< moments of the tap, from the first state after the reconnect on
    PHASE_US = 1700,
    KNOWN_TICKS = 60, ///< in which all inputs have come
};

static const struct hc_kind kinds[] = {BYTE_REFEREE,
                                       {"player", 1, 1, byte_fields, NULL, NULL, 0, 0}};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};
static const struct hc_field button = {
    .name = "button", .size = 1, .bits = 1, .sampling = (uint8_t)HC_LATCH};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    *(uint8_t *)out = 0;
    return self == HC_REFEREE || hc_scene_roster(scene) == HC_ROSTER_JOIN ||
           hc_scene_state(scene, self) != NULL;
}

struct taps {
    unsigned presses; ///< runs of ticks in which the server knows the button as pressed
    uint8_t was;
    hc_tick counted;
    uint64_t playing_us; ///< of the newest first state
};

static void count(void *context, struct hc_sim *sim) {
    struct taps *taps = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    const struct hc_client *client = hc_sim_client(sim, 0);
    for (; taps->counted + KNOWN_TICKS < hc_timeline_head(timeline); taps->counted++) {
        const uint8_t *input =
            hc_timeline_input(timeline, hc_client_player(client, 0), taps->counted);
        uint8_t is = input != NULL ? *input : 0;
        taps->presses += is && !taps->was;
        taps->was = is;
    }
}

static void note(void *context, struct hc_sim *sim, unsigned client,
                 const struct hc_client_event *event) {
    struct taps *taps = context;
    (void)client;
    if (event->kind == HC_CLIENT_EVENT_PLAYING)
        taps->playing_us = hc_sim_now(sim);
}

static void press(struct hc_sim *sim, uint8_t is) {
    hc_client_set_input(hc_sim_client(sim, 0), 0, &is);
}

/// Plays through a blackout, and taps for TAP_US from `phase_us` after the first state on, or
/// (down) presses the button in the blackout and releases it then. Returns the presses.
static unsigned tap_after_reconnect(uint64_t phase_us, uint64_t latency_ms, bool down) {
    struct hc_game game = BYTE_GAME("taps", 1, kinds, owned, step);
    struct taps taps = {.presses = 0};
    game.input_fields = &button;
    struct hc_sim_config config = hc_sim_config_players(&game, 1, (uint32_t)latency_ms, 7);
    config.hooks = (struct hc_sim_hooks){.host_ticked = count, .client_event = note};
    config.context = &taps;
    config.host.timeout_us = config.client.timeout_us = 2 * SECOND_US;
    struct hc_sim *sim = hc_sim_create(&config);
    struct hc_network_sim_config dark = config.up;
    dark.loss_ppm = HC_NETWORK_SIM_PPM;
    ck_assert(sim != NULL && hc_sim_join_all(sim));
    hc_sim_run(sim, SECOND_US);
    hc_sim_set_link(sim, 0, &dark, &dark);
    hc_sim_run(sim, 4 * SECOND_US);
    taps.playing_us = 0;
    if (down)
        press(sim, 1);
    hc_sim_set_link(sim, 0, &config.up, &config.down);
    while (taps.playing_us == 0)
        hc_sim_run(sim, 1000);
    hc_sim_run_until(sim, taps.playing_us + phase_us);
    if (!down) {
        press(sim, 1);
        hc_sim_run(sim, TAP_US);
    }
    press(sim, 0);
    hc_sim_run(sim, 3 * SECOND_US);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, 0)), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
    return taps.presses;
}

/// Taps at many moments on short and long links; each must count once.
static void check_taps(bool down) {
    static const uint64_t latencies_ms[] = {5, 30, 150};
    unsigned wrong = 0;
    for (unsigned l = 0; l < 3; l++)
        for (unsigned i = 0; i < PHASES; i++) {
            unsigned presses = tap_after_reconnect(PHASE_US * i, latencies_ms[l], down);
            wrong += presses != 1;
            if (presses != 1)
                printf("%u presses of a tap %u us after the first state, at %lu ms\n", presses,
                       PHASE_US * i, (unsigned long)latencies_ms[l]);
        }
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(a_tap_right_after_a_reconnect_counts_once) {
    check_taps(false);
}
END_TEST

START_TEST(a_button_that_is_down_at_a_reconnect_counts_once_however_soon_it_is_released) {
    check_taps(true);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("taps after a reconnect");
    TCase *tests = tcase_create("taps");
    tcase_add_test(tests, a_tap_right_after_a_reconnect_counts_once);
    tcase_add_test(tests,
                   a_button_that_is_down_at_a_reconnect_counts_once_however_soon_it_is_released);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
