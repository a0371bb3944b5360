/// Plays a match of the arena between bots, in virtual time, and measures the traffic, the server's
/// cost and the clients' errors.
///
/// Every client is complete and has a link of its own. Bytes are those of whole DATA datagrams,
/// each with BENCH_IP_UDP for its headers.
#pragma once

#include "tests/bench/recording.h"
#include "tests/bench/turn_delay.h"
#include "tests/bench/display_error.h"
#include "tests/bench/delta_entropy.h"
#include "tests/bench/snapshot_bits.h"
#include "tests/sim/players.h"

enum {
    BENCH_IP_UDP = 28,     ///< bytes of IPv4 and UDP headers
    BENCH_TICK_RATE = 60,  ///< Hz
    BENCH_INPUT_DELAY = 3, ///< ticks
    BENCH_TURN_MS = 270,   ///< from one change of a bot's direction to the next, at least
    BENCH_SHOT_MS = 1700,  ///< from one of its shots to the next, at least
};

struct bench_match_config {
    uint16_t players;
    uint16_t places;                     ///< of the world; 0: as many as players
    uint32_t view;                       ///< how far a player sees, units; 0: everything
    uint16_t snapshot_rate;              ///< Hz
    uint32_t near_us, far_us;            ///< latency one way: the first client's and the last's
    uint32_t loss_ppm;                   ///< each way
    uint32_t warm_up_ticks, ticks;       ///< not measured, and measured
    uint32_t aim_ticks;                  ///< the bots aim anew once in so many ticks
    enum hc_extrapolation extrapolation; ///< the clients' best
    struct bench_entropy *entropy;       ///< measures every sent value; NULL: nothing does
    struct bench_recording *recording;   ///< of all that the host receives; NULL: none
};

/// Per client and second if not stated otherwise.
struct bench_match_result {
    double players, snapshot_rate, in_view; ///< in view: other players that a client is sent
    double down_kbit, up_kbit, down_datagrams, up_datagrams;
    double bytes_each; ///< of body, for each entity in view that changed since the last snapshot
    /// Percent of all bytes down. Overhead is headers, seals, message frames and padding.
    double own, others, unowned, inputs, names, corrections, head, overhead;
    double delta_cache;          ///< percent of deltas that were encoded before, for another client
    double wait_ms;              ///< longest time for which a unit in view was not sent
    double send_us;              ///< of the server's time, for each snapshot
    double work_us;              ///< of the server's time, for each client and tick
    double error_p50, error_p95; ///< pixels, see display_error.h
    double unseen;               ///< percent, see display_error.h
    double right_p50, right_p95; ///< ms, see turn_delay.h
    double never;                ///< percent of changes that were not right everywhere in time
    double turns, shots;         ///< of each player: changes of direction, shots
    double faults;               ///< snapshots that a client could not read, in all
    double corrected;            ///< units of past ticks
    double value_bits;           ///< of all sent values, in all
};

/// Plays a match. False: it could not be set up, or a client did not get to play.
bool bench_match(const struct bench_match_config *config, struct bench_match_result *result);
