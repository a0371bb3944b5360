/// The steps of --step: a table with a row for each, and the most clients that the server held.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/// The row of a step's report, which the caller releases.
json_t *hc_cl_steps_row(const json_t *report);

/// Prints the head of the table.
void hc_cl_steps_print_head(FILE *out);

/// Prints a row, with the reasons if the step was not held.
void hc_cl_steps_print_row(const json_t *row, FILE *out);

/// The result of all rows, `{ok, text, held_clients}`, which the caller releases. It is not OK when
/// no step was held, when the load test itself was the limit, or when the next step `failed`: it
/// could not be run, and has no row.
json_t *hc_cl_steps_verdict(const json_t *rows, bool failed);
