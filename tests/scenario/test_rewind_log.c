/// The log of a server's rewinds names the clients whose inputs caused them, and changes no match.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

enum { CLIENTS = 6, SECONDS = 10 };

/// The rewinds of a match, as they were seen.
struct observed {
    struct hc_rewind_log *log; ///< NULL: none is kept
    struct hc_timeline_stats stats;
    uint64_t rewinds, named, changed;
};

/// Checks the records of the ticks since the last call.
static void check_rewinds(void *context, struct hc_sim *sim) {
    struct observed *observed = context;
    const struct hc_server *host = hc_sim_host(sim);
    const struct hc_timeline_stats *stats = hc_timeline_stats(hc_server_timeline(host));
    struct hc_server_client clients[CLIENTS];
    if (observed->log == NULL)
        return;
    uint32_t count = hc_server_list_clients(host, clients, CLIENTS, hc_sim_host_now(sim));
    for (; observed->rewinds < hc_rewind_log_count(observed->log); observed->rewinds++) {
        const struct hc_rewind *rewind = hc_rewind_log_get(observed->log, observed->rewinds);
        observed->changed += rewind->changed;
        ck_assert_uint_gt(rewind->cause_count, 0);
        for (uint32_t i = 0; i < rewind->cause_count; i++) {
            const struct hc_rewind_cause *cause = &rewind->causes[i];
            ck_assert_int_eq(cause->kind, HC_REWIND_INPUT);
            ck_assert_uint_lt(cause->tick, rewind->head);
            for (uint32_t c = 0; c < count; c++) {
                if (clients[c].players[0] != cause->player)
                    continue;
                ck_assert_uint_eq(cause->cid, clients[c].session.cid);
                ck_assert_uint_eq(cause->client_id, clients[c].session.client_id);
                observed->named++;
            }
        }
    }
    observed->stats = *stats;
}

/// Plays a match, and returns its trace.
static uint64_t play(struct observed *observed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 70, 9);
    hc_sim_fix_delays(&config.client, 0, 0); // so that all inputs are late
    struct scenario *scenario = scenario_create(&config);
    struct hc_sim *sim = scenario->sim;
    if (observed->log != NULL)
        hc_server_log_rewinds(hc_sim_host(sim), observed->log);
    hc_sim_observe(sim, &(struct hc_sim_hooks){.host_ticked = check_rewinds}, observed);
    ck_assert(hc_sim_join_all(sim));
    hc_sim_run(sim, (uint64_t)SECONDS * SECOND_US);
    uint64_t trace = hc_sim_trace(sim);
    scenario_destroy(scenario);
    return trace;
}

START_TEST(the_log_names_the_clients_that_rewind_a_server_and_changes_no_match) {
    struct hc_world world = {0};
    struct observed observed = {.log = NULL};
    uint64_t trace = play(&observed);
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, CLIENTS, 60, 0, NULL), HC_OK);
    observed.log = hc_rewind_log_create(&world, NULL);
    hc_world_free(&world);
    ck_assert_uint_eq(play(&observed), trace);
    ck_assert_uint_eq(observed.rewinds, observed.stats.rewinds);
    ck_assert_uint_eq(observed.changed, observed.stats.changed);
    ck_assert_uint_gt(observed.named, (uint64_t)SECONDS * CLIENTS);
    hc_rewind_log_destroy(observed.log);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rewind_log");
    TCase *tc = tcase_create("rewind_log");
    tcase_add_test(tc, the_log_names_the_clients_that_rewind_a_server_and_changes_no_match);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
