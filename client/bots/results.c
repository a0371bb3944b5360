/// Owns the judgement of a report by the command line, and its files.
#include "client/bots/results.h"

#include "client/bots/compare.h"
#include "client/bots/origin.h"
#include "client/bots/report.h"
#include "client/bots/summary.h"
#include "common/programs/report.h"
#include "common/programs/standard.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_MAX = 4500 }; ///< bytes of a sentence with a path

/// Prints what is wrong with the command line, and exits.
__attribute__((format(printf, 2, 3), noreturn)) static void refuse(const char *program,
                                                                   const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(HC_CL_STATUS_USAGE);
}

// ---- Before the run -----------------------------------------------------------------------------

static void prepare_conditions(struct hc_cl_results *results, const char *version) {
    const struct hc_setting_texts *texts = &results->options->fail_if;
    const char *program = results->program;
    char why[WHY_MAX];
    json_t *shape = hc_cl_report_shape(program, version, results->options);
    for (unsigned i = 0; i < texts->count; i++) {
        struct hc_cl_condition *condition = &results->conditions[i];
        if (!hc_cl_condition_parse(texts->all[i], condition, why, sizeof(why)) ||
            !hc_cl_condition_check(condition, shape, why, sizeof(why)))
            refuse(program, "--fail-if '%s': %s", texts->all[i], why);
        if (!results->options->spawn && strncmp(condition->path, "server.", 7) == 0)
            refuse(program, "--fail-if '%s': only the server of --spawn reports its figures",
                   texts->all[i]);
    }
    json_decref(shape);
}

static void prepare_comparison(struct hc_cl_results *results) {
    const struct hc_cl_options *options = results->options;
    char why[WHY_MAX];
    if (!hc_cl_compare_tolerance(options->tolerance, &results->tolerance_pct))
        refuse(results->program, "--tolerance '%s': must be a percentage in [0, %d], such as 10%%",
               options->tolerance, HC_CL_COMPARE_TOLERANCE_MAX);
    if (options->compare == NULL)
        return;
    results->earlier = hc_cl_compare_read(options->compare, why, sizeof(why));
    if (results->earlier == NULL)
        refuse(results->program, "%s", why);
}

/// The files that the results go to, each with its option.
static void list_files(const struct hc_cl_options *options, const char *files[static 5][2]) {
    const char *const all[5][2] = {{"json", options->json},
                                   {"report", options->report},
                                   {"json-lines", options->json_lines},
                                   {"junit", options->junit},
                                   {"markdown", options->markdown}};
    memcpy(files, all, sizeof(all));
}

/// Exits if a file cannot be written.
static void check_files(const struct hc_cl_results *results) {
    const char *files[5][2], *standard = NULL;
    list_files(results->options, files);
    for (unsigned i = 0; i < 5; i++) {
        const char *path = files[i][1];
        if (path == NULL)
            continue;
        if (strcmp(path, "-") == 0 && standard != NULL)
            refuse(results->program, "--%s -: standard output has that of --%s", files[i][0],
                   standard);
        if (strcmp(path, "-") == 0)
            standard = files[i][0];
        else if (!hc_report_can_write(results->program, files[i][0], path))
            exit(HC_CL_STATUS_NOT_OK);
    }
}

void hc_cl_results_prepare(struct hc_cl_results *results, const char *program, const char *version,
                           const struct hc_cl_options *options, int argc, char **argv) {
    const char *lines = options->json_lines;
    *results = (struct hc_cl_results){
        .program = program, .options = options, .origin = hc_cl_origin(argc, argv)};
    prepare_conditions(results, version);
    prepare_comparison(results);
    check_files(results);
    if (lines == NULL)
        return;
    results->lines = strcmp(lines, "-") == 0 ? stdout : fopen(lines, "we");
    if (results->lines == NULL)
        exit(HC_CL_STATUS_NOT_OK); // it could be written a moment ago
}

FILE *hc_cl_results_out(const struct hc_cl_results *results) {
    const char *files[5][2];
    list_files(results->options, files);
    for (unsigned i = 0; i < 5; i++)
        if (files[i][1] != NULL && strcmp(files[i][1], "-") == 0)
            return stderr;
    return stdout;
}

// ---- After the run ------------------------------------------------------------------------------

/// Judges the conditions; false: one of them is true.
static bool judge_conditions(const struct hc_cl_results *results, json_t *report) {
    json_t *outcomes = json_array();
    bool good = true;
    for (unsigned i = 0; i < results->options->fail_if.count; i++) {
        json_t *outcome = hc_cl_condition_judge(&results->conditions[i], report);
        good = good && json_is_true(json_object_get(outcome, "ok"));
        json_array_append_new(outcomes, outcome);
    }
    json_object_set_new(report, "conditions", outcomes);
    return good;
}

/// Prints why the exit status is not 0, as the last lines of a job's log.
static void print_failures(const struct hc_cl_results *results, const json_t *report) {
    const json_t *comparison = json_object_get(report, "comparison");
    size_t index;
    json_t *outcome;
    json_array_foreach(json_object_get(report, "conditions"), index, outcome) {
        if (!json_is_true(json_object_get(outcome, "ok")))
            fprintf(stderr, "%s: --fail-if: %s\n", results->program,
                    json_string_value(json_object_get(outcome, "text")));
    }
    if (comparison != NULL && !json_is_true(json_object_get(comparison, "ok")))
        fprintf(stderr, "%s: --compare '%s': %zu figures are worse by more than %g %%%s\n",
                results->program, results->options->compare,
                json_array_size(json_object_get(comparison, "worse")), results->tolerance_pct,
                json_array_size(json_object_get(comparison, "other_load")) > 0
                    ? ", and the load was another one"
                    : "");
}

/// Compares the report with the earlier one; false: it is worse.
static bool judge_comparison(const struct hc_cl_results *results, json_t *report) {
    if (results->earlier == NULL)
        return true;
    json_t *comparison = hc_cl_compare(results->earlier, report, results->tolerance_pct);
    json_object_set_new(report, "comparison", comparison);
    return json_is_true(json_object_get(comparison, "ok"));
}

typedef void write_form(const json_t *report, FILE *out);

/// Writes a form of the report to `path` (NULL: not); false: it failed, with a sentence.
static bool write_file(const struct hc_cl_results *results, const char *option, const char *path,
                       write_form *form, const json_t *report) {
    if (path == NULL)
        return true;
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "we");
    bool good = out != NULL;
    if (good) {
        form(report, out);
        good = fflush(out) == 0 && ferror(out) == 0;
        if (!standard)
            good = fclose(out) == 0 && good;
    }
    if (!good)
        fprintf(stderr, "%s: --%s '%s': cannot be written: %s\n", results->program, option, path,
                strerror(errno != 0 ? errno : EIO));
    return good;
}

/// Writes the files of a report; false: writing failed, with a sentence on standard error.
static bool write_files(const struct hc_cl_results *results, const json_t *report,
                        const struct hc_cl_page_series *series) {
    const struct hc_cl_options *options = results->options;
    const char *program = results->program;
    bool good = options->json == NULL || hc_report_write(report, program, options->json);
    if (options->report != NULL && !hc_cl_page_write(report, series, options->report)) {
        fprintf(stderr, "%s: --report '%s': cannot be written: %s\n", program, options->report,
                strerror(errno));
        good = false;
    }
    good = write_file(results, "junit", options->junit, hc_cl_summary_junit, report) && good;
    return write_file(results, "markdown", options->markdown, hc_cl_summary_markdown, report) &&
           good;
}

enum hc_cl_status hc_cl_results_finish(const struct hc_cl_results *results, json_t *report,
                                       const struct hc_cl_page_series *series, bool good) {
    FILE *out = hc_cl_results_out(results);
    json_object_update(report, results->origin);
    bool passed = judge_conditions(results, report), same = judge_comparison(results, report);
    hc_cl_report_print(report, out);
    if (results->earlier != NULL)
        hc_cl_compare_print(json_object_get(report, "comparison"), out);
    good = hc_standard_flush(out, results->program) && good;
    print_failures(results, report);
    good = write_files(results, report, series) && good;
    if (!good)
        return HC_CL_STATUS_NOT_OK;
    if (!passed)
        return HC_CL_STATUS_CONDITION;
    return same ? HC_CL_STATUS_OK : HC_CL_STATUS_WORSE;
}

/// Writes the verdict alone, so that no file keeps the results of an earlier run.
static void put_verdict(const json_t *report, FILE *out) {
    fprintf(out, "%s\n", json_string_value(hc_report_find(report, "verdict.text")));
}

void hc_cl_results_fail(const struct hc_cl_results *results) {
    json_t *report = json_pack("{s:{s:b, s:s}}", "verdict", "ok", 0, "text",
                               "NOT OK: the run did not begin, see standard error");
    json_object_update(report, results->origin);
    const struct hc_cl_options *options = results->options;
    if (options->json != NULL)
        (void)hc_report_write(report, results->program, options->json);
    (void)write_file(results, "junit", options->junit, hc_cl_summary_junit, report);
    (void)write_file(results, "markdown", options->markdown, put_verdict, report);
    (void)write_file(results, "report", options->report, put_verdict, report);
    json_decref(report);
}

bool hc_cl_results_close(struct hc_cl_results *results) {
    bool good = true;
    if (results->lines != NULL) {
        good = fflush(results->lines) == 0 && ferror(results->lines) == 0;
        if (results->lines != stdout)
            good = fclose(results->lines) == 0 && good;
        if (!good)
            fprintf(stderr, "%s: --json-lines '%s': cannot be written\n", results->program,
                    results->options->json_lines);
    }
    json_decref(results->origin);
    json_decref(results->earlier);
    return good;
}
