/// Tests client/bots/plot: axes end at round numbers, and lines stay within the plot.
#define _GNU_SOURCE // open_memstream

#include "client/bots/plot.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

static struct hc_cl_plot_line line;

/// The SVG of a plot of `count` values, 1 s apart, with `limit`. The caller frees it.
static char *draw(const double *values, uint32_t count, double limit) {
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);
    line = (struct hc_cl_plot_line){.name = "a < b"};
    for (uint32_t i = 0; i < count; i++)
        hc_cl_plot_add(&line, i, 1, i + 1.0, values[i]);
    hc_cl_plot_write(out, &(struct hc_cl_plot){.title = "Title",
                                               .unit = "ms",
                                               .x_unit = "s",
                                               .from_zero = true,
                                               .limit = limit,
                                               .limit_name = "limit",
                                               .lines = &line,
                                               .count = 1});
    fclose(out);
    return text;
}

START_TEST(an_axis_ends_at_a_round_number_above_all_values) {
    char *text = draw((const double[]){1, 23, 37}, 3, 0);
    ck_assert_ptr_nonnull(strstr(text, ">40</text>"));
    ck_assert_ptr_null(strstr(text, ">50</text>"));
    ck_assert_ptr_nonnull(strstr(text, "a &lt; b"));
    ck_assert_ptr_nonnull(strstr(text, "data-y=\"1 23 37\""));
    free(text);
    text = draw((const double[]){0, 0.0004}, 2, 0);
    ck_assert_ptr_nonnull(strstr(text, ">0.0004</text>"));
    free(text);
}
END_TEST

START_TEST(all_points_are_within_the_plot) {
    static const double values[] = {0, 12345678, 3, 99999999, 7};
    char *text = draw(values, 5, 0), *at = strstr(text, " points=\"");
    ck_assert_ptr_nonnull(at);
    at += strlen(" points=\"");
    for (unsigned i = 0; i < 5; i++) {
        double x = strtod(at, &at), y = strtod(at + 1, &at);
        ck_assert(x >= 46 && x <= 508 && y >= 10 && y <= 166);
    }
    ck_assert_ptr_nonnull(strstr(text, ">100M</text>"));
    free(text);
}
END_TEST

START_TEST(a_limit_is_drawn_unless_it_would_flatten_the_line) {
    char *near = draw((const double[]){5}, 1, 16), *far = draw((const double[]){1}, 1, 16);
    ck_assert_ptr_nonnull(strstr(near, "path class=\"limit\""));
    ck_assert_ptr_null(strstr(far, "limit\""));
    free(near);
    free(far);
}
END_TEST

START_TEST(a_plot_without_points_has_a_sentence_instead) {
    char *text = draw(NULL, 0, 0);
    ck_assert_ptr_null(strstr(text, "<svg"));
    ck_assert_ptr_nonnull(strstr(text, "Not known"));
    free(text);
}
END_TEST

START_TEST(joined_values_are_their_mean) {
    line = (struct hc_cl_plot_line){.name = ""};
    for (uint32_t i = 0; i < 6; i++)
        hc_cl_plot_add(&line, i, 3, i, 10.0 * i);
    ck_assert_uint_eq(line.count, 2);
    ck_assert(line.x[0] > 0.99 && line.x[0] < 1.01 && line.y[0] > 9.9 && line.y[0] < 10.1);
    ck_assert(line.x[1] > 3.99 && line.x[1] < 4.01 && line.y[1] > 39.9 && line.y[1] < 40.1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("plot");
    TCase *plots = tcase_create("plots");
    tcase_add_test(plots, an_axis_ends_at_a_round_number_above_all_values);
    tcase_add_test(plots, all_points_are_within_the_plot);
    tcase_add_test(plots, a_limit_is_drawn_unless_it_would_flatten_the_line);
    tcase_add_test(plots, a_plot_without_points_has_a_sentence_instead);
    tcase_add_test(plots, joined_values_are_their_mean);
    suite_add_tcase(suite, plots);
    return run_suite(suite);
}
