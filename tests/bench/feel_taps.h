/// The table "taps" of hc_bench feel: how many of short taps of a button count on the server.
#pragma once

#include <jansson.h>
#include <stdbool.h>

/// Prints the table and adds its rows to `json`. False: a match could not be played; it has printed
/// so.
bool feel_taps(json_t *json);
