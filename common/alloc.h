/// Allocation by a game's allocator: an object obtains all its memory when it is created.
#pragma once

#include "hindcast/allocator.h"

#include <stddef.h>
#include <stdint.h>

/// Allocates `bytes` zeroed bytes from `allocator` (NULL: calloc); NULL when memory is short.
void *hc_allocate(const struct hc_allocator *allocator, size_t bytes);

/// Allocates without zeroing (NULL: malloc), for memory that is written before it is read.
void *hc_allocate_unset(const struct hc_allocator *allocator, size_t bytes);

/// Frees `block`, which the same `allocator` (NULL: free) allocated. NULL is allowed.
void hc_release(const struct hc_allocator *allocator, void *block);

/// Takes the next `bytes` bytes, aligned to 8, of a block at `base` of which `*used` bytes are
/// taken. With `base` NULL it only counts and returns NULL, so that one function both measures a
/// layout and makes it.
void *hc_carve(uint8_t *base, size_t *used, size_t bytes);
