/// A server whose configuration changes while clients play: nobody notices more than the change.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

enum { CLIENTS = 8, SECONDS = 30, EVERY_TICKS = 15 };

/// Changes that are drawn at random.
struct changes {
    struct hc_rng rng;
    struct hc_server_config config;
    unsigned count;
};

/// Draws all members that may change, within ranges in which every client can still play.
static void change(void *context, struct hc_sim *sim) {
    struct changes *changes = context;
    struct hc_server *host = hc_sim_host(sim);
    struct hc_server_config *config = &changes->config;
    struct hc_rng *rng = &changes->rng;
    if (hc_timeline_head(hc_server_timeline(host)) % EVERY_TICKS != 0)
        return;
    config->late_margin = hc_rng_below(rng, 512);
    config->lag_compensation_ms = hc_rng_below(rng, 1000);
    config->timeout_us = 3 * SECOND_US + hc_rng_below(rng, 10 * SECOND_US);
    config->linger_us = hc_rng_below(rng, 10 * SECOND_US);
    config->connects_per_address = (uint16_t)hc_rng_below(rng, 4);
    config->clients_per_address = (uint16_t)hc_rng_below(rng, 4);
    config->players_per_client = (uint16_t)(1 + hc_rng_below(rng, 4));
    config->session_life_s = 1 + hc_rng_below(rng, 100);
    config->client_rate = 10000 + hc_rng_below(rng, 200000);
    config->snapshot_rate = (uint16_t)hc_rng_below(rng, 61);
    config->force_rewind = hc_rng_below(rng, 3) == 0 ? hc_rng_below(rng, 65) : 0;
    ck_assert_int_eq(hc_server_reconfigure(host, config, hc_sim_host_now(sim)), HC_OK);
    changes->count++;
}

START_TEST(clients_play_on_and_agree_while_all_settings_change) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 40, seed);
        config.client.prediction_limit = 120;
        struct changes changes = {.rng = hc_rng_init(seed, 0),
                                  .config = hc_server_config_default()};
        struct scenario *scenario = scenario_create(&config);
        struct hc_sim *sim = scenario->sim;
        for (unsigned i = 0; i < CLIENTS; i++) {
            struct hc_network_sim_config link = hc_sim_link(10 + 15 * i, i % 4 * 3);
            hc_sim_set_link(sim, i, &link, &link);
        }
        ck_assert(hc_sim_join_all(sim));
        hc_sim_observe(sim, &(struct hc_sim_hooks){.host_ticked = change}, &changes);
        hc_sim_run(sim, (uint64_t)SECONDS * SECOND_US);
        ck_assert_uint_ge(changes.count, SECONDS * 60 / EVERY_TICKS - 2);
        hc_sim_release_keys(sim);
        hc_sim_set_links(sim, hc_sim_link(20, 0));
        hc_sim_run(sim, 4 * SECOND_US);
        for (unsigned i = 0; i < CLIENTS; i++) {
            ck_assert_int_eq(hc_sim_client_state(sim, i), HC_CLIENT_PLAYING);
            ck_assert_uint_eq(hc_sim_events(sim, i)->count[HC_CLIENT_EVENT_LOST], 0);
            scenario_check_final(scenario, i);
        }
        scenario_check_hashes(scenario);
        record_check_plain(scenario->record);
        scenario_destroy(scenario);
    }
}
END_TEST

static uint64_t snapshots_of(struct hc_sim *sim) {
    return hc_client_stats(hc_sim_client(sim, 0))->snapshots;
}

/// The snapshots that the client receives in a second after the rate has changed.
static uint64_t snapshots_at(struct hc_sim *sim, struct hc_server_config *config, uint16_t rate) {
    config->snapshot_rate = rate;
    ck_assert_int_eq(hc_server_reconfigure(hc_sim_host(sim), config, hc_sim_host_now(sim)), HC_OK);
    hc_sim_run(sim, SECOND_US);
    uint64_t before = snapshots_of(sim);
    hc_sim_run(sim, SECOND_US);
    return snapshots_of(sim) - before;
}

START_TEST(snapshots_come_at_the_rate_that_is_set) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 20, 5);
    struct hc_server_config changed = hc_server_config_default();
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_join_all(sim));
    uint64_t at_30 = snapshots_at(sim, &changed, 30), at_10 = snapshots_at(sim, &changed, 10);
    uint64_t at_60 = snapshots_at(sim, &changed, 0);
    ck_assert(at_30 >= 29 && at_30 <= 31 && at_10 >= 9 && at_10 <= 11 && at_60 >= 59);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_cap_of_the_rate_holds_for_clients_that_play) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 20, 6);
    struct hc_server_config changed = hc_server_config_default();
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_join_all(sim));
    changed.client_rate = HC_SERVER_CLIENT_RATE_MIN;
    ck_assert_int_eq(hc_server_reconfigure(hc_sim_host(sim), &changed, hc_sim_host_now(sim)),
                     HC_OK);
    hc_sim_run(sim, SECOND_US);
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(sim, 0));
    uint64_t bytes = stats->bytes_in, datagrams = stats->datagrams_in;
    hc_sim_run(sim, 10 * SECOND_US);
    bytes = stats->bytes_in - bytes + 28 * (stats->datagrams_in - datagrams); // with IP and UDP
    ck_assert_uint_le(bytes, 10 * HC_SERVER_CLIENT_RATE_MIN * 11 / 10);
    hc_sim_destroy(sim);
}
END_TEST

static void set(struct hc_sim *sim, const struct hc_server_config *config) {
    struct hc_server *host = hc_sim_host(sim);
    ck_assert_int_eq(hc_server_reconfigure(host, config, hc_sim_host_now(sim)), HC_OK);
}

START_TEST(time_until_a_connection_is_lost_and_its_player_leaves_follows_the_setting) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 20, 8);
    struct hc_server_config changed = hc_server_config_default();
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_join_all(sim));
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
    changed.timeout_us = 2 * SECOND_US; // before: 10 s
    changed.linger_us = 3 * SECOND_US;  // before: 30 s
    set(sim, &changed);
    hc_sim_kill(sim, 0);
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_eq(stats->lost, 0);
    hc_sim_run(sim, 3 * SECOND_US / 2);
    ck_assert_uint_eq(stats->lost, 1);
    ck_assert_uint_eq(stats->timeouts, 0);
    hc_sim_run(sim, 3 * SECOND_US);
    ck_assert_uint_eq(stats->timeouts, 1);
    ck_assert_int_eq(hc_sim_client_state(sim, 1), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

/// Whether a client that connects now is denied.
static bool is_denied(struct hc_sim *sim, unsigned client) {
    uint64_t before = hc_server_stats(hc_sim_host(sim))->denied;
    ck_assert(hc_sim_connect(sim, client));
    hc_sim_run(sim, SECOND_US);
    return hc_server_stats(hc_sim_host(sim))->denied > before;
}

START_TEST(clients_that_connect_meet_the_limits_that_are_set) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 8, 20, 9);
    struct hc_server_config changed = hc_server_config_default();
    config.client.players = 2;
    config.behind_router = true;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(!is_denied(sim, 0));
    changed.players_per_client = 1;
    set(sim, &changed);
    ck_assert(is_denied(sim, 1));
    changed.players_per_client = 2;
    set(sim, &changed);
    ck_assert(!is_denied(sim, 2));
    changed.clients_per_address = 2;
    set(sim, &changed);
    ck_assert(is_denied(sim, 3));
    changed.clients_per_address = 3;
    set(sim, &changed);
    ck_assert(!is_denied(sim, 3));
    ck_assert_int_eq(hc_sim_client_state(sim, 0), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(values_out_of_range_change_nothing) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 20, 7);
    struct hc_server_config changed = hc_server_config_default();
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_join_all(sim));
    struct hc_server *host = hc_sim_host(sim);
    changed.snapshot_rate = 10;
    changed.late_margin = 513;
    ck_assert_int_eq(hc_server_reconfigure(host, &changed, hc_sim_host_now(sim)), HC_INVALID);
    changed.late_margin = 24;
    changed.force_rewind = 65; // the history is 64
    ck_assert_int_eq(hc_server_reconfigure(host, &changed, hc_sim_host_now(sim)), HC_INVALID);
    changed.force_rewind = 0;
    changed.size = 1;
    ck_assert_int_eq(hc_server_reconfigure(host, &changed, hc_sim_host_now(sim)), HC_INVALID);
    uint64_t before = snapshots_of(sim);
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_ge(snapshots_of(sim) - before, 59);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reconfigure");
    TCase *tests = tcase_create("reconfigure");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, clients_play_on_and_agree_while_all_settings_change);
    tcase_add_test(tests, snapshots_come_at_the_rate_that_is_set);
    tcase_add_test(tests, a_cap_of_the_rate_holds_for_clients_that_play);
    tcase_add_test(tests,
                   time_until_a_connection_is_lost_and_its_player_leaves_follows_the_setting);
    tcase_add_test(tests, clients_that_connect_meet_the_limits_that_are_set);
    tcase_add_test(tests, values_out_of_range_change_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
