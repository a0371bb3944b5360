/// Reads decimal numbers in text into fixed point, without floats or locale.
#pragma once

#include "hindcast/status.h"

#include <stdint.h>

enum {
    HC_DECIMAL_PLACES_MAX = 9, ///< digits after the point
};

/// Reads `text` into `*value` in units of 10^-places: "2.5" with 3 places is 2500. `text` is one
/// digit or more, which a point and 1 to `places` (at most HC_DECIMAL_PLACES_MAX) digits may
/// follow; it has no sign, blank or exponent.
/// HC_MALFORMED: any other text. HC_INVALID: the number needs more than 64 bits. `*value` is
/// written only with HC_OK.
enum hc_status hc_decimal_parse(const char *text, unsigned places, uint64_t *value);
