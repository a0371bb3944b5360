/// Rewinds of whole worlds, against the same world kept by hand: one array of states, a copy of it
/// for each tick, and a loop that steps it.
#pragma once

#include <stdbool.h>

enum { DENSE_DISTANCE = 8 }; ///< ticks of each rewind

struct dense_setting {
    unsigned kib;     ///< size of the world's states, in [4, 1024]
    unsigned players; ///< redone: players of the world, in [1, 64]; late: an eighth of the entities
    bool late;        ///< rewinds because every input is late, not by hc_timeline_redo
    bool mixed;       ///< players are of another kind than all other entities
};

/// Times for a tick in ns, the best of several rounds in which all variants take turns.
struct dense_times {
    double by_hand; ///< copies and steps without a timeline
    double step;    ///< a timeline that calls the game's `step` for each entity
    double run;     ///< a timeline that calls the game's `step_run`
};

struct dense_result {
    unsigned players, entities;
    struct dense_times rewound; ///< a tick with a rewind
    struct dense_times in_time; ///< a tick without one
};

/// Measures one setting; false, with a message, if memory is short or if two variants end in
/// different states.
bool dense_measure(const struct dense_setting *setting, struct dense_result *result);
