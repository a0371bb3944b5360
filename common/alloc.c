/// The only calls of malloc, calloc and free in the library's cores.
#include "common/alloc.h"

#include "hindcast/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *hc_allocate(const struct hc_allocator *allocator, size_t bytes) {
    if (allocator == NULL)
        return calloc(1, bytes);
    void *block = allocator->allocate(allocator->context, bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void *hc_allocate_unset(const struct hc_allocator *allocator, size_t bytes) {
    return allocator == NULL ? malloc(bytes) : allocator->allocate(allocator->context, bytes);
}

void hc_release(const struct hc_allocator *allocator, void *block) {
    if (allocator == NULL)
        free(block);
    else
        allocator->release(allocator->context, block);
}

void *hc_carve(uint8_t *base, size_t *used, size_t bytes) {
    HC_ASSERT((uintptr_t)base % 8 == 0);
    size_t at = *used;
    *used += (bytes + 7) & ~(size_t)7;
    return base == NULL ? NULL : base + at;
}
