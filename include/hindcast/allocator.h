/// The interface of a game's own allocator.
#pragma once

#include "hindcast/api.h"

#include <stddef.h>

HC_C_BEGIN

/// A game's allocator, in the place of malloc and free.
struct hc_allocator {
    void *(*allocate)(void *context, size_t bytes); ///< aligned as by malloc; NULL: no memory
    void (*release)(void *context, void *block);    ///< `block` may be NULL
    void *context;                                  ///< the first argument of both
};

HC_C_END
