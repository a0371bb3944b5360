/// Tests of NPCs: players of the server that clients predict as any others.
#include "tests/run_suite.h"
#include "tests/sim/games.h"
#include "tests/sim/sim.h"

#include <string.h>

enum { RATE = 60, CLIENTS = 2, TURN_EVERY = 20, LATENCY_US = 50000 };
enum { NPCS = 12, AHEAD = 6 }; // those of a crowd, and by how many ticks hindcastd is ahead

struct match {
    hc_player npc;
    uint32_t ahead; ///< ticks by which its inputs are put ahead
    hc_tick next;
    bool stopped;
};

/// Lets the NPC turn now and then.
static void host_advances(void *context, struct hc_sim *sim) {
    struct match *match = context;
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(sim)));
    for (hc_tick t = hc_tick_max(match->next, head); t <= head + match->ahead && !match->stopped;
         t++) {
        struct lanes_input input = {.push = (int8_t)(hc_random(1, t / TURN_EVERY, 0, 0) % 16 - 8)};
        enum hc_status status = hc_server_put_npc_input(hc_sim_host(sim), match->npc, t, &input);
        ck_assert(status == HC_OK || t < 2 * TURN_EVERY); // before its join it has none
    }
    match->next = head + match->ahead + 1;
}

static struct hc_sim *begin(struct match *match, uint32_t ahead) {
    struct hc_sim_config config = hc_sim_config_default(&lanes);
    config.clients = config.host.clients = CLIENTS;
    config.host.tick_rate = RATE;
    config.up.latency_us = config.down.latency_us = LATENCY_US;
    config.hooks.host_advances = host_advances;
    config.context = match;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    *match = (struct match){.npc = hc_server_add_npc(hc_sim_host(sim)), .ahead = ahead};
    ck_assert_uint_eq(match->npc, CLIENTS - 1);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run_until(sim, 1000000);
    return sim;
}

/// The snapshots of ten seconds after which the client had to roll back.
static uint64_t mispredicted(uint32_t ahead) {
    struct match match;
    struct hc_sim *sim = begin(&match, ahead);
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(sim, 0));
    uint64_t before = stats->snapshots - stats->snapshots_matched;
    hc_sim_run_until(sim, 11000000);
    ck_assert_uint_eq(stats->hash_mismatches, 0);
    ck_assert_uint_gt(stats->snapshots, 500);
    uint64_t count = stats->snapshots - stats->snapshots_matched - before;
    hc_sim_destroy(sim);
    return count;
}

START_TEST(client_predicts_an_npc_without_error_when_its_inputs_come_a_round_trip_ahead) {
    ck_assert_uint_eq(mispredicted(12), 0);
    ck_assert_uint_gt(mispredicted(0), 20);
}
END_TEST

// ---- A crowd ------------------------------------------------------------------------------------

/// Puts another input of each NPC at every tick, as bots that aim do.
static void crowd_advances(void *context, struct hc_sim *sim) {
    const hc_player *npcs = context;
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(sim)));
    for (unsigned i = 0; i < NPCS; i++)
        for (hc_tick t = head; t <= head + AHEAD; t++) { // all but the last are there already
            struct lanes_input input = {.push = (int8_t)(hc_random(1, t, i, 0) % 16 - 8)};
            (void)hc_server_put_npc_input(hc_sim_host(sim), npcs[i], t, &input);
        }
}

/// Ticks in [newest snapshot, head) of which the client lacks the input of an NPC.
static uint32_t inputs_lacking(const struct hc_client *client, const hc_player npcs[NPCS]) {
    const struct hc_timeline *timeline = hc_client_timeline(client);
    hc_tick shown, as_of;
    uint32_t count = 0;
    ck_assert(hc_client_snapshot(client, &shown, &as_of));
    for (hc_tick t = shown; t < hc_timeline_head(timeline); t++)
        for (unsigned i = 0; i < NPCS; i++)
            count += hc_timeline_slot(timeline, npcs[i], t) != HC_SLOT_KNOWN;
    return count;
}

/// The inputs of twelve NPCs that a client lacked in five seconds, over a link so long.
static uint32_t lacking_over(uint32_t latency_us) {
    struct hc_sim_config config = hc_sim_config_default(&lanes);
    hc_player npcs[NPCS];
    uint32_t count = 0;
    config.clients = 1;
    config.host.clients = NPCS + 1;
    config.host.tick_rate = RATE;
    config.up.latency_us = config.down.latency_us = latency_us;
    config.hooks.host_advances = crowd_advances;
    config.context = npcs;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < NPCS; i++)
        npcs[i] = hc_server_add_npc(hc_sim_host(sim));
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run_until(sim, 2000000);
    for (unsigned tick = 0; tick < 5 * RATE; tick++) {
        hc_sim_run(sim, 1000000 / RATE);
        count += inputs_lacking(hc_sim_client(sim, 0), npcs);
    }
    hc_sim_destroy(sim);
    return count;
}

START_TEST(client_has_every_input_of_npcs_that_it_predicts_by_if_they_are_put_ahead_of_the_link) {
    ck_assert_uint_eq(lacking_over(20000), 0);
    ck_assert_uint_eq(lacking_over(LATENCY_US), 0);
    ck_assert_uint_eq(lacking_over(80000), 0);
    ck_assert_uint_gt(lacking_over(150000), 0);
}
END_TEST

START_TEST(npc_takes_a_player_slot_until_it_leaves) {
    struct match match;
    struct hc_sim *sim = begin(&match, 4);
    struct hc_server *host = hc_sim_host(sim);
    const hc_entity npc = hc_world_player(hc_server_world(host), match.npc);
    const struct hc_timeline *timeline = hc_server_timeline(host);
    struct lanes_input input = {.push = 1};
    ck_assert_uint_eq(hc_timeline_presence(timeline, hc_timeline_head(timeline))[npc], HC_ALIVE);
    ck_assert_uint_eq(hc_server_add_npc(host), HC_NO_PLAYER);
    ck_assert_int_eq(hc_server_remove_npc(host, 0), HC_UNEXPECTED);
    ck_assert_int_eq(hc_server_put_npc_input(host, 0, 1000, &input), HC_UNEXPECTED);
    ck_assert_int_eq(hc_server_put_npc_input(host, match.npc, 1, &input), HC_TOO_OLD);
    ck_assert(hc_sim_connect(sim, 1));
    hc_sim_run(sim, 1000000);
    ck_assert_int_ne(hc_client_state(hc_sim_client(sim, 1)), HC_CLIENT_PLAYING);
    ck_assert_int_eq(hc_server_remove_npc(host, match.npc), HC_OK);
    match.stopped = true;
    hc_sim_run(sim, 100000);
    ck_assert_uint_eq(hc_timeline_presence(timeline, hc_timeline_head(timeline))[npc], HC_ABSENT);
    ck_assert(hc_sim_connect(sim, 1));
    hc_sim_run(sim, 1000000);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, 1)), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(npc_does_not_hold_the_final_tick_back) {
    struct match match;
    struct hc_sim *sim = begin(&match, 0);
    match.stopped = true;
    hc_sim_run(sim, 500000);
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    ck_assert_uint_ge(hc_sv_host_final(hc_sim_host(sim), NULL) + 8, hc_timeline_head(timeline));
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(clients_learn_the_names_of_npcs) {
    struct match match;
    struct hc_sim *sim = begin(&match, 4);
    struct hc_server *host = hc_sim_host(sim);
    struct hc_client *client = hc_sim_client(sim, 0);
    ck_assert_ptr_null(hc_client_player_name(client, match.npc));
    ck_assert_int_eq(hc_server_name_npc(host, match.npc, "Gruff"), HC_OK);
    hc_sim_run(sim, 1000000);
    ck_assert_str_eq(hc_client_player_name(client, match.npc), "Gruff");
    // The last one of two names at once counts.
    ck_assert_int_eq(hc_server_name_npc(host, match.npc, "Bill"), HC_OK);
    ck_assert_int_eq(hc_server_name_npc(host, match.npc, "Billy"), HC_OK);
    hc_sim_run(sim, 1000000);
    ck_assert_str_eq(hc_client_player_name(client, match.npc), "Billy");
    ck_assert_int_eq(hc_server_name_npc(host, match.npc, "a\n"), HC_INVALID);
    ck_assert_int_eq(hc_server_name_npc(host, match.npc, "a name of more bytes than a token has"),
                     HC_INVALID);
    ck_assert_int_eq(hc_server_name_npc(host, 0, "Troll"), HC_UNEXPECTED);
    // The next NPC in its slot has no name before it gets one.
    match.stopped = true;
    ck_assert_int_eq(hc_server_remove_npc(host, match.npc), HC_OK);
    hc_sim_run(sim, 100000);
    ck_assert_uint_eq(hc_server_add_npc(host), match.npc);
    hc_sim_run(sim, 1000000);
    ck_assert_ptr_null(hc_client_player_name(client, match.npc));
    ck_assert_int_eq(hc_server_name_npc(host, match.npc, "Gruff"), HC_OK);
    hc_sim_run(sim, 1000000);
    ck_assert_str_eq(hc_client_player_name(client, match.npc), "Gruff");
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("npcs");
    TCase *tests = tcase_create("npcs");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests,
                   client_predicts_an_npc_without_error_when_its_inputs_come_a_round_trip_ahead);
    tcase_add_test(
        tests,
        client_has_every_input_of_npcs_that_it_predicts_by_if_they_are_put_ahead_of_the_link);
    tcase_add_test(tests, npc_takes_a_player_slot_until_it_leaves);
    tcase_add_test(tests, clients_learn_the_names_of_npcs);
    tcase_add_test(tests, npc_does_not_hold_the_final_tick_back);
    return run_suite(suite);
}
