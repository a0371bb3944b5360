/// Where memory comes from, for a game that hands its own.
#pragma once

#include "hindcast/api.h"

#include <stddef.h>

HC_C_BEGIN

/// A game may hand its own; both functions get `context`. Alignment is that of malloc.
struct hc_allocator {
    void *(*allocate)(void *context, size_t bytes); ///< NULL when there is no room
    void (*release)(void *context, void *block);    ///< `block` may be NULL
    void *context;
};

HC_C_END
