/// The common parts of all programs' final reports, as JSON; unknown values are null.
///
/// Each function that returns a json_t * returns a new object, which the caller owns.
#pragma once

#include "hindcast/histogram.h"
#include "hindcast/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    HC_REPORT_OVERHEAD = 28, ///< bytes of the IPv4 and UDP headers, counted for each datagram
    /// `schema_version`: it rises when a key goes, or when its meaning changes; not with new keys.
    HC_REPORT_SCHEMA = 1,
};

/// `part / whole`; null when `whole` is 0.
json_t *hc_report_ratio(double part, double whole);

/// An object with null for each key; `keys` ends with NULL.
json_t *hc_report_unknown(const char *const *keys);

/// p50, p90, p99, max and count of a histogram. The values are divided by `unit`, are integers when
/// `unit` is 1, and null when the histogram is empty.
json_t *hc_report_histogram(const struct hc_histogram *values, double unit);

/// The keys of hc_report_histogram, all null, for a histogram that this process does not have.
json_t *hc_report_unknown_histogram(void);

/// The counts of rejected datagrams, by the text of the cause, without zeros.
json_t *hc_report_rejected(const uint64_t counts[HC_STATUS_COUNT]);

/// Processor time of this process, user and system, in microseconds.
uint64_t hc_report_cpu_us(void);

// ---- Verdict ------------------------------------------------------------------------------------

/// Appends a reason for a NOT OK verdict to the array `reasons`, unless `count` is 0: a `key` for
/// programs and a text, formatted as by printf.
__attribute__((format(printf, 4, 5))) void
hc_report_reason(json_t *reasons, uint64_t count, const char *key, const char *format, ...);

/// Appends the reasons in the server's part of a report. Ticks over budget are a reason when they
/// are more than one in a thousand.
void hc_report_judge_server(json_t *reasons, const json_t *server);

/// The verdict, `{ok, text, reasons}`, which takes over the reference to `reasons`; it is OK when
/// they are empty. The text is one line that begins with "OK: " or "NOT OK: ". `server` is the
/// server's part of the report, or NULL.
json_t *hc_report_verdict(json_t *reasons, const json_t *server);

/// Whether the verdict of a whole report is OK.
bool hc_report_ok(const json_t *report);

// ---- Tables for people --------------------------------------------------------------------------
// docs/REPORT.md explains each line. Lines without known values are left out.

/// The value at a path such as "server.inputs.late", borrowed; NULL when there is none or it is
/// null.
const json_t *hc_report_find(const json_t *report, const char *path);

/// The number at a path; 0 when there is none.
double hc_report_number(const json_t *report, const char *path);

/// Prints a line: `label`, then a text formatted as by printf.
__attribute__((format(printf, 3, 4))) void hc_report_line(FILE *out, const char *label,
                                                          const char *format, ...);

/// Prints a line with the percentiles of the histogram at `path`, unless it is empty. `unit`
/// follows the median, and `end` the other percentiles.
void hc_report_line_histogram(FILE *out, const json_t *report, const char *label, const char *path,
                              int decimals, const char *unit, const char *end);

/// Prints the line with the bytes per client and second, if the report has them.
void hc_report_print_bandwidth(FILE *out, const json_t *report);

/// Prints the lines of the server's part.
void hc_report_print_server(FILE *out, const json_t *report);

/// Whether the file at `path`, given by `option` of `program`, can be opened for writing; creates
/// it if there is none. False: with a sentence on standard error.
bool hc_report_can_write(const char *program, const char *option, const char *path);

/// Writes the report to the file at `path`, "-" for standard output. False: it failed, with a
/// sentence on standard error.
bool hc_report_write(const json_t *report, const char *program, const char *path);
