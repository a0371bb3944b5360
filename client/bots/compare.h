/// The comparison of a report with that of an earlier run (--compare): figures that are worse.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { HC_CL_COMPARE_TOLERANCE_MAX = 1000 }; ///< percent

/// Parses a tolerance such as "10%" or "2.5"; false: it is none in
/// [0, HC_CL_COMPARE_TOLERANCE_MAX].
bool hc_cl_compare_tolerance(const char *text, double *percent);

/// Reads the report of an earlier run, which the caller releases. NULL: it cannot be used, and
/// `why` is a sentence.
json_t *hc_cl_compare_read(const char *path, char *why, size_t why_size);

/// Compares two reports: `{ok, tolerance_pct, other_load, worse, figures}`, which the caller
/// releases. `figures` has an object for each figure that both or one of them has: `{path, old,
/// new, change_pct, better, worse}`. `change_pct` is null when the old value is 0 or one is not
/// known; `better` is "less", "more" or null. A figure is worse if it is not known any more, or on
/// the worse side of the old value by more than the tolerance. `worse` has a sentence for each of
/// these; `other_load` one for each part of the load that differs. It is OK when both are empty.
json_t *hc_cl_compare(const json_t *old, const json_t *new, double tolerance_pct);

/// Prints a comparison as a table: first the figures of which one value is better, then the others.
void hc_cl_compare_print(const json_t *comparison, FILE *out);
