/// What server/share promises: work in pieces takes its share of each tick, and little more.
#include "hindcast/rng.h"
#include "server/daemon/time_budget.h"
#include "tests/run_suite.h"

enum { LIMIT_US = 2000, TICKS = 20000 };

static struct hc_sv_time_budget share;

static void set_up(void) {
    share = (struct hc_sv_time_budget){.limit_us = LIMIT_US};
}

/// Does as many pieces of [shortest, longest] as there is time for, at most `most`; how many.
static unsigned work(struct hc_rng *rng, uint32_t shortest, uint32_t longest, unsigned most) {
    unsigned done = 0;
    for (; done < most && hc_sv_time_budget_lasts(&share); done++)
        hc_sv_time_budget_take(&share, shortest + hc_rng_below(rng, longest - shortest + 1));
    return done;
}

START_TEST(no_tick_takes_more_than_the_limit_by_more_than_a_piece_is_longer_than_those_before) {
    struct hc_rng rng = hc_rng_init(17, 0);
    for (unsigned i = 0; i < TICKS; i++) {
        uint32_t shortest = 1 + hc_rng_below(&rng, LIMIT_US / 2);
        uint32_t longest = shortest + hc_rng_below(&rng, 200);
        unsigned done = work(&rng, shortest, longest, UINT32_MAX);
        ck_assert_uint_ge(done, 1);
        ck_assert_uint_le(share.taken_us, LIMIT_US + (longest - shortest));
        ck_assert_uint_gt(share.taken_us, LIMIT_US - longest); // nothing that fits is left undone
        hc_sv_time_budget_renew(&share);
    }
    ck_assert_uint_eq(share.ticks_us.count, TICKS);
}
END_TEST

START_TEST(a_piece_longer_than_the_limit_is_the_only_one_of_its_tick) {
    struct hc_rng rng = hc_rng_init(18, 0);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_eq(work(&rng, LIMIT_US + 1, 10 * LIMIT_US, UINT32_MAX), 1);
        hc_sv_time_budget_renew(&share);
        ck_assert_uint_gt(work(&rng, 10, 10, UINT32_MAX), 100); // the next one has all its time
        hc_sv_time_budget_renew(&share);
    }
}
END_TEST

START_TEST(what_was_taken_is_told_of_every_tick_with_work_and_of_no_other) {
    struct hc_rng rng = hc_rng_init(19, 0);
    uint64_t busy = 0, sum_us = 0;
    for (unsigned i = 0; i < TICKS; i++) {
        unsigned done = work(&rng, 1, 100, hc_rng_below(&rng, 4));
        busy += done > 0;
        sum_us += share.taken_us;
        hc_sv_time_budget_renew(&share);
    }
    ck_assert_uint_lt(busy, TICKS);
    ck_assert_uint_eq(share.ticks_us.count, busy);
    ck_assert_uint_eq(share.ticks_us.sum, sum_us);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_share");
    TCase *tests = tcase_create("share");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(
        tests, no_tick_takes_more_than_the_limit_by_more_than_a_piece_is_longer_than_those_before);
    tcase_add_test(tests, a_piece_longer_than_the_limit_is_the_only_one_of_its_tick);
    tcase_add_test(tests, what_was_taken_is_told_of_every_tick_with_work_and_of_no_other);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
