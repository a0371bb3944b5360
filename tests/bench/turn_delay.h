/// Measures how long a player's change of direction takes until it is right on every client.
///
/// The time begins when the tick of the changed input is due on the server. It ends when every
/// client that has the player in view holds the server's final state of the tick after or, if no
/// snapshot was of that tick, of a later snapshot's tick. A client that loses the player from its
/// view meanwhile does not count.
#pragma once

#include "hindcast/arena.h"
#include "hindcast/histogram.h"
#include "server/state.h"
#include "tests/sim/sim.h"

enum {
    BENCH_TURNS = 24,          ///< changes watched at a time
    BENCH_TURN_STATES = 16,    ///< states of one client that wait for a final tick
    BENCH_TURN_LIMIT_MS = 1500 ///< a longer time counts as this, and as never
};

/// The player's state at a tick on a client.
struct bench_turn_state {
    uint64_t since_us;
    hc_tick tick;
    uint8_t presence;
    struct hc_arena_player player;
};

/// One client that has the player in view.
struct bench_turn_observer {
    bool waits;
    hc_tick newest_tick; ///< of the newest snapshot whose state was noted
    uint32_t count;
    struct bench_turn_state states[BENCH_TURN_STATES]; ///< in the order of their times
};

struct bench_turn {
    bool used, begun, checked;
    hc_player player;
    hc_tick tick; ///< of the first state that shows it
    int8_t move_x, move_y;
    uint64_t due_us, right_us;             ///< the latest time at which a client became right
    uint32_t waiting, right;               ///< observers that are not right yet, that are
    struct bench_turn_observer *observers; ///< [clients]
};

struct bench_turn_delay {
    struct hc_sim *sim;
    const struct hc_sv_peer **peers; ///< [clients]
    struct hc_histogram right_us;    ///< one for each change
    uint64_t never;                  ///< of these, not right in time
    struct bench_turn turns[BENCH_TURNS];
};

/// Begins to measure; borrows the clients' `peers`. False: no memory.
bool bench_turn_delay_init(struct bench_turn_delay *turn_delay, struct hc_sim *sim,
                           const struct hc_sv_peer **peers);
void bench_turn_delay_free(struct bench_turn_delay *turn_delay);

/// Watches `player`, which changes its direction at `tick` to that of `input`, if there is room.
void bench_turn_delay_turn(struct bench_turn_delay *turn_delay, hc_player player, hc_tick tick,
                           const struct hc_arena_input *input);

/// Notes the client's states after it has received a datagram or advanced.
void bench_turn_delay_note(struct bench_turn_delay *turn_delay, unsigned client);

/// Compares states of final ticks after the host has ticked.
void bench_turn_delay_judge(struct bench_turn_delay *turn_delay);

/// Ends the measurement: changes that are not right everywhere yet count as never.
void bench_turn_delay_end(struct bench_turn_delay *turn_delay);
