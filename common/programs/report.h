/// What the final reports of all programs are made of, as JSON. What is not known is null.
///
/// Every function returns an object of its own, which the caller releases or hands on.
#pragma once

#include "hindcast/histogram.h"
#include "hindcast/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/// IPv4 and UDP headers, bytes: counted for every datagram beside its own bytes.
enum { HC_REPORT_OVERHEAD = 28 };

/// `part / whole`; null where there is no whole.
json_t *hc_report_ratio(double part, double whole);

/// An object of these keys, of which nothing is known; `keys` ends with NULL.
json_t *hc_report_unknown(const char *const *keys);

/// p50, p90, p99 and max in the histogram's unit divided by `unit` (whole numbers when that is 1),
/// null of an empty one, and count.
json_t *hc_report_histogram(const struct hc_histogram *values, double unit);

/// What hc_report_histogram would say of a histogram that is elsewhere: all null.
json_t *hc_report_unknown_histogram(void);

/// Datagrams refused, by the text of the cause; causes that never occurred are left out.
json_t *hc_report_rejected(const uint64_t counts[HC_STATUS_COUNT]);

/// Processor time of this process, user and system.
uint64_t hc_report_cpu_us(void);

// ---- Verdict ------------------------------------------------------------------------------------

/// Adds a reason why a run was not good to the array `reasons`, unless `count` is 0: its `key`, for
/// programs, and a text, formatted as by printf.
__attribute__((format(printf, 4, 5))) void
hc_report_reason(json_t *reasons, uint64_t count, const char *key, const char *format, ...);

/// Adds the reasons that lie in the server's part of a report. Ticks over their budget are one if
/// they are more than one in a thousand.
void hc_report_judge_server(json_t *reasons, const json_t *server);

/// The verdict, `{ok, text, reasons}`. It takes `reasons` over; without any the run was good. The
/// text is one line that begins with "OK: " or "NOT OK: ". `server` is the server's part of the
/// report; NULL: it has none.
json_t *hc_report_verdict(json_t *reasons, const json_t *server);

/// Whether a whole report's verdict is good.
bool hc_report_ok(const json_t *report);

// ---- Tables for people --------------------------------------------------------------------------
// docs/REPORT.md explains each line. A line of which nothing is known is left out.

/// The value at a path such as "server.inputs.late"; NULL: there is none, or it is null.
const json_t *hc_report_find(const json_t *report, const char *path);

/// The number at a path; 0 where there is none.
double hc_report_number(const json_t *report, const char *path);

/// Prints a line: its label, and a text formatted as by printf.
__attribute__((format(printf, 3, 4))) void hc_report_line(FILE *out, const char *label,
                                                          const char *format, ...);

/// Prints a line with the median and the other percentiles of the histogram at `path`, if it holds
/// any value: `unit` follows the median, `end` the rest.
void hc_report_line_histogram(FILE *out, const json_t *report, const char *label, const char *path,
                              int decimals, const char *unit, const char *end);

/// Prints the line with the bytes of each client, if there were any.
void hc_report_print_bandwidth(FILE *out, const json_t *report);

/// Prints the lines of the server's part.
void hc_report_print_server(FILE *out, const json_t *report);

/// Whether a report could be written to `path` as things stand; makes the file if there is none.
bool hc_report_can_write(const char *path);

/// Writes the report to the file at `path`, "-" for standard output; false: it could not be.
bool hc_report_write(const json_t *report, const char *path);
