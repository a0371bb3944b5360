/// When a client predicts: the tick that it predicts now, how far that is ahead of the server, and
/// how far inputs are stamped ahead of it.
///
/// The client's position in simulated time follows the server's time plus the lead
/// (client/position.h). A tick is due when the position reaches it. Calls belong in this order:
///   1. hc_cl_timing_begin;
///   2. with the first snapshot, and with each one at which the timeline begins anew:
///      hc_cl_timing_restart;
///   3. for each advance: hc_cl_timing_follow, hc_cl_timing_step up to hc_cl_timing_end, and
///      hc_cl_timing_finish.
#pragma once

#include "client/delays.h"
#include "client/link/clock.h"
#include "client/position.h"
#include "hindcast/client.h"

enum { HC_CL_TIMING_JOIN_US = 500000 }; ///< time after the first snapshot in which jumps are free

/// Only timing.c writes to it. Zeros: there was no connection yet.
struct hc_cl_timing {
    const struct hc_client_config
        *config; ///< The configuration has the delays that the game wants; borrowed.
    struct hc_cl_delays effective;  ///< The delays in effect on this connection.
    uint32_t future;                ///< The server takes inputs so many ticks after its head.
    uint32_t tick_rate;             ///< The server's rate in Hz.
    uint64_t ticks;                 ///< The number of ticks predicted on this connection.
    hc_tick head;                   ///< The newest predicted tick, after the first snapshot.
    struct hc_cl_position position; ///< The position in simulated time, after the first snapshot.
    uint64_t began_us;              ///< The first snapshot came at this local time.
    bool started;                   ///< A snapshot has come.
    bool settled;                   ///< The client has joined: the position jumps no more freely.
    bool catches_up;                ///< Due ticks wait for the next advances.
    bool stalled;                   ///< The client waits for the server.
    hc_tick stalled_target;         ///< Stalled ticks were counted up to this one.
};

/// Begins a new connection to a server of `tick_rate` Hz that takes inputs up to `future` ticks
/// after its head. It would refuse earlier ones until their tick comes near, or for good if they
/// are sent only a few times: so this limits input delay and lead. True: they were limited.
/// `config` is borrowed.
bool hc_cl_timing_begin(struct hc_cl_timing *timing, const struct hc_client_config *config,
                        uint32_t future, uint32_t tick_rate);

/// The configured delays have changed. True: they were limited.
bool hc_cl_timing_allow(struct hc_cl_timing *timing);

/// Microseconds from one tick to the next.
uint64_t hc_cl_timing_interval_us(const struct hc_cl_timing *timing);

/// The timeline begins, or begins anew, at `head`, at `now_us`.
void hc_cl_timing_restart(struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                          hc_tick head, uint64_t now_us);

/// Moves the position towards the server's time plus the lead. True: it has jumped, which is
/// counted.
bool hc_cl_timing_follow(struct hc_cl_timing *timing, const struct hc_cl_clock *clock,
                         uint64_t now_us, struct hc_client_stats *stats);

/// The newest tick that is due at `now_us`.
hc_tick hc_cl_timing_due(const struct hc_cl_timing *timing, uint64_t now_us);

/// The newest tick that may be predicted from a snapshot of the tick `newest`.
hc_tick hc_cl_timing_limit(const struct hc_cl_timing *timing, hc_tick newest);

/// The newest tick that one advance may predict: hc_client_config.ticks_per_advance after the head.
hc_tick hc_cl_timing_end(const struct hc_cl_timing *timing);

/// Whether a snapshot of `tick` is so little ahead of the head that the client predicts up to it.
bool hc_cl_timing_is_near(const struct hc_cl_timing *timing, hc_tick tick);

/// The tick after the head was predicted.
void hc_cl_timing_step(struct hc_cl_timing *timing);

/// An advance that does not stall is over, and ticks up to `due` were due. Where it could not
/// predict them all, because the one before was too long ago, the position falls back to the head.
/// True: it would fall back so far that it stays, and the head follows in jumps, which is counted.
bool hc_cl_timing_finish(struct hc_cl_timing *timing, hc_tick due, uint64_t now_us,
                         struct hc_client_stats *stats);

/// The position at `now_us`, in 1/`whole` ticks since tick 0.
int64_t hc_cl_timing_position(const struct hc_cl_timing *timing, uint64_t now_us, uint32_t whole);

/// Whether the client must wait for the server: the head is behind the tick that is due, because it
/// is at the limit, or the position stands still, because the server has missed many ticks.
bool hc_cl_timing_must_stall(const struct hc_cl_timing *timing, hc_tick due, hc_tick limit);

/// Stalls, and adds the ticks up to `due` to the counts.
void hc_cl_timing_stall(struct hc_cl_timing *timing, hc_tick due, struct hc_client_stats *stats);

/// Ends the stall, if there is one.
void hc_cl_timing_resume(struct hc_cl_timing *timing);

/// When the next tick is due; during a stall at the limit, which is `limit`, when the next one is
/// due that a stall counts.
uint64_t hc_cl_timing_deadline(const struct hc_cl_timing *timing, hc_tick limit);
