/// Tests server/daemon/time_budget: work in pieces takes its budget of each tick, and little more.
#include "hindcast/rng.h"
#include "server/daemon/time_budget.h"
#include "tests/run_suite.h"

enum { LIMIT_US = 2000, TICKS = 20000 };

static struct hc_sv_time_budget budget;

static void set_up(void) {
    budget = (struct hc_sv_time_budget){.limit_us = LIMIT_US};
}

/// Does pieces of [shortest, longest] us while the budget lasts, at most `most`, and returns their
/// number.
static unsigned work(struct hc_rng *rng, uint32_t shortest, uint32_t longest, unsigned most) {
    unsigned done = 0;
    for (; done < most && hc_sv_time_budget_lasts(&budget); done++)
        hc_sv_time_budget_take(&budget, shortest + hc_rng_below(rng, longest - shortest + 1));
    return done;
}

START_TEST(a_tick_exceeds_the_limit_at_most_by_the_growth_of_its_longest_piece) {
    struct hc_rng rng = hc_rng_init(17, 0);
    for (unsigned i = 0; i < TICKS; i++) {
        uint32_t shortest = 1 + hc_rng_below(&rng, LIMIT_US / 2);
        uint32_t longest = shortest + hc_rng_below(&rng, 200);
        unsigned done = work(&rng, shortest, longest, UINT32_MAX);
        ck_assert_uint_ge(done, 1);
        ck_assert_uint_le(budget.taken_us, LIMIT_US + (longest - shortest));
        ck_assert_uint_gt(budget.taken_us, LIMIT_US - longest); // no piece that fits is left out
        hc_sv_time_budget_renew(&budget);
    }
    ck_assert_uint_eq(budget.ticks_us.count, TICKS);
}
END_TEST

START_TEST(piece_longer_than_the_limit_is_the_only_one_of_its_tick) {
    struct hc_rng rng = hc_rng_init(18, 0);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_eq(work(&rng, LIMIT_US + 1, 10 * LIMIT_US, UINT32_MAX), 1);
        hc_sv_time_budget_renew(&budget);
        ck_assert_uint_gt(work(&rng, 10, 10, UINT32_MAX),
                          100); // the next tick has its whole budget
        hc_sv_time_budget_renew(&budget);
    }
}
END_TEST

START_TEST(histogram_records_every_tick_with_work_and_no_other) {
    struct hc_rng rng = hc_rng_init(19, 0);
    uint64_t busy = 0, sum_us = 0;
    for (unsigned i = 0; i < TICKS; i++) {
        unsigned done = work(&rng, 1, 100, hc_rng_below(&rng, 4));
        busy += done > 0;
        sum_us += budget.taken_us;
        hc_sv_time_budget_renew(&budget);
    }
    ck_assert_uint_lt(busy, TICKS);
    ck_assert_uint_eq(budget.ticks_us.count, busy);
    ck_assert_uint_eq(budget.ticks_us.sum, sum_us);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_time_budget");
    TCase *tests = tcase_create("time_budget");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_tick_exceeds_the_limit_at_most_by_the_growth_of_its_longest_piece);
    tcase_add_test(tests, piece_longer_than_the_limit_is_the_only_one_of_its_tick);
    tcase_add_test(tests, histogram_records_every_tick_with_work_and_no_other);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
