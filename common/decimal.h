/// Decimal numbers as people write them, read into fixed point without floats or locale.
#pragma once

#include "hindcast/status.h"

#include <stdint.h>

enum {
    HC_DECIMAL_PLACES_MAX = 9, ///< places behind the point
};

/// Reads all of `text`, digits with at most `places` (in [0, HC_DECIMAL_PLACES_MAX]) more behind a
/// point, to `*value` in units of 10^-places: "2.5" with 3 places is 2500. No sign, no blank, no
/// exponent; at least one digit before the point and one behind it, if there is one.
/// HC_MALFORMED: anything else. HC_INVALID: more than 64 bits. Then nothing is written.
enum hc_status hc_decimal_parse(const char *text, unsigned places, uint64_t *value);
