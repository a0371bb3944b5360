/// Text that users choose: which names are accepted, and how a log shows any bytes at all.
#pragma once

#include "hindcast/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    HC_NAME_MAX = 32, ///< bytes of the longest name, and of the room for one
    /// Room that hc_name_escape needs for any name, its end counted.
    HC_NAME_ESCAPED_MAX = 4 * HC_NAME_MAX + 1,
};

/// Bytes of a name that stands in `padded`, filled up with zeros. Zeros inside it count, so that
/// hc_name_check refuses them.
size_t hc_name_size(const uint8_t padded[static HC_NAME_MAX]);

/// Judges the `size` bytes of a name. The status says which rule they break first:
///
///   HC_INVALID     longer than HC_NAME_MAX or empty
///   HC_TRUNCATED   the last character is cut short
///   HC_MALFORMED   no UTF-8 (RFC 3629): stray or missing bytes, overlong forms, surrogates,
///                  above U+10FFFF
///   HC_UNEXPECTED  a character that cannot be seen or tells a screen what to do: C0, DEL, C1, line
///                  separators, bidi controls, zero-width and all else that Unicode calls default
///                  ignorable (so variation selectors and joined emoji too), noncharacters
///
/// Length comes first; then bytes and characters are judged from left to right.
enum hc_status hc_name_check(const uint8_t *bytes, size_t size);

/// Writes `bytes` to `out`, `room` >= 1 with its end, as printable ASCII: a byte stands for itself,
/// or as \xNN with two small hexadecimal digits if it is no printable ASCII or one of `\ " % $`,
/// which end or expand something in a log or in what reads it. So each text stands for one string
/// of bytes, fits between quotes, and has no line feed. Returns how many bytes were written, fewer
/// than `size` if room ran out; none is written in part. A log line has one event, and all text of
/// a peer in it passes here.
size_t hc_name_escape(const void *bytes, size_t size, char *out, size_t room);
