/// A yardstick for deltas: what the same values would take with an order-0 adaptive entropy coder.
///
/// Of every value told, each field of each entity has a residual against a guess, and so have the
/// owner's input and its age, and whether an entity is there has a flag. Each of these kinds of
/// symbol has an adaptive model of its own that begins knowing nothing, and costs the logarithm of
/// what that gives the symbol. Two models run side by side, and the cheaper one counts in the end:
/// one over symbols, with escapes to new ones (Moffat's method C), and one over the magnitude's
/// number of bits (with Krichevsky and Trofimov's estimator) and plain bits below that. Fields are
/// guessed three ways, and the best of them counts, for each field: held as in the baseline, gone
/// on in a line through it and the tick told before it, and solo. As in the deltas, who appears is
/// told against its owner, and what repeats a field of the input is told against that.
#pragma once

#include "proto/delta.h"
#include "server/host_internal.h"

enum {
    BENCH_GUESS_HOLD,
    BENCH_GUESS_LINEAR,
    BENCH_GUESS_SOLO,
    BENCH_GUESSES,
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

struct bench_yardstick {
    uint8_t *guess, *held, *scratch; ///< values of a unit
    struct hc_delta_counts counts;   ///< what the deltas took
    uint64_t values, lost;           ///< told; and of those that could not be looked at
    /// [appears]: it was not there in the guess.
    struct bench_model fields[2][HC_KINDS_MAX][HC_FIELDS_MAX][BENCH_GUESSES];
    struct bench_model there[2][HC_KINDS_MAX]; ///< [alive in the guess]
    struct bench_model input[HC_FIELDS_MAX], age;
};

/// For values of worlds like `world`. False: no memory.
bool bench_yardstick_init(struct bench_yardstick *yardstick, const struct hc_world *world);
void bench_yardstick_free(struct bench_yardstick *yardstick);

/// Takes all values that the snapshot just sent to `peer` has told; `step` is the distance of two
/// snapshots in ticks.
void bench_yardstick_take(struct bench_yardstick *yardstick, const struct hc_sv_host *host,
                          const struct hc_sv_peer *peer, uint32_t step);

/// The better of a model's ways.
double bench_model_bits(const struct bench_model *model);

/// The best of a field's guesses, by number, and what it takes.
unsigned bench_yardstick_best(const struct bench_yardstick *yardstick, unsigned appears,
                              unsigned kind, unsigned field, double *bits);

/// What everything takes.
double bench_yardstick_bits(const struct bench_yardstick *yardstick);
