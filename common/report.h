/// What the final reports of all programs are made of, as JSON. What is not known is null.
///
/// Every function returns an object of its own, which the caller releases or hands on.
#pragma once

#include "common/histogram.h"
#include "common/status.h"

#include <jansson.h>

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
