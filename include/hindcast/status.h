/// The named causes for which a call may fail, shared by every room.
#pragma once

#include "hindcast/api.h"

HC_C_BEGIN

/// 0 is success; anything else names what was wrong with the argument or the peer's bytes.
enum hc_status {
    HC_OK = 0,
    HC_INVALID,    ///< an argument or a field outside its stated range
    HC_MALFORMED,  ///< bytes that are no message of the protocol
    HC_TRUNCATED,  ///< bytes end before the message does, or the buffer before the output
    HC_UNEXPECTED, ///< well formed, but not now or not from this peer
    HC_DUPLICATE,  ///< already known; nothing was changed
    HC_TOO_OLD,    ///< before the window in which it would have counted
    HC_TOO_NEW,    ///< after the window in which it would count
    HC_FULL,       ///< a bounded store has no room left
    HC_NO_MEMORY,  ///< the allocator returned NULL
    HC_IO,         ///< the operating system refused
    HC_STATUS_COUNT
};

/// The name of `status` as a short English phrase in static storage; never NULL.
HC_API const char *hc_status_text(enum hc_status status);

HC_C_END
