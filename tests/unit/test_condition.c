/// Tests client/bots/condition: the syntax of --fail-if, its outcomes, and the figures that it
/// names.
#include "client/bots/condition.h"
#include "client/bots/report.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <string.h>

static struct hc_cl_condition parse(const char *text) {
    struct hc_cl_condition condition;
    char why[800] = "";
    ck_assert_msg(hc_cl_condition_parse(text, &condition, why, sizeof why), "%s: %s", text, why);
    return condition;
}

/// Whether the condition is OK, that is: false, in a report with the value at a.b.
static bool is_ok(const char *text, double value) {
    struct hc_cl_condition condition = parse(text);
    json_t *report = json_pack("{s:{s:f}}", "a", "b", value);
    json_t *outcome = hc_cl_condition_judge(&condition, report);
    bool ok = json_is_true(json_object_get(outcome, "ok"));
    ck_assert(json_real_value(json_object_get(outcome, "value")) == value);
    json_decref(outcome);
    json_decref(report);
    return ok;
}

START_TEST(each_operator_fails_where_it_is_true) {
    static const struct {
        const char *text;
        bool below, equal, above; ///< OK with 4, 5 and 6
    } rows[] = {
        {"a.b<5", false, true, true},    {" a.b <= 5 ", false, false, true},
        {"a.b>5", true, true, false},    {"a.b\t>=\t5", true, false, false},
        {"a.b==5.0", true, false, true}, {"a.b != 5e0", false, true, false},
        {"a.b>+5", true, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(is_ok(rows[i].text, 4) == rows[i].below, "%s", rows[i].text);
        ck_assert_msg(is_ok(rows[i].text, 5) == rows[i].equal, "%s", rows[i].text);
        ck_assert_msg(is_ok(rows[i].text, 6) == rows[i].above, "%s", rows[i].text);
    }
    ck_assert(!is_ok("a.b > -1.5", -1));
}
END_TEST

static void is_refused(const char *text, const char *part) {
    struct hc_cl_condition condition;
    char why[800] = "";
    ck_assert_msg(!hc_cl_condition_parse(text, &condition, why, sizeof why), "%s", text);
    ck_assert_msg(strstr(why, part) != NULL, "%s: %s", text, why);
}

START_TEST(what_is_no_condition_is_refused) {
    char longest[HC_CL_FIGURES_PATH_MAX + 8];
    static const char *const numbers[] = {"a>",    "a> ",   "a>x",     "a>1x", "a>1 2",
                                          "a>nan", "a>inf", "a>1e999", "a>-"};
    static const char *const operators[] = {"a=1",   "a=>1", "a=<1", "a<>1", "a!1",
                                            "a===1", "a>>1", "a",    "a "};
    static const char *const others[] = {"", " ", ">1", " >1"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        is_refused(numbers[i], "must have a number behind '>'");
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        is_refused(operators[i], "must have one of < <= > >= == != behind 'a'");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_refused(others[i], "must be a figure's path, an operator and a number");
    memset(longest, 'a', sizeof longest);
    memcpy(longest + sizeof longest - 4, ">1", 3);
    is_refused(longest, "must be a figure's path");
}
END_TEST

START_TEST(any_bytes_are_parsed_or_refused) {
    static const char letters[] = "ab.<>=!19+-e \t~";
    struct hc_rng rng = hc_rng_init(1, 0);
    struct hc_cl_condition condition;
    char text[24], why[800];
    unsigned parsed = 0;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned length = hc_rng_below(&rng, sizeof text);
        for (unsigned i = 0; i < length; i++)
            text[i] = letters[hc_rng_below(&rng, sizeof letters - 1)];
        text[length] = '\0';
        *why = '\0';
        bool good = hc_cl_condition_parse(text, &condition, why, sizeof why);
        ck_assert_int_eq(good, *why == '\0');
        parsed += good;
    }
    ck_assert_uint_gt(parsed, 20);
}
END_TEST

/// The sentence about a path that the report of hindcast-load does not have; or empty.
static const char *fault_of(const char *path) {
    static char why[800];
    static const struct hc_cl_options options = {.clients = 1};
    json_t *shape = hc_cl_report_shape("hindcast-load", "0", &options);
    *why = '\0';
    if (hc_cl_figures_check(shape, path, why, sizeof why))
        ck_assert_str_eq(why, "");
    json_decref(shape);
    return why;
}

START_TEST(an_unknown_path_names_the_figures_near_it) {
    ck_assert_str_eq(fault_of("rtt_ms.p99"), "");
    ck_assert_str_eq(fault_of("server.rejected.too old"), "");
    ck_assert_str_eq(fault_of("server.overload.ticks_by_level.3"), "");
    ck_assert_str_eq(fault_of("rtt_ms.p9"),
                     "there is no 'p9' in rtt_ms: it has p90, p99, p50, max, count");
    ck_assert_ptr_nonnull(strstr(fault_of("server.tick_mss.p99"), "in server: it has tick_ms,"));
    ck_assert_ptr_nonnull(strstr(fault_of("rtt.p99"), "there is no 'rtt' in the report: it has "));
    ck_assert_str_eq(fault_of("rtt_ms"), "'rtt_ms' is no number: it has p50, p90, p99, max, count");
    ck_assert_str_eq(fault_of("program"), "'program' is no number");
    ck_assert_ptr_nonnull(strstr(fault_of("rtt_ms.p99.x"), "there is no 'x' in rtt_ms.p99"));
    ck_assert_ptr_nonnull(strstr(fault_of("server.overload.ticks_by_level.x"), "'x' is no place"));
    ck_assert_ptr_nonnull(strstr(fault_of("rtt_ms."), "has no path of a figure"));
    ck_assert_ptr_nonnull(strstr(fault_of("rtt_ms..p99"), "has no path of a figure"));
}
END_TEST

START_TEST(a_figure_without_a_value_fails) {
    struct hc_cl_condition unknown = parse("a.c>5"), cause = parse("rejected.too old>5");
    json_t *report = json_pack("{s:{s:n}, s:{}}", "a", "c", "rejected");
    json_t *outcome = hc_cl_condition_judge(&unknown, report);
    ck_assert(json_is_false(json_object_get(outcome, "ok")));
    ck_assert_str_eq(json_string_value(json_object_get(outcome, "text")),
                     "a.c has no value, and the run fails if it is > 5");
    json_decref(outcome);
    outcome = hc_cl_condition_judge(&cause, report);
    ck_assert(json_is_true(json_object_get(outcome, "ok"))); // it did not occur
    json_decref(outcome);
    json_decref(report);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("condition");
    TCase *tests = tcase_create("condition");
    tcase_add_test(tests, each_operator_fails_where_it_is_true);
    tcase_add_test(tests, what_is_no_condition_is_refused);
    tcase_add_test(tests, any_bytes_are_parsed_or_refused);
    tcase_add_test(tests, an_unknown_path_names_the_figures_near_it);
    tcase_add_test(tests, a_figure_without_a_value_fails);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
