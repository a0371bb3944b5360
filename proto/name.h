/// Names: which ones are accepted, and how a log shows any bytes.
#pragma once

#include "hindcast/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    HC_NAME_MAX = 32, ///< bytes of the longest name, and of a padded one
    /// Room that hc_name_escape needs for any name and its end.
    HC_NAME_ESCAPED_MAX = 4 * HC_NAME_MAX + 1,
};

/// Bytes of the name in `padded`, without the zeros at its end. Zeros inside it count, so that
/// hc_name_check refuses them.
size_t hc_name_size(const uint8_t padded[static HC_NAME_MAX]);

/// Checks the `size` bytes of a name. The status names the first broken rule:
///
///   HC_INVALID     longer than HC_NAME_MAX or empty
///   HC_TRUNCATED   the last character is cut short
///   HC_MALFORMED   not UTF-8 (RFC 3629): stray or missing bytes, overlong forms, surrogates,
///                  above U+10FFFF
///   HC_UNEXPECTED  a character that nobody can see, or that controls a screen: controls, format
///                  characters such as bidi controls, line separators, spaces other than U+0020,
///                  all that Unicode calls default ignorable (so variation selectors and joined
///                  emoji too), blank letters, noncharacters; a space at the begin or the end; a
///                  combining mark at the begin or after a space
///
/// The length comes first; bytes and characters follow from left to right.
enum hc_status hc_name_check(const uint8_t *bytes, size_t size);

/// The same of the `size` bytes of a text, at least one, of any length.
enum hc_status hc_text_check(const uint8_t *bytes, size_t size);

/// Writes `bytes` to `out` as printable ASCII, with its end in `room` >= 1. A byte is written as
/// itself; if it is not printable or one of `\ " % $`, which end or expand text in a log or its
/// readers, as \xNN with two lower-case hexadecimal digits. So each text stands for one string of
/// bytes, fits between quotes, and has no line feed. Returns the number of bytes written, fewer
/// than `size` if the room ran out; none is written in part. All text of a peer in a log line
/// passes here.
size_t hc_name_escape(const void *bytes, size_t size, char *out, size_t room);
