/// When a client predicts: the tick that it predicts now, how far that is ahead of the server, and
/// how far inputs are stamped ahead of it.
#pragma once

#include "client/link/clock.h"
#include "hindcast/client.h"

/// Ticks by which inputs are stamped, and the prediction runs, ahead.
struct hc_cl_delays {
    uint32_t input_delay; ///< An input sampled at tick P is stamped P + input_delay.
    uint32_t lead;        ///< The predicted tick is ahead of the server's by so many.
};

/// Only timing.c writes to it. Zeros: there was no connection yet.
struct hc_cl_timing {
    const struct hc_client_config
        *config; ///< The configuration has the delays that the game wants; borrowed.
    struct hc_cl_delays effective; ///< The delays in effect on this connection.
    uint32_t tick_rate;            ///< The server's rate in Hz.
    uint64_t ticks;                ///< The number of ticks predicted on this connection.
    hc_tick head;                  ///< The newest predicted tick, after the first snapshot.
    uint64_t head_us;              ///< The head was due at this local time.
    bool stalled;                  ///< The client waits for the server.
    hc_tick stalled_target;        ///< Stalled ticks were counted up to this one.
};

/// Begins a new connection to a server of `tick_rate` Hz that takes inputs up to `future` ticks
/// after its head. It would refuse earlier ones until their tick comes near, or for good if they
/// are sent only a few times: so this limits input delay and lead. True: they were limited.
/// `config` is borrowed.
bool hc_cl_timing_begin(struct hc_cl_timing *timing, const struct hc_client_config *config,
                        uint32_t future, uint32_t tick_rate);

/// Microseconds from one tick to the next.
uint64_t hc_cl_timing_interval_us(const struct hc_cl_timing *timing);

/// The tick to be predicted at `now_us`: the server's plus the lead.
hc_tick hc_cl_timing_target(const struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                            uint64_t now_us);

/// The newest tick that may be predicted from a snapshot of the tick `newest`.
hc_tick hc_cl_timing_limit(const struct hc_cl_timing *timing, hc_tick newest);

/// The tick after the head was predicted.
void hc_cl_timing_step(struct hc_cl_timing *timing);

/// The last of the ticks that were due at `now_us` was predicted.
void hc_cl_timing_reach(struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                        uint64_t now_us);

/// The prediction begins anew at `head`, which is due at `now_us`.
void hc_cl_timing_restart(struct hc_cl_timing *timing, hc_tick head, uint64_t now_us);

/// Whether the client must wait for the server: the head is behind `target`, because it is at the
/// limit, or far ahead of it, because the server has missed ticks.
bool hc_cl_timing_must_stall(const struct hc_cl_timing *timing, hc_tick target);

/// Stalls, and adds the ticks up to `target` to the counts.
void hc_cl_timing_stall(struct hc_cl_timing *timing, hc_tick target, struct hc_client_stats *stats);

/// Ends the stall, if there is one.
void hc_cl_timing_resume(struct hc_cl_timing *timing);

/// When the next tick is due; during a stall at the limit, which is `limit`, when the next one is
/// due that a stall counts.
uint64_t hc_cl_timing_deadline(const struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                               hc_tick limit);
