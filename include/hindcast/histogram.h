/// A log-linear histogram: counts of uint64 values with a bounded relative error and fixed size.
///
/// Each value below 32 has its own bucket; each power of two above has 32 equal buckets, so a
/// bucket is never wider than 1/32 of its values (the idea of HdrHistogram, G. Tene).
#pragma once

#include "hindcast/api.h"

#include <stdint.h>

HC_C_BEGIN

enum {
    HC_HISTOGRAM_SUB_BITS = 5, ///< log2 of the buckets in a power of two
    HC_HISTOGRAM_BUCKETS = (64 - HC_HISTOGRAM_SUB_BITS + 1) << HC_HISTOGRAM_SUB_BITS,
};

/// A histogram of 15 KiB; all zeros is an empty one.
struct hc_histogram {
    uint64_t count; ///< values recorded
    uint64_t max;   ///< exact; 0 when empty
    uint64_t sum;   ///< exact below UINT64_MAX, where it saturates
    uint64_t buckets[HC_HISTOGRAM_BUCKETS];
};

/// Counts `value` once.
HC_API void hc_histogram_record(struct hc_histogram *histogram, uint64_t value);

/// Adds the counts of `from`, as if its values had been recorded here.
HC_API void hc_histogram_merge(struct hc_histogram *histogram, const struct hc_histogram *from);

/// The number of values that are surely at most `value`: those of the buckets that hold no greater
/// ones. At most those in [value - value / 32, value] are missing; below 32 none.
HC_API uint64_t hc_histogram_up_to(const struct hc_histogram *histogram, uint64_t value);

/// The mean, rounded down; 0 when empty.
HC_API uint64_t hc_histogram_mean(const struct hc_histogram *histogram);

/// The value at `rank`, in [1, count], in ascending order: at least the exact v, at most v + v / 32
/// and at most `max`. 0 when empty.
HC_API uint64_t hc_histogram_at_rank(const struct hc_histogram *histogram, uint64_t rank);

/// The percentile of `permille`, in [0, 1000], by nearest rank, as exact as hc_histogram_at_rank;
/// 1000 gives `max`, and 0 the lowest value. 0 when empty.
HC_API uint64_t hc_histogram_percentile(const struct hc_histogram *histogram, uint32_t permille);

HC_C_END
