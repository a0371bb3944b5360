/// The results of a load test: what its report is judged by, the files that it is written to, and
/// the exit status.
#pragma once

#include "client/bots/condition.h"
#include "client/bots/page.h"
#include "client/bots/second_lines.h"
#include "client/programs/options.h"

/// The exit status of hindcast-bot and hindcast-load.
enum hc_cl_status {
    HC_CL_STATUS_OK = 0,
    HC_CL_STATUS_NOT_OK = 1,    ///< the verdict is NOT OK, or a report could not be written
    HC_CL_STATUS_USAGE = 2,     ///< the command line is wrong
    HC_CL_STATUS_CONDITION = 3, ///< the verdict is OK, but a condition of --fail-if is true
    HC_CL_STATUS_WORSE = 4,     ///< neither, but --compare found figures that are worse
};

/// The wishes for the results of one run.
struct hc_cl_results {
    const char *program;
    const struct hc_cl_options *options;
    json_t *origin;  ///< see hc_cl_origin
    json_t *earlier; ///< the report of --compare; NULL: none
    double tolerance_pct;
    FILE *lines; ///< of --json-lines; NULL: none
    struct hc_cl_condition conditions[HC_SETTING_TEXTS_MAX];
};

/// Prepares the results before the run. Exits with HC_CL_STATUS_USAGE if a condition, the tolerance
/// or the earlier report cannot be used, and with HC_CL_STATUS_NOT_OK if a file cannot be written,
/// with a sentence on standard error. `program`, `version` and `options` are borrowed.
void hc_cl_results_prepare(struct hc_cl_results *results, const char *program, const char *version,
                           const struct hc_cl_options *options, int argc, char **argv);

/// The stream for people: standard error, if standard output has one of the files.
FILE *hc_cl_results_out(const struct hc_cl_results *results);

/// Judges a report, prints it, and writes it and its series to the files. `good`: the run itself
/// succeeded. Returns the exit status.
enum hc_cl_status hc_cl_results_finish(const struct hc_cl_results *results, json_t *report,
                                       const struct hc_cl_page_series *series, bool good);

/// Writes to the files of the report that the run did not begin, so that none keeps the results of
/// an earlier run.
void hc_cl_results_fail(const struct hc_cl_results *results);

/// Frees the results and closes the file of lines; false: a line could not be written, with a
/// sentence on standard error.
bool hc_cl_results_close(struct hc_cl_results *results);
