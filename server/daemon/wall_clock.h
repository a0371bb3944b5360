/// The wall clock, for the expiry of tokens and for the log. It may step; ticks never read it.
#pragma once

#include "common/unix_time.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The Unix time by which all threads let tokens expire: a wall clock that is set ahead counts for
/// a few seconds only (common/unix_time.h).
struct hc_sv_wall_clock {
    pthread_mutex_t lock;
    struct hc_unix_time time;
    bool stepped;     ///< the clock had been set, by the last hc_sv_wall_clock_changed
    int64_t ahead_us; ///< microseconds that it was ahead then
};

/// The wall clock's Unix time in microseconds.
uint64_t hc_sv_wall_clock_us(void);

/// Writes it as RFC 3339 in UTC with milliseconds: 24 characters and the end of the text.
void hc_sv_wall_clock_format(char *text, size_t size);

/// Reads both clocks for the first time.
void hc_sv_wall_clock_open(struct hc_sv_wall_clock *clock);

/// Frees what it holds.
void hc_sv_wall_clock_close(struct hc_sv_wall_clock *clock);

/// Reads both clocks: Unix time in microseconds.
uint64_t hc_sv_wall_clock_bounded_us(struct hc_sv_wall_clock *clock);

/// Whether the wall clock was set by more than a few seconds, or is right again, since the last
/// call. `*stepped`: it is wrong, or was before; `*ahead_s`: by how much, below 0 if it is behind.
bool hc_sv_wall_clock_changed(struct hc_sv_wall_clock *clock, bool *stepped, int64_t *ahead_s);
