/// The monotonic clock of the programs. Cores take time as an argument instead.
#pragma once

#include <stdint.h>
#include <sys/time.h>

/// Nanoseconds since an unknown moment; never steps back.
uint64_t hc_clock_ns(void);

/// Microseconds since the same moment.
uint64_t hc_clock_us(void);

/// The span as timers take it, at most 30 years.
struct timeval hc_clock_span(uint64_t us);

/// Sleeps for `us` microseconds, below a second; a signal ends it early.
void hc_clock_sleep(uint64_t us);
