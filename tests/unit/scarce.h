/// An allocator that has room for a few blocks, and counts those that are not released.
#pragma once

#include <stdlib.h>

/// The context of the allocator, with room for `left` blocks.
struct scarce {
    int left;
    int held; ///< blocks that are not released
};

/// As struct hc_allocator describes it.
static inline void *scarce_allocate(void *context, size_t bytes) {
    struct scarce *scarce = context;
    if (scarce->left == 0)
        return NULL;
    scarce->left--;
    scarce->held++;
    return malloc(bytes);
}

/// As struct hc_allocator describes it.
static inline void scarce_release(void *context, void *block) {
    struct scarce *scarce = context;
    scarce->held -= block != NULL;
    free(block);
}
