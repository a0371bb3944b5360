/// A client's clock against a server's, in virtual time and without datagrams: one datagram each
/// way for each tick, over legs whose delays have exponential jitter.
///
/// Order of calls: hc_clock_match_begin; hc_clock_match_frame for each frame. A caller with a clock
/// of its own takes the samples by hc_exchange_next alone.
#pragma once

#include "client/timing.h"
#include "hindcast/rng.h"

enum { HC_EXCHANGE_RING = 256 }; ///< datagrams that are remembered in each direction

/// The conditions of an exchange. Those of a leg may change meanwhile.
struct hc_exchange_config {
    uint64_t seed;
    uint32_t rate;           ///< datagrams of each end, Hz
    uint64_t up_us, down_us; ///< least delays of the legs
    uint32_t jitter_us;      ///< mean of the jitter of each leg
    int32_t ppm;             ///< by how much the local clock runs fast, in millionths
};

/// A round trip, as the client knows it.
struct hc_exchange_sample {
    uint64_t now_us;    ///< local time of the arrival
    uint64_t rtt_us;    ///< the round trip, less the server's own delay
    uint64_t server_us; ///< the server's time when it sent the answer
};

struct hc_exchange {
    struct hc_exchange_config config;
    struct hc_rng rng;
    uint64_t sent;  ///< datagrams that each end has sent
    int64_t set_us; ///< by how much the server's clock was set so far
    struct {
        uint64_t sent_us, arrives_us; ///< true times
    } up[HC_EXCHANGE_RING];
    struct {
        uint64_t arrives_us; ///< true time; UINT64_MAX: it has arrived
        uint64_t number, acked;
        struct hc_exchange_sample sample;
    } down[HC_EXCHANGE_RING];
    uint64_t newest, measured; ///< the newest answer that arrived, and the newest acked datagram
};

/// Begins at the true time 0.
void hc_exchange_begin(struct hc_exchange *exchange, const struct hc_exchange_config *config);

/// The local time at a true time.
uint64_t hc_exchange_local_us(const struct hc_exchange *exchange, uint64_t true_us);

/// Writes the next sample that arrives until `true_us`; false: there is none.
bool hc_exchange_next(struct hc_exchange *exchange, uint64_t true_us,
                      struct hc_exchange_sample *sample);

/// A client of the exchange: its clock and its timing.
struct hc_clock_match {
    struct hc_exchange exchange;
    struct hc_client_config config;
    struct hc_client_stats stats;
    struct hc_cl_clock clock;
    struct hc_cl_timing timing;
    uint64_t true_us; ///< of the last frame
};

/// Begins with the first sample. `match` must not move.
void hc_clock_match_begin(struct hc_clock_match *match, const struct hc_exchange_config *config);

/// Plays a frame at `true_us`: takes what has arrived, and predicts the ticks that are due. Returns
/// the position less the server's time, in microseconds.
int64_t hc_clock_match_frame(struct hc_clock_match *match, uint64_t true_us);

/// The position at a true time, in microseconds.
uint64_t hc_clock_match_position(const struct hc_clock_match *match, uint64_t true_us);
