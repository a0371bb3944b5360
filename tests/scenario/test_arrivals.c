/// The times of arrivals are ahead of those of the other calls: a program that reads the clock for
/// each datagram, and once for the rest, passes such times.
#include "hindcast/arena.h"
#include "tests/sim/players.h"

#include "tests/run_suite.h"

enum { LATENCY_MS = 20 };

static const uint32_t aheads_us[] = {0, 1, 1000, 5000};

enum { AHEADS = sizeof aheads_us / sizeof aheads_us[0] };

/// A simulation with clients of these users, both connecting.
static struct hc_sim *begin(uint32_t ahead_us, uint64_t first_user, uint64_t second_user) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, LATENCY_MS, 77);
    config.arrivals_ahead_us = ahead_us;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL);
    hc_sim_setup(sim, 0)->user = first_user;
    hc_sim_setup(sim, 1)->user = second_user;
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert(hc_sim_connect(sim, 1));
    hc_sim_run(sim, 3 * SECOND_US);
    return sim;
}

static uint32_t events(const struct hc_sim *sim, unsigned client, enum hc_client_event_kind kind) {
    return hc_sim_events(sim, client)->count[kind];
}

START_TEST(clients_play_when_datagrams_arrive_ahead_of_the_next_advance) {
    for (unsigned i = 0; i < AHEADS; i++) {
        struct hc_sim *sim = begin(aheads_us[i], 1, 2);
        for (unsigned c = 0; c < 2; c++) {
            ck_assert_int_eq(hc_client_state(hc_sim_client(sim, c)), HC_CLIENT_PLAYING);
            ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_PLAYING), 1);
            ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_LOST), 0);
            ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_STALLED), 0);
        }
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(round_trips_are_measured_when_datagrams_arrive_ahead_of_the_next_advance) {
    for (unsigned i = 0; i < AHEADS; i++) {
        struct hc_sim *sim = begin(aheads_us[i], 1, 2);
        const struct hc_client *client = hc_sim_client(sim, 0);
        uint64_t least_us = 2 * LATENCY_MS * MS_US, most_us = least_us + 2 * aheads_us[i] + 17000;
        struct hc_client_recent recent;
        hc_client_recent(client, &recent);
        ck_assert_uint_ge(hc_client_stats(client)->rtt_min_us, least_us);
        ck_assert_uint_ge(recent.rtt_us, least_us);
        ck_assert_uint_le(recent.rtt_us, most_us);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(user_who_plays_keeps_the_session_when_data_arrive_after_the_next_advance) {
    for (unsigned i = 0; i < AHEADS; i++) {
        struct hc_sim *sim = begin(aheads_us[i], 77, 77);
        const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, 0)), HC_CLIENT_PLAYING);
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, 1)), HC_CLIENT_CONNECTING);
        ck_assert_uint_eq(events(sim, 0, HC_CLIENT_EVENT_LOST), 0);
        ck_assert_uint_eq(stats->resumed, 0);
        ck_assert_uint_gt(stats->denials[HC_DENY_CONNECTED].count, 0);
        hc_sim_destroy(sim);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("arrivals");
    TCase *tests = tcase_create("arrivals");
    tcase_add_test(tests, clients_play_when_datagrams_arrive_ahead_of_the_next_advance);
    tcase_add_test(tests, round_trips_are_measured_when_datagrams_arrive_ahead_of_the_next_advance);
    tcase_add_test(tests, user_who_plays_keeps_the_session_when_data_arrive_after_the_next_advance);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
