/// Tests client/bots/compare: which figures are worse, by how much, and in which direction.
#define _GNU_SOURCE // mkstemp

#include "client/bots/compare.h"
#include "client/bots/figures.h"
#include "client/bots/report.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// A report of a run with some figures.
static json_t *report_of(double tick_p99, double matched, double stalls) {
    static const struct hc_cl_fleet_result none = {.first = HC_NO_TICK};
    static const struct hc_cl_options options = {.clients = 2};
    json_t *report = hc_cl_report_json("hindcast-load", "0", &options, &none, NULL, "");
    json_t *server = json_object_get(report, "server"), *client = json_object_get(report, "client");
    json_object_set_new(json_object_get(server, "tick_ms"), "p99", json_real(tick_p99));
    json_object_set_new(json_object_get(server, "tick_ms"), "max", json_real(100 * tick_p99));
    json_object_set_new(client, "snapshots_matched", json_real(matched));
    json_object_set_new(client, "stalls", json_real(stalls));
    json_object_set_new(report, "duration_ms", json_integer(10000));
    return report;
}

/// The sentences on what is worse, with "; " between. Releases both reports.
static const char *worse_of(json_t *old, json_t *now, double tolerance) {
    static char text[1000];
    json_t *comparison = hc_cl_compare(old, now, tolerance), *sentence;
    size_t index;
    *text = '\0';
    json_array_foreach(json_object_get(comparison, "worse"), index, sentence) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", index > 0 ? "; " : "",
                 json_string_value(sentence));
    }
    json_array_foreach(json_object_get(comparison, "other_load"), index, sentence) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "load: %s", json_string_value(sentence));
    }
    ck_assert_int_eq(json_is_true(json_object_get(comparison, "ok")), *text == '\0');
    json_decref(comparison);
    json_decref(old);
    json_decref(now);
    return text;
}

START_TEST(a_report_is_not_worse_than_itself) {
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(1, 100, 0), 0), "");
}
END_TEST

START_TEST(a_figure_is_worse_beyond_the_tolerance_in_its_direction) {
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(1.1, 100, 0), 11), "");
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(1.2, 100, 0), 11),
                     "server.tick_ms.p99 was 1, and is 1.2");
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(0.1, 100, 0), 0), "");
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(1, 80, 0), 10),
                     "client.snapshots_matched was 100, and is 80");
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(1, 150, 0), 10), "");
    // No percentage of 0 allows anything.
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), report_of(1, 100, 1), 1000),
                     "client.stalls was 0, and is 1");
}
END_TEST

START_TEST(a_difference_as_of_one_tick_is_not_worse) {
    ck_assert_str_eq(worse_of(report_of(0.01, 100, 0), report_of(0.1, 100, 0), 0), "");
    ck_assert_str_eq(worse_of(report_of(0.01, 100, 0), report_of(0.12, 100, 0), 0),
                     "server.tick_ms.p99 was 0.01, and is 0.12");
    ck_assert(hc_cl_figures_grain("server.longest_unsent_ticks") == 1);
    ck_assert(hc_cl_figures_grain("client.input_delay_ticks.p50") == 1);
    ck_assert(hc_cl_figures_grain("server.ticks_missed") == 0);
    ck_assert(hc_cl_figures_grain("server.memory_bytes") == 0);
}
END_TEST

START_TEST(a_figure_that_is_not_known_any_more_is_worse) {
    json_t *now = report_of(1, 100, 0);
    json_object_set_new(json_object_get(json_object_get(now, "server"), "tick_ms"), "p99",
                        json_null());
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), now, 10),
                     "server.tick_ms.p99 was 1, and has no value");
    now = report_of(1, 100, 0);
    json_object_del(json_object_get(now, "client"), "stalls");
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), now, 10),
                     "client.stalls was 0, and has no value");
    json_t *old = report_of(1, 100, 0);
    json_object_del(json_object_get(old, "client"), "stalls");
    ck_assert_str_eq(worse_of(old, report_of(1, 100, 5), 10), "");
}
END_TEST

START_TEST(a_run_of_another_load_is_not_ok) {
    json_t *more = report_of(1, 100, 0), *shorter = report_of(1, 100, 0), *alike;
    json_object_set_new(more, "clients", json_integer(3));
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), more, 10), "load: clients was 2, and is 3");
    json_object_set_new(shorter, "duration_ms", json_integer(9000));
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), shorter, 10),
                     "load: duration_ms was 10000, and is 9000");
    json_t *busier = report_of(1, 100, 0);
    json_object_set_new(json_object_get(json_object_get(busier, "load"), "settings"), "churn",
                        json_string("4"));
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), busier, 10),
                     "load: load.settings.churn was \"0\", and is \"4\"");
    alike = report_of(1, 100, 0);
    json_object_set_new(alike, "duration_ms", json_integer(10020));
    json_object_set_new(alike, "seed", json_integer(7));
    ck_assert_str_eq(worse_of(report_of(1, 100, 0), alike, 10), "");
}
END_TEST

START_TEST(a_tolerance_is_a_percentage) {
    double percent = -1;
    ck_assert(hc_cl_compare_tolerance("10%", &percent) && percent == 10);
    ck_assert(hc_cl_compare_tolerance("0", &percent) && percent == 0);
    ck_assert(hc_cl_compare_tolerance("2.5%", &percent) && percent == 2.5);
    ck_assert(hc_cl_compare_tolerance("1000%", &percent) && percent == 1000);
    static const char *const wrong[] = {"", "%", "-1%", "1001", "10%%", "ten", "1 %", "1e2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!hc_cl_compare_tolerance(wrong[i], &percent), "%s", wrong[i]);
}
END_TEST

START_TEST(only_a_report_of_a_load_test_is_compared) {
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"{", "'"},
        {"{}", "is no report that hindcast-load --json wrote"},
        {"{\"program\": \"hindcastd\", \"schema_version\": 1}", "is no report that hindcast-load"},
        {"{\"program\": \"hindcast-load\", \"schema_version\": 999}", "has schema_version 999"},
    };
    char path[] = "/tmp/compare.XXXXXX", why[1000];
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FILE *file = fopen(path, "w");
        fputs(rows[i].text, file);
        fclose(file);
        ck_assert_ptr_null(hc_cl_compare_read(path, why, sizeof why));
        ck_assert_msg(strstr(why, rows[i].part) != NULL && strstr(why, path) != NULL, "%s", why);
    }
    json_t *report = report_of(1, 2, 3);
    json_dump_file(report, path, 0);
    json_t *back = hc_cl_compare_read(path, why, sizeof why);
    ck_assert_ptr_nonnull(back);
    json_decref(back);
    json_decref(report);
    unlink(path);
    ck_assert_ptr_null(hc_cl_compare_read(path, why, sizeof why));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");
    tcase_add_test(tests, a_report_is_not_worse_than_itself);
    tcase_add_test(tests, a_figure_is_worse_beyond_the_tolerance_in_its_direction);
    tcase_add_test(tests, a_difference_as_of_one_tick_is_not_worse);
    tcase_add_test(tests, a_figure_that_is_not_known_any_more_is_worse);
    tcase_add_test(tests, a_run_of_another_load_is_not_ok);
    tcase_add_test(tests, a_tolerance_is_a_percentage);
    tcase_add_test(tests, only_a_report_of_a_load_test_is_compared);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
