/// Compares a client's predictions of its own player with a plain simulation that gets the stamped
/// inputs at once, as if there were no network and no other player.
#pragma once

#include "tests/scenario/scenario.h"

struct prediction_check;

/// Creates a check for `client`, with one local player, from the tick at which it joins. It
/// observes the scenario's simulation.
struct prediction_check *prediction_check_create(struct scenario *scenario, unsigned client);

void prediction_check_destroy(struct prediction_check *check);

/// Starts again from the server's newest final state; ignores earlier ticks, and resets the counts.
void prediction_check_restart(struct prediction_check *check);

/// Counts the predicted ticks, those that were wrong when they were first predicted, the later
/// looks at them, and the looks that found a wrong state.
struct prediction_count {
    uint64_t predicted, predicted_wrong, looks, looks_wrong;
    hc_tick first_wrong; ///< HC_NO_TICK: none
};
struct prediction_count prediction_check_count(const struct prediction_check *check);
