/// xxHash of the system, but its functions in one place (xxhash.c) instead of inline in each file that
/// asks for it: they take 30 kB each time.
#pragma once

#undef XXH_INLINE_ALL
#include_next <xxhash.h>
