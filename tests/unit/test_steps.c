/// Tests client/bots/steps: the result of steps that were held, not held, or not to be trusted.
#include "client/bots/steps.h"
#include "tests/run_suite.h"

#include <string.h>

/// A report of a step with `clients` clients that was not held for the reason `key`; NULL: held.
static json_t *report_of(int clients, const char *key) {
    json_t *reasons =
        key == NULL ? json_array() : json_pack("[{s:s, s:s}]", "key", key, "text", "");
    return json_pack("{s:i, s:{s:{s:b, s:o}}, s:{s:{s:f}}}", "clients", clients, "load", "held",
                     "ok", key == NULL, "reasons", reasons, "server", "tick_ms", "p99", 1.5);
}

/// Adds a row for each of `count` steps of 10, 20, 30 ... clients; returns the verdict.
static json_t *judge(const char *const *keys, int count, bool failed) {
    json_t *rows = json_array();
    for (int i = 0; i < count; i++) {
        json_t *report = report_of(10 * (i + 1), keys[i]);
        json_array_append_new(rows, hc_cl_steps_row(report));
        json_decref(report);
    }
    json_t *verdict = hc_cl_steps_verdict(rows, failed);
    json_decref(rows);
    return verdict;
}

static void check_verdict(json_t *verdict, bool ok, int held, const char *text) {
    const char *got = json_string_value(json_object_get(verdict, "text"));
    ck_assert_int_eq(json_is_true(json_object_get(verdict, "ok")), ok);
    ck_assert_int_eq(json_integer_value(json_object_get(verdict, "held_clients")), held);
    ck_assert_msg(strstr(got, text) != NULL, "%s", got);
    json_decref(verdict);
}

static void check(const char *const *keys, int count, bool ok, int held, const char *text) {
    check_verdict(judge(keys, count, false), ok, held, text);
}

START_TEST(a_step_that_could_not_be_run_is_not_the_limit_of_the_server) {
    static const char *const keys[] = {NULL, NULL};
    check_verdict(judge(keys, 2, true), false, 20, "the next step could not be run");
    check_verdict(judge(keys, 0, true), false, 0, "no step was held");
}
END_TEST

START_TEST(the_most_clients_are_those_of_the_last_step_that_was_held) {
    check((const char *const[]){NULL, NULL, "tick_work"}, 3, true, 20, "OK: 20 clients were held");
    check((const char *const[]){NULL, NULL}, 2, true, 20, "in the last step");
}
END_TEST

START_TEST(a_late_load_test_is_not_the_limit_of_the_server) {
    check((const char *const[]){NULL, "load_late"}, 2, false, 10, "the server may hold more");
}
END_TEST

START_TEST(no_step_that_was_held_is_not_ok) {
    check((const char *const[]){"snapshots"}, 1, false, 0, "no step was held");
    check(NULL, 0, false, 0, "no step was held");
}
END_TEST

START_TEST(a_row_has_null_for_what_the_report_does_not_know) {
    json_t *report = report_of(10, NULL), *row = hc_cl_steps_row(report);
    ck_assert(json_real_value(json_object_get(row, "tick_ms_p99")) == 1.5);
    ck_assert(json_is_null(json_object_get(row, "cpu_us_per_client_tick")));
    ck_assert(json_is_true(json_object_get(row, "held")));
    json_decref(row);
    json_decref(report);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("steps");
    TCase *result = tcase_create("result");
    tcase_add_test(result, a_step_that_could_not_be_run_is_not_the_limit_of_the_server);
    tcase_add_test(result, the_most_clients_are_those_of_the_last_step_that_was_held);
    tcase_add_test(result, a_late_load_test_is_not_the_limit_of_the_server);
    tcase_add_test(result, no_step_that_was_held_is_not_ok);
    tcase_add_test(result, a_row_has_null_for_what_the_report_does_not_know);
    suite_add_tcase(suite, result);
    return run_suite(suite);
}
