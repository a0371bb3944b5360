/// Counts the memory that this program obtains.
///
/// The linker redirects the project's calls of malloc, calloc and realloc (tests/CMakeLists.txt).
/// Not for threads.
#pragma once

#include <stdint.h>

/// Bytes requested since the beginning, freed ones included.
uint64_t memory_asked(void);
