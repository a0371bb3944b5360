/// Work in a thread beside the event loop, such as the reading of a file, so that a hanging file
/// system delays no other event. One piece of work runs at a time.
///
/// Calls belong in this order, all in the loop's thread, where the callback runs too:
///     1. hc_sv_background_open
///     2. any number of hc_sv_background_start
///     3. hc_sv_background_close
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct hc_sv_background;

enum { HC_SV_BACKGROUND_WHY_MAX = 4500 }; ///< bytes of a sentence with a path

/// Does the work in its thread, and writes the result to `out`, which is all zeros before. False:
/// it failed, and `why` is a sentence.
typedef bool hc_sv_background_run(const void *order, void *out, char *why, size_t why_size);

/// A kind of work.
struct hc_sv_background_work {
    hc_sv_background_run *run;
    const void *order; ///< [order_size] borrowed; copied when the work begins
    size_t order_size;
    size_t out_size; ///< bytes of the result
};

/// The state of the work.
enum hc_sv_background_status {
    HC_SV_BACKGROUND_DONE,   ///< the work is done
    HC_SV_BACKGROUND_FAILED, ///< the work failed, and `why` is a sentence
    HC_SV_BACKGROUND_SLOW,   ///< the work takes long; one of the others follows
};

/// Reports the state of the work. `out` is borrowed for the call, and NULL unless the work is done;
/// `why` is NULL unless it failed.
typedef void hc_sv_background_done(void *context, enum hc_sv_background_status status,
                                   const void *out, const char *why);

/// Opens a place for work, which is slow after `slow_ms`. NULL: no memory or no descriptors.
struct hc_sv_background *hc_sv_background_open(struct event_base *base,
                                               const struct hc_sv_background_work *work,
                                               unsigned slow_ms, hc_sv_background_done *done,
                                               void *context);

/// Begins the work, and calls `done` in a later turn of the loop. Calls while it runs cause
/// together one more run after it. If no thread can be started, the work fails at once.
void hc_sv_background_start(struct hc_sv_background *background);

/// Whether the work runs; after its `done` it does not, unless it was begun again.
bool hc_sv_background_runs(const struct hc_sv_background *background);

/// Closes the place; `done` is not called for work that runs. NULL is allowed.
void hc_sv_background_close(struct hc_sv_background *background);
