/// The client clock: an estimate of the server's time, from the server's own stamps.
///
/// A sample is a pair (rtt, offset): the round trip of a datagram and its answer, and the server's
/// time (microseconds since its tick 0) less the local clock, if both directions took equally long.
/// Queues and jitter only lengthen a round trip, so the recent sample with the least rtt errs
/// least: its offset is the estimate (the clock filter of NTP, RFC 5905, section 10). Order of
/// calls: hc_cl_clock_estimate until the first hc_cl_clock_sample.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_CL_CLOCK_SAMPLES = 64,        ///< newest samples that count
    HC_CL_CLOCK_WINDOW_US = 2000000, ///< a sample older than this does not count
    HC_CL_CLOCK_MARGIN_US = 2000,    ///< drift of two clocks within the window
};

/// All zeros is the beginning.
struct hc_cl_clock {
    // The samples, a ring. Their round trips, of which each sample searches all, stand alone.
    uint64_t rtt_us[HC_CL_CLOCK_SAMPLES];
    struct hc_cl_clock_sample {
        uint64_t at_us;    ///< local time
        int64_t offset_us; ///< server's time - local time
    } samples[HC_CL_CLOCK_SAMPLES];
    uint32_t count, next; ///< samples in the ring, and where the next one goes
    uint32_t best;        ///< the sample of the estimate
    bool known;           ///< there is an estimate
    int64_t offset_us;    ///< the estimate
    uint64_t rtt_min_us;  ///< of the estimate's sample; 0 before the first
};

/// A provisional estimate: a datagram arrived at `now_us` that the server sent at its `server_us`,
/// and a round trip takes about `rtt_us`. Ignored once there is a sample. Of several the one with
/// the greatest offset counts: it was delayed least.
void hc_cl_clock_estimate(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                          uint64_t server_us);

/// A sample: the round trip was `rtt_us`, less the server's own delay. If the stamp, which was true
/// when it was sent, contradicts the estimate by more than HC_CL_CLOCK_MARGIN_US, the server's
/// clock was set since: all samples but this one are dropped, and true is returned.
bool hc_cl_clock_sample(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us);

/// The server's time at `now_us`; 0 also before its tick 0. There must be an estimate.
uint64_t hc_cl_clock_server_us(const struct hc_cl_clock *clock, uint64_t now_us);

/// The first local time at which hc_cl_clock_server_us is `server_us` or more.
uint64_t hc_cl_clock_local_us(const struct hc_cl_clock *clock, uint64_t server_us);
