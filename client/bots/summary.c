/// Owns the forms of JUnit's XML and of Markdown.
#include "client/bots/summary.h"

#include "client/bots/report.h"
#include "common/programs/report.h"

#include <string.h>

static const char *text_of(const json_t *report, const char *path) {
    const char *text = json_string_value(hc_report_find(report, path));
    return text != NULL ? text : "";
}

static bool is_ok(const json_t *outcome) {
    return json_is_true(json_object_get(outcome, "ok"));
}

/// Whether one of two values of a figure is better, and there is an old one.
static bool has_direction(const json_t *figure) {
    return json_is_string(json_object_get(figure, "better")) &&
           json_is_number(json_object_get(figure, "old"));
}

// ---- JUnit --------------------------------------------------------------------------------------

/// Whether the three bytes at `text` are U+FFFE or U+FFFF, which are no characters of XML.
static bool is_no_character(const unsigned char *text) {
    return text[0] == 0xef && text[1] == 0xbf && (text[2] == 0xbe || text[2] == 0xbf);
}

void hc_cl_summary_xml(FILE *out, const char *text) {
    static const struct {
        char character;
        const char *escaped;
    } rows[] = {{'<', "&lt;"},    {'>', "&gt;"},   {'&', "&amp;"},  {'"', "&quot;"},
                {'\'', "&apos;"}, {'\n', "&#10;"}, {'\r', "&#13;"}, {'\t', "&#9;"}};
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        const char *escaped = NULL;
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
            if ((unsigned char)rows[i].character == *at)
                escaped = rows[i].escaped;
        if (escaped != NULL) {
            fputs(escaped, out);
        } else if (*at < 0x20) {
            fputc('?', out);
        } else if (is_no_character(at)) {
            fputc('?', out);
            at += 2;
        } else {
            fputc(*at, out);
        }
    }
}

/// The test cases of a suite; the first walk counts them, and the second one writes them.
struct cases {
    FILE *out; ///< NULL: they are counted
    unsigned count, failed;
};

/// Adds a test case. `why`: the failure; NULL: it has passed.
static void add_case(struct cases *cases, const char *class, const char *name, const char *why) {
    cases->count++;
    cases->failed += why != NULL;
    if (cases->out == NULL)
        return;
    fprintf(cases->out, "    <testcase classname=\"hindcast-load.%s\" name=\"", class);
    hc_cl_summary_xml(cases->out, name);
    if (why == NULL) {
        fputs("\"/>\n", cases->out);
        return;
    }
    fputs("\">\n      <failure message=\"", cases->out);
    hc_cl_summary_xml(cases->out, why);
    fputs("\"/>\n    </testcase>\n", cases->out);
}

/// Adds the figures of a comparison, and the loads.
static void add_comparison(struct cases *cases, const json_t *comparison) {
    size_t index;
    json_t *figure, *other;
    char why[128];
    if (comparison == NULL)
        return;
    if (json_array_size(json_object_get(comparison, "other_load")) == 0)
        add_case(cases, "compare", "the load is the same", NULL);
    json_array_foreach(json_object_get(comparison, "other_load"), index, other) {
        add_case(cases, "compare", "the load is the same", json_string_value(other));
    }
    json_array_foreach(json_object_get(comparison, "figures"), index, figure) {
        const json_t *now = json_object_get(figure, "new");
        bool worse = json_is_true(json_object_get(figure, "worse"));
        if (!has_direction(figure))
            continue;
        if (json_is_number(now))
            snprintf(why, sizeof(why), "it was %.9g, and is %.9g",
                     json_number_value(json_object_get(figure, "old")), json_number_value(now));
        else
            snprintf(why, sizeof(why), "it was %.9g, and has no value",
                     json_number_value(json_object_get(figure, "old")));
        add_case(cases, "compare", text_of(figure, "path"), worse ? why : NULL);
    }
}

static void add_cases(struct cases *cases, const json_t *report) {
    const json_t *conditions = json_object_get(report, "conditions");
    const json_t *steps = json_object_get(report, "steps_verdict");
    size_t index;
    json_t *condition;
    add_case(cases, "verdict", "verdict",
             hc_report_ok(report) ? NULL : text_of(report, "verdict.text"));
    if (steps != NULL)
        add_case(cases, "verdict", "steps", is_ok(steps) ? NULL : text_of(steps, "text"));
    json_array_foreach((json_t *)conditions, index, condition) {
        add_case(cases, "fail-if", text_of(condition, "condition"),
                 is_ok(condition) ? NULL : text_of(condition, "text"));
    }
    add_comparison(cases, json_object_get(report, "comparison"));
}

void hc_cl_summary_junit(const json_t *report, FILE *out) {
    static const char *const properties[] = {"version",        "command_line", "host.machine",
                                             "host.processor", "host.kernel",  "date"};
    struct cases counted = {.out = NULL}, written = {.out = out};
    char date[24];
    // JUnit's own schema has no zone in a date: it is UTC.
    snprintf(date, sizeof(date), "%.19s", text_of(report, "date"));
    add_cases(&counted, report);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
            "name=\"hindcast-load\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"0\" "
            "time=\"%.3f\" timestamp=\"%s\">\n    <properties>\n",
            counted.count, counted.failed, hc_report_number(report, "duration_ms") / 1e3, date);
    for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
        fprintf(out, "      <property name=\"%s\" value=\"", properties[i]);
        hc_cl_summary_xml(out, text_of(report, properties[i]));
        fputs("\"/>\n", out);
    }
    fputs("    </properties>\n", out);
    add_cases(&written, report);
    fputs("  </testsuite>\n</testsuites>\n", out);
}

// ---- Markdown -----------------------------------------------------------------------------------

void hc_cl_summary_cell(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '\r') {
            fputc(' ', out);
            continue;
        }
        if (strchr("\\`*_{}[]<>#|~&", *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_conditions(FILE *out, const json_t *conditions) {
    size_t index;
    json_t *condition;
    if (json_array_size(conditions) == 0)
        return;
    fputs("\n### Conditions\n\n| fails if | value | |\n|---|---:|---|\n", out);
    json_array_foreach((json_t *)conditions, index, condition) {
        const json_t *value = json_object_get(condition, "value");
        fputs("| ", out);
        hc_cl_summary_cell(out, text_of(condition, "condition"));
        if (json_is_number(value))
            fprintf(out, " | %.9g", json_number_value(value));
        else
            fputs(" | unknown", out);
        fprintf(out, " | %s |\n", is_ok(condition) ? "passed" : "**failed**");
    }
}

static void put_number(FILE *out, const json_t *value) {
    if (json_is_number(value))
        fprintf(out, " %.6g |", json_number_value(value));
    else
        fputs(" |", out);
}

static void put_change(FILE *out, const json_t *change) {
    if (json_is_number(change))
        fprintf(out, " %+.1f %% |", json_number_value(change));
    else
        fputs(" |", out);
}

/// Writes the rows of the figures that are worse, or of all others.
static void put_rows(FILE *out, const json_t *comparison, bool worse) {
    size_t index;
    json_t *figure;
    fputs("\n| figure | old | new | change | better |\n|---|---:|---:|---:|---|\n", out);
    json_array_foreach(json_object_get(comparison, "figures"), index, figure) {
        if (json_is_true(json_object_get(figure, "worse")) != worse)
            continue;
        fputs("| ", out);
        hc_cl_summary_cell(out, text_of(figure, "path"));
        fputs(" |", out);
        put_number(out, json_object_get(figure, "old"));
        put_number(out, json_object_get(figure, "new"));
        put_change(out, json_object_get(figure, "change_pct"));
        fprintf(out, " %s |\n", text_of(figure, "better"));
    }
}

static void put_comparison(FILE *out, const json_t *comparison) {
    size_t index, worse = json_array_size(json_object_get(comparison, "worse"));
    json_t *other;
    if (comparison == NULL)
        return;
    fprintf(out, "\n### Compared\n\n%zu figures are worse by more than %g %%.\n", worse,
            hc_report_number(comparison, "tolerance_pct"));
    json_array_foreach(json_object_get(comparison, "other_load"), index, other) {
        fputs("\n**Another load**: ", out);
        hc_cl_summary_cell(out, json_string_value(other));
        fputs(".\n", out);
    }
    if (worse > 0)
        put_rows(out, comparison, true);
    fputs("\n<details><summary>All other figures</summary>\n", out);
    put_rows(out, comparison, false);
    fputs("\n</details>\n", out);
}

/// Writes a row of a histogram, unless it has no values.
static void put_histogram(FILE *out, const json_t *report, const char *name, const char *path) {
    const json_t *values = hc_report_find(report, path);
    if (hc_report_find(values, "p50") == NULL)
        return;
    fprintf(out, "| %s | %.4g | %.4g | %.4g | %.4g |\n", name, hc_report_number(values, "p50"),
            hc_report_number(values, "p90"), hc_report_number(values, "p99"),
            hc_report_number(values, "max"));
}

void hc_cl_summary_markdown(const json_t *report, FILE *out) {
    const json_t *steps = json_object_get(report, "steps_verdict");
    fputs("## hindcast-load\n\n", out);
    hc_cl_summary_cell(out, text_of(report, "verdict.text"));
    fputs("\n\n", out);
    if (steps != NULL) {
        hc_cl_summary_cell(out, text_of(steps, "text"));
        fputs("\n\n", out);
    }
    hc_cl_report_print_held(report, out);
    fprintf(out, "  \n%.0f clients, %.1f s at %.0f Hz, ", hc_report_number(report, "clients"),
            hc_report_number(report, "duration_ms") / 1e3,
            hc_report_number(report, "tick_rate_hz"));
    hc_cl_report_print_link(report, out);
    fprintf(out, "  \n%s, ", text_of(report, "date"));
    hc_cl_report_print_host(report, out);
    fputs("  \n", out);
    hc_cl_summary_cell(out, text_of(report, "command_line"));
    fputs("\n", out);
    put_conditions(out, json_object_get(report, "conditions"));
    put_comparison(out, json_object_get(report, "comparison"));
    fputs("\n### Figures\n\n| | p50 | p90 | p99 | most |\n|---|---:|---:|---:|---:|\n", out);
    put_histogram(out, report, "round trip, ms", "rtt_ms");
    put_histogram(out, report, "age of the newest snapshot, ms", "snapshot_age_ms");
    put_histogram(out, report, "work of a tick, ms", "server.tick_ms");
    put_histogram(out, report, "start of a tick, ms late", "server.tick_lateness_ms");
    put_histogram(out, report, "time to join, ms", "load.join_ms");
    put_histogram(out, report, "load test, ms late", "load.lateness_ms");
}
