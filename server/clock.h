/// The server's own clock: the time of its caller, which goes on when that is set back.
///
/// The caller's clock should be monotonic. If it is set back all the same, the own one continues
/// from the newest time that it was given: otherwise no tick and no timeout would be due until the
/// caller's clock has caught up. When the caller's clock is set right again, the own one goes on
/// too. A step of less than HC_SV_CLOCK_STEP_US is none: ticks wait for it. A clock that was never
/// set back and leaps ahead is believed, because a machine that was suspended does the same.
#pragma once

#include <stdint.h>

enum {
    HC_SV_CLOCK_STEP_US = 250000,     ///< A clock that differs by more was set.
    HC_SV_CLOCK_ARRIVAL_US = 2000000, ///< An arrival is at most so much before the newest time.
};

/// Only clock.c writes to it. Zeros: no time was given.
struct hc_sv_clock {
    uint64_t newest_us; ///< The caller gave this time last, on its own clock.
    uint64_t set_us;    ///< The caller's clock was set back by so much in all.
};

/// The present by the own clock, which is `given_us` on the caller's.
uint64_t hc_sv_clock_advance(struct hc_sv_clock *clock, uint64_t given_us);

/// The own time of another moment on the caller's clock, such as an arrival.
uint64_t hc_sv_clock_own_us(const struct hc_sv_clock *clock, uint64_t given_us);

/// The caller's time of `own_us`; UINT64_MAX stays.
uint64_t hc_sv_clock_given_us(const struct hc_sv_clock *clock, uint64_t own_us);
