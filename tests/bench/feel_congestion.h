/// The table "congestion" of hc_bench feel: matches over narrow links and through dips.
#pragma once

#include <jansson.h>
#include <stdbool.h>

/// Prints the table and adds its rows to `json`. False: a match could not be played, or a figure is
/// beyond ten times its bound.
bool feel_congestion(json_t *json);
