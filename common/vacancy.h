/// Vacancy: the players whose steps of a tick are left out, because the game promises that nothing
/// of a vacant player changes. Part of the timeline.
///
/// A player is vacant at a tick if neither it nor any of its slots is alive there, and it neither
/// joins nor leaves.
#pragma once

#include "common/ring.h"

/// A step that may leave the slots of vacant players out.
struct hc_vacancy {
    const struct hc_ring_row *row, *next; ///< the tick, and the one after it
    const uint8_t *event_counts;          ///< of the tick after it; NULL: the game has no events
    bool again;                           ///< the step has been taken before
};

/// The vacancy of the step from `row` to `next`, which are borrowed; `again`: it has been taken
/// before.
struct hc_vacancy hc_vacancy_of(const struct hc_timeline *timeline, const struct hc_ring_row *row,
                                const struct hc_ring_row *next, bool again);

/// The end of the run of vacant players that begins with the slot `first`; `first`: it does not
/// begin such a run. Where nothing is alive every state is all zeros already.
uint32_t hc_vacancy_end(const struct hc_timeline *timeline, const struct hc_vacancy *at,
                        uint32_t first);

/// The first slot of a vacant player in [first, end), where `first` is not one; `end`: there is
/// none.
uint32_t hc_vacancy_next(const struct hc_timeline *timeline, const struct hc_vacancy *at,
                         uint32_t first, uint32_t end);
