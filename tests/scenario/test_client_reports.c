/// The reports of a client to its game: players that join and leave, visible entities, rollbacks
/// and the recent state of the connection.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

enum { CLIENTS = 3, LATENCY_MS = 60 };

/// The game of client 0.
struct game {
    unsigned joined, left, rollbacks, wrong;
    hc_tick first; ///< of the rollback that goes on; HC_NO_TICK: none
    hc_player player;
    bool visible[UINT16_MAX];
    unsigned came, went;
};

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct game *game = context;
    (void)sim;
    if (client != 0)
        return;
    game->joined += event->kind == HC_CLIENT_EVENT_PLAYER_JOINED;
    game->left += event->kind == HC_CLIENT_EVENT_PLAYER_LEFT;
    if (event->kind == HC_CLIENT_EVENT_PLAYER_JOINED || event->kind == HC_CLIENT_EVENT_PLAYER_LEFT)
        game->player = event->player;
}

static void begins(void *context, const struct hc_client *client, hc_tick first) {
    struct game *game = context;
    game->wrong += game->first != HC_NO_TICK;
    game->wrong += first >= hc_timeline_head(hc_client_timeline(client));
    game->first = first;
}

static void ended(void *context, const struct hc_client *client, hc_tick first) {
    struct game *game = context;
    (void)client;
    game->wrong += game->first != first;
    game->rollbacks++;
    game->first = HC_NO_TICK;
}

static void client_changed(void *context, struct hc_sim *sim, unsigned index) {
    struct game *game = context;
    struct hc_client *client = hc_sim_client(sim, index);
    struct hc_client_visible change;
    struct hc_client_shown shown;
    if (index != 0 || hc_client_world(client) == NULL)
        return;
    uint64_t now_us = hc_sim_client_now(sim, 0);
    while (hc_client_poll_visible(client, now_us, &change)) {
        game->wrong += game->visible[change.entity] == change.visible;
        game->wrong += change.kind != hc_client_world(client)->kind_of[change.entity];
        game->visible[change.entity] = change.visible;
        game->came += change.visible;
        game->went += !change.visible;
    }
    for (hc_entity e = 0; e < hc_client_world(client)->entities; e++)
        game->wrong += hc_client_show(client, now_us, e, &shown) != game->visible[e];
}

static struct hc_sim *begin(struct game *game, uint32_t loss_ppm) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 91);
    hc_sim_fix_delays(&config.client, 3, 0);
    memset(game, 0, sizeof *game);
    game->first = HC_NO_TICK;
    config.up.loss_ppm = config.down.loss_ppm = loss_ppm;
    config.hooks.client_event = client_event;
    config.hooks.client_changed = client_changed;
    config.context = game;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    hc_sim_setup(sim, 0)->config.rollback_begins = begins;
    hc_sim_setup(sim, 0)->config.rollback_ended = ended;
    hc_sim_setup(sim, 0)->config.rollback_context = game;
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND_US);
    return sim;
}

START_TEST(each_join_and_leave_of_a_player_in_view_is_reported_once) {
    static struct game game;
    struct hc_sim *sim = begin(&game, 50000);
    ck_assert_uint_eq(game.joined + game.left, 0);
    ck_assert(hc_sim_connect(sim, 1));
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(game.joined, 1);
    ck_assert_uint_eq(game.player, hc_client_player(hc_sim_client(sim, 1), 0));
    ck_assert(hc_sim_connect(sim, 2));
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(game.joined, 2);
    ck_assert_uint_eq(game.player, hc_client_player(hc_sim_client(sim, 2), 0));
    ck_assert_uint_eq(game.left, 0);
    hc_sim_leave(sim, 1);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(game.joined, 2);
    ck_assert_uint_eq(game.left, 1);
    ck_assert_uint_eq(game.player, hc_client_player(hc_sim_client(sim, 1), 0));
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(rollbacks_and_visible_entities_are_reported_without_gaps) {
    static struct game game;
    struct hc_sim *sim = begin(&game, 50000);
    ck_assert(hc_sim_connect(sim, 1) && hc_sim_connect(sim, 2));
    hc_sim_run(sim, 8 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(game.wrong, 0);
    ck_assert_uint_gt(game.came, 4);
    ck_assert_uint_gt(game.went, 0); // shots
    ck_assert_uint_ge(game.rollbacks, hc_client_stats(hc_sim_client(sim, 0))->rollbacks);
    ck_assert_uint_gt(game.rollbacks, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(the_recent_state_follows_the_link) {
    static struct game game;
    struct hc_client_recent recent;
    struct hc_sim *sim = begin(&game, 0);
    hc_sim_run(sim, 3 * (uint64_t)SECOND_US);
    ck_assert(hc_client_recent(hc_sim_client(sim, 0), &recent));
    ck_assert_uint_eq(recent.loss_up_ppm + recent.loss_down_ppm, 0);
    ck_assert_uint_ge(recent.rtt_us, 2 * LATENCY_MS * MS_US);
    ck_assert_uint_le(recent.rtt_us, 2 * LATENCY_MS * MS_US + 20 * MS_US);
    // An input is sampled and sent when the server takes the step from its tick, and stamped 3
    // ticks later: it has 50 ms for the way.
    ck_assert(recent.margin_known);
    ck_assert_int_le(recent.margin_low_us, recent.margin_median_us);
    ck_assert_int_ge(recent.margin_low_us, 50 * MS_US - LATENCY_MS * MS_US - 250);
    ck_assert_int_le(recent.margin_median_us, 50 * MS_US - LATENCY_MS * MS_US);
    ck_assert_uint_le(recent.snapshot_age_us, 17 * MS_US);
    ck_assert_uint_le(recent.rtt_min_us, recent.rtt_us);
    ck_assert_uint_ge(recent.rtt_min_us, 2 * LATENCY_MS * MS_US);
    ck_assert(!recent.drift_known);
    ck_assert_uint_gt(recent.predicted_ticks, 2);
    struct hc_network_sim_config lossy = hc_sim_link(LATENCY_MS, 30);
    hc_sim_set_link(sim, 0, &lossy, NULL);
    hc_sim_run(sim, 5 * (uint64_t)SECOND_US);
    ck_assert(hc_client_recent(hc_sim_client(sim, 0), &recent));
    ck_assert_uint_gt(recent.loss_up_ppm, 100000);
    ck_assert_uint_lt(recent.loss_up_ppm, 500000);
    ck_assert_uint_eq(recent.loss_down_ppm, 0);
    hc_sim_set_link(sim, 0, NULL, &lossy);
    hc_sim_run(sim, 5 * (uint64_t)SECOND_US);
    ck_assert(hc_client_recent(hc_sim_client(sim, 0), &recent));
    ck_assert_uint_gt(recent.loss_down_ppm, 100000);
    ck_assert_uint_lt(recent.loss_down_ppm, 500000);
    lossy = hc_sim_link(LATENCY_MS, 100);
    hc_sim_set_link(sim, 0, NULL, &lossy);
    hc_sim_run(sim, 500 * MS_US);
    ck_assert(hc_client_recent(hc_sim_client(sim, 0), &recent));
    ck_assert_uint_ge(recent.snapshot_age_us, (500 - LATENCY_MS - 40) * MS_US);
    ck_assert_uint_le(recent.snapshot_age_us, 500 * MS_US);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client reports");
    TCase *tests = tcase_create("client reports");
    tcase_add_test(tests, each_join_and_leave_of_a_player_in_view_is_reported_once);
    tcase_add_test(tests, rollbacks_and_visible_entities_are_reported_without_gaps);
    tcase_add_test(tests, the_recent_state_follows_the_link);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
