/// Owns the programs' reads of the monotonic clock.
#define _GNU_SOURCE // clock_gettime

#include "common/programs/clock.h"

#include <time.h>

uint64_t hc_clock_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
