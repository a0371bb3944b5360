/// Tests of the figures of the overlay.
#include "client/view/figures.h"

#include "client/view/labels.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

static struct hc_cl_figure figures[HC_CL_FIGURE_COUNT];

static const char *value(enum hc_cl_figure_number number) {
    return figures[number].value;
}

START_TEST(figures_are_those_of_the_client_and_of_the_interval) {
    struct hc_cl_figures_source source = {
        .recent = {.rtt_us = 83400,
                   .rtt_min_us = 80000,
                   .margin_known = true,
                   .margin_low_us = -12300,
                   .margin_median_us = 3400,
                   .input_delay = 2,
                   .lead = 4,
                   .loss_up_ppm = 12000,
                   .loss_down_ppm = 0,
                   .snapshot_age_us = 16000,
                   .in_flight_bytes = 1234},
        .from = {.now_us = 1000000, .bytes_out = 1000, .late = 5, .reports = 10, .forced = 7},
        .to = {.now_us = 3000000,
               .bytes_out = 9000,
               .late = 10,
               .reports = 30,
               .forced = 8,
               .rollbacks = 4,
               .depth = 22,
               .snapshots = 60},
        .timing = {.input_delay_max = 3, .lead = 4},
        .tick_rate = 60};
    hc_cl_figures_write(&source, figures);
    ck_assert_str_eq(value(HC_CL_FIGURE_round_trip), "80/83 ms");
    ck_assert_str_eq(value(HC_CL_FIGURE_margin), "-12/3.4 ms");
    ck_assert_str_eq(value(HC_CL_FIGURE_input_delay), "2 auto");
    ck_assert_str_eq(value(HC_CL_FIGURE_lead), "4 ticks");
    ck_assert_str_eq(value(HC_CL_FIGURE_loss), "1.2/0 %");
    ck_assert_str_eq(value(HC_CL_FIGURE_age), "16 ms");
    ck_assert_str_eq(value(HC_CL_FIGURE_in_flight), "1.2k B");
    source.recent.in_flight_bound_bytes = 3000;
    hc_cl_figures_write(&source, figures);
    ck_assert_str_eq(value(HC_CL_FIGURE_in_flight), "1.2k/3k B");
    ck_assert_str_eq(value(HC_CL_FIGURE_late), "25 %");
    ck_assert_str_eq(value(HC_CL_FIGURE_forced), "0.5 /s");
    ck_assert_str_eq(value(HC_CL_FIGURE_rollbacks), "2 /s");
    ck_assert_str_eq(value(HC_CL_FIGURE_depth), "6 ticks");
    ck_assert_str_eq(value(HC_CL_FIGURE_up), "32 kbit/s");
    ck_assert_str_eq(value(HC_CL_FIGURE_snapshots), "30/60 Hz");
}
END_TEST

START_TEST(what_is_not_known_is_no_number) {
    struct hc_cl_figures_source source = {.tick_rate = 0};
    hc_cl_figures_write(&source, figures);
    ck_assert_str_eq(value(HC_CL_FIGURE_margin), "-");
    ck_assert_str_eq(value(HC_CL_FIGURE_late), "-");
    ck_assert_str_eq(value(HC_CL_FIGURE_up), "0 kbit/s");
}
END_TEST

START_TEST(large_numbers_are_short) {
    struct hc_cl_figures_source source = {.recent = {.rtt_us = UINT64_MAX,
                                                     .rtt_min_us = 1234567,
                                                     .margin_known = true,
                                                     .margin_low_us = INT32_MIN,
                                                     .margin_median_us = INT32_MIN,
                                                     .snapshot_age_us = 999499,
                                                     .predicted_ticks = 9999}};
    hc_cl_figures_write(&source, figures);
    ck_assert_str_eq(value(HC_CL_FIGURE_round_trip), "1.2k/18P ms");
    ck_assert_str_eq(value(HC_CL_FIGURE_margin), "-2M/-2M ms");
    ck_assert_str_eq(value(HC_CL_FIGURE_age), "999 ms");
    ck_assert_str_eq(value(HC_CL_FIGURE_predicted), "10k ticks");
}
END_TEST

START_TEST(titles_leave_a_gap_before_the_value) {
    struct hc_cl_figures_source source = {.tick_rate = 0};
    hc_cl_figures_write(&source, figures);
    for (unsigned i = 0; i < HC_CL_FIGURE_COUNT; i++)
        ck_assert_int_lt(hc_cl_labels_letters(figures[i].name), HC_CL_FIGURES_NAME);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_figures");
    TCase *tests = tcase_create("figures");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, figures_are_those_of_the_client_and_of_the_interval);
    tcase_add_test(tests, what_is_not_known_is_no_number);
    tcase_add_test(tests, large_numbers_are_short);
    tcase_add_test(tests, titles_leave_a_gap_before_the_value);
    return run_suite(suite);
}
