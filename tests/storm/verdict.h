/// The verdict on a match: fine, or its first failure.
#pragma once

#include "hindcast/game.h"

#include <stdbool.h>

enum storm_result {
    STORM_FINE,
    STORM_WRONG, ///< an invariant is broken
    STORM_STUCK, ///< something waits for ever
};

struct storm_verdict {
    enum storm_result result;
    char oracle[32]; ///< names the check that failed
    hc_tick tick;    ///< at which it failed
    char text[480];
};

/// Fails the match, unless it has failed already. `oracle` is at most 31 bytes.
__attribute__((format(printf, 5, 6))) void storm_fail(struct storm_verdict *verdict,
                                                      enum storm_result result, const char *oracle,
                                                      hc_tick tick, const char *format, ...);

/// A world at a tick, borrowed.
struct storm_state {
    const uint8_t *presence; ///< [entities] an enum hc_presence each
    const uint8_t *states;   ///< [entities * stride]
};

/// Fails the match with the first field in which two ticks of one world differ, which they do.
void storm_fail_worlds(struct storm_verdict *verdict, const char *oracle, hc_tick tick,
                       const struct hc_world *world, const char *who, struct storm_state held,
                       struct storm_state right);
