// What the guesses of snapshots may take, of clients that share theirs and of one that does not.
#include "server/replication/extrapolation_budget.h"
#include "tests/run_suite.h"

#include <string.h>

enum { STEPS = 10, UNITS = 64, CLIENTS = 32, SAVED = 100000 };

static struct hc_sv_extrapolation_budget share;
static uint32_t saved[CLIENTS + 1];

static void set_up(void) {
    memset(&share, 0, sizeof share);
    memset(saved, 0, sizeof saved);
}

/// A snapshot that wants `wanted` guesses of `steps`; how many it gets.
static unsigned snapshot(unsigned client, uint32_t base_age, uint32_t steps, unsigned wanted) {
    struct hc_sv_extrapolation_cost guess =
        hc_sv_extrapolation_begin(&share, saved[client], base_age, 2, steps);
    unsigned got = 0;
    hc_sv_extrapolation_take(&guess, steps); // its own
    for (; got < wanted && hc_sv_extrapolation_fits(&guess, steps); got++)
        hc_sv_extrapolation_take(&guess, steps);
    saved[client] = hc_sv_extrapolation_end(&share, &guess, (1 + wanted) * steps, steps, SAVED);
    return got;
}

START_TEST(who_pays_first_for_what_all_share_is_not_short_of_guesses) {
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&share);
        unsigned got = snapshot(0, 8, STEPS, UNITS); // the others find them all
        ck_assert(tick < 2 || got == UNITS);
        for (unsigned i = 1; i < CLIENTS; i++)
            snapshot(i, 8, STEPS, 0);
    }
}
END_TEST

START_TEST(clients_that_share_nothing_have_all_they_need_if_all_need_it) {
    unsigned got = 0;
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&share);
        for (unsigned i = 0; i < CLIENTS; i++)
            got = snapshot(i, 8 + i, STEPS, UNITS);
    }
    ck_assert_uint_eq(got, UNITS);
}
END_TEST

START_TEST(one_that_shares_nothing_takes_twice_the_usual_at_most) {
    uint64_t others = 0, its = 0;
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&share);
        for (unsigned i = 0; i < CLIENTS; i++)
            others += (1 + snapshot(i, 8 + i, STEPS, STEPS)) * STEPS;
        its += (1 + snapshot(CLIENTS, 60, 2 * STEPS, UNITS)) * 2 * STEPS;
    }
    double ratio = (double)its / ((double)others / CLIENTS);
    ck_assert_msg(ratio < 2.3, "%f", ratio);
    ck_assert_uint_gt(its, 1000 * HC_SV_EXTRAPOLATION_MIN);
}
END_TEST

START_TEST(what_was_not_taken_is_saved_up_to_a_limit) {
    for (unsigned tick = 0; tick < 1000; tick++) {
        hc_sv_extrapolation_tick(&share);
        snapshot(0, 70, 0, 0); // nothing is guessed from so far
    }
    ck_assert_uint_eq(saved[0], SAVED);
    hc_sv_extrapolation_tick(&share);
    ck_assert_uint_eq(snapshot(0, 20, 20, UNITS), UNITS);
    ck_assert_uint_lt(saved[0], SAVED);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_guess_share");
    TCase *tests = tcase_create("guess share");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, who_pays_first_for_what_all_share_is_not_short_of_guesses);
    tcase_add_test(tests, clients_that_share_nothing_have_all_they_need_if_all_need_it);
    tcase_add_test(tests, one_that_shares_nothing_takes_twice_the_usual_at_most);
    tcase_add_test(tests, what_was_not_taken_is_saved_up_to_a_limit);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
