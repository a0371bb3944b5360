/// How long it takes until a player's change of direction is right everywhere.
///
/// From the moment at which the tick of the changed input is due on the server, until every client
/// that has the player in view holds, of the tick after, what the server ends up with; or, where no
/// snapshot showed that very tick, until a later snapshot's tick is right there. A client that
/// comes to see less in between is left out.
#pragma once

#include "hindcast/arena.h"
#include "hindcast/histogram.h"
#include "server/host_internal.h"
#include "tests/sim/sim.h"

enum {
    BENCH_TURNS = 24,          ///< changes watched at a time
    BENCH_TURN_GUESSES = 16,   ///< states of one client that wait to be judged
    BENCH_TURN_LIMIT_MS = 1500 ///< what takes longer counts as this, and as never
};

/// What a client has taken the player to be at a tick.
struct bench_turn_guess {
    uint64_t since_us;
    hc_tick tick;
    uint8_t presence;
    struct hc_arena_player player;
};

/// One client that is to hear of a turn.
struct bench_turn_hearer {
    bool waits;
    hc_tick loss_checked_to; ///< tick of the newest snapshot whose state was noted
    uint32_t count;
    struct bench_turn_guess
        extrapolation_budget[BENCH_TURN_GUESSES]; ///< in the order of their times
};

struct bench_turn {
    bool used, begun, checked;
    hc_player player;
    hc_tick tick; ///< of the first state that shows it
    int8_t move_x, move_y;
    uint64_t due_us, right_us;         ///< the latest so far at which somebody was right
    uint32_t waiting, told;            ///< hearers that are not right yet, that are
    struct bench_turn_hearer *hearers; ///< [clients]
};

struct bench_settling {
    struct hc_sim *sim;
    const struct hc_sv_peer **peers; ///< [clients]
    struct hc_histogram right_us;    ///< one for each change
    uint64_t never;                  ///< of these
    struct bench_turn turns[BENCH_TURNS];
};

/// `peers` are the clients' and borrowed. False: no memory.
bool bench_settling_init(struct bench_settling *settling, struct hc_sim *sim,
                         const struct hc_sv_peer **peers);
void bench_settling_free(struct bench_settling *settling);

/// `player` changes its direction at `tick`, to what `input` says; watched if there is room.
void bench_settling_turn(struct bench_settling *settling, hc_player player, hc_tick tick,
                         const struct hc_arena_input *input);

/// The client has received something, or has advanced.
void bench_settling_note(struct bench_settling *settling, unsigned client);

/// The host has ticked.
void bench_settling_judge(struct bench_settling *settling);

/// Nothing more comes: what is not right everywhere by now never is.
void bench_settling_end(struct bench_settling *settling);
