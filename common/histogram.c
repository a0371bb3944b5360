/// The histogram's buckets, ranks and sums.
#include "hindcast/histogram.h"

#include "hindcast/check.h"

enum { SUB_BUCKETS = 1 << HC_HISTOGRAM_SUB_BITS };

/// The index of the highest bit set; `value` > 0.
static unsigned highest_bit(uint64_t value) {
    unsigned bit = 0;
    for (unsigned step = 32; step > 0; step /= 2)
        if (value >> step != 0) {
            value >>= step;
            bit += step;
        }
    return bit;
}

static unsigned bucket_of(uint64_t value) {
    if (value < SUB_BUCKETS)
        return (unsigned)value;
    unsigned shift = highest_bit(value) - HC_HISTOGRAM_SUB_BITS;
    // The highest bit stays in `value >> shift`: it skips the buckets below 32.
    return (shift << HC_HISTOGRAM_SUB_BITS) + (unsigned)(value >> shift);
}

/// The greatest value that falls into `bucket`.
static uint64_t bucket_top(unsigned bucket) {
    if (bucket < SUB_BUCKETS)
        return bucket;
    unsigned shift = (bucket >> HC_HISTOGRAM_SUB_BITS) - 1;
    uint64_t high_bits = SUB_BUCKETS + (bucket & (SUB_BUCKETS - 1));
    return (high_bits << shift) + ((UINT64_C(1) << shift) - 1);
}

static uint64_t add_saturated(uint64_t a, uint64_t b) {
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

void hc_histogram_record(struct hc_histogram *histogram, uint64_t value) {
    unsigned bucket = bucket_of(value);
    HC_ASSERT(bucket < HC_HISTOGRAM_BUCKETS);
    histogram->buckets[bucket]++;
    histogram->count++;
    histogram->sum = add_saturated(histogram->sum, value);
    if (value > histogram->max)
        histogram->max = value;
}

void hc_histogram_merge(struct hc_histogram *histogram, const struct hc_histogram *from) {
    for (unsigned i = 0; i < HC_HISTOGRAM_BUCKETS; i++)
        histogram->buckets[i] += from->buckets[i];
    histogram->count += from->count;
    histogram->sum = add_saturated(histogram->sum, from->sum);
    if (from->max > histogram->max)
        histogram->max = from->max;
}

uint64_t hc_histogram_mean(const struct hc_histogram *histogram) {
    return histogram->count == 0 ? 0 : histogram->sum / histogram->count;
}

uint64_t hc_histogram_up_to(const struct hc_histogram *histogram, uint64_t value) {
    uint64_t count = 0;
    for (unsigned bucket = 0; bucket < HC_HISTOGRAM_BUCKETS && bucket_top(bucket) <= value; bucket++)
        count += histogram->buckets[bucket];
    return count;
}

uint64_t hc_histogram_at_rank(const struct hc_histogram *histogram, uint64_t rank) {
    if (histogram->count == 0)
        return 0;
    HC_ASSERT(rank >= 1 && rank <= histogram->count);
    unsigned bucket = 0;
    for (uint64_t seen = histogram->buckets[0]; seen < rank; seen += histogram->buckets[bucket])
        bucket++;
    HC_ASSERT(bucket < HC_HISTOGRAM_BUCKETS);
    uint64_t top = bucket_top(bucket);
    return top < histogram->max ? top : histogram->max;
}

uint64_t hc_histogram_percentile(const struct hc_histogram *histogram, uint32_t permille) {
    HC_ASSERT(permille <= 1000);
    uint64_t count = histogram->count;
    // ceil(count * permille / 1000), in two parts that cannot overflow.
    uint64_t rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
    return hc_histogram_at_rank(histogram, rank == 0 ? 1 : rank);
}
