/// Tests the margins of a client's inputs, and when they are reported.
#include "server/margin.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>

enum { UNIT_US = HC_MARGIN_UNIT_US, TICK_US = 16667, START_US = 100000000 };

static struct hc_sv_margin margin;
static struct hc_margin report;
static uint64_t now_us;
static hc_tick tick;

static void set_up(void) {
    margin = (struct hc_sv_margin){.any = false};
    now_us = START_US;
    tick = 1000;
}

/// The input of the next tick comes now, so much before the step that it drives.
static void input(int64_t early_us) {
    hc_sv_margin_input(&margin, tick++, now_us + (uint64_t)early_us, now_us);
}

/// The report of a snapshot that is made now, whether it is due or not.
static struct hc_margin present(void) {
    struct hc_sv_margin copy = margin;
    struct hc_margin made = {0};
    copy.reported = false;
    ck_assert(hc_sv_margin_report(&copy, now_us, &made));
    return made;
}

START_TEST(margins_are_rounded_down_to_units_and_limited) {
    static const struct {
        int64_t early_us;
        int16_t units;
    } cases[] = {{0, 0},
                 {UNIT_US - 1, 0},
                 {UNIT_US, 1},
                 {-1, -1},
                 {-UNIT_US, -1},
                 {-UNIT_US - 1, -2},
                 {INT16_MAX * (int64_t)UNIT_US, INT16_MAX},
                 {(INT16_MAX + 1) * (int64_t)UNIT_US, INT16_MAX},
                 {INT16_MIN * (int64_t)UNIT_US, INT16_MIN},
                 {INT16_MIN * (int64_t)UNIT_US - 1, INT16_MIN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_up();
        input(cases[i].early_us);
        struct hc_margin made = present();
        ck_assert_uint_eq(made.samples, 1);
        ck_assert_int_eq(made.low, cases[i].units);
        ck_assert_int_eq(made.median, cases[i].units);
    }
}
END_TEST

static int compare(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

/// Both are those of the sorted margins of the window, whatever came.
START_TEST(a_report_has_the_low_margin_and_the_median_of_its_window) {
    enum { MOST = 4000 };
    static uint64_t at_us[MOST];
    static int16_t units[MOST], sorted[MOST];
    for (uint32_t seed = 0; seed < 12; seed++) {
        struct hc_rng rng = hc_rng_init(7, seed);
        uint32_t range = 1 + hc_rng_below(&rng, 200), pause_us = 1 + hc_rng_below(&rng, 60000);
        set_up();
        for (uint32_t count = 1; count <= 800; count++) {
            now_us +=
                hc_rng_below(&rng, 200) == 0 ? HC_MARGIN_WINDOW_US : hc_rng_below(&rng, pause_us);
            int16_t value = (int16_t)(hc_rng_below(&rng, 2 * range) - range);
            input((int64_t)value * UNIT_US);
            at_us[count - 1] = now_us;
            units[count - 1] = value;
            uint32_t first = count > HC_MARGIN_SAMPLES ? count - HC_MARGIN_SAMPLES : 0;
            while (now_us >= at_us[first] + HC_MARGIN_WINDOW_US)
                first++;
            uint32_t kept = count - first;
            for (uint32_t i = 0; i < kept; i++)
                sorted[i] = units[first + i];
            qsort(sorted, kept, sizeof sorted[0], compare);
            struct hc_margin made = present();
            ck_assert_msg(made.samples == kept && made.low == sorted[kept * 2 / 100] &&
                              made.median == sorted[(kept - 1) / 2],
                          "seed %u, %u", seed, count);
        }
    }
}
END_TEST

/// Two of the 120 DATA of 2 s are the worst 2 %.
START_TEST(two_late_datagrams_do_not_lower_the_low_margin_and_the_third_does_at_once) {
    for (int i = 0; i < 120; i++, now_us += TICK_US)
        input(i % 2 == 0 ? 9000 : 8000);
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.low == 32);
    for (int i = 0; i < 2; i++, now_us += 100) {
        input(-40000);
        ck_assert(!hc_sv_margin_report(&margin, now_us, &report));
        ck_assert_int_eq(present().low, 32);
    }
    input(-30000);
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.low == -120);
}
END_TEST

START_TEST(an_input_that_came_before_has_no_margin) {
    input(5000);
    for (int i = 0; i < 3; i++) { // repeated later, and overtaken ones
        now_us += TICK_US;
        hc_sv_margin_input(&margin, tick - 1, START_US + 5000, now_us);
        hc_sv_margin_input(&margin, tick - 2, START_US + 5000 - TICK_US, now_us);
    }
    ck_assert_uint_eq(present().samples, 1);
    ck_assert_int_eq(present().low, 20);
}
END_TEST

START_TEST(a_report_is_due_at_once_when_margins_come_fall_or_cease) {
    ck_assert(!hc_sv_margin_report(&margin, now_us, &report));
    input(5000);
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.low == 20);
    input(9000);
    ck_assert(!hc_sv_margin_report(&margin, now_us + HC_MARGIN_REPORT_US - 1, &report));
    now_us += TICK_US;
    input(4999);
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.low == 19);
    ck_assert(!hc_sv_margin_report(&margin, now_us, &report));
    now_us += HC_MARGIN_REPORT_US;
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.samples == 3);
    now_us += HC_MARGIN_WINDOW_US - HC_MARGIN_REPORT_US - 1; // the newest one still counts
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.samples == 1);
    ck_assert(hc_sv_margin_report(&margin, now_us + 1, &report) && report.samples == 0);
    ck_assert(report.low == 0 && report.median == 0);
    now_us += 2;
    input(30000);
    ck_assert(hc_sv_margin_report(&margin, now_us, &report) && report.samples == 1);
}
END_TEST

START_TEST(any_stamps_and_times_are_taken_without_an_overflow) {
    static const uint64_t times[] = {0, 1, START_US, INT64_MAX, UINT64_MAX};
    static const hc_tick stamps[] = {0, 1, 1000, HC_NO_TICK - 1, HC_NO_TICK};
    struct hc_rng rng = hc_rng_init(8, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        if (i % 100 == 0)
            set_up();
        hc_sv_margin_input(&margin, i % 2 == 0 ? tick++ : stamps[hc_rng_below(&rng, 5)],
                           times[hc_rng_below(&rng, 5)], times[hc_rng_below(&rng, 5)]);
        if (hc_sv_margin_report(&margin, times[hc_rng_below(&rng, 5)], &report))
            ck_assert(report.samples <= HC_MARGIN_SAMPLES && report.low <= report.median);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server margin");
    TCase *tests = tcase_create("margin");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, margins_are_rounded_down_to_units_and_limited);
    tcase_add_test(tests, a_report_has_the_low_margin_and_the_median_of_its_window);
    tcase_add_test(tests,
                   two_late_datagrams_do_not_lower_the_low_margin_and_the_third_does_at_once);
    tcase_add_test(tests, an_input_that_came_before_has_no_margin);
    tcase_add_test(tests, a_report_is_due_at_once_when_margins_come_fall_or_cease);
    tcase_add_test(tests, any_stamps_and_times_are_taken_without_an_overflow);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
