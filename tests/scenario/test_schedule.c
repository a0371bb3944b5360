/// The server's ticks follow its schedule, and snapshots their rate.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "server/state.h"
#include "tests/run_suite.h"

enum {
    RATE = 60,
    CLIENTS = 6,
    EVERY = 3,  ///< ticks from one snapshot to the next
    BURST = 16, ///< ticks_per_advance
    BEGIN_US = 5000000,
};

static struct hc_server *begin_host(void) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct hc_sv_host_test test = hc_sv_host_test_default();
    test.ticks_per_advance = BURST;
    config.tick_rate = RATE;
    struct hc_server *host = hc_sv_host_create(&config, &test, HC_TEST_UNIX_US, BEGIN_US);
    ck_assert_ptr_nonnull(host);
    return host;
}

static hc_tick head_of(struct hc_server *host) {
    return hc_timeline_head(hc_server_timeline(host));
}

START_TEST(a_server_that_is_a_burst_late_catches_up) {
    struct hc_server *host = begin_host();
    hc_server_advance(host, BEGIN_US + hc_tick_due_us(BURST, RATE));
    ck_assert_uint_eq(head_of(host), BURST);
    ck_assert_uint_eq(hc_server_stats(host)->ticks_missed, 0);
    ck_assert_uint_eq(hc_server_deadline(host), BEGIN_US + hc_tick_due_us(BURST + 1, RATE));
    hc_server_destroy(host);
}
END_TEST

START_TEST(a_server_that_is_later_leaves_out_ticks_and_keeps_its_schedule) {
    struct hc_server *host = begin_host();
    uint64_t missed_us = SECOND_US; // a whole number of ticks
    uint64_t next_us = BEGIN_US + missed_us + hc_tick_due_us(BURST + 1, RATE);
    hc_server_advance(host, next_us - SECOND_US / RATE / 2);
    ck_assert_uint_eq(head_of(host), BURST);
    ck_assert_uint_eq(hc_server_stats(host)->ticks_missed, RATE);
    ck_assert_uint_eq(hc_server_deadline(host), next_us);
    hc_server_advance(host, next_us);
    ck_assert_uint_eq(head_of(host), BURST + 1);
    ck_assert_uint_eq(hc_server_stats(host)->ticks_missed, RATE);
    hc_server_destroy(host);
}
END_TEST

/// The heads and the ticks shown of all snapshots since `counts` was set, by their remainders.
struct sent {
    bool counts;
    hc_tick newest_heads[CLIENTS], longest; ///< ticks between two snapshots of a client
    unsigned heads[EVERY], shown[EVERY];
};

static void host_ticked(void *context, struct hc_sim *sim) {
    struct sent *sent = context;
    const struct hc_server *host = hc_sim_host(sim);
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct hc_sv_client *client = &host->clients.peers[i].replication;
        hc_tick head = client->newest_head;
        if (sent->counts && head != sent->newest_heads[i]) {
            sent->heads[head % EVERY]++;
            sent->shown[client->shown % EVERY]++;
            sent->longest = hc_tick_max(sent->longest, head - sent->newest_heads[i]);
        }
        sent->newest_heads[i] = head;
    }
}

START_TEST(snapshots_of_every_third_tick_show_clients_at_all_distances_the_same_ticks) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 20, 7);
    struct sent sent = {.counts = false};
    config.host.snapshot_rate = (uint16_t)(config.host.tick_rate / EVERY);
    config.hooks.host_ticked = host_ticked;
    config.context = &sent;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct hc_network_sim_config link = hc_sim_link(20 + 18 * i, 0);
        hc_sim_set_link(sim, i, &link, &link);
        ck_assert(hc_sim_connect(sim, i));
    }
    hc_sim_run(sim, 2 * SECOND_US);
    sent.counts = true;
    hc_sim_run(sim, 3 * SECOND_US);
    unsigned all = sent.shown[0] + sent.shown[1] + sent.shown[2];
    ck_assert_uint_ge(all, CLIENTS * (3u * config.host.snapshot_rate - 1));
    ck_assert_uint_le(all, CLIENTS * (3u * config.host.snapshot_rate + 1));
    for (unsigned i = 0; i < EVERY; i++) {
        ck_assert(sent.shown[i] == 0 || sent.shown[i] == all);
        ck_assert_uint_gt(sent.heads[i], 0); // the ticks share the work
    }
    ck_assert_uint_eq(sent.longest, EVERY);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("schedule");
    tcase_add_test(tests, a_server_that_is_a_burst_late_catches_up);
    tcase_add_test(tests, a_server_that_is_later_leaves_out_ticks_and_keeps_its_schedule);
    tcase_add_test(tests,
                   snapshots_of_every_third_tick_show_clients_at_all_distances_the_same_ticks);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
