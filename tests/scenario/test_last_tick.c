/// A server closes all connections after the last tick of its world.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { CLIENTS = 4, LAST = 300 };

static struct hc_sim *begin(void) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 40, 19);
    config.host_test.last_tick = LAST;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    return sim;
}

static void check_ended(struct hc_sim *sim) {
    struct hc_server *host = hc_sim_host(sim);
    ck_assert(hc_server_ended(host) && hc_server_closed(host));
    ck_assert_uint_eq(hc_timeline_head(hc_server_timeline(host)), LAST);
    ck_assert_uint_eq(hc_server_deadline(host), UINT64_MAX);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, i)), HC_CLIENT_CLOSED);
        ck_assert_int_eq(hc_sim_events(sim, i)->last.close, HC_CLOSE_SHUTDOWN);
    }
}

START_TEST(the_server_closes_all_connections_after_its_last_tick) {
    struct hc_sim *sim = begin();
    hc_sim_run(sim, (uint64_t)LAST * SECOND_US / 60 - 100 * MS_US);
    ck_assert(!hc_server_ended(hc_sim_host(sim)));
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(sim)), CLIENTS);
    hc_sim_run(sim, 2 * SECOND_US);
    check_ended(sim);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_server_that_catches_up_ends_at_its_last_tick) {
    struct hc_sim *sim = begin();
    hc_sim_run(sim, (uint64_t)(LAST - 5) * SECOND_US / 60);
    hc_sim_freeze_host(sim, hc_sim_now(sim) + SECOND_US);
    hc_sim_run(sim, 3 * SECOND_US);
    check_ended(sim);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("end");
    TCase *tests = tcase_create("end");
    tcase_add_test(tests, the_server_closes_all_connections_after_its_last_tick);
    tcase_add_test(tests, a_server_that_catches_up_ends_at_its_last_tick);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
