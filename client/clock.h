/// The client's estimate of the server's time, from the server's own stamps.
///
/// A sample is a pair (rtt, offset): how long a datagram and its answer took, and by how much the
/// server's time (microseconds since its tick 0) was then ahead of the local clock, if both ways
/// took equally long. Queues and jitter only ever lengthen a way, so among recent samples the one
/// with the least rtt errs least: its offset is the estimate (the clock filter of NTP, RFC 5905,
/// section 10). Order of calls: hc_cl_clock_estimate until the first hc_cl_clock_sample.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_CL_CLOCK_SAMPLES = 64,        ///< the most that are looked at
    HC_CL_CLOCK_WINDOW_US = 2000000, ///< a sample older than this is forgotten
    HC_CL_CLOCK_SLACK_US = 2000,     ///< by which clocks may drift apart within the window
};

/// All zeros is the beginning.
struct hc_cl_clock {
    struct hc_cl_clock_sample {
        uint64_t at_us; ///< local time at which it was taken
        uint64_t rtt_us;
        int64_t offset_us; ///< server's time - local time
    } samples[HC_CL_CLOCK_SAMPLES];
    uint32_t count, next; ///< samples in the ring, and where the next one goes
    bool known;           ///< there is an estimate
    int64_t offset_us;    ///< the estimate
    uint64_t rtt_min_us;  ///< of the sample that it rests on; 0 before the first
    uint64_t srtt_us;     ///< smoothed round-trip time and its mean deviation, as RFC 6298 has them
    uint64_t rttvar_us;
};

/// A provisional estimate: at `now_us` something arrived that the server sent at its `server_us`,
/// and a round trip is known to take about `rtt_us`. Ignored once there is a sample. Of several the
/// latest server time is kept: it was delayed least.
void hc_cl_clock_estimate(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                          uint64_t server_us);

/// A measured one: the answer took `rtt_us` in all, not counting the server's own delay. An
/// estimate that this stamp, true when it was sent, shows to be off by more than
/// HC_CL_CLOCK_SLACK_US rests on a server clock that has been set since: it is forgotten, with
/// every sample but this one.
void hc_cl_clock_sample(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us);

/// The server's time at `now_us`; 0 also before its tick 0. An estimate must be known.
uint64_t hc_cl_clock_server_us(const struct hc_cl_clock *clock, uint64_t now_us);

/// The first local time at which hc_cl_clock_server_us is `server_us` or more.
uint64_t hc_cl_clock_local_us(const struct hc_cl_clock *clock, uint64_t server_us);
