/// Tests client/bots/summary and client/bots/origin: what is written of a report is escaped, and no
/// secret of the command line is in it.
#define _GNU_SOURCE // open_memstream

#include "client/bots/origin.h"
#include "client/bots/summary.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

/// The output of `write` for the text, which the caller frees.
static char *written(void (*write)(FILE *out, const char *text), const char *text) {
    char *got = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&got, &size);
    write(out, text);
    fclose(out);
    return got;
}

/// Reads an attribute's value as an XML reader does; nothing in it is reserved.
static void unescape(const char *from, char *to) {
    static const struct {
        const char *escaped;
        char character;
    } rows[] = {{"&lt;", '<'},    {"&gt;", '>'},   {"&amp;", '&'},  {"&quot;", '"'},
                {"&apos;", '\''}, {"&#10;", '\n'}, {"&#13;", '\r'}, {"&#9;", '\t'}};
    while (*from != '\0') {
        size_t size = 1;
        *to = *from;
        ck_assert_msg(strchr("<>\"'", *from) == NULL && (unsigned char)*from >= 0x20, "%s", from);
        for (size_t i = 0; *from == '&' && i < sizeof rows / sizeof *rows; i++)
            if (strncmp(from, rows[i].escaped, strlen(rows[i].escaped)) == 0) {
                size = strlen(rows[i].escaped);
                *to = rows[i].character;
            }
        ck_assert_msg(*from != '&' || size > 1, "%s", from);
        from += size;
        to++;
    }
    *to = '\0';
}

START_TEST(an_xml_reader_gets_back_what_was_written) {
    static const char letters[] = "ab<>&\"'\n\r\t ;#lt\xc3\xa4";
    struct hc_rng rng = hc_rng_init(1, 0);
    char text[40], back[40];
    for (unsigned round = 0; round < 1000; round++) {
        unsigned length = hc_rng_below(&rng, sizeof text);
        for (unsigned i = 0; i < length; i++)
            text[i] = letters[hc_rng_below(&rng, sizeof letters - 1)];
        text[length] = '\0';
        char *escaped = written(hc_cl_summary_xml, text);
        unescape(escaped, back);
        ck_assert_str_eq(back, text);
        free(escaped);
    }
    char *escaped = written(hc_cl_summary_xml, "a\x01"
                                               "b\x1b[0m\xef\xbf\xbf"
                                               "c");
    ck_assert_str_eq(escaped, "a?b?[0m?c");
    free(escaped);
}
END_TEST

START_TEST(a_cell_of_markdown_ends_where_its_text_does) {
    char *cell = written(hc_cl_summary_cell, "a|b\nc <x> `d` \\ *e*");
    ck_assert_str_eq(cell, "a\\|b c \\<x\\> \\`d\\` \\\\ \\*e\\*");
    free(cell);
}
END_TEST

/// A report with outcomes of all kinds.
static json_t *report_of(void) {
    return json_pack(
        "{s:{s:b, s:s}, s:{s:b, s:s}, s:[{s:s, s:f, s:b, s:s}, {s:s, s:n, s:b, s:s}],"
        " s:{s:b, s:f, s:[s], s:[s], s:[{s:s, s:f, s:f, s:f, s:s, s:b}, {s:s, s:f, s:f, s:f, s:s, "
        "s:b}, {s:s, s:f, s:f, s:f, s:n, s:b}]}}",
        "verdict", "ok", 1, "text", "OK: \"a\" <b>", "steps_verdict", "ok", 0, "text", "NOT OK: &",
        "conditions", "condition", "a > 1", "value", 2.0, "ok", 0, "text", "a is 2 > 1",
        "condition", "b > 1", "value", "ok", 1, "text", "b", "comparison", "ok", 0, "tolerance_pct",
        10.0, "other_load", "clients was 1, and is 2", "worse", "x", "figures", "path", "x", "old",
        1.0, "new", 2.0, "change_pct", 100.0, "better", "less", "worse", 1, "path", "y", "old", 1.0,
        "new", 1.0, "change_pct", 0.0, "better", "more", "worse", 0, "path", "z", "old", 1.0, "new",
        3.0, "change_pct", 200.0, "better", "worse", 0);
}

static unsigned count_of(const char *text, const char *part) {
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

START_TEST(each_outcome_is_a_test_case) {
    char *text = NULL;
    size_t size = 0;
    json_t *report = report_of();
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(report);
    hc_cl_summary_junit(report, out);
    fclose(out);
    // The verdict, the steps, two conditions, the load, and two figures that have a direction.
    ck_assert_ptr_nonnull(strstr(text, " tests=\"7\" failures=\"4\" "));
    ck_assert_uint_eq(count_of(text, "<testcase "), 7);
    ck_assert_uint_eq(count_of(text, "<failure "), 4);
    ck_assert_ptr_nonnull(strstr(text, "message=\"NOT OK: &amp;\""));
    ck_assert_ptr_nonnull(
        strstr(text, "name=\"a &gt; 1\">\n      <failure message=\"a is 2 &gt; 1\"/>"));
    ck_assert_ptr_nonnull(
        strstr(text, "name=\"x\">\n      <failure message=\"it was 1, and is 2\"/>"));
    ck_assert_ptr_null(strstr(text, "name=\"z\""));
    free(text);
    out = open_memstream(&text, &size);
    hc_cl_summary_markdown(report, out);
    fclose(out);
    ck_assert_ptr_nonnull(
        strstr(text, "| a \\> 1 | 2 | **failed** |\n| b \\> 1 | unknown | passed |"));
    ck_assert_ptr_nonnull(strstr(text, "| x | 1 | 2 | +100.0 % | less |"));
    ck_assert_ptr_nonnull(strstr(text, "| z | 1 | 3 | +200.0 % |  |"));
    free(text);
    json_decref(report);
}
END_TEST

/// The recorded command line of these arguments, with NULL behind the last one.
static char *recorded(const char *const *arguments) {
    int count = 0;
    while (arguments[count] != NULL)
        count++;
    json_t *origin = hc_cl_origin(count, (char **)arguments);
    char *line = strdup(json_string_value(json_object_get(origin, "command_line")));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(origin, "date"))), 20);
    ck_assert_int_ge(json_integer_value(json_object_get(json_object_get(origin, "host"), "cores")),
                     1);
    json_decref(origin);
    return line;
}

static void is_recorded(const char *const *arguments, const char *wanted) {
    char *line = recorded(arguments);
    ck_assert_str_eq(line, wanted);
    free(line);
}

#define LINE(...) ((const char *const[]){"load", __VA_ARGS__, NULL})
#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

START_TEST(a_command_line_is_recorded_without_secrets) {
    is_recorded(LINE("--clients", "8", "--name", "A b"), "load --clients 8 --name 'A b'");
    is_recorded(LINE("--token", "SECRET", "--seed", "1"), "load --token HIDDEN --seed 1");
    is_recorded(LINE("--token=SECRET", "--key-file=SECRET"),
                "load --token=HIDDEN --key-file=HIDDEN");
    is_recorded(LINE("--tok", "SECRET", "--k", "SECRET"), "load --tok HIDDEN --k HIDDEN");
    is_recorded(LINE("--token", "--SECRET"), "load --token HIDDEN");
    is_recorded(LINE("--name", "a" KEY), "load --name HIDDEN");
    is_recorded(LINE("--name", KEY ".x"), "load --name HIDDEN.x");
    is_recorded(LINE("--server-args", "--history 32 --key-file SECRET --admin-password='SE CRET'"),
                "load --server-args '--history 32 --key-file HIDDEN --admin-password=HIDDEN'");
    is_recorded(LINE("--server-a=--audience 7 --admin-key SECRET"),
                "load '--server-a=--audience 7 --admin-key HIDDEN'");
}
END_TEST

START_TEST(no_place_of_a_secret_shows_it) {
    static const char *const options[] = {"--token", "--key-file",    "--tok",    "--key",
                                          "--name",  "--server-args", "--fail-if"};
    struct hc_rng rng = hc_rng_init(1, 0);
    char joined[200];
    for (unsigned round = 0; round < 500; round++) {
        const char *option = options[hc_rng_below(&rng, 7)];
        const char *inner[] = {KEY, "--key-file " KEY, "--a='" KEY "'", "x " KEY " y"};
        const char *value = inner[hc_rng_below(&rng, 4)];
        snprintf(joined, sizeof joined, "%s=%s", option, value);
        char *line = hc_rng_below(&rng, 2) == 0 ? recorded(LINE(option, value, "--seed", "1"))
                                                : recorded(LINE("--seed", "1", joined));
        ck_assert_msg(strstr(line, "0123456789abcdef") == NULL, "%s", line);
        free(line);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("summary");
    TCase *tests = tcase_create("summary");
    tcase_add_test(tests, an_xml_reader_gets_back_what_was_written);
    tcase_add_test(tests, a_cell_of_markdown_ends_where_its_text_does);
    tcase_add_test(tests, each_outcome_is_a_test_case);
    tcase_add_test(tests, a_command_line_is_recorded_without_secrets);
    tcase_add_test(tests, no_place_of_a_secret_shows_it);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
