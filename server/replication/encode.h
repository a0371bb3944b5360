/// Encoding: how the delta of a unit's value takes the fewest bits.
///
/// A delta may list the input changes of the owner between the baseline and the value. It lists
/// them where that saves more bits than it costs: all of them, or only changes of keys (fields of
/// few bits). A field that changes all the time, as an aim does, matters little but at the end.
#pragma once

#include "common/timeline.h"
#include "proto/value.h"

enum { HC_SV_ENCODE_BYTES = 2048 }; ///< that one delta takes at most

/// The shortest delta so far, and memory for one more and for its input changes.
struct hc_sv_encoding {
    uint8_t data[2][HC_SV_ENCODE_BYTES];
    unsigned best;                          ///< of the two
    uint32_t bits;                          ///< of the best; UINT32_MAX: none yet
    const struct hc_input_changes *changes; ///< that it lists; NULL: none
    struct hc_input_changes all, keys, keys_alone;
};

/// Encodes `value`, of the timeline as it is now, as the shortest delta that is tried: `bits` bits
/// at data[best]. The timeline has the inputs from `since` on.
void hc_sv_encode_value(struct hc_sv_encoding *encoding, const struct hc_timeline *timeline,
                        hc_tick since, const struct hc_value_base *base,
                        const struct hc_unit_value *value);
