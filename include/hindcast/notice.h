/// Notices of a server to the people who play: words of its operator, or that it ends or restarts.
#pragma once

#include "hindcast/api.h"

#include <stdbool.h>
#include <stdint.h>

HC_C_BEGIN

enum {
    HC_NOTICE_TEXT_MAX = 200,      ///< bytes of a text
    HC_NOTICE_WHERE_MAX = 100,     ///< bytes of an address
    HC_NOTICE_SECONDS_MAX = 86400, ///< seconds until the server ends, at most
    HC_NOTICE_LINE_SIZE =
        96 + HC_NOTICE_WHERE_MAX + HC_NOTICE_TEXT_MAX, ///< bytes of hc_notice_line
};

/// The reason of a notice. A newer server may give one that is not listed here.
enum hc_notice_kind {
    HC_NOTICE_OPERATOR = 1,   ///< the operator says the text
    HC_NOTICE_ENDING = 2,     ///< the server ends
    HC_NOTICE_RESTARTING = 3, ///< the server restarts, and its clients come back
};

/// A notice. Both texts end with a zero.
struct hc_notice {
    enum hc_notice_kind kind;
    /// Seconds after which the server ends or restarts at the latest, [0, HC_NOTICE_SECONDS_MAX];
    /// 0: at any time. Of OPERATOR 0.
    uint32_t seconds;
    /// The address where to play on, printable ASCII without spaces; empty: none is known. It is
    /// the operator's word: a game asks its user before it connects there. Of OPERATOR empty.
    char where[HC_NOTICE_WHERE_MAX + 1];
    /// UTF-8 that can all be seen: without control characters, and without a space at either end.
    /// Of OPERATOR not empty.
    char text[HC_NOTICE_TEXT_MAX + 1];
};

/// NULL if a server can send the notice, else the name of the first member that is not as
/// struct hc_notice describes it, in static storage.
HC_API const char *hc_notice_check(const struct hc_notice *notice);

/// Writes the notice as a line of English to `line`, such as "the server ends within 60 s; play on
/// at example.net:40000: maintenance", and returns it.
HC_API const char *hc_notice_line(const struct hc_notice *notice,
                                  char line[HC_AT_LEAST(HC_NOTICE_LINE_SIZE)]);

HC_C_END
