/// A log-linear histogram: counts of uint64 values with a bounded relative error and fixed size.
///
/// Values below 32 have a bucket each; every power of two above is cut into 32 equal buckets, so a
/// bucket is never wider than 1/32 of the values in it (the idea of HdrHistogram, G. Tene).
#pragma once

#include "hindcast/api.h"

#include <stdint.h>

HC_C_BEGIN

enum {
    HC_HISTOGRAM_SUB_BITS = 5, ///< log2 of the buckets in a power of two
    HC_HISTOGRAM_BUCKETS = (64 - HC_HISTOGRAM_SUB_BITS + 1) << HC_HISTOGRAM_SUB_BITS,
};

/// All zeros is an empty histogram. 15 KiB.
struct hc_histogram {
    uint64_t count; ///< values recorded
    uint64_t max;   ///< exact; 0 when empty
    uint64_t sum;   ///< exact up to UINT64_MAX, where it stays
    uint64_t buckets[HC_HISTOGRAM_BUCKETS];
};

/// Counts `value` once.
HC_API void hc_histogram_record(struct hc_histogram *histogram, uint64_t value);

/// Adds all that `from` has counted: as if each had been recorded here.
HC_API void hc_histogram_merge(struct hc_histogram *histogram, const struct hc_histogram *from);

/// The mean, rounded down; 0 when empty.
HC_API uint64_t hc_histogram_mean(const struct hc_histogram *histogram);

/// The value of rank `rank`, in [1, count], of all values in ascending order: at least the exact v
/// and at most v + v / 32, nor above `max`. 0 when empty.
HC_API uint64_t hc_histogram_at_rank(const struct hc_histogram *histogram, uint64_t rank);

/// The value that `permille`, in [0, 1000], of all values do not exceed (nearest rank), as exact as
/// hc_histogram_at_rank; 1000 gives `max`, and 0 the lowest value. 0 when empty.
HC_API uint64_t hc_histogram_percentile(const struct hc_histogram *histogram, uint32_t permille);

HC_C_END
