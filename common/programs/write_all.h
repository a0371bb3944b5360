/// Writing all bytes to a descriptor that blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Writes `size` bytes, in as many pieces as it takes. False: failed, see errno, and a part may be
/// written.
bool hc_write_all(int descriptor, const void *bytes, size_t size);
