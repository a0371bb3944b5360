/// Where memory comes from: every block is obtained at an object's creation, never after it.
#pragma once

#include "hindcast/allocator.h"

#include <stddef.h>
#include <stdint.h>

/// Zeroed memory of `bytes` from `allocator` (NULL: calloc); NULL when there is no room.
void *hc_allocate(const struct hc_allocator *allocator, size_t bytes);

/// The same with whatever bytes were there: for what is written before it is read.
void *hc_allocate_unset(const struct hc_allocator *allocator, size_t bytes);

/// Gives `block`, obtained from the same `allocator` (NULL: free), back. NULL is allowed.
void hc_release(const struct hc_allocator *allocator, void *block);

/// The next part, `bytes` long and aligned to 8, of one block that is laid out from `base`; `*used`
/// counts what has been given out. With `base` NULL only counts, and returns NULL: so one function
/// both measures a layout and makes it.
void *hc_carve(uint8_t *base, size_t *used, size_t bytes);
