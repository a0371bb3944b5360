/// A light client loads a server as a full client does, and its pace does not depend on the server.
#include "hindcast/arena.h"
#include "tests/sim/players.h"

#include "tests/run_suite.h"

#include <stdio.h>

enum { CLIENTS = 4, TICK_RATE = 60 };

/// Runs a match on bad links, with an outage, whose clients 1 and 3 are light or not.
static struct hc_sim *play(bool light, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, seed);
    config.up = hc_sim_link(60, 10);
    config.down = hc_sim_link(60, 10);
    config.up.jitter_us = config.down.jitter_us = 20000;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < CLIENTS; i++) {
        hc_sim_setup(sim, i)->light = light && i % 2 == 1;
        ck_assert(hc_sim_connect(sim, i));
    }
    hc_sim_run(sim, 5 * SECOND_US);
    hc_sim_freeze_client(sim, 1, hc_sim_now(sim) + 2 * SECOND_US);
    hc_sim_run(sim, 5 * SECOND_US);
    hc_sim_leave(sim, 3);
    hc_sim_run(sim, SECOND_US);
    return sim;
}

START_TEST(a_server_sends_a_light_client_exactly_what_it_sends_a_full_one) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct hc_sim *full = play(false, seed), *light = play(true, seed);
        const struct hc_client_stats *one = hc_client_stats(hc_sim_client(full, 1)),
                                     *other = hc_client_stats(hc_sim_client(light, 1));
        printf("seed %lu: %lu and %lu snapshots, %lu and %lu inputs forced\n", (unsigned long)seed,
               (unsigned long)one->snapshots, (unsigned long)other->snapshots,
               (unsigned long)one->inputs_forced, (unsigned long)other->inputs_forced);
        ck_assert_uint_eq(hc_sim_trace(full), hc_sim_trace(light));
        ck_assert_uint_gt(one->inputs_forced, 0);
        ck_assert_uint_eq(one->inputs_forced, other->inputs_forced);
        ck_assert_uint_eq(one->inputs_sampled, other->inputs_sampled);
        ck_assert_uint_eq(one->snapshots, other->snapshots);
        ck_assert_uint_eq(one->snapshots_stale, other->snapshots_stale);
        ck_assert_uint_eq(one->stalls, other->stalls);
        ck_assert_uint_eq(one->restarts, other->restarts);
        ck_assert_uint_gt(one->hash_checks, 0);
        ck_assert_uint_eq(other->hash_checks, 0);
        ck_assert_uint_lt(other->memory_bytes, one->memory_bytes);
        hc_sim_destroy(full);
        hc_sim_destroy(light);
    }
}
END_TEST

START_TEST(clients_send_once_a_tick_while_the_server_answers_nothing) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 40, 5);
    struct hc_sim *sim = hc_sim_create(&config);
    uint64_t before[2];
    ck_assert_ptr_nonnull(sim);
    hc_sim_setup(sim, 1)->light = true;
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 3 * SECOND_US);
    for (unsigned i = 0; i < 2; i++)
        before[i] = hc_client_stats(hc_sim_client(sim, i))->datagrams_out;
    hc_sim_freeze_host(sim, hc_sim_now(sim) + 5 * SECOND_US);
    hc_sim_run(sim, 5 * SECOND_US);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t sent = hc_client_stats(hc_sim_client(sim, i))->datagrams_out - before[i];
        printf("client %u sent %lu datagrams in 5 s\n", i, (unsigned long)sent);
        ck_assert_uint_ge(sent, 5 * TICK_RATE - 3);
        ck_assert_uint_le(sent, 5 * TICK_RATE + 3);
    }
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("light client");
    TCase *load = tcase_create("load");
    tcase_add_test(load, a_server_sends_a_light_client_exactly_what_it_sends_a_full_one);
    tcase_add_test(load, clients_send_once_a_tick_while_the_server_answers_nothing);
    suite_add_tcase(suite, load);
    return run_suite(suite);
}
