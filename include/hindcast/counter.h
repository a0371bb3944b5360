/// The lists of counters, in which each counter is said once.
///
/// A list such as HC_SERVER_COUNTERS calls X(name, kind, unit, key, sentence) for each of its
/// counters. `name` is the member of the statistics, `key` its place in the JSON of a report, and
/// `sentence` its description in docs/REPORT.md. The members, the sums over matches or clients, the
/// reports and that page come from the lists: a counter is added by one line. The kinds:
///
///   SUM        a count; the counts of several matches or clients add up
///   GAUGE      a present value; those of several add up
///   MAX        the greatest value; of several, the greatest
///   HISTOGRAM  a distribution; those of several are merged
///   MEAN       a struct hc_mean; that of several is of all their values
///   CAUSES     a SUM for each hc_status
///
/// LESS or MORE may follow the sentence: of two runs with the same load, the better one has less or
/// more of it. Without it, neither is better.
///
/// A counter is a plain member, so that counting costs no call. With the unit "ms" it counts
/// microseconds, and reports have milliseconds.
#pragma once

#include "hindcast/histogram.h"
#include "hindcast/status.h"

/// The mean of values.
struct hc_mean {
    uint64_t sum;
    uint64_t count; ///< of the values; 0: there is no mean
};

/// Declares the member of a counter: LIST(HC_COUNTER_MEMBER) declares all members of a list.
#define HC_COUNTER_MEMBER(name, kind, ...) HC_COUNTER_MEMBER_##kind(name)
#define HC_COUNTER_MEMBER_SUM(name) uint64_t name;
#define HC_COUNTER_MEMBER_GAUGE(name) uint64_t name;
#define HC_COUNTER_MEMBER_MAX(name) uint64_t name;
#define HC_COUNTER_MEMBER_HISTOGRAM(name) struct hc_histogram name;
#define HC_COUNTER_MEMBER_MEAN(name) struct hc_mean name;
#define HC_COUNTER_MEMBER_CAUSES(name) uint64_t name[HC_STATUS_COUNT];
