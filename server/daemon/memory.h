/// The memory of the process.
#pragma once

#include <stddef.h>

/// Makes the system give each large block a mapping of its own from now on, so that the memory of a
/// match is given back whole when its world ends. Call it before any thread begins.
void hc_sv_memory_map_blocks(void);

/// Physical memory of the process, bytes; 0 without /proc.
size_t hc_sv_memory_resident(void);
