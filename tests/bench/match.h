/// A match of the arena between bots, in virtual time: what is sent for it, what that costs the
/// server, and what it buys.
///
/// Every client is a whole one, behind a link of its own. Bytes are those of DATA, each with
/// BENCH_IP_UDP for its headers on the way; what is sealed and what names the datagram is part of
/// it.
#pragma once

#include "tests/bench/settling.h"
#include "tests/bench/shown.h"
#include "tests/bench/yardstick.h"
#include "tests/sim/sim.h"

enum {
    BENCH_IP_UDP = 28,     ///< bytes of IPv4 and UDP headers
    BENCH_TICK_RATE = 60,  ///< Hz
    BENCH_INPUT_DELAY = 3, ///< ticks
    BENCH_TURN_MS = 270,   ///< from one change of a bot's direction to the next, at least
    BENCH_SHOT_MS = 1700,  ///< from one of its shots to the next, at least
};

struct bench_match_config {
    uint16_t players;
    uint32_t view;                     ///< how far a player sees, units; 0: everything
    uint16_t snapshot_rate;            ///< Hz
    uint32_t near_us, far_us;          ///< latency one way: the first client's and the last's
    uint32_t loss_ppm;                 ///< each way
    uint32_t warm_up_ticks, ticks;     ///< not measured, and measured
    uint32_t aim_ticks;                ///< the bots aim anew once in so many ticks
    struct bench_yardstick *yardstick; ///< to be shown every value that is told; NULL: none is
};

/// Per client and second where nothing else is said.
struct bench_match_result {
    double players, snapshot_rate, in_view; ///< in view: players told to one, itself not among them
    double down_kbit, up_kbit, down_datagrams, up_datagrams;
    double bytes_each; ///< of body, for each entity in view that changed since the last snapshot
    /// Percent of all bytes down. Overhead is headers, seals, message frames and padding.
    double own, others, unowned, inputs, names, corrections, head, overhead;
    double delta_cache;          ///< percent of deltas that were encoded before, for another client
    double wait_ms;              ///< longest that a unit in view was not told
    double send_us;              ///< of the server's time, for each snapshot
    double work_us;              ///< for each client and tick, with all that it does
    double error_p50, error_p95; ///< pixels, see shown.h
    double unseen;               ///< percent, see shown.h
    double right_p50, right_p95; ///< ms, see settling.h
    double never;                ///< percent of changes that were not right everywhere in time
    double turns, shots;         ///< of each player: changes of direction, shots
    double faults;               ///< snapshots that a client could not read, in all
    double corrected;            ///< units of past ticks
    double value_bits;           ///< of all values told, in all
};

/// Plays it. False: it could not be set up, or somebody did not get to play.
bool bench_match(const struct bench_match_config *config, struct bench_match_result *result);
