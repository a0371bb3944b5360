/// Rewinds in which a few players are late, selective against full.
#pragma once

#include <stdbool.h>

enum { SPREAD_LATE = 6 }; ///< ticks that late inputs are late

struct spread_setting {
    unsigned entities; ///< a multiple of 256, in [256, 16384]; each player owns four
    bool clustered;    ///< clusters of 256 entities far apart, each with about 24 neighbours; else
                       ///< spread evenly, with about 4
    unsigned percent;  ///< players whose every input is late, at least one; 0: a single input
};

/// Medians over ticks in which the variants take turns.
struct spread_result {
    double neighbours;   ///< of an entity, on average
    double selective_us; ///< for the resimulations of a tick
    double full_us;      ///< 0 for a single input
    double steps;        ///< entity steps that a tick takes again, on average
    double full_steps;   ///< 0 for a single input
};

/// Measures one setting; false, with a message, if memory is short or if selective and full end in
/// different states.
bool spread_measure(const struct spread_setting *setting, struct spread_result *result);
