/// More players are in view than fit a datagram: each client is sent all of them, in turn if
/// needed.
#include "tests/scenario/clientless.h"
#include "tests/scenario/require.h"
#include "tests/scenario/snapshot_check.h"

#include "client/world/snapshot_reader.h"
#include "hindcast/arena.h"
#include "server/replication/priority.h"
#include "tests/run_suite.h"
#include "tests/sim/raw_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CROWD = 64,   ///< players in all
    CLIENTS = 16, ///< of these have a client
    LATENCY_MS = 50,
    TICK_US = 16667
};

static bool idle; ///< the players without a client do nothing

static void host_ticked(void *context, struct hc_sim *sim) {
    if (!idle)
        clientless_play(context, sim);
}

static struct scenario *begin(const struct hc_sim_config *config, struct snapshot_check **check) {
    struct hc_sim_config quick = *config;
    quick.host.clients = CROWD;
    struct scenario *scenario = scenario_create(&quick);
    scenario_drop_stamps(scenario);
    *check = snapshot_check_create(scenario);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.host_ticked = host_ticked}, NULL);
    clientless_join(hc_sim_host(scenario->sim), CLIENTS);
    return scenario;
}

static void end(struct scenario *scenario, struct snapshot_check *check) {
    scenario_check_hashes(scenario);
    snapshot_check_destroy(check);
    scenario_destroy(scenario);
}

/// Adds up the counts of all clients, and takes the largest wait.
static struct snapshot_count sum(const struct scenario *scenario,
                                 const struct snapshot_check *check) {
    struct snapshot_count all = {.snapshots = 0};
    for (unsigned i = 0; i < hc_sim_clients(scenario->sim); i++) {
        struct snapshot_count one = snapshot_check_count(check, i);
        all.snapshots += one.snapshots;
        all.past += one.past;
        all.units += one.units;
        all.corrections += one.corrections;
        all.dropped += one.dropped;
        all.inexact += one.inexact;
        all.unsent = one.unsent > all.unsent ? one.unsent : all.unsent;
    }
    return all;
}

static void print(const char *label, const struct snapshot_count *all, uint64_t bytes) {
    printf("%s: %lu snapshots of %.1f units and %.2f corrections, %.1f bytes; %lu inexact, %lu "
           "units dropped, at most %u without a word of a unit in view\n",
           label, (unsigned long)all->snapshots, (double)all->units / (double)all->snapshots,
           (double)all->corrections / (double)all->snapshots,
           (double)bytes / (double)all->snapshots, (unsigned long)all->inexact,
           (unsigned long)all->dropped, all->unsent);
}

static uint64_t bytes_sent(const struct scenario *scenario) {
    return hc_server_stats(hc_sim_host(scenario->sim))->bytes_out;
}

enum { UP = 1, DOWN = 2 };

static void set_links(struct scenario *scenario, unsigned ways, uint32_t loss_percent) {
    struct hc_network_sim_config link = hc_sim_link(LATENCY_MS, loss_percent);
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_sim_set_link(scenario->sim, i, (ways & UP) != 0 ? &link : NULL,
                        (ways & DOWN) != 0 ? &link : NULL);
}

/// Loses all datagrams for `blackout_us`, up, down or both ways; with `everybody` the players
/// without a client do nothing until the check. Fails the test unless every client holds all units
/// in view exactly two round trips and two snapshots after the blackout. Until it has an ack the
/// server sends one each HC_KEEP_ALIVE_US.
static void check_blackout(struct scenario *scenario, const struct snapshot_check *check,
                           unsigned ways, bool everybody, uint64_t blackout_us) {
    set_links(scenario, UP | DOWN, 0);
    set_links(scenario, ways, 100);
    idle = everybody;
    hc_sim_run(scenario->sim, blackout_us);
    set_links(scenario, ways, 0);
    hc_sim_run(scenario->sim, 4 * LATENCY_MS * MS_US + HC_KEEP_ALIVE_US + 2 * TICK_US);
    idle = false;
    uint64_t now = hc_sim_now(scenario->sim);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct snapshot_count count = snapshot_check_count(check, i);
        REQUIRE(count.exact_us > count.inexact_us && count.exact_us + TICK_US + MS_US >= now,
                "client %u is not exact: %lu us ago it was, %lu us ago it was not", i,
                (unsigned long)(now - count.exact_us), (unsigned long)(now - count.inexact_us));
    }
}

START_TEST(sixty_four_players_agree_over_lossy_links_and_are_exact_right_after_a_blackout) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 401);
    config.up = config.down = hc_sim_link(LATENCY_MS, 5);
    config.up.jitter_us = config.down.jitter_us = 10 * MS_US;
    config.client.display_offset = 8;
    struct snapshot_check *check;
    struct scenario *scenario = begin(&config, &check);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, SECOND_US / 2);
    snapshot_check_restart(check);
    uint64_t bytes = bytes_sent(scenario);
    hc_sim_run(scenario->sim, SECOND_US);
    struct snapshot_count all = sum(scenario, check);
    print("64 over 5 % loss", &all, bytes_sent(scenario) - bytes);
    ck_assert_uint_gt(all.snapshots, CLIENTS * 50);
    ck_assert_uint_gt(all.units, all.snapshots * CROWD / 4);
    ck_assert_uint_gt(all.corrections, all.snapshots / 10);
    ck_assert_uint_gt(all.dropped, 0);
    ck_assert_uint_le(all.unsent, 8); // the interest set is updated that often
    check_blackout(scenario, check, UP | DOWN, true, 2 * SECOND_US);
    record_check_plain(scenario->record);
    end(scenario, check);
}
END_TEST

// When the others have moved on, the units in view do not fit a datagram without baselines. Those
// from before the blackout serve, however long it was.
START_TEST(clients_are_exact_two_round_trips_after_a_blackout_of_any_length) {
    static const struct {
        unsigned ways;
        uint32_t blackouts_ms[4];
    } all[] = {{UP | DOWN, {500, 1000, 2000, 8000}}, {UP, {4000}}, {DOWN, {2000, 3000}}};
    struct hc_sim_config config =
        hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 430 + (unsigned)_i);
    config.client.display_offset = _i % 2 == 0 ? 0 : 8;
    struct snapshot_check *check;
    struct scenario *scenario = begin(&config, &check);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, SECOND_US / 2);
    for (unsigned i = 0; i < 4 && all[_i].blackouts_ms[i] > 0; i++) {
        check_blackout(scenario, check, all[_i].ways, false, all[_i].blackouts_ms[i] * MS_US);
        hc_sim_run(scenario->sim, SECOND_US / 2);
    }
    record_check_plain(scenario->record);
    end(scenario, check);
}
END_TEST

START_TEST(low_bandwidth_sends_every_unit_in_view_in_turn) {
    enum { SECONDS = 3 };
    static const uint32_t rates[] = {HC_SERVER_CLIENT_RATE_MIN, 16000};
    for (unsigned n = 0; n < sizeof rates / sizeof rates[0]; n++) {
        struct hc_sim_config config =
            hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 410 + n);
        config.host.client_rate = rates[n];
        config.client.display_offset = n * 8; // corrections come last, and displace no unit
        config.up = config.down = hc_sim_link(LATENCY_MS, 2);
        struct snapshot_check *check;
        struct scenario *scenario = begin(&config, &check);
        ck_assert(hc_sim_join_all(scenario->sim));
        hc_sim_run(scenario->sim, SECOND_US / 2);
        snapshot_check_restart(check);
        uint64_t bytes = bytes_sent(scenario);
        hc_sim_run(scenario->sim, SECONDS * SECOND_US);
        bytes = bytes_sent(scenario) - bytes;
        char label[64];
        struct snapshot_count all = sum(scenario, check);
        snprintf(label, sizeof label, "64 at %u bytes/s", rates[n]);
        print(label, &all, bytes);
        ck_assert_uint_gt(all.snapshots, CLIENTS * SECONDS * 10); // ten a second at least
        ck_assert_uint_le(bytes / SECONDS / CLIENTS, rates[n]);
        // Some 45 are in view, and a third of them fits each snapshot: see bandwidth.h.
        ck_assert_uint_gt(all.units, 15 * all.snapshots);
        ck_assert_uint_le(all.unsent, HC_SV_PRIORITY_SPREAD * 3);
        end(scenario, check);
    }
}
END_TEST

// ---- At once ------------------------------------------------------------------------------------

enum { PORT_FIRST = 2000, JOINERS = 4 };

/// A client that joins together with many others, and the units and joins that it has received.
struct joiner {
    struct raw_client raw;
    struct hc_cl_snapshot_reader *reader;
    bool *joined;     ///< [players]
    bool *units_seen; ///< [units]
    uint32_t joins, units;
};

/// Reads a snapshot of the head; fails the test unless the referee and the joiner itself are in the
/// first one.
static void receive(void *context, const struct hc_address *to, const uint8_t *bytes, size_t size) {
    static struct hc_body body;
    unsigned place = to->port - PORT_FIRST;
    struct joiner *joiner = (struct joiner *)context + place;
    hc_tick tick = hc_timeline_head(hc_server_timeline(joiner->raw.host));
    const struct hc_cl_received *received;
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_ACCEPT)
        return; // again
    ck_assert_int_eq(hc_endpoint_get_data(&joiner->raw.endpoint, false, bytes, size, opened, &data),
                     HC_OK);
    if (data.body_size == 0)
        return; // it keeps the connection alive
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_read(joiner->reader, &body, tick, &received), HC_OK);
    for (uint32_t i = 0; i < received->roster_count; i++) {
        joiner->joins += !joiner->joined[received->roster_changes[i].player];
        joiner->joined[received->roster_changes[i].player] = true;
    }
    for (uint32_t i = 0; i < received->value_count; i++) {
        joiner->units += !joiner->units_seen[received->values[i].unit];
        joiner->units_seen[received->values[i].unit] = true;
    }
    ck_assert(joiner->units_seen[0] && joiner->units_seen[1 + place]);
}

/// Joins the world's players between two ticks, and plays `ticks` ticks. A few of the players have
/// a client.
static void join_at_once(struct raw_host *host, const struct hc_world *world, uint32_t ticks,
                         struct joiner joiners[static JOINERS]) {
    host->sent = receive;
    host->context = joiners;
    for (unsigned i = 0; i < JOINERS; i++) {
        joiners[i] = (struct joiner){.reader = hc_cl_snapshot_reader_create(world, 1),
                                     .joined = calloc(world->players, sizeof(bool)),
                                     .units_seen = calloc(hc_unit_total(world), sizeof(bool))};
        ck_assert(joiners[i].reader && joiners[i].joined && joiners[i].units_seen);
        struct raw_client *raw = &joiners[i].raw;
        struct hc_address address = hc_address_ipv4(127, 0, 0, 1, (uint16_t)(PORT_FIRST + i));
        raw_client_begin(raw, host->host, address, 1 + i, 1 + i);
        ck_assert(raw_client_hello(raw, host->now_us));
        uint64_t before = raw->bytes_out;
        ck_assert_int_eq(raw_client_connect(raw, 1, host->now_us), HC_DATAGRAM_ACCEPT);
        ck_assert_uint_eq(raw->bytes_out, before + raw->size); // and no other datagram
    }
    clientless_join(host->host, JOINERS);
    raw_host_run(host, ticks * TICK_US, NULL);
    ck_assert_uint_eq(hc_timeline_head(hc_server_timeline(host->host)), ticks);
    for (unsigned i = 0; i < JOINERS; i++) {
        hc_cl_snapshot_reader_destroy(joiners[i].reader);
        free(joiners[i].joined);
        free(joiners[i].units_seen);
    }
}

START_TEST(each_of_many_joiners_is_sent_itself_first_and_the_others_in_turn) {
    static const struct {
        uint16_t count;
        uint32_t rate, ticks;
    } crowds[] = {{64, HC_SERVER_CLIENT_RATE_MIN, 64}, {600, 262144, 12}, {300, 16000, 40}};
    for (unsigned n = 0; n < sizeof crowds / sizeof crowds[0]; n++) {
        struct hc_server_config config = hc_test_server_config(&hc_arena);
        struct hc_world world = {.game = NULL};
        struct joiner joiners[JOINERS];
        config.clients = crowds[n].count;
        config.client_rate = crowds[n].rate;
        config.history = 8;
        struct raw_host host = raw_host_create(&config);
        ck_assert_int_eq(
            hc_world_init(&world, config.game, config.clients, config.tick_rate, 0, NULL), HC_OK);
        join_at_once(&host, &world, crowds[n].ticks, joiners);
        for (unsigned i = 0; i < JOINERS; i++) {
            const struct joiner *one = &joiners[i];
            printf("%u at once, %u bytes/s: after %u ticks one has %u joins and %u units\n",
                   crowds[n].count, crowds[n].rate, crowds[n].ticks, one->joins, one->units);
            ck_assert_uint_gt(one->units, 16);
            ck_assert_uint_gt(one->joins, 8);
            ck_assert_uint_le(one->joins, one->units); // nothing is sent of players far away
        }
        hc_world_free(&world);
        raw_host_destroy(&host);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("crowd");
    TCase *tests = tcase_create("crowd");
    tcase_add_test(tests,
                   sixty_four_players_agree_over_lossy_links_and_are_exact_right_after_a_blackout);
    tcase_add_test(tests, each_of_many_joiners_is_sent_itself_first_and_the_others_in_turn);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_loop_test(long_plays,
                        clients_are_exact_two_round_trips_after_a_blackout_of_any_length, 0, 3);
    tcase_add_test(long_plays, low_bandwidth_sends_every_unit_in_view_in_turn);
    return run_suite(suite);
}
