/// The table "laggard" of hc_bench feel: what one far client costs the others.
#pragma once

#include <jansson.h>
#include <stdbool.h>

/// Prints the table and adds its rows to `json`. False: a match could not be played, or a figure is
/// beyond ten times its bound.
bool feel_laggard(json_t *json);
