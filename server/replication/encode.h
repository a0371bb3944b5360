/// Telling: how a unit's value takes the fewest bits.
///
/// What the owner did between the baseline and the value is listed where that saves more than it
/// costs: all of it, or only that it pressed and let go of keys (fields of few bits), for what
/// moves all the time, as its aim, hardly matters but at the end.
#pragma once

#include "common/timeline.h"
#include "proto/value.h"

enum { HC_SV_ENCODE_BYTES = 2048 }; ///< that one telling takes at most

/// Appends `value`, of the timeline as it is now, in the shortest of the tellings that are tried,
/// and adds what it took to `counts`, if not NULL. The timeline has the inputs from `since` on.
void hc_sv_encode_value(struct hc_bits_writer *bits, const struct hc_timeline *timeline,
                        hc_tick since, const struct hc_value_base *base,
                        const struct hc_unit_value *value, struct hc_delta_counts *counts);
