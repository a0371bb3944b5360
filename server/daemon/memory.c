/// Owns how the process obtains memory, and how much it holds.
#include "server/daemon/memory.h"

#ifdef __linux__
#include <malloc.h>
#endif
#include <stdio.h>
#include <unistd.h>

enum {
    MAPPED_MIN = 64 << 10
}; ///< bytes of a block: smaller ones of a world are some 100 kB in all

void hc_sv_memory_map_blocks(void) {
#if defined(M_MMAP_THRESHOLD) && defined(M_ARENA_MAX)
    // glibc raises its threshold with each large block that is freed, and then takes the worlds to
    // come from arenas of the threads that make them, which keep what they once took. Few small
    // blocks are taken while the matches play, so one arena serves all threads.
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_MIN);
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

size_t hc_sv_memory_resident(void) {
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}
