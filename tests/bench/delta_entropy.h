/// Measures the size of sent values under an order-0 adaptive entropy coder, to compare deltas
/// with.
///
/// In every sent value each field of each entity has a residual against an estimate, and so have
/// the owner's input and its age; a flag says whether an entity is present. Each of these kinds of
/// symbol has an adaptive model that starts empty; a symbol costs the logarithm of its probability
/// there. Two models run side by side, and the cheaper one counts in the end: one over symbols,
/// with escapes to new ones (Moffat's method C), and one over the magnitude's number of bits (with
/// Krichevsky and Trofimov's estimator) and plain bits below that. Fields are estimated in three
/// ways, and the best one counts for each field: held as in the baseline, continued in a line
/// through the baseline and the tick sent before it, and extrapolated. As in deltas, an entity that
/// appears is estimated from its owner, and a field that repeats one of the input from that.
#pragma once

#include "server/state.h"

enum {
    BENCH_ESTIMATE_HELD,
    BENCH_ESTIMATE_LINEAR,
    BENCH_ESTIMATE_EXTRAPOLATED,
    BENCH_ESTIMATES,
    BENCH_BUCKETS = 34, ///< of magnitudes
};

/// An adaptive model of one kind of symbol.
struct bench_model {
    unsigned bits;    ///< symbols are in [0, 2^bits)
    uint32_t *counts; ///< [2^bits]
    uint64_t total, different;
    uint64_t buckets[BENCH_BUCKETS];
    double cost, bucket_cost; ///< bits so far, of either way
};

struct bench_entropy {
    uint8_t *extrapolated, *held; ///< memory for values of a unit
    uint64_t values, taken;       ///< measured, and the bits of their deltas
    /// [appears]: it is absent in the extrapolation.
    struct bench_model fields[2][HC_KINDS_MAX][HC_FIELDS_MAX][BENCH_ESTIMATES];
    struct bench_model there[2][HC_KINDS_MAX]; ///< [alive in the extrapolation]
    struct bench_model input[HC_FIELDS_MAX], age;
};

/// Initialises it for values of worlds like `world`. False: no memory.
bool bench_entropy_init(struct bench_entropy *entropy, const struct hc_world *world);
void bench_entropy_free(struct bench_entropy *entropy);

/// Measures all values of the snapshot that was just sent; `step` is the distance of two snapshots
/// in ticks.
void bench_entropy_take(struct bench_entropy *entropy, const struct hc_server *host, uint32_t step);

/// The bits of the cheaper of the two models.
double bench_model_bits(const struct bench_model *model);

/// The best of a field's estimates, by number, and its bits in `*bits`.
unsigned bench_entropy_best(const struct bench_entropy *entropy, unsigned appears, unsigned kind,
                            unsigned field, double *bits);

/// The bits of all symbols.
double bench_entropy_bits(const struct bench_entropy *entropy);
