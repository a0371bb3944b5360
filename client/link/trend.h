/// The trend of the client clock's samples over longer times than its estimate: the least round
/// trip of 10 s, and the drift of the server's clock.
///
/// Of each period of 2 s the sample with the least round trip is kept, for 64 periods. The drift is
/// the slope of their offsets over local time, by weighted least squares: an offset errs by at most
/// half of what its round trip is longer than the least one, besides some jitter, and its weight is
/// the inverse square of both. A path that becomes longer thus moves the drift little. The standard
/// error of the slope follows from the weights; the drift is known while it is at most 10 ppm,
/// which takes some 25 s on a steady path.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_CL_TREND_PERIODS = 64,
    HC_CL_TREND_PERIOD_US = 2000000,
    HC_CL_TREND_RTT_US = 10000000, ///< window of the least round trip
    HC_CL_TREND_JITTER_US = 250,   ///< error of an offset with the least round trip
    HC_CL_TREND_ERROR_PPM = 10,    ///< standard error of a known drift, at most
};

/// Only trend.c writes to it. All zeros is the beginning.
struct hc_cl_trend {
    struct hc_cl_trend_sample {
        uint64_t at_us;          ///< local time
        uint64_t rtt_us;         ///< round trip
        int64_t offset_us;       ///< server's time - local time
    } best[HC_CL_TREND_PERIODS]; ///< The best samples of the newest periods, a ring.
    uint32_t count, newest;      ///< samples in the ring, and the place of the newest one
    uint64_t period_us;          ///< The newest period began at this local time.
    uint64_t rtt_min_us;         ///< The least round trip of the last 10 s; 0 before the first.
    bool drift_known;            ///< The samples are enough for the drift.
    double drift_ppm; ///< The server's clock gains so many us in a second; 0 while not known.
};

/// A sample of the client clock, see hc_cl_clock_sample.
void hc_cl_trend_sample(struct hc_cl_trend *trend, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us);

/// Forgets the samples, because the server's clock was set.
void hc_cl_trend_restart(struct hc_cl_trend *trend);
