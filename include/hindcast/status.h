/// The causes for which a call may fail.
#pragma once

#include "hindcast/api.h"

HC_C_BEGIN

/// 0 is success; any other value names the error in the arguments or in the peer's bytes.
enum hc_status {
    HC_OK = 0,
    HC_INVALID,    ///< an argument or a field is out of its range
    HC_MALFORMED,  ///< the bytes are no message of the protocol
    HC_TRUNCATED,  ///< the bytes end before the message, or the buffer before the output
    HC_UNEXPECTED, ///< well formed, but not expected now or from this peer
    HC_DUPLICATE,  ///< already known; nothing changed
    HC_TOO_OLD,    ///< before the window in which it counts
    HC_TOO_NEW,    ///< after the window in which it counts
    HC_FULL,       ///< a bounded store has no room
    HC_NO_MEMORY,  ///< the allocator returned NULL
    HC_IO,         ///< the operating system failed
    HC_STATUS_COUNT
};

/// The name of `status` as a short English phrase in static storage; never NULL.
HC_API const char *hc_status_text(enum hc_status status);

HC_C_END
