/// Owns the daemon's reads of the wall clock.
#define _GNU_SOURCE // clock_gettime, gmtime_r

#include "server/daemon/wall_clock.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t hc_sv_wall_clock_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void hc_sv_wall_clock_open(struct hc_sv_wall_clock *clock) {
    pthread_mutex_init(&clock->lock, NULL);
    hc_sv_wall_clock_bounded_us(clock);
}

void hc_sv_wall_clock_close(struct hc_sv_wall_clock *clock) {
    pthread_mutex_destroy(&clock->lock);
}

uint64_t hc_sv_wall_clock_bounded_us(struct hc_sv_wall_clock *clock) {
    pthread_mutex_lock(&clock->lock);
    uint64_t now_us = hc_clock_us();
    hc_unix_time_read(&clock->time, hc_sv_wall_clock_us(), now_us);
    uint64_t unix_us = hc_unix_time_us(&clock->time, now_us);
    pthread_mutex_unlock(&clock->lock);
    return unix_us;
}

bool hc_sv_wall_clock_changed(struct hc_sv_wall_clock *clock, bool *stepped, int64_t *ahead_s) {
    pthread_mutex_lock(&clock->lock);
    int64_t more_us = hc_offset((uint64_t)clock->ahead_us, (uint64_t)clock->time.ahead_us);
    *stepped = hc_unix_time_stepped(&clock->time);
    *ahead_s = clock->time.ahead_us / 1000000;
    bool farther = more_us > HC_UNIX_AHEAD_US || more_us < -HC_UNIX_AHEAD_US;
    bool changed = *stepped != clock->stepped || (*stepped && farther);
    if (changed) {
        clock->stepped = *stepped;
        clock->ahead_us = clock->time.ahead_us;
    }
    pthread_mutex_unlock(&clock->lock);
    return changed;
}

void hc_sv_wall_clock_format(char *text, size_t size) {
    struct timespec now = {0};
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, size - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}
