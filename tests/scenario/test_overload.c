/// A host with too much work keeps its clients, sends them fewer snapshots, refuses new ones if
/// that does not suffice, and recovers.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { CLIENTS = 8, FAR = 6, CROWD = 48, TICK_US = SECOND_US / 60 };

/// The modelled work of the host.
struct model {
    uint64_t snapshot_us, other_us; ///< of each snapshot, of each tick beside them
    uint64_t advance_us;            ///< of each tick: rewinds and the new state
    uint64_t snapshots;             ///< counted so far
    uint64_t most;                  ///< snapshots of one tick
};

/// Notes the work of the last tick.
static void note_work(void *context, struct hc_sim *sim) {
    struct model *model = context;
    struct hc_server *host = hc_sim_host(sim);
    uint64_t snapshots = hc_server_stats(host)->snapshots;
    hc_server_note_work(host, model->advance_us,
                        (snapshots - model->snapshots) * model->snapshot_us, model->other_us,
                        hc_sim_host_now(sim));
    uint64_t sent = snapshots - model->snapshots;
    model->most = sent > model->most ? sent : model->most;
    model->snapshots = snapshots;
}

/// A server with room for another client, whose last two clients are `far_ms` away.
static struct scenario *begin(struct model *model, uint32_t far_ms) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS + 1, 20, 31);
    struct hc_network_sim_config far = hc_sim_link(far_ms, 0);
    config.client.prediction_limit = 120; // the farthest client begins with a jump of its clock
    struct scenario *scenario = scenario_create(&config);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.host_ticked = note_work}, model);
    hc_sim_set_link(scenario->sim, FAR, &far, &far);
    hc_sim_set_link(scenario->sim, FAR + 1, &far, &far);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert(hc_sim_connect(scenario->sim, i));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    return scenario;
}

static const struct hc_server_overload *overload_of(const struct scenario *scenario) {
    return &hc_server_stats(hc_sim_host(scenario->sim))->overload;
}

static void count_snapshots(const struct scenario *scenario, uint64_t counts[CLIENTS]) {
    for (unsigned i = 0; i < CLIENTS; i++)
        counts[i] = hc_client_stats(hc_sim_client(scenario->sim, i))->snapshots;
}

/// Nobody was dropped or stalled, and all agree.
static void check_end(struct scenario *scenario) {
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_sim_events(scenario->sim, i)->count[HC_CLIENT_EVENT_STALLED], 0);
        ck_assert_uint_eq(hc_sim_events(scenario->sim, i)->count[HC_CLIENT_EVENT_LOST], 0);
        scenario_check_final(scenario, i);
    }
    scenario_check_hashes(scenario);
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}

START_TEST(little_too_much_work_takes_snapshots_of_far_clients_alone) {
    struct model model = {.snapshot_us = TICK_US * 4 / 5 / CLIENTS};
    struct scenario *scenario = begin(&model, 120);
    uint64_t before[CLIENTS], after[CLIENTS];
    hc_sim_run(scenario->sim, SECOND_US);
    count_snapshots(scenario, before);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    count_snapshots(scenario, after);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (i < FAR)
            ck_assert_uint_ge(after[i] - before[i], 118);
        else
            ck_assert_uint_le(after[i] - before[i], 62);
    ck_assert_uint_eq(overload_of(scenario)->snapshots, overload_of(scenario)->far_snapshots);
    check_end(scenario);
}
END_TEST

START_TEST(moderate_load_makes_snapshots_linear_and_all_still_agree) {
    struct model model = {.snapshot_us = 0};
    struct scenario *scenario = begin(&model, 120);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    ck_assert_uint_eq(overload_of(scenario)->linear_ticks, 0);
    model.snapshot_us = TICK_US * 2 / 5 / CLIENTS;
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert(overload_of(scenario)->linear);
    uint64_t steps = stats->extrapolation_steps, snapshots = stats->snapshots;
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_eq(stats->extrapolation_steps, steps);
    ck_assert_uint_ge(stats->snapshots - snapshots, 118 * CLIENTS); // none is left out
    model.snapshot_us = 0;
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert(!overload_of(scenario)->linear);
    ck_assert_uint_gt(stats->extrapolation_steps, steps);
    check_end(scenario);
}
END_TEST

START_TEST(much_too_much_work_takes_snapshots_of_all_and_ends_within_two_seconds) {
    struct model model = {.snapshot_us = TICK_US * 3 / 2 / CLIENTS};
    struct scenario *scenario = begin(&model, 120);
    uint64_t before[CLIENTS], after[CLIENTS];
    hc_sim_run(scenario->sim, 28 * SECOND_US);
    ck_assert_int_ge(overload_of(scenario)->level, HC_SERVER_OVERLOAD_HALF);
    ck_assert_int_lt(overload_of(scenario)->level, HC_SERVER_OVERLOAD_REFUSE);
    ck_assert_uint_gt(overload_of(scenario)->snapshots, 28 * 60 * CLIENTS / 3);
    model.snapshot_us = 0;
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_int_eq(overload_of(scenario)->level, HC_SERVER_OVERLOAD_NONE);
    count_snapshots(scenario, before);
    hc_sim_run(scenario->sim, SECOND_US);
    count_snapshots(scenario, after);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_uint_ge(after[i] - before[i], 58);
    check_end(scenario);
}
END_TEST

START_TEST(new_client_is_refused_as_long_as_fewer_snapshots_do_not_suffice) {
    struct model model = {.other_us = TICK_US * 9 / 10};
    struct scenario *scenario = begin(&model, 120);
    ck_assert_int_eq(overload_of(scenario)->level, HC_SERVER_OVERLOAD_REFUSE);
    ck_assert(hc_sim_connect(scenario->sim, CLIENTS));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert(hc_sim_client_state(scenario->sim, CLIENTS) != HC_CLIENT_PLAYING);
    ck_assert_uint_gt(overload_of(scenario)->joins, 0);
    ck_assert_int_eq(hc_client_attempt(hc_sim_client(scenario->sim, CLIENTS)).deny, HC_DENY_FULL);
    model.other_us = 0;
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_int_eq(overload_of(scenario)->level, HC_SERVER_OVERLOAD_NONE);
    ck_assert(hc_sim_connect(scenario->sim, CLIENTS));
    hc_sim_run(scenario->sim, SECOND_US);
    ck_assert_int_eq(hc_sim_client_state(scenario->sim, CLIENTS), HC_CLIENT_PLAYING);
    check_end(scenario);
}
END_TEST

/// Deltas that a snapshot had to encode in the mean, within two seconds.
static double encoded_each(struct scenario *scenario) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    uint64_t encoded = stats->deltas_encoded, snapshots = stats->snapshots;
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    return (double)(stats->deltas_encoded - encoded) / (double)(stats->snapshots - snapshots);
}

START_TEST(clients_that_see_the_same_share_their_deltas_under_overload_too) {
    struct model model = {.other_us = TICK_US / 2}; // snapshots are linear, and none is left out
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CROWD, 20, 32);
    struct scenario *scenario = scenario_create(&config);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.host_ticked = note_work}, &model);
    for (unsigned i = 0; i < CROWD; i++) {
        struct hc_network_sim_config link = hc_sim_link(20 + 130 * i / CROWD, 0);
        hc_sim_set_link(scenario->sim, i, &link, &link);
        ck_assert(hc_sim_connect(scenario->sim, i));
    }
    hc_sim_run(scenario->sim, 4 * SECOND_US);
    ck_assert_uint_eq(overload_of(scenario)->snapshots, 0);
    double before = encoded_each(scenario);
    model.other_us = TICK_US * 9 / 10;
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    ck_assert_int_eq(overload_of(scenario)->level, HC_SERVER_OVERLOAD_REFUSE);
    uint64_t before_each[CROWD];
    for (unsigned i = 0; i < CROWD; i++)
        before_each[i] = hc_client_stats(hc_sim_client(scenario->sim, i))->snapshots;
    model.most = 0;
    double under = encoded_each(scenario);
    ck_assert_double_le(under, 1.5 * before);
    for (unsigned i = 0; i < CROWD; i++) // one in six snapshots of two seconds
        ck_assert_uint_ge(
            hc_client_stats(hc_sim_client(scenario->sim, i))->snapshots - before_each[i], 17);
    ck_assert_uint_le(model.most, CROWD / 2); // the clients' turns are spread over the ticks
    scenario_destroy(scenario);
}
END_TEST

/// Inputs that were refused within a second.
static uint64_t refused_in_a_second(struct scenario *scenario) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    uint64_t before = stats->inputs_refused;
    hc_sim_run(scenario->sim, SECOND_US);
    return stats->inputs_refused - before;
}

START_TEST(storm_of_rewinds_refuses_the_latest_inputs_and_all_still_agree) {
    struct model model = {.snapshot_us = 0};
    struct scenario *scenario = begin(&model, 400);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_eq(refused_in_a_second(scenario), 0);
    model.advance_us = 5 * TICK_US; // a part of it counts as rewinds
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_gt(refused_in_a_second(scenario), 40);
    ck_assert_uint_gt(overload_of(scenario)->late_limited_ticks, 60);
    model.advance_us = 0;
    hc_sim_run(scenario->sim, 4 * SECOND_US);
    ck_assert_uint_eq(refused_in_a_second(scenario), 0);
    check_end(scenario);
}
END_TEST

START_TEST(client_with_the_latest_inputs_is_named) {
    struct model model = {.snapshot_us = 0};
    struct scenario *scenario = begin(&model, 120);
    const struct hc_server_latest *latest = &hc_server_stats(hc_sim_host(scenario->sim))->latest;
    ck_assert_uint_gt(latest->ticks, 60);
    uint64_t user = latest->client_id >> 32; // the simulator's: number + 1
    ck_assert(user == FAR + 1 || user == FAR + 2);
    check_end(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("overload");
    TCase *tests = tcase_create("overload");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, little_too_much_work_takes_snapshots_of_far_clients_alone);
    tcase_add_test(tests, moderate_load_makes_snapshots_linear_and_all_still_agree);
    tcase_add_test(tests, much_too_much_work_takes_snapshots_of_all_and_ends_within_two_seconds);
    tcase_add_test(tests, new_client_is_refused_as_long_as_fewer_snapshots_do_not_suffice);
    tcase_add_test(tests, storm_of_rewinds_refuses_the_latest_inputs_and_all_still_agree);
    tcase_add_test(tests, client_with_the_latest_inputs_is_named);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, clients_that_see_the_same_share_their_deltas_under_overload_too);
    return run_suite(suite);
}
