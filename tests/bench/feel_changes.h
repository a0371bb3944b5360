/// The table "changes" of hc_bench feel: when delay and lead are right again after a change.
#pragma once

#include <jansson.h>
#include <stdbool.h>

/// Prints the table and adds its rows to `json`. False: a match could not be played, or a figure is
/// beyond ten times its bound.
bool feel_changes(json_t *json);
