/// Owns the daemon's reads of the wall clock.
#define _GNU_SOURCE // clock_gettime, gmtime_r

#include "server/daemon/wall_clock.h"

#include <stdio.h>
#include <time.h>

uint64_t hc_sv_wall_clock_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void hc_sv_wall_clock_format(char *text, size_t size) {
    struct timespec now = {0};
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, size - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}
