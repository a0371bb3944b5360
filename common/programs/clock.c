/// Owns the programs' reads of the monotonic clock, and their sleeps.
#define _GNU_SOURCE // clock_gettime, nanosleep

#include "common/programs/clock.h"

#include <time.h>

uint64_t hc_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t hc_clock_us(void) {
    return hc_clock_ns() / 1000;
}

struct timeval hc_clock_span(uint64_t us) {
    const uint64_t longest_us =
        UINT64_C(30) * 365 * 24 * 3600 * 1000000; // fits in 32 bits of seconds
    uint64_t span = us < longest_us ? us : longest_us;
    return (struct timeval){.tv_sec = (time_t)(span / 1000000),
                            .tv_usec = (suseconds_t)(span % 1000000)};
}

void hc_clock_sleep(uint64_t us) {
    const struct timespec span = {.tv_nsec = (long)us * 1000};
    nanosleep(&span, NULL);
}
