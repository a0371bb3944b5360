/// The figures of a report: its numbers, each with a path such as "server.inputs.late", in which a
/// number is the place in an array.
///
/// Numbers, true (1) and false (0) are figures; a null is a figure without a value.
#pragma once

#include "common/programs/counters.h"

#include <stdbool.h>

enum { HC_CL_FIGURES_PATH_MAX = 160 }; ///< bytes of a path, with its terminator

/// The value at a path, borrowed; NULL: there is none. A null is a value.
const json_t *hc_cl_figures_find(const json_t *report, const char *path);

/// Whether a value is a figure, perhaps without a value.
bool hc_cl_figures_is(const json_t *value);

/// The number of a figure. False: it has no value, or is none.
bool hc_cl_figures_number(const json_t *value, double *number);

/// Calls `visit` for each figure of a report, in its order.
void hc_cl_figures_walk(const json_t *report,
                        void (*visit)(void *context, const char *path, const json_t *value),
                        void *context);

/// Which of two values of a figure is better, by the lists of counters: of a histogram, its
/// percentiles p50, p90 and p99 have the direction of the list.
enum hc_counter_better hc_cl_figures_better(const char *path);

/// The greatest difference of two values of a figure that says nothing: 0.1 of times in ms, and 1
/// of a length in ticks; otherwise 0. Sums are counts, of which each one counts.
double hc_cl_figures_grain(const char *path);

/// Whether a condition may name `path`, by the `shape` of the report. Otherwise `why` says what is
/// wrong with it, and names the figures near it.
bool hc_cl_figures_check(const json_t *shape, const char *path, char *why, size_t why_size);
