/// Sees how much memory this program obtains.
///
/// The linker hands it every call of malloc, calloc and realloc that the program and the project's
/// code make (tests/CMakeLists.txt). Not for threads.
#pragma once

#include <stdint.h>

/// Bytes asked for since the beginning; what was given back is not taken off.
uint64_t memory_asked(void);
