/// The monotonic clock of the programs. Cores take time as an argument instead.
#pragma once

#include <stdint.h>

/// Microseconds since an unknown moment; never steps back.
uint64_t hc_clock_us(void);

/// Sleeps for `us` microseconds, below a second; a signal ends it early.
void hc_clock_sleep(uint64_t us);
