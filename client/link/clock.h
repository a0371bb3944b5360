/// The client clock: an estimate of the server's time, from the server's own stamps.
///
/// A sample is a pair (rtt, stamp): the round trip of a datagram and its answer, and the server's
/// time (microseconds since its tick 0) when it sent the answer. It bounds the offset, the server's
/// time less the local clock: the answer took at least no time, and so did the datagram. Queues and
/// jitter only widen these bounds, each leg its own, so the narrowest bounds of the recent samples
/// err least, also if two different samples have them. The middle between them is the estimate: it
/// errs by half the difference of the least delays of both legs (Cristian, 1989, as intersected by
/// Marzullo; RFC 5905 takes both bounds from one sample). No sample shows that one leg is always
/// longer than the other. Order of calls: hc_cl_clock_estimate until the first hc_cl_clock_sample.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_CL_CLOCK_SPANS = 8,           ///< spans of time whose bounds count
    HC_CL_CLOCK_WINDOW_US = 2000000, ///< a sample older than this does not count
    HC_CL_CLOCK_MARGIN_US = 2000,    ///< drift of two clocks within the window
};

/// All zeros is the beginning.
struct hc_cl_clock {
    /// The narrowest bounds of the samples of each recent span, a ring by local time.
    struct hc_cl_clock_span {
        uint64_t number;           ///< The span's local time in spans, plus 1; 0: no sample.
        int64_t least_us, most_us; ///< The offset is between these two.
        uint64_t rtt_us;           ///< The least round trip.
    } spans[HC_CL_CLOCK_SPANS];
    uint32_t samples;    ///< The number of samples since the first, or since the clock was set.
    bool known;          ///< There is an estimate.
    int64_t offset_us;   ///< The estimate: the server's time less the local one.
    uint64_t rtt_min_us; ///< The least recent round trip; 0 before the first.
};

/// A provisional estimate: a datagram arrived at `now_us` that the server sent at its `server_us`,
/// and a round trip takes about `rtt_us`. Ignored once there is a sample. Of several the one with
/// the greatest offset counts: it was delayed least.
void hc_cl_clock_estimate(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                          uint64_t server_us);

/// A sample: the round trip was `rtt_us`, less the server's own delay. If its bounds exclude the
/// earlier ones by more than HC_CL_CLOCK_MARGIN_US, the server's clock was set since: all samples
/// but this one are dropped, and true is returned.
bool hc_cl_clock_sample(struct hc_cl_clock *clock, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us);

/// The server's time at `now_us`; 0 also before its tick 0. There must be an estimate.
uint64_t hc_cl_clock_server_us(const struct hc_cl_clock *clock, uint64_t now_us);
