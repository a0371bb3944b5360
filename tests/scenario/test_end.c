/// A world that has no more ticks ends in good order.
#include "tests/scenario/play.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { CLIENTS = 4, LAST = 300 };

static struct hc_sim *begin(void) {
    struct hc_sim_config config = play_config_bare(CLIENTS, 40, 19);
    config.host.last_tick = LAST;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert(hc_sim_connect(sim, i));
    return sim;
}

static void check_ended(struct hc_sim *sim) {
    struct hc_sv_host *host = hc_sim_host(sim);
    ck_assert(hc_sv_host_ended(host) && hc_sv_host_closed(host));
    ck_assert_uint_eq(hc_timeline_head(hc_sv_host_timeline(host)), LAST);
    ck_assert_uint_eq(hc_sv_host_deadline(host), UINT64_MAX);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, i)), HC_CLIENT_CLOSED);
        ck_assert_int_eq(hc_sim_events(sim, i)->last.close, HC_CLOSE_SHUTDOWN);
    }
}

START_TEST(after_its_last_tick_the_server_says_goodbye_to_all) {
    struct hc_sim *sim = begin();
    hc_sim_run(sim, (uint64_t)LAST * PLAY_S / 60 - 100 * PLAY_MS);
    ck_assert(!hc_sv_host_ended(hc_sim_host(sim)));
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(sim)), CLIENTS);
    hc_sim_run(sim, 2 * PLAY_S);
    check_ended(sim);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_server_that_catches_up_ends_at_its_last_tick_too) {
    struct hc_sim *sim = begin();
    hc_sim_run(sim, (uint64_t)(LAST - 5) * PLAY_S / 60);
    hc_sim_freeze_host(sim, hc_sim_now(sim) + PLAY_S);
    hc_sim_run(sim, 3 * PLAY_S);
    check_ended(sim);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("end");
    TCase *tests = tcase_create("end");
    tcase_add_test(tests, after_its_last_tick_the_server_says_goodbye_to_all);
    tcase_add_test(tests, a_server_that_catches_up_ends_at_its_last_tick_too);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
