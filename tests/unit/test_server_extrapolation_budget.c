/// The extrapolation budget of clients that share extrapolations, and of one that shares none.
#include "server/replication/extrapolation_budget.h"
#include "tests/run_suite.h"

#include <string.h>

enum { STEPS = 10, UNITS = 64, CLIENTS = 32, SAVED = 100000 };

static struct hc_sv_extrapolation_budget budget;
static uint32_t saved[CLIENTS + 1];

static void set_up(void) {
    memset(&budget, 0, sizeof budget);
    memset(saved, 0, sizeof saved);
}

/// A snapshot that wants `wanted` extrapolations of `steps`; returns how many it gets.
static unsigned snapshot(unsigned client, uint32_t base_age, uint32_t steps, unsigned wanted) {
    struct hc_sv_extrapolation_cost cost =
        hc_sv_extrapolation_begin(&budget, saved[client], base_age, 2, steps);
    unsigned got = 0;
    hc_sv_extrapolation_take(&cost, steps); // its own
    for (; got < wanted && hc_sv_extrapolation_fits(&cost, steps); got++)
        hc_sv_extrapolation_take(&cost, steps);
    saved[client] = hc_sv_extrapolation_end(&budget, &cost, (1 + wanted) * steps, steps, SAVED);
    return got;
}

START_TEST(the_first_to_encode_a_shared_delta_does_not_run_short) {
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&budget);
        unsigned got = snapshot(0, 8, STEPS, UNITS); // the others find them in the cache
        ck_assert(tick < 2 || got == UNITS);
        for (unsigned i = 1; i < CLIENTS; i++)
            snapshot(i, 8, STEPS, 0);
    }
}
END_TEST

START_TEST(clients_that_share_nothing_get_all_their_extrapolations_if_all_need_as_many) {
    unsigned got = 0;
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&budget);
        for (unsigned i = 0; i < CLIENTS; i++)
            got = snapshot(i, 8 + i, STEPS, UNITS);
    }
    ck_assert_uint_eq(got, UNITS);
}
END_TEST

START_TEST(one_client_that_shares_nothing_takes_little_more_than_the_median) {
    uint64_t others = 0, its = 0;
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&budget);
        for (unsigned i = 0; i < CLIENTS; i++)
            others += (1 + snapshot(i, 8 + i, STEPS, STEPS)) * STEPS;
        its += (1 + snapshot(CLIENTS, 60, 2 * STEPS, UNITS)) * 2 * STEPS;
    }
    double ratio = (double)its / ((double)others / CLIENTS);
    ck_assert_msg(ratio < 1.5, "%f", ratio);
    ck_assert_uint_gt(its, 1000 * HC_SV_EXTRAPOLATION_MIN);
}
END_TEST

START_TEST(a_client_saves_unspent_parts_up_to_a_limit) {
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&budget);
        snapshot(0, 70, 0, 0); // such old baselines are not extrapolated
    }
    ck_assert_uint_eq(saved[0], SAVED);
    hc_sv_extrapolation_tick(&budget);
    ck_assert_uint_eq(snapshot(0, 20, 20, UNITS), UNITS);
    ck_assert_uint_lt(saved[0], SAVED);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server extrapolation budget");
    TCase *tests = tcase_create("extrapolation budget");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, the_first_to_encode_a_shared_delta_does_not_run_short);
    tcase_add_test(tests,
                   clients_that_share_nothing_get_all_their_extrapolations_if_all_need_as_many);
    tcase_add_test(tests, one_client_that_shares_nothing_takes_little_more_than_the_median);
    tcase_add_test(tests, a_client_saves_unspent_parts_up_to_a_limit);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
