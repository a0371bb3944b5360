/// The parts of a game that its random histories reach: kinds of events, and the end of a round. In
/// the others hindcast-check finds nothing.
#pragma once

#include "check/faults.h"
#include "check/plain.h"

struct hc_ck_reached {
    uint32_t kinds;                ///< bit k: a step has emitted an event of kind k
    bool round_over;               ///< a round was over
    uint32_t ticks_min, ticks_max; ///< of a history
};

/// Adds a history of `ticks` ticks.
void hc_ck_reached_history(struct hc_ck_reached *reached, uint32_t ticks);

/// Adds the newest tick of a history. Reports a `round_over` that does not return to `faults`.
void hc_ck_reached_tick(struct hc_ck_reached *reached, const struct hc_world *world,
                        const struct hc_plain *plain, struct hc_ck_faults *faults);

/// A sentence for each part of `game` that no history has reached, as a JSON array, which the
/// caller owns.
json_t *hc_ck_reached_notes(const struct hc_ck_reached *reached, const struct hc_game *game);
